#include "codegen/specgen/parse/prim_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/specgen/parse/implementation_reader.h"
#include "codegen/specgen/parse/signature.h"
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

}  // namespace

void read_primitive(const YamlNode& node, const std::string& category, Bundle& bundle,
                    Diagnostics& diagnostics) {
  Fields fields(node, "a primitive", diagnostics);
  Primitive p;
  p.category = category;
  const YamlNode* name = fields.require("prim");
  p.name = fields.text("prim");
  const Position at = name == nullptr ? node.position : name->position;
  p.file = at.file;
  p.line = at.line;
  p.column = at.column;
  p.tier = parse_tier(fields.require("tier"), diagnostics);
  const YamlNode* dtypes = fields.find("dtypes");
  if (const YamlNode* signature = fields.require("signature")) {
    read_signature(*signature, dtypes, p, bundle, diagnostics);
  }
  if (const YamlNode* regions = fields.find("regions")) {
    p.regions = static_cast<uint32_t>(parse_integer(*regions, 1, 2, 1, diagnostics));
  }
  p.meaning = fields.require_text("meaning");
  if (const YamlNode* edges = fields.find("edges")) read_edges(*edges, p, diagnostics);
  if (const YamlNode* tolerance = fields.require("tolerance")) {
    p.tolerance = parse_tolerance(*tolerance, bundle, diagnostics);
  }
  p.compute = read_compute(fields.find("compute"), bundle, diagnostics);
  if (const YamlNode* donates = fields.find("donates")) read_donates(*donates, p, diagnostics);
  p.discontinuous = fields.boolean("discontinuous", false);
  const YamlNode* decompose = fields.find("decompose");
  if (decompose != nullptr) {
    p.decomposition = read_implementation(*decompose, DecomposeFor::primitive, diagnostics);
  }
  fields.finish();
  check_tier(p, decompose, at, diagnostics);

  for (const Primitive& earlier : bundle.primitives) {
    if (earlier.name != p.name) continue;
    diagnostics.error(at, fmt::format("primitive '{}' is already declared, on line {} of {}",
                                      p.name, earlier.line, diagnostics.file_name(earlier.file)));
    return;
  }
  bundle.primitives.push_back(std::move(p));
}

}  // namespace primset::specs
