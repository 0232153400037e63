// Pooling reads what a window covers; its gradients gather, for each element, from the windows that
// cover it, so that they add in a fixed order and no two threads write one element.
#include "decomps/primitives/pooling.h"

#include <fmt/format.h>

#include <algorithm>

#include "decomps/primitives/math.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

struct Pooling {
  const SymInts &window, &strides, &padding;
  SymInts dilations, shape, places;  // of the pooled dims

  size_t dims() const { return window.size(); }
  SymInt reach(size_t d) const { return (window[d] - 1) * dilations[d] + 1; }
};

Ints last_dims(const Val& x, size_t dims) {
  Ints list;
  for (size_t d = 0; d < dims; ++d) list.push_back(x.rank() - static_cast<int64_t>(dims - d));
  return list;
}

SymInts ones(size_t count) {
  return SymInts(count, SymInt(1));
}

// x with `value` around it, as far as windows go.
Val field_of(const Val& x, const Pooling& p, const Val& value) {
  SymInts low(static_cast<size_t>(x.rank()), SymInt(0)), high = low, none = low;
  const size_t batch = low.size() - p.dims();
  for (size_t d = 0; d < p.dims(); ++d) {
    low[batch + d] = p.padding[d];
    high[batch + d] = (p.places[d] - 1) * p.strides[d] + p.reach(d) - p.shape[d] - p.padding[d];
  }
  return x.tracer().wrap(x.tracer().builder().pad(x.id(), value.id(), low, high, none));
}

// What a tap reads of all windows.
Val read_tap(const Val& field, const Pooling& p, const Tap& tap) {
  prims::Builder& b = field.tracer().builder();
  if (tap.written.empty()) {
    return field.tracer().wrap(
        b.window(field.id(), last_dims(field, p.dims()), p.window, p.strides, p.dilations));
  }
  SymInts start(static_cast<size_t>(field.rank()), SymInt(0)), limit = field.shape();
  SymInts stride(start.size(), SymInt(1));
  const size_t batch = start.size() - p.dims();
  for (size_t d = 0; d < p.dims(); ++d) {
    start[batch + d] = p.dilations[d] * tap.written[d];
    limit[batch + d] = start[batch + d] + (p.places[d] - 1) * p.strides[d] + 1;
    stride[batch + d] = p.strides[d];
  }
  return field.tracer().wrap(b.slice(field.id(), start, limit, stride));
}

// Where a tap lies along dim d, from where the shape begins.
Val position(const Pooling& p, const Tap& tap, size_t d) {
  const Val begin = tap.place[d] * full_like(tap.place[d], p.strides[d]);
  return begin + tap.offset[d] * full_like(begin, p.dilations[d]) - full_like(begin, p.padding[d]);
}

// The same, but of one before the shape where the window's first tap inside lies.
Val position_inside(const Pooling& p, const Tap& tap, size_t d) {
  const Val at = position(p, tap, d);
  const bool is_first = tap.written.empty() || tap.written[d] == 0;
  if (!is_first || known_equal(p.padding[d], 0) == true) return at;
  return where(lt(at, Scalar(0)), binary(Prim::remainder, at, full_like(at, p.dilations[d])), at);
}

// In row-major order of the shape.
Val flat_position(const SymInts& shape, const std::vector<Val>& at) {
  Val sum = at[0];
  for (size_t d = 1; d < at.size(); ++d) sum = sum * full_like(sum, shape[d]) + at[d];
  return sum;
}

}  // namespace

std::tuple<Val, Val> max_pool::decompose(Tracer& t, const Val& x, const SymInts& window,
                                         const SymInts& strides, const SymInts& dilations,
                                         const SymInts& padding, const SymInts& places) {
  const Pooling p{window, strides, padding, dilations, last_sizes(x, window.size()), places};
  const Val field = field_of(x, p, least_number(t, x.dtype()));
  const WindowTaps taps(t, places, window, place_type(prims::product(p.shape)));
  const auto [y, index] = taps.maximum([&](const Tap& tap) -> WindowTaps::Candidate {
    std::vector<Val> at;
    for (size_t d = 0; d < p.dims(); ++d) at.push_back(position_inside(p, tap, d));
    return {read_tap(field, p, tap), flat_position(p.shape, at)};
  });
  return {y, convert(index, DType::i64)};
}

namespace {

// The windows that cover an element: of its tap the place of one, and whether there is such a one.
struct Covering {
  std::vector<Val> place;
  Val inside;
};

Covering covering(const Pooling& p, const Tap& tap) {
  Covering c;
  for (size_t d = 0; d < p.dims(); ++d) {
    const Val from_padding = tap.place[d] + full_like(tap.place[d], p.padding[d]);
    const Val place =
        quotient(from_padding, p.strides[d], p.shape[d] + p.padding[d]) - tap.offset[d];
    const Val kept = bounded(place, 0, p.places[d] - 1);
    const Val into = from_padding - place * full_like(place, p.strides[d]);
    const Val inside = eq(place, kept) & lt(into, full_like(into, p.reach(d)));
    c.inside = c.inside.valid() ? c.inside & inside : inside;
    c.place.push_back(kept);
  }
  return c;
}

// Of the elements as places, and the windows over each as taps.
WindowTaps covering_taps(Tracer& t, const Pooling& p) {
  SymInts counts;
  for (size_t d = 0; d < p.dims(); ++d) counts.push_back(ceil_div(p.reach(d), p.strides[d]));
  return {t, p.shape, counts, place_type(2 * prims::product(p.shape))};
}

}  // namespace

namespace {

// Does each index name an element in its own window?
Val names_own_element(Tracer& t, const Pooling& p, const Val& index) {
  const SymInt size = prims::product(p.shape);
  const Val in_plane = ge(index, Scalar(0)) & lt(index, full_like(index, size));
  const DType type = place_type(2 * size);
  Val rest = convert(where(in_plane, index, full_like(index, 0)), type), inside = in_plane;
  for (size_t d = p.dims(); d-- > 0;) {
    const Val above = d == 0 ? full_like(rest, 0) : quotient(rest, p.shape[d], size);
    const Val at = rest - above * full_like(rest, p.shape[d]);
    const auto dim = index.rank() - static_cast<int64_t>(p.dims() - d);
    const Val begin = t.iota(index.shape(), dim, type) * full_like(rest, p.strides[d]) -
                      full_like(rest, p.padding[d]);
    inside = inside & ge(at, begin) & lt(at, begin + full_like(rest, p.reach(d)));
    rest = above;
  }
  return inside;
}

// Each gradient goes to the place that its index names in its plane.
Val scattered_gradients(Tracer& t, const Pooling& p, const Val& grad, const Val& index) {
  const size_t batch_dims = static_cast<size_t>(grad.rank()) - p.dims();
  SymInts result = grad.shape();
  const SymInts batch(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(batch_dims));
  std::ranges::copy(p.shape, result.begin() + static_cast<std::ptrdiff_t>(batch_dims));
  const SymInts rows = {prims::product(batch), prims::product(p.places)};
  const Val inside = names_own_element(t, p, index), wide = opmath(grad);
  const Val place = reshape(where(inside, index, full_like(index, 0)), rows);
  const Val updates = reshape(where(inside, wide, full_like(wide, 0)), rows);
  const Val none = t.constant(0, wide.dtype(), {rows[0], prims::product(p.shape)});
  const Val sums = t.wrap(t.builder().scatter(Prim::scatter_add, none.id(),
                                              {t.iota(rows, 0, DType::i64).id(), place.id()},
                                              updates.id(), {0, 1}, true, true, "index"));
  return convert(reshape(sums, result), grad.dtype());
}

}  // namespace

// An element takes the gradients of those windows over it whose index is its own place.
Val max_pool_backward::decompose(Tracer& t, const Val& grad, const Val& index,
                                 const SymInts& window, const SymInts& strides,
                                 const SymInts& dilations, const SymInts& padding,
                                 const SymInts& shape) {
  const Pooling p{window, strides, padding, dilations, shape, last_sizes(grad, window.size())};
  const bool empty = prims::product(shape) == SymInt(0) || grad.is_empty();
  if (t.device().fast_scatter && !empty) return scattered_gradients(t, p, grad, index);
  const Ints dims = last_dims(grad, p.dims());
  return covering_taps(t, p).sum([&](const Tap& tap) {
    const Covering c = covering(p, tap);
    const Val own = convert(flat_position(shape, tap.place), DType::i64);
    const Val g = at_places(grad, dims, c.place);
    return where(c.inside & eq(at_places(index, dims, c.place), own), g, full_like(g, 0));
  });
}

namespace {

// The sizes of all windows along dim d, as an axis of the result.
Val window_sizes(Tracer& t, const Pooling& p, size_t d, bool include_padding) {
  const Val start = t.iota({p.places[d]}, 0, DType::i64) * Scalar(1);
  const Val begin = start * full_like(start, p.strides[d]) - full_like(start, p.padding[d]);
  const SymInt limit = include_padding ? p.shape[d] + p.padding[d] : p.shape[d];
  const Val end = math::min(begin + full_like(begin, p.window[d]), full_like(begin, limit));
  const Val size = end - (include_padding ? begin : math::max(begin, full_like(begin, 0)));
  SymInts axis = ones(p.dims());
  axis[d] = p.places[d];
  return reshape(size, axis);
}

bool all_windows_are_whole(const Pooling& p, bool include_padding) {
  for (size_t d = 0; d < p.dims(); ++d) {
    const SymInt end = (p.places[d] - 1) * p.strides[d] + p.window[d] - p.padding[d];
    const SymInt limit = include_padding ? p.shape[d] + p.padding[d] : p.shape[d];
    if (end > limit || (!include_padding && p.padding[d] > SymInt(0))) return false;
  }
  return true;
}

// x, which has the windows' places, divided by what ATen divides their sums by.
Val divided(const Val& x, const Pooling& p, bool include_padding, int64_t divisor) {
  if (divisor != 0) return x / full_like(x, divisor);
  if (all_windows_are_whole(p, include_padding)) return x / full_like(x, prims::product(p.window));
  Val size;
  for (size_t d = 0; d < p.dims(); ++d) {
    const Val along = window_sizes(x.tracer(), p, d, include_padding);
    size = size.valid() ? size * along : along;
  }
  return x / convert(size, x.dtype());
}

}  // namespace

Val avg_pool::decompose(Tracer& t, const Val& x, const SymInts& window, const SymInts& strides,
                        const SymInts& padding, const SymInts& places, bool count_include_pad,
                        int64_t divisor) {
  const size_t n = window.size();
  const Pooling p{window, strides, padding, ones(n), last_sizes(x, n), places};
  const Val field = field_of(x, p, t.constant(0, x.dtype()));
  const Val sum = WindowTaps(t, places, window, DType::i32).sum([&](const Tap& tap) {
    return read_tap(field, p, tap);
  });
  return divided(sum, p, count_include_pad, divisor);
}

Val avg_pool_backward::decompose(Tracer& t, const Val& grad, const SymInts& window,
                                 const SymInts& strides, const SymInts& padding,
                                 const SymInts& shape, bool count_include_pad, int64_t divisor) {
  const size_t n = window.size();
  const Pooling p{window, strides, padding, ones(n), shape, last_sizes(grad, n)};
  const Val share = divided(grad, p, count_include_pad, divisor);
  const Ints dims = last_dims(grad, n);
  return covering_taps(t, p).sum([&](const Tap& tap) {
    const Covering c = covering(p, tap);
    const Val g = at_places(share, dims, c.place);
    return where(c.inside, g, full_like(g, 0));
  });
}

namespace {

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

// Sums along one dim after the other: as many additions as the sides of a window are long, and not
// as it has elements. Each time the first of the pooled dims goes to the end, so that in the end
// they are in their order again.
Val sums_by_dim(Tracer& t, const Val& x, const std::vector<Val>& bounds, const SymInts& reach) {
  Val y = x;
  for (size_t d = 0; d < reach.size(); ++d) {
    Ints order;
    const int64_t first = y.rank() - static_cast<int64_t>(reach.size());
    for (int64_t k = 0; k < y.rank(); ++k) {
      if (k != first) order.push_back(k);
    }
    order.push_back(first);
    y = t.prim(Prim::variable_window_reduce,
               {transpose(y, order), bounds[2 * d], bounds[2 * d + 1]},
               {{"reach", SymInts{reach[d]}}, {"reduce", std::string("sum")}})[0];
  }
  return y;
}

// Where windows are more than one element long in several dims.
bool is_summed_by_dim(const SymInts& reach) {
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
  if (reduce == "sum" && !batched && is_summed_by_dim(reach)) {
    const Val y = convert(sums_by_dim(t, opmath(x), bounds, reach), x.dtype());
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
  const auto [y, index] = taps.maximum([&](const Tap& tap) -> WindowTaps::Candidate {
    const VariableTaps v(shape, bounds, tap);
    const Val read = v.read(x, batched);
    return {where(v.inside, read, least_number(t, x.dtype(), read.shape())),
            flat_position(shape, v.at)};
  });
  return {y, convert(index, DType::i64)};
}

}  // namespace primset::decomps::prim
