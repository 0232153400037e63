// Stage 2, parse: the entries of specs/ops/<family>.yaml.
#ifndef PRIMSET_CODEGEN_SPECGEN_PARSE_OP_READER_H_
#define PRIMSET_CODEGEN_SPECGEN_PARSE_OP_READER_H_

#include <string>
#include <vector>

#include "codegen/specgen/parse/prim_reader.h"
#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"
#include "specs/bundle/model.h"

namespace primset::specs {

// A name in an overload's entry that refers to another overload, found once all files are read.
struct OverloadReference {
  enum class Kind { alias, base };
  Kind kind;
  uint32_t overload;  // whose entry has the name
  std::string name;
  Position position;
};

struct OperatorSources {
  // What came with a base bundle stands before these and is resolved already.
  uint32_t first_primitive = 0;
  uint32_t first_overload = 0;
  std::vector<OverloadReference> references;
  std::vector<SiblingReference> siblings;
};

// Appends the overloads of one `- op:` entry, those that its `variants` give included. Names in
// formulas are not yet resolved.
void read_operator(const YamlNode& node, const std::string& family, Bundle& bundle,
                   OperatorSources& sources, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_PARSE_OP_READER_H_
