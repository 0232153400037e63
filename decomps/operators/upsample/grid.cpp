// Images at the places of a grid, and the grids of affine maps.
#include <fmt/format.h>

#include <array>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/upsample.h"

namespace primset::decomps {
namespace {

void require_grid(const Val& x, const Val& grid, std::optional<int64_t> rank) {
  const auto both = [&] {
    return fmt::format("but got input with sizes {} and grid with sizes {}", shape_text(x.shape()),
                       shape_text(grid.shape()));
  };
  require(x.rank() > 0 && grid.rank() > 0 && x.size(0) == grid.size(0), ErrorCode::runtime,
          "grid_sampler(): expected grid and input to have same batch size, " + both());
  require(grid.size(-1) == SymInt(x.rank() - 2), ErrorCode::runtime,
          fmt::format("grid_sampler(): expected grid to have size {} in last dimension, but got "
                      "grid with sizes {}",
                      x.rank() - 2, shape_text(grid.shape())));
  for (int64_t d = 2; d < x.rank(); ++d) {
    require(x.size(d) > SymInt(0), ErrorCode::runtime,
            fmt::format("grid_sampler(): expected input to have non-empty spatial dimensions, but "
                        "input has sizes {} with dimension {} being empty",
                        shape_text(x.shape()), d));
  }
  const bool fits = rank ? x.rank() == *rank : x.rank() == 4 || x.rank() == 5;
  require(fits && grid.rank() == x.rank(), ErrorCode::runtime,
          fmt::format("grid_sampler(): expected {} input and grid with same number of dimensions, ",
                      rank ? fmt::format("{}D", *rank) : "4D or 5D") +
              both());
  require(grid.dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}: grid_sampler takes input and grid of "
                      "one dtype",
                      aten_name(x.dtype()), aten_name(grid.dtype())));
}

std::vector<prims::Attr> sampling(const Val& x, int64_t mode, int64_t padding, bool align_corners) {
  constexpr std::array kModes = {"bilinear", "nearest", "bicubic"};
  constexpr std::array kPaddings = {"zeros", "border", "reflection"};
  require(mode >= 0 && mode < 3, ErrorCode::runtime,
          fmt::format("grid_sampler(): expected interpolation_mode 0, 1 or 2, but got {}", mode));
  require(padding >= 0 && padding < 3, ErrorCode::runtime,
          fmt::format("grid_sampler(): expected padding_mode 0, 1 or 2, but got {}", padding));
  require(mode != 2 || x.rank() == 4, ErrorCode::runtime,
          "grid_sampler(): bicubic interpolation only supports 4D input");
  return {{"mode", std::string(kModes[static_cast<size_t>(mode)])},
          {"padding", std::string(kPaddings[static_cast<size_t>(padding)])},
          {"align_corners", align_corners}};
}

Val sampled(Tracer& t, const Val& x, const Val& grid, std::optional<int64_t> rank, int64_t mode,
            int64_t padding, bool align_corners) {
  require_grid(x, grid, rank);
  return t.prim1(Prim::grid_sample, {x, grid}, sampling(x, mode, padding, align_corners));
}

std::tuple<Val, Val> sampled_backward(Tracer& t, const Val& grad, const Val& x, const Val& grid,
                                      int64_t rank, int64_t mode, int64_t padding,
                                      bool align_corners, const std::vector<bool>& output_mask) {
  require_grid(x, grid, rank);
  SymInts result = x.shape();
  for (int64_t d = 2; d < rank; ++d) result[static_cast<size_t>(d)] = grid.size(d - 1);
  const bool nothing = prims::product(result) == SymInt(0);
  if (nothing) return {zeros(t, x.shape(), x.dtype()), zeros(t, grid.shape(), x.dtype())};
  require(grad.rank() == rank && equal_sizes(grad.shape(), result), ErrorCode::runtime,
          fmt::format("grid_sampler_backward: expected grad_output of size {}, but got {}",
                      shape_text(result), shape_text(grad.shape())));
  require_dtype("grid_sampler_backward", "grad_output", grad, x.dtype());
  const auto out = t.prim(Prim::grid_sample_backward, {grad, x, grid},
                          sampling(x, mode, padding, align_corners));
  return {output_mask[0] ? out[0] : zeros(t, {SymInt(0)}, x.dtype()), out[1]};
}

}  // namespace

Val grid_sampler::decompose(Tracer& t, const Val& input, const Val& grid,
                            int64_t interpolation_mode, int64_t padding_mode, bool align_corners) {
  return sampled(t, input, grid, {}, interpolation_mode, padding_mode, align_corners);
}

Val grid_sampler_2d::decompose(Tracer& t, const Val& input, const Val& grid,
                               int64_t interpolation_mode, int64_t padding_mode,
                               bool align_corners) {
  return sampled(t, input, grid, 4, interpolation_mode, padding_mode, align_corners);
}

Val grid_sampler_3d::decompose(Tracer& t, const Val& input, const Val& grid,
                               int64_t interpolation_mode, int64_t padding_mode,
                               bool align_corners) {
  return sampled(t, input, grid, 5, interpolation_mode, padding_mode, align_corners);
}

std::tuple<Val, Val> grid_sampler_2d_backward::decompose(Tracer& t, const Val& grad_output,
                                                         const Val& input, const Val& grid,
                                                         int64_t interpolation_mode,
                                                         int64_t padding_mode, bool align_corners,
                                                         const std::vector<bool>& output_mask) {
  return sampled_backward(t, grad_output, input, grid, 4, interpolation_mode, padding_mode,
                          align_corners, output_mask);
}

std::tuple<Val, Val> grid_sampler_3d_backward::decompose(Tracer& t, const Val& grad_output,
                                                         const Val& input, const Val& grid,
                                                         int64_t interpolation_mode,
                                                         int64_t padding_mode, bool align_corners,
                                                         const std::vector<bool>& output_mask) {
  return sampled_backward(t, grad_output, input, grid, 5, interpolation_mode, padding_mode,
                          align_corners, output_mask);
}

namespace {

// The coordinates of a dim's elements, from -1 to 1: of their centres, or of their outer edges.
Val coordinates(Tracer& t, const SymInt& count, bool align_corners, DType type) {
  if (count <= SymInt(1)) return zeros(t, {count}, type);
  const ScalarArg first = t.literal(Scalar(int64_t{-1})), last = t.literal(Scalar(int64_t{1}));
  const Val edges = t.call1("linspace", {first, last, count, real_type(type)});
  if (align_corners) return convert(edges, type);
  const Val steps = t.constant(count - 1, edges.dtype()), all = t.constant(count, edges.dtype());
  const Val scaled = t.call1("mul.Tensor", {edges, steps});
  return convert(t.call1("div.Tensor", {scaled, all}), type);
}

// [places..., dims + 1]: coordinates, innermost first, and 1.
Val base_grid(Tracer& t, const SymInts& places, bool align_corners, DType type) {
  std::vector<Val> columns;
  SymInts column = places;
  column.push_back(1);
  for (size_t d = places.size(); d-- > 0;) {
    SymInts axis(column.size(), SymInt(1));
    axis[d] = places[d];
    columns.push_back(
        broadcast_to(reshape(coordinates(t, places[d], align_corners, type), axis), column));
  }
  columns.push_back(t.constant(1, type, column));
  return concatenate(columns, static_cast<int64_t>(places.size()));
}

struct AffineGrid {
  SymInts places;
  SymInt batch;

  explicit AffineGrid(const SymInts& size) {
    require(size.size() == 4 || size.size() == 5, ErrorCode::runtime,
            "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
    places.assign(size.begin() + 2, size.end());
    batch = size[0];
  }
  SymInt dims() const { return static_cast<int64_t>(places.size()); }
  SymInt count() const { return prims::product(places); }
};

}  // namespace

Val affine_grid_generator::decompose(Tracer& t, const Val& theta, const SymInts& size,
                                     bool align_corners) {
  const AffineGrid g(size);
  if (is_bool(theta.dtype())) not_implemented_for("linspace_cpu", theta.dtype());
  require(theta.rank() == 3 && equal_sizes(theta.shape(), {g.batch, g.dims(), g.dims() + 1}),
          ErrorCode::runtime,
          fmt::format("affine_grid_generator: expected theta of size {}, but got {}",
                      shape_text({g.batch, g.dims(), g.dims() + 1}), shape_text(theta.shape())));
  const Val base =
      reshape(base_grid(t, g.places, align_corners, theta.dtype()), {1, g.count(), g.dims() + 1});
  const Val grid = t.call1(
      "bmm", {broadcast_to(base, {g.batch, g.count(), g.dims() + 1}), matrix_transpose(theta)});
  SymInts shape = {g.batch};
  shape.insert(shape.end(), g.places.begin(), g.places.end());
  shape.push_back(g.dims());
  return reshape(grid, shape);
}

Val affine_grid_generator_backward::decompose(Tracer& t, const Val& grad, const SymInts& size,
                                              bool align_corners) {
  const AffineGrid g(size);
  if (is_bool(grad.dtype())) not_implemented_for("linspace_cpu", grad.dtype());
  require(grad.numel() == g.batch * g.count() * g.dims(), ErrorCode::runtime,
          fmt::format("affine_grid_generator_backward: a gradient of size {} does not fit the size "
                      "{}",
                      shape_text(grad.shape()), shape_text(size)));
  const Val base =
      reshape(base_grid(t, g.places, align_corners, grad.dtype()), {1, g.count(), g.dims() + 1});
  const Val rows = matrix_transpose(broadcast_to(base, {g.batch, g.count(), g.dims() + 1}));
  const Val product = t.call1("bmm", {rows, reshape(grad, {g.batch, g.count(), g.dims()})});
  return matrix_transpose(product);
}

}  // namespace primset::decomps
