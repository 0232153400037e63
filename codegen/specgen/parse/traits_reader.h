// Stage 2, parse: the `traits` of a primitive, and of a category for all of its primitives.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_TRAITS_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_TRAITS_READER_H_

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/primitive.h"

namespace primset::specs {

// What the mapping `node` states; what it does not is as in `otherwise`.
PrimTraits read_traits(const YamlNode& node, const PrimTraits& otherwise, Diagnostics& diagnostics);

// Adds the traits that follow from the primitive's other keys, and refuses those that contradict
// its signature. `at` is where its traits stand, or its name where it states none.
void settle_traits(Primitive& p, Position at, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_TRAITS_READER_H_
