// Stage 1, read: YAML text into nodes that know where they stand.
//
// The subset is deliberate: mappings with distinct scalar keys, sequences and scalars. Anchors,
// aliases, explicit tags and several documents in a file are refused, since a spec that means
// something only after substitution cannot be read.
#ifndef PRIMSET_CODEGEN_SPECGEN_READ_YAML_H_
#define PRIMSET_CODEGEN_SPECGEN_READ_YAML_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"

namespace primset::specs {

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::null;
  Position position;
  std::string text;             // scalar
  bool quoted = false;          // scalar: '…', "…", | or >, so that 'null' and '1' are text
  std::vector<YamlNode> items;  // sequence
  std::vector<Entry> entries;   // mapping, in the order written
  // The place of each byte of `text` when it spans lines, is folded or holds escapes; else empty,
  // and byte i stands i columns after `position` (one more when quoted).
  std::vector<Position> places;

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_mapping() const { return kind == Kind::mapping; }
  const Entry* find(std::string_view key) const;
  // Where byte `offset` of a scalar's text stands in the file.
  Position place(size_t offset) const;
};

struct YamlNode::Entry {
  std::string key;
  Position key_position;
  YamlNode value;
};

// "a mapping", "a list", "text", "nothing": for messages.
std::string_view describe(YamlNode::Kind kind);

// Parses the text of file `file`; reports what is wrong there. An empty file gives a null node.
YamlNode read_yaml(std::string_view text, uint32_t file, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_READ_YAML_H_
