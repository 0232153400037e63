// Stage 2, parse: the entries of specs/prims/<category>.yaml.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_

#include <string>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// A primitive's name in another one's entry, found once all files are read.
struct SiblingReference {
  uint32_t primitive;  // whose entry has the name
  std::string name;
  Position position;
};

// Appends the primitives of a file, whose name is their category. A first entry `- category:`
// states the traits that its primitives have unless they say otherwise. The names in decompositions
// are not yet resolved.
void read_primitives(const YamlNode& root, const std::string& category, Bundle& bundle,
                     std::vector<SiblingReference>& siblings, Diagnostics& diagnostics);

// Finds what the references name: each of two siblings names the other.
void link_siblings(const std::vector<SiblingReference>& references, Bundle& bundle,
                   Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_PRIM_READER_H_
