#include "conformance/mutation/graph_analysis.h"

#include <algorithm>
#include <cmath>

#include "conformance/mutation/interval.h"
#include "prims/graph/traits.h"
#include "prims/reference/float_format.h"

namespace primset::conformance {
namespace {

namespace ref = prims::reference;
using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::Region;
using prims::ValueId;

// Values are looked through this far back: shared operands would be visited again and again.
constexpr int kDepth = 8;

// Bits of an integer's greatest number.
int digits_of(DType t) {
  return bits(t) - (is_unsigned_integer(t) ? 0 : 1);
}

std::optional<Scalar> number(const Graph& g, ValueId v, int depth);

std::optional<bool> truth(const Graph& g, ValueId v, int depth) {
  std::optional<Scalar> s = number(g, v, depth);
  return s ? std::optional(s->to_bool()) : std::nullopt;
}

// The dtype whose numbers it holds: what it was converted from.
DType source_type(const Graph& g, ValueId v) {
  const NodeId n = g.producer(v);
  const bool converted = n != Graph::kNoNode && g.node(n).prim == Prim::convert;
  return g.type(converted ? g.node(n).operands[0] : v).dtype;
}

// Where the two lie beside each other.
std::optional<bool> by_intervals(const Graph& g, Prim prim, ValueId a, ValueId b) {
  const std::optional<Interval> x = interval_of(g, a), y = interval_of(g, b);
  if (!x || !y) return std::nullopt;
  const bool apart = x->high < y->low || y->high < x->low;
  if (prim == Prim::eq) return apart ? std::optional(false) : std::nullopt;
  if (x->high < y->low || (prim == Prim::le && x->high <= y->low)) return true;
  const bool greater = y->high < x->low || (prim == Prim::lt && y->high <= x->low);
  return greater ? std::optional(false) : std::nullopt;
}

std::optional<Scalar> compared(const Graph& g, const Node& n, int depth) {
  ValueId a = n.operands[0], b = n.operands[1];
  if (a == b && never_nan(g, a)) return Scalar(n.prim != Prim::lt);
  const auto is_zero = [&](ValueId v) { return truth(g, v, depth) == false; };
  if (n.prim == Prim::lt && never_negative(g, a) && is_zero(b)) return Scalar(false);
  if (n.prim == Prim::le && never_negative(g, b) && is_zero(a)) return Scalar(true);
  const std::optional<bool> known = by_intervals(g, n.prim, a, b);
  return known ? std::optional(Scalar(*known)) : std::nullopt;
}

// Of bools.
std::optional<Scalar> joined(const Graph& g, const Node& n, int depth) {
  bool all = n.prim == Prim::bit_and;
  std::optional<bool> a = truth(g, n.operands[0], depth), b = truth(g, n.operands[1], depth);
  if (a == !all || b == !all) return Scalar(!all);
  return a && b ? std::optional(Scalar(all)) : std::nullopt;
}

// Zero and one are themselves in every dtype; other numbers may be rounded.
std::optional<Scalar> converted(const Scalar& s, DType from, DType to) {
  if (from == to) return s;
  if (is_bool(to)) return Scalar(s.to_bool());
  if (!s.to_bool() && !std::signbit(s.to_double())) return Scalar(0);
  return s.to_complex() == 1.0 ? std::optional(Scalar(1)) : std::nullopt;
}

std::optional<Scalar> chosen(const Graph& g, const Node& n, int depth) {
  std::optional<bool> condition = truth(g, n.operands[0], depth);
  if (condition) return number(g, n.operands[*condition ? 1 : 2], depth);
  std::optional<Scalar> a = number(g, n.operands[1], depth), b = number(g, n.operands[2], depth);
  return a == b ? a : std::nullopt;
}

// Constant propagation from the value backwards, over at most `depth` nodes.
std::optional<Scalar> number(const Graph& g, ValueId v, int depth) {
  if (v == prims::kNoValue || g.producer(v) == Graph::kNoNode || depth == 0) return std::nullopt;
  const Node& n = g.node(g.producer(v));
  auto of = [&](size_t operand) { return number(g, n.operands[operand], depth - 1); };
  const bool bools = is_bool(g.type(v).dtype);
  switch (n.prim) {
    case Prim::constant: {
      const auto* s = std::get_if<Scalar>(&n.find_attr("value").value);
      return s ? std::optional(*s) : std::nullopt;
    }
    case Prim::broadcast_in_dim:
    case Prim::reshape:
    case Prim::transpose:
      return of(0);
    case Prim::convert: {
      std::optional<Scalar> s = of(0);
      if (!s) return std::nullopt;
      return converted(*s, g.type(n.operands[0]).dtype, g.type(v).dtype);
    }
    case Prim::real:
    case Prim::imag: {
      std::optional<Scalar> s = of(0);
      if (!s) return std::nullopt;
      return Scalar(n.prim == Prim::real ? s->to_double() : s->imag());
    }
    case Prim::bit_not: {
      std::optional<Scalar> s = of(0);
      return s && bools ? std::optional(Scalar(!s->to_bool())) : std::nullopt;
    }
    case Prim::bit_and:
    case Prim::bit_or:
      return bools ? joined(g, n, depth - 1) : std::nullopt;
    case Prim::eq:
    case Prim::lt:
    case Prim::le:
      return compared(g, n, depth - 1);
    case Prim::select:
      return chosen(g, n, depth - 1);
    default:
      return std::nullopt;
  }
}

class Liveness {
 public:
  explicit Liveness(const Graph& graph) : g_(graph), live_(graph.node_count()) {
    for (ValueId v : g_.body.results) use(v);
    find_checks(g_.body);
  }
  std::vector<bool> take() { return std::move(live_); }

 private:
  void use(ValueId v) {
    if (v == prims::kNoValue || g_.producer(v) == Graph::kNoNode) return;
    keep(g_.producer(v));
  }
  void keep(NodeId n) {
    if (live_[n]) return;
    live_[n] = true;
    const Node& node = g_.node(n);
    // Of what a select never chooses nothing is seen. Its condition matters: another might choose.
    if (std::optional<size_t> chosen = chosen_operand(g_, node)) {
      use(node.operands[0]);
      return use(node.operands[*chosen]);
    }
    for (ValueId v : node.operands) use(v);
    for (const Region& r : g_.node(n).regions) {
      for (ValueId v : r.results) use(v);
    }
  }
  // A check counts with no use of it, and so does what holds one.
  bool find_checks(const Region& region) {
    bool found = false;
    for (NodeId n : region.nodes) {
      bool counts = g_.node(n).prim == Prim::check;
      for (const Region& r : g_.node(n).regions) counts |= find_checks(r);
      if (counts) keep(n);
      found |= counts;
    }
    return found;
  }

  const Graph& g_;
  std::vector<bool> live_;
};

bool is_number_of(const Scalar& s, DType t) {
  if (is_integral(t) || is_bool(t)) return false;
  return s.is_bool() ||
         (s.is_floating() && !is_complex(t) &&
          (std::isnan(s.to_double()) || ref::round_to(s.to_double(), t) == s.to_double())) ||
         (s.is_integer() && std::abs(s.to_double()) <= std::ldexp(1.0, ref::format(t).precision));
}

bool fits_to_depth(const Graph& g, ValueId v, DType t, int depth) {
  if (holds(t, g.type(v).dtype)) return true;
  if (std::optional<Scalar> s = number(g, v, depth)) return is_number_of(*s, t);
  if (depth == 0 || g.producer(v) == Graph::kNoNode) return false;
  const Node& n = g.node(g.producer(v));
  const auto operand_fits = [&](size_t i) { return fits_to_depth(g, n.operands[i], t, depth - 1); };
  if (n.prim == Prim::convert) {
    const DType from = g.type(n.operands[0]).dtype, to = g.type(v).dtype;
    // The real part of a complex number remains.
    if (is_complex(from) && is_floating(to)) {
      return holds(to, real_type(from)) && holds(t, real_type(from));
    }
    return (holds(to, from) || holds(to, t)) && operand_fits(0);
  }
  if (n.prim == Prim::select) return operand_fits(1) && operand_fits(2);
  return (prims::is_view(n.prim) || n.prim == Prim::gather) && operand_fits(0);
}

}  // namespace

// A dtype without infinities may take NaN for what it cannot hold.
bool never_nan(const Graph& g, ValueId v) {
  const DType own = g.type(v).dtype, t = source_type(g, v);
  if (is_integral(own) || is_bool(own)) return true;
  if ((is_integral(t) || is_bool(t)) && ref::format(own).has_infinity) return true;
  return interval_of(g, v).has_value();
}

// Of an unsigned integer that became a signed one of as many bits nothing is known.
bool never_negative(const Graph& g, ValueId v) {
  const DType own = g.type(v).dtype, t = source_type(g, v);
  if (is_unsigned_integer(own) || (is_floating(own) && (is_unsigned_integer(t) || is_bool(t))))
    return true;
  const std::optional<Interval> i = interval_of(g, v);
  return i && i->low >= 0;
}

std::vector<bool> live_nodes(const Graph& graph) {
  return Liveness(graph).take();
}

bool is_empty(const Graph& graph, ValueId v) {
  const prims::SymInts& shape = graph.type(v).shape;
  return std::any_of(shape.begin(), shape.end(),
                     [](const prims::SymInt& s) { return prims::known_less(s, 1) == true; });
}

std::optional<size_t> chosen_operand(const Graph& graph, const Node& node) {
  if (node.prim != Prim::select) return std::nullopt;
  const std::optional<Scalar> condition = known_number(graph, node.operands[0]);
  if (!condition) return std::nullopt;
  return condition->to_bool() ? 1 : 2;
}

std::optional<Scalar> known_number(const Graph& graph, ValueId v) {
  return number(graph, v, kDepth);
}

bool holds(DType wide, DType narrow) {
  if (wide == narrow || is_bool(narrow)) return true;
  if (is_complex(narrow)) return is_complex(wide) && holds(real_type(wide), real_type(narrow));
  if (is_complex(wide)) return holds(real_type(wide), narrow);
  if (is_integral(wide) && is_integral(narrow)) {
    return ref::min_integer(wide) <= ref::min_integer(narrow) &&
           digits_of(wide) >= digits_of(narrow);
  }
  if (!is_floating(wide)) return false;
  const ref::Format& w = ref::format(wide);
  if (is_integral(narrow)) {
    return digits_of(narrow) <= w.precision && digits_of(narrow) <= w.max_exponent;
  }
  const ref::Format& n = ref::format(narrow);
  return w.precision >= n.precision && w.max_finite >= n.max_finite &&
         ref::ulp(0, wide) <= ref::ulp(0, narrow) && w.has_infinity >= n.has_infinity;
}

bool fits(const Graph& graph, ValueId v, DType t) {
  return fits_to_depth(graph, v, t, kDepth);
}

}  // namespace primset::conformance
