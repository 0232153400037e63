#include "codegen/specgen/parse/traits_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "codegen/specgen/read/fields.h"

namespace primset::specs {
namespace {

template <typename Enum>
Enum parse_trait(const YamlNode& node, std::string_view key, Enum otherwise,
                 Diagnostics& diagnostics) {
  const auto& names = TraitNames<Enum>::values;
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (node.is_scalar() && found != names.end()) return static_cast<Enum>(found - names.begin());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  if (node.is_scalar()) {
    diagnostics.error(
        node.position,
        fmt::format("unknown {} {}", key, quote_with_suggestion(node.text, candidates)),
        one_of(candidates));
  } else {
    report_kind(node, one_of(candidates), diagnostics);
  }
  return otherwise;
}

bool parse_trait(const YamlNode& node, std::string_view, bool otherwise, Diagnostics& diagnostics) {
  return parse_boolean(node, otherwise, diagnostics);
}

bool is_binary(const Primitive& p) {
  return p.operands.size() == 2 && !p.operands[1].variadic;
}

bool combines(OpPattern pattern) {
  return pattern == OpPattern::reduction || pattern == OpPattern::scan ||
         pattern == OpPattern::scatter || pattern == OpPattern::indexable;
}

// What a trait asks of the rest of the entry; empty when all is well.
std::string_view contradiction(const Primitive& p) {
  const PrimTraits& t = p.traits;
  const bool reads = t.pattern == OpPattern::elementwise || t.pattern == OpPattern::view;
  if (reads && p.operands.empty()) return "an operand, to be elementwise or a view";
  if ((t.associative || t.commutative) && !is_binary(p))
    return "two operands, to be associative or commutative";
  if (t.combiner != Combiner::none && !combines(t.pattern))
    return "a reduction, scan, scatter or indexable pattern, to have a combiner";
  if (t.combiner == Combiner::region && p.regions == 0) return "a region, to combine by it";
  if (t.monotone != Monotone::none && t.pattern != OpPattern::elementwise)
    return "an elementwise pattern, to be monotone";
  if (t.pattern == OpPattern::control && p.regions == 0) return "a region, to be control flow";
  return "";
}

}  // namespace

PrimTraits read_traits(const YamlNode& node, const PrimTraits& otherwise,
                       Diagnostics& diagnostics) {
  Fields fields(node, "traits", diagnostics);
  PrimTraits traits = otherwise;
  each_stated_trait(traits, [&](std::string_view key, auto& member) {
    if (const YamlNode* stated = fields.find(key)) {
      member = parse_trait(*stated, key, member, diagnostics);
    }
  });
  fields.finish();
  return traits;
}

void settle_traits(Primitive& p, Position at, Diagnostics& diagnostics) {
  PrimTraits& t = p.traits;
  t.tier = p.tier;
  t.exact = std::ranges::all_of(p.tolerance, [](const ToleranceRule& rule) {
    return rule.tolerance.kind == ToleranceKind::exact;
  });
  t.discontinuous = p.discontinuous;
  t.donates = !p.donates.empty();
  t.shape_only = p.operands.empty();
  t.side_effect = p.results.empty();
  const std::string_view expected = contradiction(p);
  if (expected.empty()) return;
  diagnostics.error(at, fmt::format("the traits of '{}' contradict its signature", p.name),
                    std::string(expected));
}

}  // namespace primset::specs
