#include "codegen/specgen/parse/vocabulary.h"

#include <fmt/format.h>

#include <optional>

#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

std::vector<std::string_view> dtype_and_set_names(const Bundle& bundle) {
  std::vector<std::string_view> names;
  for (const DTypeEntry& entry : bundle.dtypes) names.push_back(entry.name);
  for (const NamedDTypeSet& set : bundle.dtype_sets) names.push_back(set.name);
  return names;
}

std::optional<DTypeSet> find_dtypes(std::string_view name, const Bundle& bundle) {
  for (const DTypeEntry& entry : bundle.dtypes) {
    if (entry.name == name) return DTypeSet{entry.code};
  }
  if (const NamedDTypeSet* set = bundle.find_dtype_set(name)) return set->dtypes;
  return std::nullopt;
}

DTypeSet named_dtypes(const std::string& name, Position at, const Bundle& bundle,
                      Diagnostics& diagnostics) {
  if (const auto found = find_dtypes(name, bundle)) return *found;
  diagnostics.error(at,
                    fmt::format("unknown dtype or set {}",
                                quote_with_suggestion(name, dtype_and_set_names(bundle))),
                    "a name from dtypes.yaml");
  return {};
}

Tolerance parse_rule(const YamlNode& node, Diagnostics& diagnostics) {
  constexpr const char* kExpected = "exact, rounded, {ulp: n}, {absolute: n} or {accumulate: n}";
  if (node.is_scalar() && node.text == "exact") return {ToleranceKind::exact, 0};
  if (node.is_scalar() && node.text == "rounded") return {ToleranceKind::rounded, 0.5};
  if (!node.is_mapping() || node.entries.size() != 1) {
    diagnostics.error(
        node.position,
        node.is_scalar() ? fmt::format("unknown tolerance '{}'", node.text) : "not a tolerance",
        kExpected);
    return {};
  }
  const YamlNode::Entry& entry = node.entries[0];
  Tolerance tolerance{ToleranceKind::ulp, parse_number(entry.value, 0, diagnostics)};
  if (entry.key == "absolute") {
    tolerance.kind = ToleranceKind::absolute;
  } else if (entry.key == "accumulate") {
    tolerance.kind = ToleranceKind::accumulate;
  } else if (entry.key != "ulp") {
    diagnostics.error(entry.key_position, fmt::format("unknown tolerance '{}'", entry.key),
                      kExpected);
  }
  return tolerance;
}

void read_sets(const YamlNode& sets, Bundle& bundle, Diagnostics& diagnostics) {
  if (!sets.is_mapping()) report_kind(sets, "a mapping of names to lists", diagnostics);
  for (const YamlNode::Entry& entry : sets.entries) {
    if (find_dtypes(entry.key, bundle)) {
      diagnostics.error(entry.key_position, fmt::format("'{}' is already declared", entry.key));
    }
    const DTypeSet set = parse_dtype_set(entry.value, bundle, diagnostics);
    bundle.dtype_sets.push_back({entry.key, set});
  }
}

}  // namespace

DTypeSet parse_dtype_set(const YamlNode& node, const Bundle& bundle, Diagnostics& diagnostics) {
  DTypeSet set;
  for (const YamlNode* name : parse_names(node, diagnostics)) {
    set = set | named_dtypes(name->text, name->position, bundle, diagnostics);
  }
  return set;
}

std::vector<DTypeDefinition> read_dtypes(const YamlNode& root, Bundle& bundle,
                                         Diagnostics& diagnostics) {
  std::vector<DTypeDefinition> definitions;
  Fields fields(root, "a file of dtypes", diagnostics);
  if (const YamlNode* list = fields.require("dtypes")) {
    if (!list->is_sequence()) report_kind(*list, "a list of dtypes", diagnostics);
    for (const YamlNode& item : list->items) {
      DTypeDefinition definition = read_dtype(item, bundle, diagnostics);
      const DTypeEntry& entry = definition.entry;
      if (find_dtypes(entry.name, bundle)) {
        diagnostics.error(item.position, fmt::format("dtype '{}' is already declared", entry.name));
      }
      bundle.dtypes.push_back(entry);
      definitions.push_back(std::move(definition));
    }
  }
  if (const YamlNode* sets = fields.require("sets")) read_sets(*sets, bundle, diagnostics);
  fields.finish();
  return definitions;
}

void read_tolerances(const YamlNode& root, Bundle& bundle, Diagnostics& diagnostics) {
  Fields fields(root, "a file of tolerances", diagnostics);
  if (const YamlNode* all = fields.require("tolerances")) {
    if (!all->is_mapping()) report_kind(*all, "a mapping of names to tolerances", diagnostics);
    for (const YamlNode::Entry& entry : all->entries) {
      for (const NamedTolerance& earlier : bundle.tolerances) {
        if (earlier.name != entry.key) continue;
        diagnostics.error(entry.key_position,
                          fmt::format("tolerance '{}' is already declared", entry.key));
      }
      bundle.tolerances.push_back({entry.key, parse_tolerance(entry.value, bundle, diagnostics)});
    }
  }
  fields.finish();
}

std::vector<ToleranceRule> parse_tolerance(const YamlNode& node, const Bundle& bundle,
                                           Diagnostics& diagnostics) {
  std::vector<ToleranceRule> rules;
  if (node.is_mapping()) {
    for (const YamlNode::Entry& entry : node.entries) {
      const DTypeSet dtypes = named_dtypes(entry.key, entry.key_position, bundle, diagnostics);
      rules.push_back({dtypes, parse_rule(entry.value, diagnostics)});
    }
    return rules;
  }
  if (!node.is_scalar()) {
    report_kind(node, "a tolerance's name or a mapping of dtypes", diagnostics);
    return rules;
  }
  std::vector<std::string_view> names;
  for (const NamedTolerance& named : bundle.tolerances) {
    if (named.name == node.text) return named.rules;
    names.push_back(named.name);
  }
  diagnostics.error(node.position,
                    fmt::format("unknown tolerance {}", quote_with_suggestion(node.text, names)),
                    "a name from tolerances.yaml");
  return rules;
}

}  // namespace primset::specs
