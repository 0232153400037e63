// Strings that live as long as the process, each stored once: names of attributes read from text or
// from a serialised graph. Safe to call from any thread.
#ifndef PRIMSET_PRIMS_GRAPH_INTERN_H_
#define PRIMSET_PRIMS_GRAPH_INTERN_H_

#include <string_view>

namespace primset::prims {

std::string_view intern(std::string_view s);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_INTERN_H_
