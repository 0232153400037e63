// What is known of each primitive beyond its signature (specs/bundle/prim_traits.h), from
// specs/prims/*.yaml. Passes ask here; a list of primitives of their own is what a new primitive is
// missing from.
#ifndef PRIMSET_PRIMS_GRAPH_TRAITS_H_
#define PRIMSET_PRIMS_GRAPH_TRAITS_H_

#include <optional>
#include <span>

#include "prims/graph/graph.h"
#include "specs/bundle/prim_traits.h"

namespace primset::prims {

using specs::Combiner;
using specs::Cost;
using specs::Derivative;
using specs::Monotone;
using specs::NanRule;
using specs::OpPattern;
using specs::PrimTraits;

namespace detail {
inline constexpr PrimTraits kPrimTraits[] = {
#define PRIMSET_PRIM_TRAITS(id, ...) PrimTraits{__VA_ARGS__},
#include "prims/prim_traits.inc"
};
}  // namespace detail

constexpr const PrimTraits& traits(Prim p) {
  return detail::kPrimTraits[static_cast<size_t>(p)];
}

// Element i of a result is made of elements i of the operands alone; conversions too.
constexpr bool is_elementwise(Prim p) {
  return traits(p).pattern == OpPattern::elementwise;
}
// Those that need no decomposition first, which is what code is generated for.
constexpr bool is_core_elementwise(Prim p) {
  return is_elementwise(p) && traits(p).tier == Tier::core;
}
// It rewrites the indices of its first operand and does nothing else.
constexpr bool is_view(Prim p) {
  return traits(p).pattern == OpPattern::view;
}
// Any element of a result can be made on its own, at any index, from elements of the operands.
constexpr bool is_indexable(Prim p) {
  return is_elementwise(p) || is_view(p) || traits(p).pattern == OpPattern::indexable;
}

// Dims are combined away. Those with a combiner are that and nothing else; of the others argmin is
// one, or mean.
constexpr bool is_reduction(Prim p) {
  return traits(p).pattern == OpPattern::reduction;
}
// Products summed along dims: of matrices, or a convolution.
constexpr bool is_contraction(Prim p) {
  return traits(p).pattern == OpPattern::contraction;
}
constexpr bool is_scan(Prim p) {
  return traits(p).pattern == OpPattern::scan;
}
constexpr bool is_scatter(Prim p) {
  return traits(p).pattern == OpPattern::scatter;
}
constexpr bool has_combiner(Prim p) {
  return traits(p).combiner != Combiner::none;
}
// The primitive of two operands that combines elements; none where a region does, or nothing.
constexpr std::optional<Prim> combiner_prim(Prim p) {
  switch (traits(p).combiner) {
    case Combiner::add:
      return Prim::add;
    case Combiner::mul:
      return Prim::mul;
    case Combiner::min:
      return Prim::min;
    case Combiner::max:
      return Prim::max;
    case Combiner::bit_and:
      return Prim::bit_and;
    case Combiner::bit_or:
      return Prim::bit_or;
    case Combiner::bit_xor:
      return Prim::bit_xor;
    case Combiner::none:
    case Combiner::region:
      break;
  }
  return std::nullopt;
}
// Sums and products of many elements: computed in the compute dtype, and rounded once at the end.
constexpr bool accumulates(Prim p) {
  return traits(p).combiner == Combiner::add || traits(p).combiner == Combiner::mul;
}

// A result is a value of its dtype without being rounded to it.
constexpr bool is_exact(Prim p) {
  return traits(p).exact;
}
constexpr bool is_commutative(Prim p) {
  return traits(p).commutative;
}
constexpr bool is_transcendental(Prim p) {
  return traits(p).cost == Cost::transcendental;
}
// Bodies are run as often as values say, or not at all.
constexpr bool is_control_flow(Prim p) {
  return traits(p).pattern == OpPattern::control;
}
// Its regions are programs over numbers that see nothing but their parameters.
constexpr bool has_scalar_regions(Prim p) {
  return traits(p).tier == Tier::region && !is_control_flow(p);
}
constexpr bool is_random(Prim p) {
  return traits(p).pattern == OpPattern::random;
}
constexpr bool has_side_effect(Prim p) {
  return traits(p).side_effect;
}

// Primitives that a mistake may put in the place of `p`, in the order of its entry.
std::span<const Prim> siblings(Prim p);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_TRAITS_H_
