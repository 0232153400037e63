// dtypes.yaml and tolerances.yaml: the names that operators and primitives are stated in.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_VOCABULARY_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_VOCABULARY_H_

#include <vector>

#include "codegen/specgen/parse/dtype_reader.h"
#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// Reads a file with `dtypes:` and `sets:` into the bundle. A set may name dtypes and earlier sets.
// Returns the dtypes with what the bundle does not hold of them.
std::vector<DTypeDefinition> read_dtypes(const YamlNode& root, Bundle& bundle,
                                         Diagnostics& diagnostics);

// Reads a file with `tolerances:` into the bundle.
void read_tolerances(const YamlNode& root, Bundle& bundle, Diagnostics& diagnostics);

// The union of the dtypes and sets that a scalar or list names.
DTypeSet parse_dtype_set(const YamlNode& node, const Bundle& bundle, Diagnostics& diagnostics);

// A tolerance's name, or a mapping of dtypes and sets to exact, rounded, {ulp: n}, {absolute: n} or
// {accumulate: n}.
std::vector<ToleranceRule> parse_tolerance(const YamlNode& node, const Bundle& bundle,
                                           Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_VOCABULARY_H_
