// Stage 2, parse: a formula's text into its tree (the grammar is in specs/bundle/formula.h).
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_PARSER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_PARSER_H_

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/formula.h"

namespace primset::specs {

// Every name in the result is still of kind `argument` with integer -1, and every call without a
// target: resolving them is the next stage. Empty, with the first mistake reported, when the text
// is no formula.
Formula parse_formula(const YamlNode& scalar, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_FORMULA_PARSER_H_
