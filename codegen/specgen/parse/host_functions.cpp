#include "codegen/specgen/parse/host_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

constexpr const char* kExpected = "a name from host_functions.yaml";

// `meaning`, or {meaning: …, recordable: true, query: true}.
HostFunction read_host_function(const YamlNode::Entry& entry, Diagnostics& diagnostics) {
  HostFunction f{entry.key, "", false, false};
  if (entry.value.is_scalar()) {
    f.meaning = entry.value.text;
    return f;
  }
  Fields fields(entry.value, "a function on the host", diagnostics);
  f.meaning = fields.require_text("meaning");
  f.recordable = fields.boolean("recordable", false);
  f.query = fields.boolean("query", false);
  fields.finish();
  return f;
}

void read_section(const YamlNode* section, std::vector<HostFunction>& functions,
                  Diagnostics& diagnostics) {
  if (section == nullptr) return;
  if (!section->is_mapping()) report_kind(*section, "a mapping of names to meanings", diagnostics);
  for (const YamlNode::Entry& entry : section->entries) {
    if (std::ranges::find(functions, entry.key, &HostFunction::name) != functions.end()) {
      diagnostics.error(entry.key_position,
                        fmt::format("function '{}' is already declared", entry.key));
    }
    functions.push_back(read_host_function(entry, diagnostics));
  }
}

}  // namespace

void read_host_functions(const YamlNode& root, Bundle& bundle, Diagnostics& diagnostics) {
  Fields fields(root, "a file of functions on the host", diagnostics);
  read_section(fields.require("intrinsics"), bundle.intrinsics, diagnostics);
  read_section(fields.require("sparse"), bundle.sparse_functions, diagnostics);
  read_section(fields.require("checks"), bundle.checks, diagnostics);
  read_section(fields.require("written_checks"), bundle.written_checks, diagnostics);
  fields.finish();
}

std::string parse_host_function(const YamlNode& node, std::string_view what,
                                const std::vector<HostFunction>& known, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (const HostFunction& f : known) names.push_back(f.name);
  if (!node.is_scalar()) {
    report_kind(node, kExpected, diagnostics);
  } else if (std::ranges::find(names, node.text) == names.end()) {
    diagnostics.error(node.position,
                      fmt::format("unknown {} {}", what, quote_with_suggestion(node.text, names)),
                      kExpected);
  } else {
    return node.text;
  }
  return "";
}

std::vector<std::string> parse_host_functions(const YamlNode& node, std::string_view what,
                                              const std::vector<HostFunction>& known,
                                              Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const YamlNode* name : parse_names(node, diagnostics)) {
    out.push_back(parse_host_function(*name, what, known, diagnostics));
  }
  return out;
}

}  // namespace primset::specs
