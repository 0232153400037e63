// Windows of unequal sizes: where each begins and ends along a dim is a tensor's elements.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/primitives/math.h"
#include "decomps/primitives/pooling.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

// The bounds of the windows of a dim, over a tap's grid; bounds of a batch have it in front.
Val spread_bound(const Val& bound, const Tap& tap, size_t d) {
  SymInts shape = bound.shape();
  shape.pop_back();
  const size_t batch = shape.size();
  shape.insert(shape.end(), tap.grid.size(), SymInt(1));
  shape[batch + d] = bound.size(-1);
  SymInts whole(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch));
  whole.insert(whole.end(), tap.grid.begin(), tap.grid.end());
  return broadcast_to(reshape(bound, shape), whole);
}

// Where the taps of windows of unequal sizes lie, and which are inside them.
struct VariableTaps {
  std::vector<Val> at;
  Val inside;

  VariableTaps(const SymInts& shape, const std::vector<Val>& bounds, const Tap& tap) {
    for (size_t d = 0; d < shape.size(); ++d) {
      const DType type = tap.place[d].dtype();
      const Val start = spread_bound(convert(bounds[2 * d], type), tap, d);
      const Val end = spread_bound(convert(bounds[2 * d + 1], type), tap, d);
      const Val place = start + tap.offset[d];
      const Val within = lt(place, end);
      inside = inside.valid() ? inside & within : within;
      at.push_back(math::min(place, full_like(place, shape[d] - 1)));
    }
  }

  // Bounds of a batch are of each of its elements by itself.
  Val read(const Val& x, bool batched) const {
    const Ints dims = last_dims(x, at.size());
    if (!batched) return at_places(x, dims, at);
    std::vector<Val> index;
    for (int64_t d = 0; d < dims[0]; ++d)
      index.push_back(x.tracer().iota(at[0].shape(), d, at[0].dtype()));
    index.insert(index.end(), at.begin(), at.end());
    return at_places(x, last_dims(x, index.size()), index);
  }
};

// Windows along one of several dims, whose results take the dim's place.
struct WindowsAlong {
  int64_t dim;  // of x
  SymInt size, places, reach;
  std::vector<Val> bounds;
  DType type;

  WindowTaps taps(Tracer& t) const { return {t, {places}, {reach}, type}; }
  VariableTaps at(const Tap& tap) const { return {{size}, bounds, tap}; }
  // What a tap reads; outside of the windows it is `outside`.
  Val read(const Val& x, const Tap& tap, const std::function<Val(const Val&)>& outside) const {
    const VariableTaps v = at(tap);
    const Val read = at_places(x, {dim}, v.at);
    return where(v.inside, read, outside(read));
  }
  // From where at_places has it.
  Val in_place(const Val& y) const {
    Ints order;
    for (int64_t k = 0; k + 1 < y.rank(); ++k) order.push_back(k);
    order.insert(order.begin() + dim, y.rank() - 1);
    return transpose(y, order);
  }
};

std::vector<WindowsAlong> windows_along(const Val& x, const std::vector<Val>& bounds,
                                        const SymInts& places, const SymInts& reach) {
  const SymInts shape = last_sizes(x, reach.size());
  const Ints dims = last_dims(x, reach.size());
  std::vector<WindowsAlong> list;
  for (const size_t d : order_by_growth(shape, places))
    list.push_back({dims[d],
                    shape[d],
                    places[d],
                    reach[d],
                    {bounds[2 * d], bounds[2 * d + 1]},
                    place_type(prims::product(shape))});
  return list;
}

// Sums along one dim after the other: as many additions as the sides of a window are long, and not
// as it has elements.
Val sums_by_dim(const Val& x, const std::vector<WindowsAlong>& list) {
  Val sum = x;
  for (const WindowsAlong& w : list)
    sum = w.in_place(
        w.taps(x.tracer()).sum([&](const Tap& tap) { return w.read(sum, tap, zero_like); }));
  return sum;
}

// What is of a window, for each tap that `read` holds of it.
Val of_window(const Val& x, const Tap& tap, const Val& read) {
  return broadcast_to(tap.written.empty() ? unsqueeze(x, x.rank()) : x, read.shape());
}

// The position of each window's maximum among those of x. Of equal ones it is the least position,
// of NaNs the greatest, for which positions count downwards there.
Val positions_of(const WindowsAlong& w, const Val& maxima, const Val& x, const Val& positions) {
  const DType type = positions.dtype();
  const auto all = [&](int64_t n) { return x.tracer().constant(n, type, maxima.shape()); };
  const Val is_none = is_nan(maxima), sign = where(is_none, all(-1), all(1));
  const Val least = w.taps(x.tracer()).least([&](const Tap& tap) {
    const VariableTaps v = w.at(tap);
    const Val read = at_places(x, {w.dim}, v.at);
    const Val same =
        where(of_window(is_none, tap, read), is_nan(read), eq(read, of_window(maxima, tap, read)));
    const Val position = at_places(positions, {w.dim}, v.at) * of_window(sign, tap, read);
    return where(v.inside & same, position, full_like(position, last_place(type)));
  });
  return least * sign;
}

// The same of maxima, each with its position.
std::pair<Val, Val> maxima_by_dim(const Val& x, const std::vector<WindowsAlong>& list) {
  Tracer& t = x.tracer();
  const SymInts shape = last_sizes(x, list.size());
  std::vector<Val> at;
  for (size_t d = 0; d < shape.size(); ++d)
    at.push_back(t.iota(shape, static_cast<int64_t>(d), list[0].type));
  Val best = x, positions = broadcast_to(flat_position(shape, at), x.shape());
  for (const WindowsAlong& w : list) {
    const Val maxima = w.taps(t).greatest([&](const Tap& tap) {
      return w.read(best, tap, [&](const Val& v) { return least_number(t, v.dtype(), v.shape()); });
    });
    positions = w.in_place(positions_of(w, maxima, best, positions));
    best = w.in_place(maxima);
  }
  return {best, convert(positions, DType::i64)};
}

// Where windows are more than one element long in several dims.
bool is_reduced_by_dim(const SymInts& reach) {
  return std::ranges::count_if(reach, [](const SymInt& r) { return r.hint() > 1; }) > 1;
}

}  // namespace

std::tuple<Val, Val> variable_window_reduce::decompose(Tracer& t, const Val& x,
                                                       const std::vector<Val>& bounds,
                                                       const SymInts& reach,
                                                       const std::string& reduce) {
  const SymInts shape = last_sizes(x, reach.size());
  SymInts places;
  for (size_t d = 0; d < reach.size(); ++d) places.push_back(bounds[2 * d].size(-1));
  const WindowTaps taps(t, places, reach, place_type(prims::product(shape)));
  const bool batched = bounds[0].rank() > 1;
  const bool by_dim = !batched && is_reduced_by_dim(reach);
  if (reduce == "sum" && by_dim) {
    const Val wide = opmath(x);
    const Val y = convert(sums_by_dim(wide, windows_along(x, bounds, places, reach)), x.dtype());
    return {y, t.constant(0, DType::i64, y.shape())};
  }
  if (reduce == "sum") {
    const Val y = taps.sum([&](const Tap& tap) {
      const VariableTaps v(shape, bounds, tap);
      const Val read = v.read(x, batched);
      return where(v.inside, read, full_like(read, 0));
    });
    return {y, t.constant(0, DType::i64, y.shape())};
  }
  require(reduce == "max", ErrorCode::internal,
          fmt::format("variable_window_reduce has no reduction '{}'", reduce));
  if (by_dim) return maxima_by_dim(x, windows_along(x, bounds, places, reach));
  const auto [y, index] = taps.maximum([&](const Tap& tap) -> WindowTaps::Candidate {
    const VariableTaps v(shape, bounds, tap);
    const Val read = v.read(x, batched);
    return {where(v.inside, read, least_number(t, x.dtype(), read.shape())),
            flat_position(shape, v.at)};
  });
  return {y, convert(index, DType::i64)};
}

}  // namespace primset::decomps::prim
