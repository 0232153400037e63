#include "conformance/mutation/interval.h"

#include <algorithm>
#include <cmath>

#include "prims/graph/traits.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using prims::Graph;
using prims::Node;
using prims::Prim;
using prims::ValueId;
using Known = std::optional<Interval>;

// Operands are looked through this far back: shared ones would be visited again and again.
constexpr int kFarthest = 10;

Known interval(const Graph& g, ValueId v, int depth);

// The numbers of an integer or bool dtype.
Known whole_range(DType t) {
  if (is_bool(t)) return Interval{0, 1};
  if (!is_integral(t) || t == DType::u64) return std::nullopt;
  return Interval{static_cast<long double>(ref::min_integer(t)),
                  static_cast<long double>(ref::max_integer(t))};
}

// What the exact interval becomes as numbers of `t`. Rounding keeps the order, so that the ends
// remain ends; beyond the dtype's range an integer wraps and a float is infinite.
Known held_by(Interval exact, DType t) {
  if (is_complex(t)) return std::nullopt;
  if (is_floating(t)) {
    const Interval rounded{ref::round_to(exact.low, t), ref::round_to(exact.high, t)};
    const bool finite = std::isfinite(rounded.low) && std::isfinite(rounded.high);
    return finite ? Known(rounded) : std::nullopt;
  }
  const Known range = whole_range(t);
  const bool fits = range && exact.low >= range->low && exact.high <= range->high;
  return fits ? Known(exact) : std::nullopt;
}

Interval hull(std::initializer_list<long double> numbers) {
  return {std::min(numbers), std::max(numbers)};
}

Known of_constant(const Node& n) {
  const auto* s = std::get_if<Scalar>(&n.find_attr("value").value);
  if (!s || s->is_complex()) return std::nullopt;
  const long double v = s->is_integral() ? static_cast<long double>(s->to_int()) : s->to_double();
  return std::isfinite(v) ? Known(Interval{v, v}) : std::nullopt;
}

Known of_iota(const Graph& g, const Node& n) {
  const prims::SymInts& shape = g.type(n.results[0]).shape;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  const std::optional<int64_t> size = shape[dim].maybe_constant();
  if (!size || *size < 1) return std::nullopt;
  return Interval{0, static_cast<long double>(*size - 1)};
}

Known of_two(Prim prim, bool integral, const Interval& a, const Interval& b) {
  switch (prim) {
    case Prim::add:
      return Interval{a.low + b.low, a.high + b.high};
    case Prim::sub:
      return Interval{a.low - b.high, a.high - b.low};
    case Prim::mul:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case Prim::min:
      return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Prim::max:
      return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
    case Prim::div: {
      if (b.low <= 0) return std::nullopt;
      const Interval q = hull({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
      return integral ? Interval{std::trunc(q.low), std::trunc(q.high)} : q;
    }
    default:
      return std::nullopt;
  }
}

Known of_one(Prim prim, const Interval& x, bool from_float, DType to) {
  switch (prim) {
    case Prim::floor:
      return Interval{std::floor(x.low), std::floor(x.high)};
    case Prim::ceil:
      return Interval{std::ceil(x.low), std::ceil(x.high)};
    case Prim::neg:
      return Interval{-x.high, -x.low};
    case Prim::convert:
      if (is_bool(to)) return Interval{0, 1};
      return from_float && is_integral(to) ? Interval{std::trunc(x.low), std::trunc(x.high)} : x;
    default:
      return std::nullopt;
  }
}

Known of_node(const Graph& g, const Node& n, int depth) {
  const auto of = [&](size_t operand) { return interval(g, n.operands[operand], depth - 1); };
  const DType from = n.operands.empty() ? DType::boolean : g.type(n.operands[0]).dtype;
  if (n.prim == Prim::constant) return of_constant(n);
  if (n.prim == Prim::iota) return of_iota(g, n);
  if (prims::is_view(n.prim)) return of(0);
  if (n.prim == Prim::select) {
    const Known a = of(1), b = of(2);
    if (!a || !b) return std::nullopt;
    return hull({a->low, a->high, b->low, b->high});
  }
  const Known a = of(0);
  if (!a) return std::nullopt;
  if (n.operands.size() == 1)
    return of_one(n.prim, *a, is_floating(from), g.type(n.results[0]).dtype);
  const Known b = n.operands.size() == 2 ? of(1) : std::nullopt;
  return b ? of_two(n.prim, is_integral(from), *a, *b) : std::nullopt;
}

Known interval(const Graph& g, ValueId v, int depth) {
  if (v == prims::kNoValue) return std::nullopt;
  const DType t = g.type(v).dtype;
  if (depth > 0 && g.producer(v) != Graph::kNoNode) {
    const Node& n = g.node(g.producer(v));
    const Known exact = n.results.size() == 1 ? of_node(g, n, depth) : std::nullopt;
    const Known held = exact ? held_by(*exact, t) : std::nullopt;
    if (held) return held;
  }
  return whole_range(t);
}

}  // namespace

std::optional<Interval> interval_of(const Graph& graph, ValueId v) {
  return interval(graph, v, kFarthest);
}

}  // namespace primset::conformance
