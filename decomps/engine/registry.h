// The C++ decompositions by the names that specs use (`decompose: {function: f}`), with one
// signature.
#ifndef PRIMSET_DECOMPS_ENGINE_REGISTRY_H_
#define PRIMSET_DECOMPS_ENGINE_REGISTRY_H_

#include <string_view>
#include <vector>

#include "decomps/engine/apply.h"

namespace primset::decomps {

using Decomposition = std::vector<Val> (*)(Tracer& t, const Arguments& args);

// Of an operator and of a derived primitive; null when there is none of this name.
Decomposition find_decomposition(std::string_view function);
Decomposition find_prim_decomposition(std::string_view function);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_REGISTRY_H_
