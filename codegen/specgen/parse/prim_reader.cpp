#include "codegen/specgen/parse/prim_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/specgen/parse/implementation_reader.h"
#include "codegen/specgen/parse/signature.h"
#include "codegen/specgen/parse/traits_reader.h"
#include "codegen/specgen/parse/vocabulary.h"
#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

Tier parse_tier(const YamlNode* node, Diagnostics& diagnostics) {
  if (node == nullptr || node->text == "core") return Tier::core;
  if (node->text == "region") return Tier::region;
  if (node->text == "derived") return Tier::derived;
  diagnostics.error(node->position, fmt::format("unknown tier '{}'", node->text),
                    "core, region or derived");
  return Tier::core;
}

// A result's dtype rule must name an operand, a dtype attribute or a dtype.
void check_result_dtype(const PrimResult& result, Position at, const Signature& signature,
                        const Bundle& bundle, Diagnostics& diagnostics) {
  std::string_view rule = result.dtype;
  if (rule.starts_with("real(") || rule.starts_with("complex(")) {
    rule.remove_prefix(rule.find('(') + 1);
    rule.remove_suffix(1);
  }
  bool known = false;
  for (const OperandText& o : signature.operands) known |= o.operand.name == rule;
  for (const Attribute& a : signature.attributes) {
    known |= a.name == rule && a.type == AttributeType::dtype;
  }
  for (const DTypeEntry& d : bundle.dtypes) known |= d.name == rule;
  if (known) return;
  diagnostics.error(at, fmt::format("result '{}' has the dtype of '{}'", result.name, result.dtype),
                    "an operand, a dtype attribute or a dtype");
}

void read_signature(const YamlNode& node, const YamlNode* dtypes, Primitive& p,
                    const Bundle& bundle, Diagnostics& diagnostics) {
  Signature signature = parse_signature(node, diagnostics);
  const DTypeSet common =
      dtypes == nullptr ? DTypeSet() : parse_dtype_set(*dtypes, bundle, diagnostics);
  for (OperandText& o : signature.operands) {
    o.operand.dtypes = common;
    if (!o.dtypes.empty()) {
      YamlNode name;
      name.kind = YamlNode::Kind::scalar;
      name.text = o.dtypes;
      name.position = o.dtypes_position;
      o.operand.dtypes = parse_dtype_set(name, bundle, diagnostics);
    } else if (dtypes == nullptr) {
      diagnostics.error(o.position, fmt::format("operand '{}' has no dtypes", o.operand.name),
                        "the key 'dtypes', or name:set in the signature");
    }
    p.operands.push_back(o.operand);
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    check_result_dtype(signature.results[i], signature.result_positions[i], signature, bundle,
                       diagnostics);
  }
  p.attributes = std::move(signature.attributes);
  p.results = std::move(signature.results);
}

void read_edges(const YamlNode& node, Primitive& p, Diagnostics& diagnostics) {
  if (!node.is_mapping()) report_kind(node, "a mapping of labels to rules", diagnostics);
  for (const YamlNode::Entry& entry : node.entries) {
    if (!entry.value.is_scalar()) report_kind(entry.value, "a rule in words", diagnostics);
    p.edges.push_back({p.name + "_" + entry.key, entry.value.text});
  }
}

void read_donates(const YamlNode& node, Primitive& p, Diagnostics& diagnostics) {
  for (const YamlNode* name : parse_names(node, diagnostics)) {
    std::vector<std::string_view> operands;
    for (const Operand& o : p.operands) operands.push_back(o.name);
    auto found = std::find(operands.begin(), operands.end(), name->text);
    if (found == operands.end()) {
      diagnostics.error(
          name->position,
          fmt::format("unknown operand {}", quote_with_suggestion(name->text, operands)),
          operands.empty() ? "" : one_of(operands));
      continue;
    }
    p.donates.push_back(static_cast<uint32_t>(found - operands.begin()));
  }
}

std::string read_compute(const YamlNode* node, const Bundle& bundle, Diagnostics& diagnostics) {
  if (node == nullptr) return "same";
  std::vector<std::string_view> names = {"same", "opmath"};
  for (const DTypeEntry& d : bundle.dtypes) names.push_back(d.name);
  if (std::find(names.begin(), names.end(), node->text) == names.end()) {
    diagnostics.error(
        node->position,
        fmt::format("unknown compute dtype {}", quote_with_suggestion(node->text, names)),
        "same, opmath or a dtype");
  }
  return node->text;
}

void check_tier(const Primitive& p, const YamlNode* decompose, Position at,
                Diagnostics& diagnostics) {
  if (p.tier == Tier::derived && decompose == nullptr) {
    diagnostics.error(at, fmt::format("derived primitive '{}' has no decomposition", p.name),
                      "the key 'decompose'");
  }
  if (p.tier != Tier::derived && decompose != nullptr) {
    diagnostics.error(decompose->position,
                      fmt::format("'{}' has a decomposition but is not derived", p.name),
                      "tier: derived, or no decomposition");
  }
  if ((p.tier == Tier::region) != (p.regions > 0)) {
    diagnostics.error(at, fmt::format("'{}' has {} regions", p.name, p.regions),
                      "regions in the region tier and nowhere else");
  }
}

void read_siblings(const YamlNode& node, const Bundle& bundle,
                   std::vector<SiblingReference>& siblings, Diagnostics& diagnostics) {
  const auto self = static_cast<uint32_t>(bundle.primitives.size());
  for (const YamlNode* name : parse_names(node, diagnostics)) {
    siblings.push_back({self, name->text, name->position});
  }
}

// The traits that a category's primitives have unless they say otherwise.
PrimTraits read_category(const YamlNode& node, const std::string& category,
                         Diagnostics& diagnostics) {
  Fields fields(node, "a category", diagnostics);
  const YamlNode* name = fields.require("category");
  if (name != nullptr && name->text != category) {
    diagnostics.error(name->position, fmt::format("category '{}'", name->text),
                      fmt::format("the file's name, '{}'", category));
  }
  PrimTraits traits;
  if (const YamlNode* stated = fields.require("traits")) {
    traits = read_traits(*stated, traits, diagnostics);
  }
  fields.finish();
  return traits;
}

// What an entry says in keys that the others do not depend on.
void read_meaning(Fields& fields, Primitive& p, const Bundle& bundle, Diagnostics& diagnostics) {
  p.meaning = fields.require_text("meaning");
  if (const YamlNode* edges = fields.find("edges")) read_edges(*edges, p, diagnostics);
  if (const YamlNode* tolerance = fields.require("tolerance")) {
    p.tolerance = parse_tolerance(*tolerance, bundle, diagnostics);
  }
  p.compute = read_compute(fields.find("compute"), bundle, diagnostics);
  if (const YamlNode* donates = fields.find("donates")) read_donates(*donates, p, diagnostics);
  p.discontinuous = fields.boolean("discontinuous", false);
}

Position read_name(Fields& fields, const YamlNode& entry, Primitive& p) {
  const YamlNode* name = fields.require("prim");
  p.name = fields.text("prim");
  const Position at = name == nullptr ? entry.position : name->position;
  p.file = at.file;
  p.line = at.line;
  p.column = at.column;
  return at;
}

bool is_declared(const Primitive& p, Position at, const Bundle& bundle, Diagnostics& diagnostics) {
  for (const Primitive& earlier : bundle.primitives) {
    if (earlier.name != p.name) continue;
    diagnostics.error(at, fmt::format("primitive '{}' is already declared, on line {} of {}",
                                      p.name, earlier.line, diagnostics.file_name(earlier.file)));
    return true;
  }
  return false;
}

// Appends the primitive of one `- prim:` entry.
void read_primitive(const YamlNode& node, const std::string& category, const PrimTraits& traits,
                    Bundle& bundle, std::vector<SiblingReference>& siblings,
                    Diagnostics& diagnostics) {
  Fields fields(node, "a primitive", diagnostics);
  Primitive p;
  p.category = category;
  const Position at = read_name(fields, node, p);
  p.tier = parse_tier(fields.require("tier"), diagnostics);
  const YamlNode* dtypes = fields.find("dtypes");
  if (const YamlNode* signature = fields.require("signature")) {
    read_signature(*signature, dtypes, p, bundle, diagnostics);
  }
  if (const YamlNode* regions = fields.find("regions")) {
    p.regions = static_cast<uint32_t>(parse_integer(*regions, 1, 2, 1, diagnostics));
  }
  const YamlNode* stated = fields.find("traits");
  p.traits = stated == nullptr ? traits : read_traits(*stated, traits, diagnostics);
  const YamlNode* similar = fields.find("siblings");
  read_meaning(fields, p, bundle, diagnostics);
  const YamlNode* decompose = fields.find("decompose");
  if (decompose != nullptr) {
    p.decomposition = read_implementation(*decompose, DecomposeFor::primitive, diagnostics);
  }
  fields.finish();
  check_tier(p, decompose, at, diagnostics);
  settle_traits(p, stated == nullptr ? at : stated->position, diagnostics);
  if (is_declared(p, at, bundle, diagnostics)) return;
  if (similar != nullptr) read_siblings(*similar, bundle, siblings, diagnostics);
  bundle.primitives.push_back(std::move(p));
}

}  // namespace

void read_primitives(const YamlNode& root, const std::string& category, Bundle& bundle,
                     std::vector<SiblingReference>& siblings, Diagnostics& diagnostics) {
  PrimTraits traits;
  for (size_t i = 0; i < root.items.size(); ++i) {
    const YamlNode& entry = root.items[i];
    if (entry.find("category") == nullptr) {
      read_primitive(entry, category, traits, bundle, siblings, diagnostics);
    } else if (i == 0) {
      traits = read_category(entry, category, diagnostics);
    } else {
      diagnostics.error(entry.position, "a category behind a primitive",
                        "it once, as the first entry");
    }
  }
}

void link_siblings(const std::vector<SiblingReference>& references, Bundle& bundle,
                   Diagnostics& diagnostics) {
  for (const SiblingReference& r : references) {
    Primitive& p = bundle.primitives[r.primitive];
    const Primitive* other = bundle.find_primitive(r.name);
    if (other == nullptr) {
      std::vector<std::string_view> names;
      for (const Primitive& candidate : bundle.primitives) names.push_back(candidate.name);
      diagnostics.error(r.position,
                        fmt::format("unknown primitive {}", quote_with_suggestion(r.name, names)),
                        "a primitive");
      continue;
    }
    const bool mutual = std::ranges::any_of(references, [&](const SiblingReference& back) {
      return back.name == p.name && &bundle.primitives[back.primitive] == other;
    });
    if (!mutual || other == &p) {
      diagnostics.error(r.position, fmt::format("'{}' does not name '{}'", r.name, p.name),
                        "primitives that name each other as siblings");
      continue;
    }
    p.siblings.push_back(bundle.index_of(*other));
  }
}

}  // namespace primset::specs
