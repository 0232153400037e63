#include "decomps/primitives/spatial/resampling_neighbours.h"

#include <fmt/format.h>

#include "decomps/primitives/math.h"
#include "decomps/primitives/spatial/window_taps.h"

namespace primset::decomps {
namespace {

// Weights are computed in f64 where the device is quick at it: a place far from 0 leaves few digits
// to the fraction behind it.
DType resampling_weight_type(const Val& x) {
  return x.tracer().device().fast_f64 || x.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace

std::vector<ResampledAxis> resampled_axes(const Val& x, const std::vector<Val>& scales,
                                          const SymInts& in, const SymInts& out,
                                          bool align_corners) {
  std::vector<ResampledAxis> axes;
  DType places = DType::i32;
  for (size_t d = 0; d < in.size(); ++d) {
    axes.push_back({x.rank() - static_cast<int64_t>(in.size() - d), in[d], out[d],
                    convert(scales[d], resampling_weight_type(x)), align_corners, places});
    if (place_type(16 * (in[d] + 1) * (out[d] + 1)) == DType::i64) places = DType::i64;
  }
  for (ResampledAxis& a : axes) a.places = places;
  return axes;
}

Val cubic_near(const Val& x, double a) {
  return (x * Scalar(a + 2) - Scalar(a + 3)) * x * x + Scalar(1.0);
}
Val cubic_far(const Val& x, double a) {
  return ((x * Scalar(a) - Scalar(5 * a)) * x + Scalar(8 * a)) * x - Scalar(4 * a);
}

Val cubic_near_slope(const Val& x, double a) {
  return (x * Scalar(3 * (a + 2)) - Scalar(2 * (a + 3))) * x;
}
Val cubic_far_slope(const Val& x, double a) {
  return (x * Scalar(3 * a) - Scalar(10 * a)) * x + Scalar(8 * a);
}

namespace {

Val times_scale(const Val& x, const Val& scale) {
  return x * broadcast_to(scale, x.shape());
}

// Where element `at` of y lies in x.
Val source_position(const ResampledAxis& a, const Val& at) {
  const Val x = convert(at, a.scale.dtype());
  return a.align_corners ? times_scale(x, a.scale)
                         : times_scale(x + Scalar(0.5), a.scale) - Scalar(0.5);
}

// The element before a position, and how far behind it the position is.
struct SplitPosition {
  Val index, fraction;
};

SplitPosition split_position(const ResampledAxis& a, const Val& position) {
  const Val below = math::min(unary(Prim::floor, position), full_like(position, a.in - 1));
  const Val fraction =
      math::min(math::max(position - below, full_like(position, 0)), full_like(position, 1));
  return {convert(below, a.places), fraction};
}

// min(floor(scale * at), last), in f32 whatever the dtype, as ATen has it.
std::vector<Neighbour> nearest_neighbour(const ResampledAxis& a, const Val& at, double shift) {
  const Val x = convert(at, DType::f32) + Scalar(shift);
  const Val below = unary(Prim::floor, times_scale(x, convert(a.scale, DType::f32)));
  return {{convert(math::min(below, full_like(below, a.in - 1)), a.places), {}}};
}

std::vector<Neighbour> linear_neighbours(const ResampledAxis& a, const Val& at) {
  if (a.in == a.out) return {{at, {}}};
  const Val position = source_position(a, at);
  const SplitPosition s = split_position(a, math::max(position, full_like(position, 0)));
  const Val next = math::min(s.index + Scalar(1), full_like(s.index, a.in - 1));
  return {{s.index, Scalar(1.0) - s.fraction}, {next, s.fraction}};
}

std::vector<Neighbour> cubic_neighbours(const ResampledAxis& axis, const Val& at) {
  constexpr double a = -0.75;
  const SplitPosition s = split_position(axis, source_position(axis, at));
  const Val &t = s.fraction, rest = Scalar(1.0) - t;
  const Val weights[] = {cubic_far(t + Scalar(1.0), a), cubic_near(t, a), cubic_near(rest, a),
                         cubic_far(rest + Scalar(1.0), a)};
  std::vector<Neighbour> list;
  for (int64_t k = 0; k < 4; ++k)
    list.push_back({bounded(s.index + Scalar(k - 1), 0, axis.in - 1), weights[k]});
  return list;
}

}  // namespace

std::vector<Neighbour> neighbours(const std::string& filter, const ResampledAxis& a,
                                  const Val& at) {
  if (filter == "nearest" && a.in == a.out) return {{at, {}}};
  if (filter == "nearest" && a.in * 2 == a.out) return {{at / full_like(at, 2), {}}};
  if (filter == "nearest" || filter == "nearest_scaled") return nearest_neighbour(a, at, 0);
  if (filter == "nearest_exact") return nearest_neighbour(a, at, 0.5);
  if (filter == "linear") return linear_neighbours(a, at);
  require(filter == "cubic", ErrorCode::internal,
          fmt::format("there is no interpolation '{}'", filter));
  return cubic_neighbours(a, at);
}

namespace {

// Over all dims at once: the neighbours of each dim are combined with those of the next.
struct NeighbourSum {
  const Val& x;
  SymInts grid;
  std::vector<int64_t> dims;
  std::vector<std::vector<Neighbour>> along;  // of each dim, as vectors over it

  Val over_grid(const Val& vector, size_t d) const {
    SymInts shape(grid.size(), SymInt(1));
    shape[d] = grid[d];
    return broadcast_to(reshape(vector, shape), grid);
  }
  Val from(size_t d, std::vector<Val> index) const {
    if (d == along.size()) return at_places(x, dims, index);
    Val sum;
    for (const Neighbour& n : along[d]) {
      std::vector<Val> deeper = index;
      deeper.push_back(over_grid(n.index, d));
      const Val read = from(d + 1, std::move(deeper));
      const Val term = n.weight.valid() ? read * over_grid(convert(n.weight, x.dtype()), d) : read;
      sum = sum.valid() ? sum + term : term;
    }
    return sum;
  }
};

}  // namespace

Val interpolated(const Val& x, const std::vector<ResampledAxis>& axes, const std::string& filter) {
  NeighbourSum i{x, {}, {}, {}};
  for (const ResampledAxis& a : axes) {
    i.grid.push_back(a.out);
    i.dims.push_back(a.dim);
    i.along.push_back(neighbours(filter, a, x.tracer().iota({a.out}, 0, a.places)));
  }
  return i.from(0, {});
}

}  // namespace primset::decomps
