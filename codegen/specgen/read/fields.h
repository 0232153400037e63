// Reading the keys of a mapping, so that no key can be misspelt unnoticed: every key asked for is
// known, and `finish` reports those that nobody asked for.
#ifndef PRIMSET_CODEGEN_SPECGEN_READ_FIELDS_H_
#define PRIMSET_CODEGEN_SPECGEN_READ_FIELDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "codegen/specgen/read/diagnostics.h"
#include "codegen/specgen/read/yaml.h"

namespace primset::specs {

class Fields {
 public:
  // `what` names the mapping in messages: "an operator entry".
  Fields(const YamlNode& node, std::string_view what, Diagnostics& diagnostics);

  const YamlNode* find(std::string_view key);
  const YamlNode* require(std::string_view key);
  // The scalar's text; empty, with an error when it is no scalar, if the key is absent.
  std::string text(std::string_view key);
  std::string require_text(std::string_view key);
  bool boolean(std::string_view key, bool otherwise);
  // Reports the keys nobody asked for.
  void finish();

 private:
  const YamlNode& node_;
  std::string_view what_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> known_;
};

// "unexpected a list; expected …" at the node.
void report_kind(const YamlNode& node, std::string_view expected, Diagnostics& diagnostics);

// true and false only.
bool parse_boolean(const YamlNode& node, bool otherwise, Diagnostics& diagnostics);
// An integer in [least, greatest]; `otherwise` with an error when it is none.
int64_t parse_integer(const YamlNode& node, int64_t least, int64_t greatest, int64_t otherwise,
                      Diagnostics& diagnostics);
double parse_number(const YamlNode& node, double otherwise, Diagnostics& diagnostics);
// A scalar, or a list of scalars.
std::vector<const YamlNode*> parse_names(const YamlNode& node, Diagnostics& diagnostics);

}  // namespace primset::specs

#endif  // PRIMSET_CODEGEN_SPECGEN_READ_FIELDS_H_
