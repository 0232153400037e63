#include "codegen/specgen/read/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace primset::specs {

Fields::Fields(const YamlNode& node, std::string_view what, Diagnostics& diagnostics)
    : node_(node), what_(what), diagnostics_(diagnostics) {
  if (!node.is_mapping()) report_kind(node, what, diagnostics);
}

const YamlNode* Fields::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const YamlNode::Entry* entry = node_.find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

const YamlNode* Fields::require(std::string_view key) {
  const YamlNode* found = find(key);
  if (found == nullptr && node_.is_mapping()) {
    diagnostics_.error(node_.position, fmt::format("{} without '{}'", what_, key),
                       fmt::format("the key '{}'", key));
  }
  return found;
}

std::string Fields::text(std::string_view key) {
  const YamlNode* found = find(key);
  if (found == nullptr) return "";
  if (!found->is_scalar()) report_kind(*found, "text", diagnostics_);
  return found->text;
}

std::string Fields::require_text(std::string_view key) {
  return require(key) == nullptr ? "" : text(key);
}

bool Fields::boolean(std::string_view key, bool otherwise) {
  const YamlNode* found = find(key);
  return found == nullptr ? otherwise : parse_boolean(*found, otherwise, diagnostics_);
}

void Fields::finish() {
  for (const YamlNode::Entry& entry : node_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    diagnostics_.error(
        entry.key_position,
        fmt::format("unknown key {} in {}", quote_with_suggestion(entry.key, known_), what_),
        one_of(known_));
  }
}

void report_kind(const YamlNode& node, std::string_view expected, Diagnostics& diagnostics) {
  diagnostics.error(node.position, fmt::format("unexpected {}", describe(node.kind)),
                    std::string(expected));
}

bool parse_boolean(const YamlNode& node, bool otherwise, Diagnostics& diagnostics) {
  if (node.is_scalar() && !node.quoted && (node.text == "true" || node.text == "false")) {
    return node.text == "true";
  }
  if (!node.is_scalar()) {
    report_kind(node, "true or false", diagnostics);
  } else {
    diagnostics.error(node.position, fmt::format("unexpected '{}'", node.text), "true or false");
  }
  return otherwise;
}

int64_t parse_integer(const YamlNode& node, int64_t least, int64_t greatest, int64_t otherwise,
                      Diagnostics& diagnostics) {
  int64_t value = 0;
  const std::string& text = node.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node.is_scalar() && error == std::errc() && end == text.data() + text.size() &&
      value >= least && value <= greatest) {
    return value;
  }
  diagnostics.error(node.position,
                    node.is_scalar() ? fmt::format("unexpected '{}'", text)
                                     : fmt::format("unexpected {}", describe(node.kind)),
                    fmt::format("an integer from {} to {}", least, greatest));
  return otherwise;
}

double parse_number(const YamlNode& node, double otherwise, Diagnostics& diagnostics) {
  double value = 0;
  const std::string& text = node.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node.is_scalar() && error == std::errc() && end == text.data() + text.size() &&
      std::isfinite(value) && value >= 0) {
    return value;
  }
  diagnostics.error(node.position,
                    node.is_scalar() ? fmt::format("unexpected '{}'", text)
                                     : fmt::format("unexpected {}", describe(node.kind)),
                    "a number, not negative");
  return otherwise;
}

std::vector<const YamlNode*> parse_names(const YamlNode& node, Diagnostics& diagnostics) {
  std::vector<const YamlNode*> names;
  if (node.is_scalar()) names.push_back(&node);
  for (const YamlNode& item : node.items) {
    if (item.is_scalar()) {
      names.push_back(&item);
    } else {
      report_kind(item, "a name", diagnostics);
    }
  }
  if (!node.is_scalar() && !node.is_sequence()) report_kind(node, "a list of names", diagnostics);
  return names;
}

}  // namespace primset::specs
