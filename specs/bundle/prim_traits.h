// What is known of a primitive beyond its signature: how its results depend on its operands, what
// an element costs, which laws hold. Stated in specs/prims/*.yaml under `traits`, or following from
// what stands beside it there; every pass asks these and none keeps a list of primitives.
#ifndef PRIMSET_SPECS_BUNDLE_PRIM_TRAITS_H_
#define PRIMSET_SPECS_BUNDLE_PRIM_TRAITS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace primset::specs {

enum class Tier : uint8_t {
  core,     // fixed function: what a device without a code generator must do
  region,   // takes scalar or graph regions; the SDK lowers it
  derived,  // has a decomposition, which meets the same error bound
};

// How the elements of the results depend on the operands.
enum class OpPattern : uint8_t {
  opaque,       // in no way that is named here: a sort, a factorisation
  elementwise,  // element i of a result is made of elements i of the operands alone
  view,         // element i is some element of the first operand, found from i alone
  indexable,    // any element can be made on its own, wherever it is asked for
  reduction,    // dims are combined away
  scan,         // prefixes along a dim are combined
  scatter,      // updates are combined into the first operand at computed places
  contraction,  // sums of products of two operands
  control,      // bodies are run, as often as values say
  random,       // drawn from a counter
};

// What combines two elements: a primitive of that name, or the node's region.
enum class Combiner : uint8_t { none, add, mul, min, max, bit_and, bit_or, bit_xor, region };

// What an element takes, apart from how many others it is combined of.
enum class Cost : uint8_t {
  trivial,         // moved, or known from its index
  arithmetic,      // an instruction or a few
  division,        // a quotient or a root
  transcendental,  // a polynomial and more: far more work than arithmetic
};

// What comes of a NaN among the operands.
enum class NanRule : uint8_t {
  none,        // there is nothing to say: values are moved, or have no NaN
  propagates,  // NaN
  ignored,     // what the other operand is
  special,     // something else, which the edge rules say
};

// Of an elementwise primitive in each operand, within its domain and where integers do not wrap.
enum class Monotone : uint8_t { none, increasing, decreasing };

// Where a derivative comes from.
enum class Derivative : uint8_t {
  none,         // there is none: bits, integers, effects
  zero,         // piecewise constant
  linear,       // it is its own derivative
  bilinear,     // linear in each operand
  elementwise,  // partial derivatives multiply, element by element
  structural,   // elements are moved to places that values do not change
  selection,    // elements are moved to places that their own values choose
  region,       // that of its bodies
  custom,       // a rule of its own
};

struct PrimTraits {
  OpPattern pattern = OpPattern::opaque;
  Combiner combiner = Combiner::none;
  Cost cost = Cost::trivial;
  NanRule nan = NanRule::none;
  Monotone monotone = Monotone::none;
  Derivative derivative = Derivative::none;
  // Laws of exact numbers; floating ones round in an order of their own.
  bool associative = false;
  bool commutative = false;
  bool idempotent = false;       // f(x, x) = x, or f(f(x)) = f(x) of one operand
  bool fixed_zero_sign = false;  // of a zero result: IEEE 754 leaves no choice

  // These follow from other keys of the primitive.
  Tier tier = Tier::core;
  bool exact = false;          // nothing is rounded: a result is a value of its dtype
  bool discontinuous = false;  // a tiny change of an input may change the result much
  bool donates = false;        // a result may take over an operand's memory
  bool shape_only = false;     // made of shapes and attributes; no operand is read
  bool side_effect = false;    // it has no results: it is there for what it does

  friend bool operator==(const PrimTraits&, const PrimTraits&) = default;
};

// Calls f(name, member) for each trait that YAML states, and for those that follow.
template <typename Traits, typename F>
constexpr void each_stated_trait(Traits& t, F&& f) {
  f("pattern", t.pattern);
  f("combiner", t.combiner);
  f("cost", t.cost);
  f("nan", t.nan);
  f("monotone", t.monotone);
  f("derivative", t.derivative);
  f("associative", t.associative);
  f("commutative", t.commutative);
  f("idempotent", t.idempotent);
  f("fixed_zero_sign", t.fixed_zero_sign);
}
template <typename Traits, typename F>
constexpr void each_derived_trait(Traits& t, F&& f) {
  f("tier", t.tier);
  f("exact", t.exact);
  f("discontinuous", t.discontinuous);
  f("donates", t.donates);
  f("shape_only", t.shape_only);
  f("side_effect", t.side_effect);
}

// The enumerators' names in their order, and the enumeration's own.
template <typename Enum>
struct TraitNames;
template <>
struct TraitNames<OpPattern> {
  static constexpr std::string_view type = "OpPattern";
  static constexpr auto values =
      std::to_array<std::string_view>({"opaque", "elementwise", "view", "indexable", "reduction",
                                       "scan", "scatter", "contraction", "control", "random"});
};
template <>
struct TraitNames<Combiner> {
  static constexpr std::string_view type = "Combiner";
  static constexpr auto values = std::to_array<std::string_view>(
      {"none", "add", "mul", "min", "max", "bit_and", "bit_or", "bit_xor", "region"});
};
template <>
struct TraitNames<Cost> {
  static constexpr std::string_view type = "Cost";
  static constexpr auto values =
      std::to_array<std::string_view>({"trivial", "arithmetic", "division", "transcendental"});
};
template <>
struct TraitNames<NanRule> {
  static constexpr std::string_view type = "NanRule";
  static constexpr auto values =
      std::to_array<std::string_view>({"none", "propagates", "ignored", "special"});
};
template <>
struct TraitNames<Monotone> {
  static constexpr std::string_view type = "Monotone";
  static constexpr auto values =
      std::to_array<std::string_view>({"none", "increasing", "decreasing"});
};
template <>
struct TraitNames<Derivative> {
  static constexpr std::string_view type = "Derivative";
  static constexpr auto values =
      std::to_array<std::string_view>({"none", "zero", "linear", "bilinear", "elementwise",
                                       "structural", "selection", "region", "custom"});
};
template <>
struct TraitNames<Tier> {
  static constexpr std::string_view type = "Tier";
  static constexpr auto values = std::to_array<std::string_view>({"core", "region", "derived"});
};

template <typename Enum>
constexpr std::string_view trait_name(Enum value) {
  return TraitNames<Enum>::values[static_cast<size_t>(value)];
}

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_PRIM_TRAITS_H_
