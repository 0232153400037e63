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

SymInts ones(size_t count) {
  return SymInts(count, SymInt(1));
}

// Whether windows lie side by side, all of them inside the shape.
bool are_tiles(const Pooling& p) {
  for (size_t d = 0; d < p.dims(); ++d) {
    if (known_equal(p.padding[d], 0) != true || known_equal(p.dilations[d], 1) != true)
      return false;
    if (known_equal(p.window[d], p.strides[d]) != true) return false;
    if (!(p.places[d] * p.window[d] <= p.shape[d])) return false;
  }
  return true;
}

// [batch..., places..., windows...] of windows that are tiles.
Val tiles_of(const Val& x, const Pooling& p) {
  const size_t batch = static_cast<size_t>(x.rank()) - p.dims();
  const auto first = static_cast<int64_t>(batch);
  SymInts shape = x.shape();
  shape.resize(batch);
  Ints order, inside;
  for (int64_t d = 0; d < first; ++d) order.push_back(d);
  Val covered = x;
  for (size_t d = 0; d < p.dims(); ++d) {
    covered = slice(covered, first + static_cast<int64_t>(d), 0, p.places[d] * p.window[d], 1);
    order.push_back(static_cast<int64_t>(shape.size()));
    inside.push_back(order.back() + 1);
    shape.push_back(p.places[d]), shape.push_back(p.window[d]);
  }
  order.insert(order.end(), inside.begin(), inside.end());
  return transpose(reshape(covered, shape), order);
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

}  // namespace

std::tuple<Val, Val> max_pool::decompose(Tracer& t, const Val& x, const SymInts& window,
                                         const SymInts& strides, const SymInts& dilations,
                                         const SymInts& padding, const SymInts& places) {
  const Pooling p{window, strides, padding, dilations, last_sizes(x, window.size()), places};
  const bool tiles = are_tiles(p);
  const Val field = tiles ? x : field_of(x, p, least_number(t, x.dtype()));
  const WindowTaps taps(t, places, window, place_type(prims::product(p.shape)));
  const auto [y, index] = taps.maximum([&](const Tap& tap) -> WindowTaps::Candidate {
    std::vector<Val> at;
    for (size_t d = 0; d < p.dims(); ++d) at.push_back(position_inside(p, tap, d));
    const Val read = tiles && tap.written.empty() ? tiles_of(x, p) : read_tap(field, p, tap);
    return {read, flat_position(p.shape, at)};
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

namespace {

// The sums of all windows of a field.
Val window_sums(const Val& field, const Pooling& p) {
  return WindowTaps(field.tracer(), p.places, p.window, DType::i32).sum([&](const Tap& tap) {
    return read_tap(field, p, tap);
  });
}

// Large windows side by side, of which there is nothing else along the first dims: what is added up
// along these is read in order, and of what is left the sums along the last dim are few.
bool is_summed_by_dim(const Pooling& p) {
  constexpr int64_t kManyTaps = 16;
  int64_t taps = 1;
  for (const SymInt& w : p.window) taps *= std::clamp<int64_t>(w.hint(), 1, kManyTaps + 1);
  if (p.dims() == 1 || taps <= kManyTaps) return false;
  for (size_t d = 0; d + 1 < p.dims(); ++d) {
    if (!(p.padding[d] == SymInt(0)) || !(p.strides[d] == p.window[d]) ||
        !(p.places[d] * p.window[d] == p.shape[d]))
      return false;
  }
  return true;
}

// All dims but the last one are taken apart into places and windows, and the windows added up.
Val window_sums_by_dim(const Val& field, const Pooling& p) {
  const size_t batch = static_cast<size_t>(field.rank()) - p.dims(), last = p.dims() - 1;
  SymInts apart = field.shape(), window = ones(p.dims()), strides = window, places = p.places;
  apart.resize(batch);
  Ints windows;
  for (size_t d = 0; d < last; ++d) {
    apart.insert(apart.end(), {p.places[d], p.window[d]});
    windows.push_back(static_cast<int64_t>(apart.size()) - 1);
  }
  apart.push_back(field.size(-1));
  window[last] = p.window[last], strides[last] = p.strides[last];
  const Val rows = reduce(Prim::reduce_sum, reshape(field, apart), windows, false);
  return window_sums(rows, {window, strides, p.padding, ones(p.dims()), {}, places});
}

}  // namespace

Val avg_pool::decompose(Tracer& t, const Val& x, const SymInts& window, const SymInts& strides,
                        const SymInts& padding, const SymInts& places, bool count_include_pad,
                        int64_t divisor) {
  const size_t n = window.size();
  const Pooling p{window, strides, padding, ones(n), last_sizes(x, n), places};
  const Val field = field_of(x, p, t.constant(0, x.dtype()));
  const Val sum = is_summed_by_dim(p) ? window_sums_by_dim(field, p) : window_sums(field, p);
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

}  // namespace primset::decomps::prim
