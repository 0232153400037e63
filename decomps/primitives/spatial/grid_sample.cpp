// An image at any places. Along each dim a place has taps: neighbours with weights. The result is
// the sum over all combinations of taps, the gradient by the image adds the same weights there, and
// the gradient by the grid has the weights' derivatives in their place.
#include <fmt/format.h>

#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"
#include "decomps/primitives/resampling.h"
#include "decomps/primitives/spatial/resampling_neighbours.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

struct Sampling {
  const std::string &mode, &padding;
  bool align_corners;
};

// A position along a dim, and its derivative by the grid's coordinate.
struct GridPosition {
  Val at, slope;
};

// From -1 to 1 to the elements of a dim of this size.
GridPosition unnormalized(const Val& coordinate, const SymInt& size, bool align_corners) {
  const Val count = full_like(coordinate, align_corners ? size - 1 : size);
  const Val half = count / Scalar(2.0), from_edge = coordinate + Scalar(1.0);
  if (align_corners) return {from_edge / Scalar(2.0) * count, half};
  return {(from_edge * count - Scalar(1.0)) / Scalar(2.0), half};
}

// At the border itself there is no derivative.
GridPosition clipped_position(const GridPosition& p, const SymInt& size) {
  const Val last = full_like(p.at, size - 1), zero = zero_like(p.at);
  const Val inside = gt(p.at, Scalar(0.0)) & lt(p.at, last);
  return {math::min(math::max(p.at, zero), last), where(inside, p.slope, zero)};
}

// Back and forth between the outermost elements, or their edges.
GridPosition reflected_position(const GridPosition& p, const SymInt& size, bool align_corners) {
  const SymInt span = align_corners ? size - 1 : size;
  if (span == SymInt(0)) return {zero_like(p.at), zero_like(p.at)};
  const double low = align_corners ? 0 : -0.5;
  const Val from_low = p.at - Scalar(low), distance = math::abs(from_low);
  const Val length = full_like(distance, span);
  const Val rest = binary(Prim::rem, distance, length);
  const Val turns = unary(Prim::floor, distance / length);
  const Val returns = ne(binary(Prim::rem, turns, full_like(turns, 2)), Scalar(0.0));
  const Val at = where(returns, length - rest, rest) + Scalar(low);
  const Val turned = returns ^ lt(from_low, Scalar(0.0));
  return {at, where(turned, -p.slope, p.slope)};
}

GridPosition padded_position(const GridPosition& p, const SymInt& size, const Sampling& s) {
  if (s.padding == "zeros") return p;
  if (s.padding == "border") return clipped_position(p, size);
  require(s.padding == "reflection", ErrorCode::internal,
          fmt::format("grid_sample has no padding '{}'", s.padding));
  return clipped_position(reflected_position(p, size, s.align_corners), size);
}

struct GridTap {
  Val index, inside;
  Val weight, derivative;  // by the position; absent: 1, of the nearest element 1 and 0
};

GridTap tap_at(const Val& position, const SymInt& size, const Val& weight,
               const Val& derivative = Val()) {
  const Val inside = ge(position, Scalar(0.0)) & le(position, full_like(position, size - 1));
  const Val kept = where(inside, position, zero_like(position));
  const DType places = place_type(size);
  return {convert(kept, places), inside, weight, derivative};
}

// Of cubic convolution with a = -3/4 the weights of the elements from one before the position to
// two behind, and their derivatives by how far it is behind its element.
std::vector<std::pair<Val, Val>> cubic_weights(const Val& t) {
  constexpr double a = -0.75;
  const Val before = t + Scalar(1.0), rest = Scalar(1.0) - t, behind = Scalar(2.0) - t;
  return {{cubic_far(before, a), cubic_far_slope(before, a)},
          {cubic_near(t, a), cubic_near_slope(t, a)},
          {cubic_near(rest, a), -cubic_near_slope(rest, a)},
          {cubic_far(behind, a), -cubic_far_slope(behind, a)}};
}

struct DimTaps {
  std::vector<GridTap> taps;
  Val slope;
};

// Between elements places are computed in f64 where the device is quick at it, as of resampling;
// the nearest element is found in the grid's own dtype, as ATen finds it.
DimTaps dim_taps(const Val& given, const SymInt& size, const Sampling& s) {
  const Val coordinate = s.mode == "nearest" ? given : wide_opmath(given);
  const GridPosition plain = unnormalized(coordinate, size, s.align_corners);
  if (s.mode == "bicubic") {
    const Val below = unary(Prim::floor, plain.at);
    const auto weights = cubic_weights(plain.at - below);
    DimTaps out{{}, plain.slope};
    for (size_t k = 0; k < 4; ++k) {
      const GridPosition p{below + Scalar(static_cast<double>(k) - 1), plain.slope};
      // Between elements only where a reflection is of their edges.
      const Val at = unary(Prim::floor, padded_position(p, size, s).at);
      out.taps.push_back(tap_at(at, size, weights[k].first, weights[k].second));
    }
    return out;
  }
  const GridPosition p = padded_position(plain, size, s);
  if (s.mode == "nearest") return {{tap_at(unary(Prim::round_even, p.at), size, Val())}, p.slope};
  require(s.mode == "bilinear", ErrorCode::internal,
          fmt::format("grid_sample has no mode '{}'", s.mode));
  // How far the place is from its elements, a small number, needs no more digits than the result
  // has. Of cubic weights, whose derivatives cancel each other, it does.
  const DType narrow = opmath_type(given.dtype());
  const Val below = unary(Prim::floor, p.at), distance = p.at - below;
  const Val fraction = convert(distance, narrow), rest = convert(Scalar(1.0) - distance, narrow);
  return {{tap_at(below, size, rest), tap_at(below + Scalar(1.0), size, fraction)}, p.slope};
}

// The taps of all dims of x behind batch and channels; the grid has the innermost first.
std::vector<DimTaps> taps_of(const Val& x, const Val& grid, const Sampling& s) {
  std::vector<DimTaps> dims;
  for (int64_t d = 2; d < x.rank(); ++d)
    dims.push_back(dim_taps(select(grid, -1, x.rank() - 1 - d), x.size(d), s));
  return dims;
}

// One tap a dim: the indices of the batch and of the dims of x, and whether all are inside.
struct Corner {
  std::vector<Val> index;
  Val inside;
  std::vector<const GridTap*> taps;

  // Of the weights, or of the derivative along `dim`, where it is not 1, and the other weights.
  // Absent: 1.
  Val product(DType type, std::optional<size_t> dim = {}) const {
    Val p;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Val& w = dim == d ? taps[d]->derivative : taps[d]->weight;
      if (w.valid()) p = p.valid() ? p * w : w;
    }
    return p.valid() ? convert(p, type) : p;
  }
};

std::vector<Corner> corners_of(const std::vector<DimTaps>& dims) {
  const Val& any = dims[0].taps[0].index;
  DType places = DType::i32;
  for (const DimTaps& d : dims)
    if (d.taps[0].index.dtype() == DType::i64) places = DType::i64;
  std::vector<Corner> list = {{{any.tracer().iota(any.shape(), 0, places)}, {}, {}}};
  for (const DimTaps& d : dims) {
    std::vector<Corner> longer;
    for (const Corner& begun : list) {
      for (const GridTap& tap : d.taps) {
        longer.push_back(begun);
        Corner& c = longer.back();
        c.index.push_back(convert(tap.index, places));
        c.inside = c.inside.valid() ? c.inside & tap.inside : tap.inside;
        c.taps.push_back(&tap);
      }
    }
    list = std::move(longer);
  }
  return list;
}

// The batch and the dims behind the channels.
Ints indexed_dims(const Val& x) {
  Ints dims = {0};
  for (int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

Ints batch_first(const Val& x) {
  Ints order = dims_from(0, x.rank());
  std::swap(order[0], order[1]);
  return order;
}

// [batch, channels, places...], 0 for what is outside.
Val corner_values(const Val& x, const Corner& c) {
  const Val channels_first = at_places(x, indexed_dims(x), c.index);
  const Val read = transpose(channels_first, batch_first(channels_first));
  return where(unsqueeze(c.inside, 1), read, zero_like(read));
}

Val added(const Val& sum, const Val& term) {
  return sum.valid() ? sum + term : term;
}

// What the image rises by along a dim. Of two neighbours it is their difference, taken first: great
// values that hardly differ cancel each other without an error.
Val rise_along(size_t dim, const Val& x, const std::vector<DimTaps>& dims,
               const std::vector<Corner>& corners) {
  const bool linear = !dims[dim].taps[0].derivative.valid();
  size_t next = 1;  // corners to the one beside it along the dim
  for (size_t d = dim + 1; d < dims.size(); ++d) next *= dims[d].taps.size();
  Val rise;
  for (size_t i = 0; i < corners.size(); ++i) {
    const Corner& c = corners[i];
    if (linear && c.taps[dim] != &dims[dim].taps[0]) continue;
    Val value = corner_values(x, c);
    if (linear) value = corner_values(x, corners[i + next]) - value;
    rise = added(rise, value * unsqueeze(c.product(x.dtype(), dim), 1));
  }
  return rise;
}

// Of one place and channel the product of the gradient with the derivative along each dim.
Val grid_gradient(const Val& grad, const Val& x, const Val& grid, const std::vector<DimTaps>& dims,
                  const std::vector<Corner>& corners) {
  std::vector<Val> parts;
  for (size_t d = dims.size(); d-- > 0;) {
    const Val rise = rise_along(d, x, dims, corners);
    const Val along =
        reduce(Prim::reduce_sum, rise * grad, {1}, false) * convert(dims[d].slope, x.dtype());
    parts.push_back(unsqueeze(along, grid.rank() - 1));
  }
  return concatenate(parts, grid.rank() - 1);
}

// Places first and channels last, as updates of the dims indexed have them.
Val channels_last(const Val& x) {
  Ints order = dims_from(0, x.rank());
  order.erase(order.begin() + 1);
  order.push_back(1);
  return transpose(x, order);
}

}  // namespace

Val grid_sample::decompose(Tracer& t, const Val& x, const Val& grid, const std::string& mode,
                           const std::string& padding, bool align_corners) {
  const auto dims = taps_of(x, grid, {mode, padding, align_corners});
  Val sum;
  for (const Corner& c : corners_of(dims)) {
    const Val value = corner_values(x, c), weight = c.product(x.dtype());
    sum = added(sum, weight.valid() ? value * unsqueeze(weight, 1) : value);
  }
  return sum;
}

std::tuple<Val, Val> grid_sample_backward::decompose(Tracer& t, const Val& grad, const Val& x,
                                                     const Val& grid, const std::string& mode,
                                                     const std::string& padding,
                                                     bool align_corners) {
  const auto dims = taps_of(x, grid, {mode, padding, align_corners});
  const auto corners = corners_of(dims);
  Val grad_x = zero_like(x);
  for (const Corner& c : corners) {
    const Val weight = c.product(x.dtype());
    const Val term = weight.valid() ? grad * unsqueeze(weight, 1) : grad;
    const Val kept = where(unsqueeze(c.inside, 1), term, zero_like(term));
    grad_x = scattered(Prim::scatter_add, grad_x, c.index, indexed_dims(x), channels_last(kept));
  }
  const bool flat = mode == "nearest";
  return {grad_x, flat ? zero_like(grid) : grid_gradient(grad, x, grid, dims, corners)};
}

}  // namespace primset::decomps::prim
