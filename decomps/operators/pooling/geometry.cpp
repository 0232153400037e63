#include "decomps/operators/pooling/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

constexpr std::array<std::string_view, 4> kCounts = {"", "one", "two", "three"};

// "kH: 2 kW: 3"
std::string by_dim(std::string_view prefix, const Dims& list) {
  constexpr std::array<std::string_view, 3> kNames = {"T", "H", "W"};
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += fmt::format("{}{}{}: {}", text.empty() ? "" : " ", prefix, kNames[3 - list.size() + i],
                        list[i]);
  return text;
}

void require_each_positive(const Dims& list, std::string_view what, std::string_view prefix) {
  require(std::all_of(list.begin(), list.end(), [](int64_t v) { return v > 0; }),
          ErrorCode::runtime,
          fmt::format("{} should be greater than zero, but got {}", what, by_dim(prefix, list)));
}

void require_padding(const Dims& kernel, const Dims& padding, const Dims& dilation) {
  for (size_t d = 0; d < kernel.size(); ++d) {
    require(padding[d] >= 0, ErrorCode::runtime,
            fmt::format("pad must be non-negative, but got pad: {}", padding[d]));
    const SymInt reach = SymInt(kernel[d] - 1) * dilation[d] + 1;
    require(SymInt(2) * padding[d] <= reach, ErrorCode::runtime,
            fmt::format("pad should be at most half of effective kernel size, but got pad={}, "
                        "kernel_size={} and dilation={}",
                        padding[d], kernel[d], dilation[d]));
    require(padding[d] <= kernel[d] / 2, ErrorCode::runtime,
            fmt::format("pad should be smaller than or equal to half of kernel size, but got {} {}",
                        by_dim("pad", padding), by_dim("k", kernel)));
  }
}

// The last window begins inside of the input or the padding before it.
SymInt places_along(const SymInt& size, int64_t kernel, int64_t stride, int64_t padding,
                    int64_t dilation, bool ceil_mode) {
  const SymInt room = size + SymInt(2) * padding - SymInt(dilation) * (SymInt(kernel) - 1) - 1;
  if (!ceil_mode) return floor_div(room, stride) + 1;
  return min(floor_div(room + (stride - 1), stride), floor_div(size + padding - 1, stride)) + 1;
}

// In other words than those of adaptive windows.
void require_windowed_input(int64_t dims, const Val& x) {
  const bool batched = x.rank() == dims + 2;
  require(batched || x.rank() == dims + 1, ErrorCode::runtime,
          fmt::format("non-empty {}D or {}D (batch mode) tensor expected for input; found one of "
                      "size {}",
                      dims + 1, dims + 2, shape_text(x.shape())));
  bool some = true;
  for (int64_t d = batched ? 1 : 0; some && d < x.rank(); ++d) some = x.size(d) > SymInt(0);
  require(some, ErrorCode::runtime,
          fmt::format("Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for "
                      "input, but got:{}",
                      dims + 1, dims + 2, shape_text(x.shape())));
}

void require_places(const Val& x, const PoolGeometry& g) {
  const bool some =
      std::all_of(g.places.begin(), g.places.end(), [](const SymInt& p) { return p >= SymInt(1); });
  const int64_t channels = x.size(-1 - static_cast<int64_t>(g.shape.size())).hint();
  require(some, ErrorCode::runtime,
          fmt::format("Given input size: ({}x{}). Calculated output size: ({}x{}). Output size is "
                      "too small",
                      channels, fmt::join(hints_of(g.shape), "x"), channels,
                      fmt::join(hints_of(g.places), "x")));
}

}  // namespace

Dims pool_list(std::string_view name, std::string_view list_name, int64_t dims, const Dims& list) {
  if (list.size() == 1) return Dims(static_cast<size_t>(dims), list[0]);
  require(static_cast<int64_t>(list.size()) == dims, ErrorCode::runtime,
          fmt::format("{}: {} must {}be {}a single int, or a tuple of {} ints; found {} of them",
                      name, list_name, name == "avg_pool3d" ? "" : "either ",
                      list_name == "stride" ? "omitted, " : "", kCounts[static_cast<size_t>(dims)],
                      list.size()));
  return list;
}

void require_pooled_input(std::string_view name, int64_t dims, const Val& x, int64_t first) {
  require(x.rank() == dims + 1 || x.rank() == dims + 2, ErrorCode::runtime,
          fmt::format("{}(): Expected {}D or {}D tensor, but got: {}", name, dims + 1, dims + 2,
                      shape_text(x.shape())));
  for (int64_t d = first; d < x.rank(); ++d) {
    require(x.size(d) > SymInt(0), ErrorCode::runtime,
            fmt::format("{}(): Expected input to have non-zero size for non-batch dimensions, but "
                        "input has sizes {} with dimension {} being empty",
                        name, shape_text(x.shape()), d));
  }
}

PoolGeometry pool_geometry(std::string_view name, int64_t dims, const Val& x,
                           const PoolArguments& a) {
  const Dims kernel = pool_list(name, "kernel_size", dims, a.kernel);
  const Dims stride = a.stride.empty() ? kernel : pool_list(name, "stride", dims, a.stride);
  const Dims padding = pool_list(name, "padding", dims, a.padding);
  const Dims dilation = pool_list(name, "dilation", dims, a.dilation);
  require_windowed_input(dims, x);
  require(std::find(stride.begin(), stride.end(), 0) == stride.end(), ErrorCode::runtime,
          "stride should not be zero");
  require_each_positive(kernel, "kernel size", "k");
  require_each_positive(stride, "stride", "d");
  require_each_positive(dilation, "dilation", "dilation");
  require_padding(kernel, padding, dilation);
  PoolGeometry g{{kernel.begin(), kernel.end()},   {stride.begin(), stride.end()},
                 {padding.begin(), padding.end()}, {dilation.begin(), dilation.end()},
                 last_sizes(x, kernel.size()),     {}};
  for (size_t d = 0; d < kernel.size(); ++d)
    g.places.push_back(
        places_along(g.shape[d], kernel[d], stride[d], padding[d], dilation[d], a.ceil_mode));
  require_places(x, g);
  return g;
}

void require_pool_gradient(std::string_view name, const Val& grad, const Val& x,
                           const SymInts& places) {
  require(grad.dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("{}: expected dtype {} for `grad_output` but got dtype {}", name,
                      cpp_name(x.dtype()), cpp_name(grad.dtype())));
  const SymInts wanted = with_last_sizes(x, places);
  require(grad.rank() == x.rank() && equal_sizes(grad.shape(), wanted), ErrorCode::runtime,
          fmt::format("{}: expected sizes {} for `grad_output` but got sizes {}", name,
                      shape_text(wanted), shape_text(grad.shape())));
}

void require_pool_indices(const Val& indices, const Val& like) {
  require(indices.dtype() == DType::i64, ErrorCode::runtime,
          fmt::format("expected scalar type Long but found {}", aten_name(indices.dtype())));
  require(indices.rank() == like.rank() && equal_sizes(indices.shape(), like.shape()),
          ErrorCode::runtime,
          fmt::format("expected sizes {} for `indices` but got sizes {}", shape_text(like.shape()),
                      shape_text(indices.shape())));
}

void require_one_dim(std::string_view name, const Val& x) {
  require(x.rank() == 2 || x.rank() == 3, ErrorCode::runtime,
          fmt::format("Expected 2 to 3 dimensions, but got {}-dimensional tensor for argument #1 "
                      "'self' (while checking arguments for {})",
                      x.rank(), name));
}

void require_one_int(std::string_view name, std::string_view list_name, const Dims& list) {
  require(list.size() == 1, ErrorCode::runtime,
          fmt::format("{}() argument '{}' should contain one int (got {})", name, list_name,
                      list.size()));
}

SymInts with_last_sizes(const Val& x, const SymInts& sizes) {
  SymInts shape = x.shape();
  require(shape.size() >= sizes.size(), ErrorCode::runtime,
          fmt::format("expected an input of at least {} dims, but got one of sizes {}",
                      sizes.size(), shape_text(shape)));
  std::copy_backward(sizes.begin(), sizes.end(), shape.end());
  return shape;
}

}  // namespace primset::decomps
