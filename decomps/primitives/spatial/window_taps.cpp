#include "decomps/primitives/spatial/window_taps.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

// Beyond it a kernel's code grows more than its time shrinks.
constexpr int64_t kWrittenTaps = 64;

bool is_written_out(const SymInts& reach) {
  int64_t taps = 1;
  for (const SymInt& r : reach) {
    if (r.hint() > kWrittenTaps) return false;
    taps *= std::max<int64_t>(r.hint(), 1);
  }
  return taps <= kWrittenTaps;
}

// Whether b wins over a, in any order of combination.
Val second_wins(const Val& a, const Val& a_at, const Val& b, const Val& b_at) {
  const Val by_value = gt(b, a) | (eq(b, a) & lt(b_at, a_at));
  if (!is_floating(a.dtype())) return by_value;
  return where(is_nan(b), ~is_nan(a) | gt(b_at, a_at), ~is_nan(a) & by_value);
}

}  // namespace

WindowTaps::WindowTaps(Tracer& t, SymInts places, const SymInts& reach, DType index)
    : t_(t),
      places_(std::move(places)),
      reach_(known_if_few(reach)),
      index_(index),
      written_out_(is_written_out(reach_)) {}

std::vector<Tap> WindowTaps::taps() const {
  Tap all{places_, {}, {}, {}};
  if (!written_out_) all.grid.insert(all.grid.end(), reach_.begin(), reach_.end());
  const auto n = static_cast<int64_t>(places_.size());
  for (int64_t d = 0; d < n; ++d) {
    all.place.push_back(t_.iota(all.grid, d, index_));
    if (!written_out_) all.offset.push_back(t_.iota(all.grid, n + d, index_));
  }
  std::vector<Tap> list{std::move(all)};
  for (size_t d = 0; written_out_ && d < places_.size(); ++d) {
    std::vector<Tap> longer;
    for (const Tap& begun : list) {
      for (int64_t k = 0; k < reach_[d].constant(); ++k) {
        longer.push_back(begun);
        longer.back().written.push_back(k);
        longer.back().offset.push_back(t_.constant(k, index_, places_));
      }
    }
    list = std::move(longer);
  }
  return list;
}

std::vector<int64_t> WindowTaps::offset_dims(int64_t rank) const {
  std::vector<int64_t> dims;
  for (size_t i = reach_.size(); i-- > 0;) dims.push_back(rank - 1 - static_cast<int64_t>(i));
  return dims;
}

Val WindowTaps::reduced(Prim pair, Prim whole, const Term& term) const {
  Val all;
  for (const Tap& tap : taps()) {
    const Val v = term(tap);
    all = all.valid() ? binary(pair, all, v) : v;
  }
  return written_out_ ? all : reduce(whole, all, offset_dims(all.rank()), false);
}

Val WindowTaps::sum(const Term& term) const {
  return reduced(Prim::add, Prim::reduce_sum, term);
}

Val WindowTaps::greatest(const Term& term) const {
  return reduced(Prim::max, Prim::reduce_max, term);
}

Val WindowTaps::least(const Term& term) const {
  return reduced(Prim::min, Prim::reduce_min, term);
}

// Written out, taps come by rising position.
WindowTaps::Candidate WindowTaps::maximum(
    const std::function<Candidate(const Tap&)>& candidate) const {
  Val best, at;
  for (const Tap& tap : taps()) {
    const auto [v, position] = candidate(tap);
    if (best.valid()) {
      const Val wins = is_floating(v.dtype()) ? gt(v, best) | is_nan(v) : gt(v, best);
      best = where(wins, v, best);
      at = where(wins, position, at);
    } else {
      best = v;
      at = broadcast_to(position, v.shape());
    }
  }
  if (written_out_) return {best, at};
  const auto region =
      t_.scalar_region({best.dtype(), at.dtype(), best.dtype(), at.dtype()},
                       [](const std::vector<Val>& v) -> std::vector<Val> {
                         const Val second = second_wins(v[0], v[1], v[2], v[3]);
                         return {where(second, v[2], v[0]), where(second, v[3], v[1])};
                       });
  const auto out = t_.prim(
      Prim::reduce,
      {best, at, least_number(t_, best.dtype()), t_.constant(last_place(at.dtype()), at.dtype())},
      {{"dims", offset_dims(best.rank())}}, {region});
  return {out[0], out[1]};
}

SymInts known_if_few(const SymInts& reach) {
  if (!is_written_out(reach)) return reach;
  SymInts known;
  for (const SymInt& r : reach) known.push_back(r.specialize());
  return known;
}

int64_t last_place(DType type) {
  return type == DType::i32 ? INT32_MAX : INT64_MAX;
}

Val at_places(const Val& x, const std::vector<int64_t>& dims, const std::vector<Val>& index) {
  Tracer& t = x.tracer();
  std::vector<ValueId> indices;
  for (const Val& i : index) indices.push_back(i.id());
  const Val grid_first = t.wrap(t.builder().gather(x.id(), indices, dims, true, "index"));
  const int64_t rank = grid_first.rank(), grid = index[0].rank();
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back((d + grid) % rank);
  return transpose(grid_first, order);
}

std::vector<size_t> order_by_growth(const SymInts& from, const SymInts& to) {
  std::vector<size_t> shorter, longer;
  for (size_t d = 0; d < from.size(); ++d)
    (to[d].hint() > from[d].hint() ? longer : shorter).push_back(d);
  shorter.insert(shorter.end(), longer.rbegin(), longer.rend());
  return shorter;
}

Val bounded(const Val& x, const SymInt& low, const SymInt& high) {
  return math::min(math::max(x, full_like(x, low)), full_like(x, high));
}

std::vector<int64_t> last_dims(const Val& x, size_t count) {
  std::vector<int64_t> list;
  for (size_t d = 0; d < count; ++d) list.push_back(x.rank() - static_cast<int64_t>(count - d));
  return list;
}

SymInts last_sizes(const Val& x, size_t count) {
  const SymInts shape = x.shape();
  require(shape.size() >= count, ErrorCode::runtime,
          fmt::format("expected an input of at least {} dims, but got {}", count, shape.size()));
  return {shape.end() - static_cast<std::ptrdiff_t>(count), shape.end()};
}

Val flat_position(const SymInts& shape, const std::vector<Val>& at) {
  Val sum = at[0];
  for (size_t d = 1; d < at.size(); ++d) sum = sum * full_like(sum, shape[d]) + at[d];
  return sum;
}

Val zero_like(const Val& x) {
  return full_like(x, 0);
}

Val least_number(Tracer& t, DType dtype, const SymInts& shape) {
  if (is_floating(dtype)) return t.constant(-math::kInfinity, dtype, shape);
  if (is_unsigned_integer(dtype)) return t.constant(0, dtype, shape);
  return t.constant(INT64_MIN >> (64 - bits(dtype)), dtype, shape);
}

}  // namespace primset::decomps
