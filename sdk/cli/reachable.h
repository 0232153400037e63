// Which primitives the implemented operators use.
#ifndef PRIMSET_SDK_CLI_REACHABLE_H_
#define PRIMSET_SDK_CLI_REACHABLE_H_

#include <cstdint>
#include <set>

#include "specs/bundle/model.h"

namespace primset::cli {

// Indices of the primitives that decompositions of implemented operators reach, through formulas
// and other operators, and by tracing C++ decompositions on sample arguments of the meta device. A
// derived primitive in use brings what its own decomposition uses.
std::set<uint32_t> reachable_primitives(const specs::Bundle& bundle);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_REACHABLE_H_
