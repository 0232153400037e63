#include "conformance/mutation/equivalence.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "conformance/mutation/graph_analysis.h"
#include "conformance/mutation/interval.h"
#include "prims/graph/traits.h"

namespace primset::conformance {
namespace {

using prims::Graph;
using prims::Node;
using prims::Prim;
using prims::ValueId;
using Pair = std::pair<Prim, Prim>;

bool is_among(std::span<const Pair> pairs, Prim a, Prim b) {
  return std::ranges::any_of(pairs,
                             [&](const Pair& p) { return p == Pair(a, b) || p == Pair(b, a); });
}

bool has_nan(const Graph& g, const Node& node) {
  return !std::ranges::all_of(node.operands, [&](ValueId v) { return never_nan(g, v); });
}

bool has_negative(const Graph& g, const Node& node) {
  return !std::ranges::all_of(node.operands, [&](ValueId v) { return never_negative(g, v); });
}

bool same_without_nan_or_signs(const Graph& g, const Node& node, Prim other) {
  constexpr Pair kByNan[] = {{Prim::min, Prim::fmin}, {Prim::max, Prim::fmax}};
  constexpr Pair kBySign[] = {{Prim::rem, Prim::remainder}, {Prim::div, Prim::floor_div}};
  constexpr Pair kRounded[] = {{Prim::floor, Prim::trunc}};
  const bool integral = is_integral(g.type(node.operands[0]).dtype);
  return (is_among(kByNan, node.prim, other) && !has_nan(g, node)) ||
         (is_among(kBySign, node.prim, other) && integral && !has_negative(g, node)) ||
         (is_among(kRounded, node.prim, other) && !has_negative(g, node));
}

// What a value was converted from is a bool: it is 0 or 1.
bool is_zero_or_one(const Graph& g, ValueId v) {
  const std::optional<Interval> i = interval_of(g, v);
  return i && i->low >= 0 && i->high <= 1;
}

// Numbers with one zero: integers, and what was converted from them.
bool has_one_zero(const Graph& g, ValueId v) {
  for (; g.producer(v) != Graph::kNoNode; v = g.node(g.producer(v)).operands[0]) {
    const Node& n = g.node(g.producer(v));
    if (n.prim == Prim::iota) return true;
    if (n.prim != Prim::convert && !prims::is_view(n.prim)) break;
  }
  return is_integral(g.type(v).dtype);
}

// x / 1 is x * 1; among integers x / 0 is 0, as x * 0 is, and x - 0 is x + 0.
bool same_with_its_second(const Graph& g, const Node& node, Prim other) {
  if (node.operands.size() != 2) return false;
  constexpr Pair kProducts[] = {{Prim::mul, Prim::div}}, kSums[] = {{Prim::add, Prim::sub}};
  const ValueId second = node.operands[1];
  const bool integral = is_integral(g.type(node.operands[0]).dtype);
  if (is_among(kProducts, node.prim, other)) {
    return are_one_number(known_number(g, second), Scalar(1)) ||
           (integral && is_zero_or_one(g, second));
  }
  return is_among(kSums, node.prim, other) && has_one_zero(g, node.operands[0]) &&
         are_one_number(known_number(g, second), Scalar(0));
}

// Of two equal operands it gives these; so do sums and products of bools.
bool gives_equal_operands(const Graph& g, const Node& node, Prim prim) {
  if (node.operands.size() != 2 || node.operands[0] != node.operands[1]) return false;
  const bool bools = is_bool(g.type(node.operands[0]).dtype);
  return prims::traits(prim).idempotent || (bools && (prim == Prim::add || prim == Prim::mul));
}

// Is it never beyond the other one, which would be taken then?
bool is_never_limited(const Graph& g, const Node& node, size_t operand) {
  if (node.prim != Prim::min && node.prim != Prim::max) return false;
  const std::optional<Interval> kept = interval_of(g, node.operands[operand]);
  const std::optional<Interval> other = interval_of(g, node.operands[1 - operand]);
  if (!kept || !other) return false;
  return node.prim == Prim::min ? kept->high <= other->low : kept->low >= other->high;
}

// The matrix that a value is a power of: itself, where it is no product.
ValueId base_of(const Graph& g, ValueId v) {
  if (v == prims::kNoValue || g.producer(v) == Graph::kNoNode) return v;
  const Node& n = g.node(g.producer(v));
  const bool plain = n.prim == Prim::matmul && n.operands[2] == prims::kNoValue;
  if (!plain) return v;
  const ValueId a = base_of(g, n.operands[0]), b = base_of(g, n.operands[1]);
  return a == b ? a : v;
}

// Is every use of it a square or an absolute value? Then it may as well be the negative.
bool has_no_sign(const Graph& g, ValueId v) {
  bool used = false;
  const auto forgets_sign = [&](const Node& n) {
    return n.prim == Prim::abs || (n.prim == Prim::mul && n.operands[0] == v && n.operands[1] == v);
  };
  for (prims::NodeId id = 0; id < g.node_count(); ++id) {
    const Node& n = g.node(id);
    const auto holds_it = [&](const prims::Region& r) {
      return std::ranges::find(r.results, v) != r.results.end();
    };
    if (std::ranges::any_of(n.regions, holds_it)) return false;
    if (std::ranges::find(n.operands, v) == n.operands.end()) continue;
    if (!forgets_sign(n)) return false;
    used = true;
  }
  return used && std::ranges::find(g.body.results, v) == g.body.results.end();
}

}  // namespace

bool are_one_number(const std::optional<Scalar>& a, const std::optional<Scalar>& b) {
  if (!a || !b) return false;
  return a->is_integral() && b->is_integral() ? a->to_int() == b->to_int()
                                              : a->to_complex() == b->to_complex();
}

bool means_the_same(const Graph& graph, const Node& node, Prim other) {
  return same_without_nan_or_signs(graph, node, other) ||
         same_with_its_second(graph, node, other) ||
         (gives_equal_operands(graph, node, node.prim) && gives_equal_operands(graph, node, other));
}

// Where there is one zero, x + 0 is x; else it may be another zero.
bool leaves_alone(const Graph& graph, const Node& node, size_t operand) {
  if (chosen_operand(graph, node) == operand) return true;
  if (node.operands.size() != 2) return false;
  if (gives_equal_operands(graph, node, node.prim)) return true;
  const std::optional<Scalar> other = known_number(graph, node.operands[1 - operand]);
  if (node.prim == Prim::mul) return are_one_number(other, Scalar(1));
  const bool adds = node.prim == Prim::add || (node.prim == Prim::sub && operand == 0);
  const bool adds_nothing =
      adds && has_one_zero(graph, node.operands[operand]) && are_one_number(other, Scalar(0));
  return adds_nothing || is_never_limited(graph, node, operand);
}

bool commutes(const Graph& graph, const Node& node, size_t first) {
  if (prims::is_commutative(node.prim) || (node.prim == Prim::fma && first == 0)) return true;
  if (node.prim == Prim::sub) return has_no_sign(graph, node.results[0]);
  return node.prim == Prim::matmul &&
         base_of(graph, node.operands[0]) == base_of(graph, node.operands[1]);
}

bool decides_nothing(const Graph& graph, const Node& node, std::string_view flag) {
  // Promises and no behaviours; and what says which shapes results have, which stay as they are.
  constexpr std::array<std::string_view, 5> kSilent = {"in_bounds", "ordered", "sorted", "full",
                                                       "vectors"};
  if (std::ranges::find(kSilent, flag) != kSilent.end()) return true;
  if (flag == "hermitian") return !is_complex(graph.type(node.operands[0]).dtype);
  if (flag == "ignore_nan") return never_nan(graph, node.operands[0]);
  // A sum that begins with zeros is the same without them.
  return flag == "include_self" && node.prim == Prim::scatter_reduce_along_dim &&
         node.attr<std::string>("reduce") == "sum" &&
         are_one_number(known_number(graph, node.operands[0]), Scalar(0));
}

bool order_decides_nothing(const Node& node, size_t place, size_t count) {
  const bool halves = node.prim == Prim::fft_r2c || node.prim == Prim::fft_c2r;
  return halves && place + 2 < count;
}

}  // namespace primset::conformance
