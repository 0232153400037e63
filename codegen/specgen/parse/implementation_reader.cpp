#include "codegen/specgen/parse/implementation_reader.h"

#include <fmt/format.h>

#include "codegen/specgen/parse/formula_parser.h"
#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

bool is_identifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

ImplKind kind_of(const std::string& key, DecomposeFor user) {
  if (key == "function") return ImplKind::function;
  if (key == "view" && user == DecomposeFor::op) return ImplKind::view;
  if (key == "alias" && user == DecomposeFor::op) return ImplKind::alias;
  return ImplKind::none;
}

}  // namespace

Implementation read_implementation(const YamlNode& node, DecomposeFor user,
                                   Diagnostics& diagnostics) {
  const char* expected = user == DecomposeFor::op
                             ? "a formula, {function: f}, {view: f} or {alias: overload}"
                             : "a formula or {function: f}";
  Implementation implementation;
  if (node.is_scalar()) {
    implementation.kind = ImplKind::formula;
    implementation.formula = parse_formula(node, diagnostics);
    return implementation;
  }
  if (!node.is_mapping() || node.entries.size() != 1) {
    report_kind(node, expected, diagnostics);
    return implementation;
  }
  const YamlNode::Entry& entry = node.entries[0];
  implementation.kind = kind_of(entry.key, user);
  implementation.function = entry.value.text;
  if (implementation.kind == ImplKind::none) {
    diagnostics.error(entry.key_position, fmt::format("unknown decomposition '{}'", entry.key),
                      expected);
  } else if (!entry.value.is_scalar()) {
    report_kind(entry.value, "a name", diagnostics);
  } else if (implementation.kind != ImplKind::alias && !is_identifier(implementation.function)) {
    diagnostics.error(entry.value.position,
                      fmt::format("'{}' is no function's name", implementation.function),
                      "lower-case letters, digits and underscores");
  }
  return implementation;
}

}  // namespace primset::specs
