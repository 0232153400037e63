#include "codegen/schedule/legalize/scalar_regions.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prims/graph/rewriter.h"
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
using prims::SymInts;
using prims::ValueId;
using prims::ValueType;
using Values = prims::Builder::Values;
using Ints = std::vector<int64_t>;

// The dims from `first` to `last`, that one excluded.
Ints dims_between(size_t first, size_t last) {
  Ints out;
  for (size_t d = first; d < last; ++d) out.push_back(static_cast<int64_t>(d));
  return out;
}

Ints inverse(const Ints& permutation) {
  Ints out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

class Expansion {
 public:
  explicit Expansion(const Graph& from)
      : to_(from.shared_context()),
        b_(to_),
        rewriter_(from, b_, [this](prims::Rewriter& r, NodeId id, const Values& operands) {
          return rewritten(r.from().node(id), operands);
        }) {}

  Graph run() && {
    rewriter_.graph();
    return std::move(to_);
  }

 private:
  std::optional<Values> rewritten(const Node& n, const Values& operands) {
    if (n.prim == Prim::map) return applied(n.regions[0], operands, b_.shape(operands[0]));
    if (n.prim == Prim::reduce) return reduced(n, operands);
    if (n.prim == Prim::scan) return scanned(n, operands);
    if (n.prim == Prim::for_loop) return counted(n, operands);
    return std::nullopt;
  }

  using Body = std::function<Values(ValueId index, const Values& carried)>;

  // A loop whose index is a value that it carries: primitives read their operands from memory, and
  // the loop's own counter is not there.
  Values loop(const SymInt& count, const Values& starts, int64_t stacked, const Body& body) {
    Values carried = {b_.constant(Scalar(0), DType::i64)};
    carried.insert(carried.end(), starts.begin(), starts.end());
    std::vector<ValueType> types = {{DType::i64, {}}};
    for (ValueId v : carried) types.push_back(b_.type(v));
    std::vector<Region> regions;
    regions.push_back(b_.region(types, [&](std::span<const ValueId> params) {
      const ValueId one = b_.constant(Scalar(1), DType::i64);
      Values next = {b_.binary(Prim::add, params[1], one)};
      const Values made = body(params[1], Values(params.begin() + 2, params.end()));
      next.insert(next.end(), made.begin(), made.end());
      return next;
    }));
    Values results = b_.add(Prim::for_loop, carried, {{"count", count}, {"stacked", stacked}},
                            std::move(regions));
    results.erase(results.begin());
    return results;
  }

  Values loop(const Node& n, const Values& starts, const Body& body) {
    return loop(n.attr<SymInt>("count"), starts, n.attr<int64_t>("stacked"), body);
  }
  Values counted(const Node& n, const Values& operands) {
    return loop(n, operands, [&](ValueId index, const Values& carried) {
      Values arguments = {index};
      arguments.insert(arguments.end(), carried.begin(), carried.end());
      return rewriter_.inlined(n.regions[0], arguments);
    });
  }

  // --- programs over scalars, applied to arrays of one shape ------------------------------------

  Values applied(const Region& program, std::span<const ValueId> arguments, const SymInts& shape) {
    const SymInts outer = std::exchange(shape_, shape);
    const auto at = [&](const auto& values) {
      Values out;
      for (ValueId v : values) out.push_back(arrays_.at(v));
      return out;
    };
    for (size_t i = 0; i < arguments.size(); ++i) arrays_[program.params[i]] = arguments[i];
    for (NodeId id : program.nodes) {
      const Node& n = rewriter_.from().node(id);
      const Values made = over_arrays(n, at(n.operands));
      for (size_t i = 0; i < made.size(); ++i) arrays_[n.results[i]] = made[i];
    }
    Values results = at(program.results);
    shape_ = outer;
    return results;
  }
  Values applied(const Region& program, std::span<const ValueId> arguments) {
    return applied(program, arguments, SymInts(shape_));
  }

  Values over_arrays(const Node& n, const Values& operands) {
    if (n.prim == Prim::cond) return branched(n, operands);
    if (n.prim == Prim::while_loop) return repeated(n, operands);
    if (n.prim == Prim::for_loop) return counted_over_arrays(n, operands);
    std::vector<Attr> attrs = n.attrs;
    for (Attr& a : attrs) {
      if (a.name == "shape") a.value = shape_;
    }
    return b_.add(n.prim, operands, std::move(attrs));
  }

  // Elements that a loop has ended for, or that take the other branch, keep what they have.
  Values selected(ValueId p, const Values& yes, const Values& no) {
    Values out;
    for (size_t i = 0; i < yes.size(); ++i) out.push_back(b_.select(p, yes[i], no[i]));
    return out;
  }

  // Both branches, each with its own elements alone in loops, which need not end for others.
  Values branched(const Node& n, const Values& operands) {
    const ValueId p = operands[0];
    const std::span<const ValueId> arguments = std::span(operands).subspan(1);
    const auto branch = [&](const Region& r, ValueId taken) {
      const std::optional<ValueId> outer = std::exchange(active_, both(active_, taken));
      Values results = applied(r, arguments);
      active_ = outer;
      return results;
    };
    const Values yes = branch(n.regions[0], p);
    const Values no = branch(n.regions[1], b_.unary(Prim::bit_not, p));
    return selected(p, yes, no);
  }

  ValueId both(std::optional<ValueId> a, ValueId b) {
    return a ? b_.binary(Prim::bit_and, *a, b) : b;
  }

  // The elements that the loop goes on for, and whether there are any.
  ValueId going_on(const Region& test, std::span<const ValueId> carried,
                   std::optional<ValueId> active) {
    return both(active, applied(test, carried)[0]);
  }
  ValueId any(ValueId p) { return b_.reduce(Prim::reduce_or, p, dims_between(0, shape_.size())); }

  Values repeated(const Node& n, const Values& operands) {
    std::vector<ValueType> types;
    for (ValueId v : operands) types.push_back(b_.type(v));
    const std::optional<ValueId> active = active_;
    std::vector<Region> regions;
    regions.push_back(b_.region(types, [&](std::span<const ValueId> carried) {
      return Values{any(going_on(n.regions[0], carried, active))};
    }));
    regions.push_back(b_.region(types, [&](std::span<const ValueId> carried) {
      const ValueId p = going_on(n.regions[0], carried, active);
      const std::optional<ValueId> outer = std::exchange(active_, p);
      const Values next = applied(n.regions[1], carried);
      active_ = outer;
      return selected(p, next, Values(carried.begin(), carried.end()));
    }));
    return b_.add(Prim::while_loop, operands, {}, std::move(regions));
  }

  Values counted_over_arrays(const Node& n, const Values& operands) {
    return loop(n, operands, [&](ValueId index, const Values& carried) {
      Values arguments = {b_.broadcast_in_dim(index, shape_, {})};
      arguments.insert(arguments.end(), carried.begin(), carried.end());
      return applied(n.regions[0], arguments);
    });
  }

  // --- combiners, from slice to slice -----------------------------------------------------------

  struct Slices {
    Values xs;      // [count, rest...]
    Values starts;  // [rest...]: the neutral elements
    SymInt count = 0;
    SymInts rest;
  };

  // `order`: the dims that are combined, then the rest.
  Slices slices(const Values& operands, const Ints& order, size_t combined) {
    Slices s;
    const size_t half = operands.size() / 2;
    const SymInts shape = b_.shape(operands[0]);
    s.count = 1;
    for (size_t d = 0; d < order.size(); ++d) {
      const SymInt& size = shape[static_cast<size_t>(order[d])];
      if (d < combined)
        s.count *= size;
      else
        s.rest.push_back(size);
    }
    SymInts rows = s.rest;
    rows.insert(rows.begin(), s.count);
    for (size_t i = 0; i < half; ++i) {
      s.xs.push_back(b_.reshape(b_.transpose(operands[i], order), rows));
      s.starts.push_back(b_.broadcast_in_dim(operands[half + i], s.rest, {}));
    }
    return s;
  }

  // A loop over the slices that combines each with what there is; `stacked`: and keeps every step.
  Values combined(const Region& combiner, const Slices& s, bool stacked) {
    if (s.count == SymInt(0)) return of_nothing(s, stacked);
    return loop(s.count, s.starts, static_cast<int64_t>(stacked ? s.xs.size() : 0),
                [&](ValueId index, const Values& carried) {
                  Values arguments = carried;
                  for (ValueId x : s.xs) arguments.push_back(slice_at(x, index, s.rest));
                  Values next = applied(combiner, arguments, s.rest);
                  const Values steps = next;
                  if (stacked) next.insert(next.end(), steps.begin(), steps.end());
                  return next;
                });
  }

  // There is no slice to take.
  Values of_nothing(const Slices& s, bool stacked) {
    Values out = s.starts;
    for (size_t i = 0; stacked && i < s.xs.size(); ++i) out.push_back(s.xs[i]);
    return out;
  }

  ValueId slice_at(ValueId x, ValueId index, const SymInts& rest) {
    Values starts = {index};
    starts.resize(rest.size() + 1, b_.constant(Scalar(0), DType::i64));
    SymInts sizes = rest;
    sizes.insert(sizes.begin(), SymInt(1));
    return b_.reshape(b_.dynamic_slice(x, starts, sizes), rest);
  }

  Values reduced(const Node& n, const Values& operands) {
    const auto& dims = n.attr<Ints>("dims");
    Ints order = dims;
    for (int64_t d : dims_between(0, b_.rank(operands[0]))) {
      if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
    }
    return combined(n.regions[0], slices(operands, order, dims.size()), false);
  }

  Values scanned(const Node& n, const Values& operands) {
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    Ints order = dims_between(0, b_.rank(operands[0]));
    std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(dim),
                order.begin() + static_cast<ptrdiff_t>(dim) + 1);
    const Slices s = slices(operands, order, 1);
    const Values all = combined(n.regions[0], s, true);
    Values out;
    for (size_t i = s.xs.size(); i < all.size(); ++i)
      out.push_back(b_.transpose(all[i], inverse(order)));
    return out;
  }

  Graph to_;
  prims::Builder b_;
  prims::Rewriter rewriter_;
  std::unordered_map<ValueId, ValueId> arrays_;  // what the programs' numbers become
  SymInts shape_;                                // of the arrays that the program is applied to
  std::optional<ValueId> active_{};              // the elements that take this branch; none: all do
};

}  // namespace

Graph expand_scalar_regions(const Graph& graph) {
  return Expansion(graph).run();
}

}  // namespace primset::schedule
