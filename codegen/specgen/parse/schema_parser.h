// Stage 2, parse: ATen's schema language, "(Tensor self, *, Scalar alpha=1) -> Tensor".
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_SCHEMA_PARSER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_SCHEMA_PARSER_H_

#include <string>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/schema.h"

namespace primset::specs {

struct Schema {
  std::vector<Argument> args;
  std::vector<Return> returns;
  bool ok = false;
};

// Parses a schema without its name. Roles are those of the kinds: numbers that are not structural
// in ATen's own dispatch (Scalar, SymInt, float) are runtime, and so are tensors and generators.
Schema parse_schema(const YamlNode& scalar, Diagnostics& diagnostics);

// May an argument of this kind be given the role `runtime`?
bool may_be_runtime(ArgKind kind);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_SCHEMA_PARSER_H_
