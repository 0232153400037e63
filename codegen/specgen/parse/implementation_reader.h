// Stage 2, parse: the value of `decompose:`, of an operator or a primitive.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_IMPLEMENTATION_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_IMPLEMENTATION_READER_H_

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/operator.h"

namespace primset::specs {

enum class DecomposeFor { primitive, op };

// Operators may also name a view function or an alias, whose target stays in `function` until names
// are resolved.
Implementation read_implementation(const YamlNode& node, DecomposeFor user,
                                   Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_IMPLEMENTATION_READER_H_
