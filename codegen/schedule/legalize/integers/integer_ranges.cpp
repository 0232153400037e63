#include "codegen/schedule/legalize/integers/integer_ranges.h"

#include <cstdint>
#include <utility>

#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Attr;
using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::Region;
using prims::SymInt;
using prims::ValueId;
using Range = std::optional<IntegerRange>;

// --- bounds --------------------------------------------------------------------------------------

// Beyond, nothing fits 32 bits, and products of bounds would not fit 64.
constexpr int64_t kFarthest = int64_t{1} << 31;

SymInt lower(const SymInt& a, const SymInt& b) {
  if (a.same(b)) return a;
  const auto less = prims::known_less(a, b);
  return !less ? prims::min(a, b) : *less ? a : b;
}
SymInt upper(const SymInt& a, const SymInt& b) {
  if (a.same(b)) return a;
  const auto less = prims::known_less(a, b);
  return !less ? prims::max(a, b) : *less ? b : a;
}

bool is_near(const SymInt& s) {
  return -kFarthest <= s.hint() && s.hint() <= kFarthest;
}
Range range(const SymInt& low, const SymInt& high) {
  if (!is_near(low) || !is_near(high)) return std::nullopt;
  return IntegerRange{low, high};
}
Range symmetric(const SymInt& magnitude) {
  return range(-magnitude, magnitude);
}

bool is_natural(const IntegerRange& r) {
  return prims::known_less(r.low, 0) == false;
}
SymInt magnitude(const IntegerRange& r) {
  return is_natural(r) ? r.high : upper(-r.low, r.high);
}
bool is_within(const IntegerRange& inner, const IntegerRange& outer) {
  const auto at_most = [](const SymInt& a, const SymInt& b) {
    return a.same(b) || prims::known_less(b, a) == false;
  };
  return at_most(outer.low, inner.low) && at_most(inner.high, outer.high);
}

Range joined(const Range& a, const Range& b) {
  if (!a || !b) return std::nullopt;
  return range(lower(a->low, b->low), upper(a->high, b->high));
}
Range with_zero(const Range& a) {
  return joined(a, IntegerRange{});
}

// --- elements ------------------------------------------------------------------------------------

Range product(const IntegerRange& x, const IntegerRange& y) {
  if (is_natural(x) && is_natural(y)) return range(x.low * y.low, x.high * y.high);
  return symmetric(magnitude(x) * magnitude(y));
}

// Truncated, so that its magnitude is that of x at most; a remainder's is below that of y, too.
Range quotient(const IntegerRange& x, const IntegerRange& y) {
  if (!is_natural(x) || !is_natural(y)) return symmetric(magnitude(x));
  const bool positive = y.low.is_constant() && y.low.constant() > 0;
  return range(0, positive ? prims::floor_div(x.high, y.low) : x.high);
}
Range remainder(const IntegerRange& x) {
  return is_natural(x) ? range(0, x.high) : symmetric(magnitude(x));
}

// Of `count` terms, some of them or none.
Range sum(const Range& x, const SymInt& count) {
  if (!x || !is_near(count)) return std::nullopt;
  return is_natural(*x) ? range(0, x->high * count) : symmetric(magnitude(*x) * count);
}

Range minimum(const Range& x, const Range& y) {
  if (!x || !y) return std::nullopt;
  return range(lower(x->low, y->low), lower(x->high, y->high));
}
Range maximum(const Range& x, const Range& y) {
  if (!x || !y) return std::nullopt;
  return range(upper(x->low, y->low), upper(x->high, y->high));
}

Range of_two(Prim p, const IntegerRange& x, const IntegerRange& y) {
  const bool natural = is_natural(x) && is_natural(y);
  switch (p) {
    case Prim::add:
      return range(x.low + y.low, x.high + y.high);
    case Prim::sub:
      return range(x.low - y.high, x.high - y.low);
    case Prim::mul:
      return product(x, y);
    case Prim::div:
      return quotient(x, y);
    case Prim::rem:
      return remainder(x);
    case Prim::bit_and:
      return natural ? range(0, lower(x.high, y.high)) : std::nullopt;
    case Prim::bit_or:  // no carries: at most the sum
    case Prim::bit_xor:
      return natural ? range(0, x.high + y.high) : std::nullopt;
    case Prim::shift_right:
      return range(lower(x.low, 0), upper(x.high, 0));
    default:
      return std::nullopt;
  }
}

Range of_one(Prim p, const IntegerRange& x) {
  switch (p) {
    case Prim::abs:
      return range(0, magnitude(x));
    case Prim::neg:
      return range(-x.high, -x.low);
    case Prim::bit_not:
      return range(-x.high - 1, -x.low - 1);
    case Prim::sign:
      return range(-1, 1);
    default:
      return std::nullopt;
  }
}

// Every integer of a dtype of 32 bits at most.
Range all_of(DType t) {
  if (is_bool(t)) return range(0, 1);
  if (!is_integral(t) || bits(t) > 32) return std::nullopt;
  const int64_t half = int64_t{1} << (bits(t) - 1);
  return is_signed_integer(t) ? range(-half, half - 1) : range(0, 2 * half - 1);
}

SymInt product_of(const prims::SymInts& shape, const Attr::Ints& dims) {
  SymInt n = 1;
  for (const int64_t d : dims) n *= shape[static_cast<size_t>(d)];
  return n;
}

// --- graphs --------------------------------------------------------------------------------------

class Ranges {
 public:
  explicit Ranges(const Graph& graph) : graph_(graph), ranges_(graph.value_count()) {}

  std::vector<Range> run() && {
    for (const prims::Input& in : graph_.inputs) set(in.value, std::nullopt);
    region(graph_.body);
    return std::move(ranges_);
  }

 private:
  const Range& at(ValueId v) const { return ranges_[v]; }
  const prims::SymInts& shape(ValueId v) const { return graph_.type(v).shape; }

  // A dtype of 32 bits wraps what does not fit.
  void set(ValueId v, const Range& found) {
    const DType t = graph_.type(v).dtype;
    if (!is_integral(t) && !is_bool(t)) return;
    const Range all = all_of(t);
    ranges_[v] = all && (!found || !is_within(*found, *all)) ? all : found;
    if (t == DType::u64 && found && !is_natural(*found)) ranges_[v] = std::nullopt;
  }

  void region(const Region& r) {
    for (const NodeId id : r.nodes) node(graph_.node(id));
  }

  void node(const Node& n) {
    if (!n.regions.empty()) return with_regions(n);
    for (size_t k = 0; k < n.results.size(); ++k) set(n.results[k], result(n, k));
  }

  Range result(const Node& n, size_t k) const {
    if (prims::is_view(n.prim)) return at(n.operands[0]);
    switch (n.prim) {
      case Prim::iota: {
        const SymInt size =
            n.attr<prims::SymInts>("shape")[static_cast<size_t>(n.attr<int64_t>("dim"))];
        return range(0, upper(size - 1, 0));
      }
      case Prim::constant:
        return constant(n);
      case Prim::convert:
      case Prim::dynamic_slice:
        return at(n.operands[0]);
      case Prim::bitcast:  // of a natural number it is the number
        return at(n.operands[0]) && is_natural(*at(n.operands[0])) ? at(n.operands[0])
                                                                   : std::nullopt;
      case Prim::gather:
        return with_zero(at(n.operands[0]));
      case Prim::sort:
        return at(n.operands[k]);
      case Prim::select:
        return joined(at(n.operands[1]), at(n.operands[2]));
      case Prim::pad:
      case Prim::dynamic_update_slice:
        return joined(at(n.operands[0]), at(n.operands[1]));
      case Prim::concatenate:
        return joined_operands(n);
      case Prim::scatter:
      case Prim::scatter_min:
      case Prim::scatter_max:
        return joined(at(n.operands[0]), at(n.operands.back()));
      default:
        return combined(n);
    }
  }

  Range combined(const Node& n) const {
    const Range x = n.operands.empty() ? std::nullopt : at(n.operands[0]);
    switch (n.prim) {
      case Prim::scatter_add: {
        const Range added = sum(at(n.operands.back()), prims::product(shape(n.operands.back())));
        return x && added ? of_two(Prim::add, *x, *added) : std::nullopt;
      }
      case Prim::reduce_sum:
        return sum(x, product_of(shape(n.operands[0]), n.attr<Attr::Ints>("dims")));
      case Prim::scan_sum:
        return sum(x, product_of(shape(n.operands[0]), {n.attr<int64_t>("dim")}));
      case Prim::min:
        return minimum(x, at(n.operands[1]));
      case Prim::max:
        return maximum(x, at(n.operands[1]));
      default:
        break;
    }
    if (!x || !prims::is_core_elementwise(n.prim)) return std::nullopt;
    if (n.operands.size() == 1) return of_one(n.prim, *x);
    const Range y = at(n.operands[1]);
    return y && n.operands.size() == 2 ? of_two(n.prim, *x, *y) : std::nullopt;
  }

  Range joined_operands(const Node& n) const {
    Range all = at(n.operands[0]);
    for (const ValueId v : n.operands) all = joined(all, at(v));
    return all;
  }

  static Range constant(const Node& n) {
    const auto& value = n.find_attr("value").value;
    if (const auto* size = std::get_if<SymInt>(&value)) return range(*size, *size);
    const auto& x = std::get<primset::Scalar>(value);
    if (!x.is_integral() && !x.is_bool()) return std::nullopt;
    return range(x.to_int(), x.to_int());
  }

  // --- regions: ranges that hold before a body is run are kept where they hold behind it ---

  // A body that is in need of more is given it so many times: a remainder comes down to zero, while
  // a counter would go on for ever.
  static constexpr int kWidenings = 2;

  void with_regions(const Node& n) {
    switch (n.prim) {
      case Prim::map:
        return results_of(n, starts(n, n.regions[0].params.size()));
      case Prim::reduce:
      case Prim::scan:
        return combining(n);
      case Prim::for_loop:
      case Prim::while_loop:
        return loop(n);
      default:
        return branches(n);
    }
  }

  std::vector<Range> starts(const Node& n, size_t count) const {
    std::vector<Range> out;
    for (size_t i = 0; i < count; ++i) out.push_back(at(n.operands[i]));
    return out;
  }

  void bind(const Region& r, size_t first, const std::vector<Range>& params) {
    for (size_t i = 0; i < params.size(); ++i) set(r.params[first + i], params[i]);
  }

  void results_of(const Node& n, const std::vector<Range>& params) {
    const Region& body = n.regions[0];
    bind(body, 0, params);
    region(body);
    for (size_t k = 0; k < n.results.size(); ++k) set(n.results[k], at(body.results[k]));
  }

  // Widens those of `kept` that the body's results leave, or forgets them. Whether there were none.
  bool holds(const Region& body, std::vector<Range>& kept, int round) const {
    bool all = true;
    for (size_t i = 0; i < kept.size(); ++i) {
      const Range& made = at(body.results[i]);
      if (!kept[i] || (made && is_within(*made, *kept[i]))) continue;
      kept[i] = round < kWidenings ? joined(kept[i], made) : std::nullopt;
      all = false;
    }
    return all;
  }

  void combining(const Node& n) {
    const Region& body = n.regions[0];
    const size_t count = n.operands.size() / 2;
    std::vector<Range> kept;
    for (size_t i = 0; i < count; ++i)
      kept.push_back(joined(at(n.operands[i]), at(n.operands[count + i])));
    int round = 0;
    do {
      bind(body, 0, kept);
      bind(body, count, kept);
      region(body);
    } while (!holds(body, kept, round++));
    for (size_t k = 0; k < n.results.size(); ++k) set(n.results[k], kept[k]);
  }

  void loop(const Node& n) {
    const bool counts = n.prim == Prim::for_loop;
    const Region& body = n.regions.back();
    std::vector<Range> kept = starts(n, n.operands.size());
    if (counts) set(body.params[0], range(0, upper(n.attr<SymInt>("count") - 1, 0)));
    int round = 0;
    do {
      for (const Region& r : n.regions) {
        bind(r, counts ? 1 : 0, kept);
        region(r);
      }
    } while (!holds(body, kept, round++));
    for (size_t k = 0; k < n.results.size(); ++k)
      set(n.results[k], k < kept.size() ? kept[k] : at(body.results[k]));
  }

  void branches(const Node& n) {
    for (const Region& r : n.regions) {
      for (size_t i = 0; i < r.params.size(); ++i) set(r.params[i], at(n.operands[i + 1]));
      region(r);
    }
    for (size_t k = 0; k < n.results.size(); ++k) {
      Range all = at(n.regions[0].results[k]);
      for (const Region& r : n.regions) all = joined(all, at(r.results[k]));
      set(n.results[k], all);
    }
  }

  const Graph& graph_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<Range> integer_ranges(const Graph& graph) {
  return Ranges(graph).run();
}

}  // namespace primset::schedule
