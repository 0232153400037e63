#include "decomps/primitives/search.h"

#include <limits>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// The element of each row at its place in [0, size); a vector is the row of all.
Val element_at(Tracer& t, const Val& rows, const Val& place) {
  std::vector<ValueId> index = {place.id()};
  std::vector<int64_t> dims = {0};
  if (rows.rank() > 1) {
    index.clear();
    dims.clear();
    for (int64_t d = 0; d < rows.rank(); ++d) {
      const bool last = d + 1 == rows.rank();
      index.push_back(last ? place.id() : t.iota(place.shape(), d, place.dtype()).id());
      dims.push_back(d);
    }
  }
  return t.wrap(t.builder().gather(rows.id(), std::move(index), dims, true, "index"));
}

// How often an interval of `size` places is halved until nothing is left of it.
int rounds_of(const SymInt& size) {
  int rounds = 0;
  while (rounds < 62 && !(size < SymInt(int64_t{1} << rounds))) ++rounds;
  return rounds;
}

}  // namespace

// ATen's binary search: what is not known to be at or behind the value lies before it, so that NaN
// comes last. Its rounds, whose number is the plan's, are written one by one: in a loop each would
// read and write arrays.
Val search_sorted::decompose(Tracer& t, const Val& sequence, const Val& values,
                             const std::optional<Val>& sorter, bool right) {
  const SymInt size = sequence.size(-1);
  const int rounds = rounds_of(size);
  const DType type = rounds < 31 ? DType::i32 : DType::i64;
  Val low = t.constant(0, type, values.shape());
  if (rounds == 0 || values.is_empty()) return convert(low, DType::i64);
  Val high = t.constant(size, type, values.shape());
  const Val last = full_like(low, size - 1), one = full_like(low, 1);
  for (int round = 0; round < rounds; ++round) {
    const Val middle = low + binary(Prim::shift_right, high - low, one);
    const Val at = math::min(middle, last);
    const Val found = element_at(t, sequence, sorter ? element_at(t, *sorter, at) : at);
    const Val behind = right ? gt(found, values) : ge(found, values);
    const Val open = lt(low, high);
    low = where(open & ~behind, middle + one, low);
    high = where(open & behind, middle, high);
  }
  return convert(low, DType::i64);
}

Val bincount::decompose(Tracer& t, const Val& x, const std::optional<Val>& weights, SymInt size,
                        bool in_bounds) {
  const Val each = weights ? *weights : t.constant(1, DType::i64, x.shape());
  const Val none = t.constant(0, each.dtype(), {size});
  if (x.is_empty()) return none;
  return t.wrap(t.builder().scatter(Prim::scatter_add, none.id(), {x.id()}, each.id(), {0},
                                    in_bounds, false, "x"));
}

// What lies in no bin goes to a bin of its own, which is cut off again.
Val histogram::decompose(Tracer& t, const Val& x, const Val& edges,
                         const std::optional<Val>& weights) {
  const SymInt bins = edges.size(0) - 1;
  const auto edge = [&](const SymInt& at) {
    return broadcast_to(reshape(slice(edges, 0, at, at + 1, 1), {}), x.shape());
  };
  const Val behind = t.prim1(Prim::search_sorted, {edges, x, Val()}, {{"right", true}});
  const Val first = math::max(behind, full_like(behind, 1)) - Scalar(1);
  const Val bin = math::min(first, full_like(behind, bins - 1));
  const Val inside = ge(x, edge(0)) & le(x, edge(bins));
  const Val place = where(inside, bin, full_like(bin, bins));
  const Val counts = t.prim1(Prim::bincount, {place, weights ? *weights : Val()},
                             {{"size", bins + 1}, {"in_bounds", true}});
  return convert(slice(counts, 0, 0, bins, 1), x.dtype());
}

}  // namespace primset::decomps::prim
