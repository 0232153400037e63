// Stage 2, parse: the entries of specs/prims/<category>.yaml.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_

#include <string>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// Appends the primitive of one `- prim:` entry. The names in its decomposition are not yet
// resolved.
void read_primitive(const YamlNode& node, const std::string& category, Bundle& bundle,
                    Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_
