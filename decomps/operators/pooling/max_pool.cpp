#include <fmt/format.h>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

std::vector<prims::Attr> max_pool_attributes(const PoolGeometry& g, const char* result,
                                             const SymInts& sizes) {
  return {{"window", g.window},
          {"strides", g.strides},
          {"dilations", g.dilations},
          {"padding", g.padding},
          {result, sizes}};
}

std::tuple<Val, Val> max_pooled(Tracer& t, const Val& x, const PoolGeometry& g) {
  const auto out = t.prim(Prim::max_pool, {x}, max_pool_attributes(g, "places", g.places));
  return {out[0], out[1]};
}

std::tuple<Val, Val> max_pool_nd(Tracer& t, int64_t dims, const Val& x, const PoolArguments& a) {
  const std::string name = fmt::format("max_pool{}d", dims);
  const PoolGeometry g = pool_geometry(name, dims, x, a);
  require_real(name, x);
  return max_pooled(t, x, g);
}

Val max_pool_nd_backward(Tracer& t, int64_t dims, const Val& grad, const Val& x,
                         const PoolArguments& a, const Val& indices) {
  const std::string name = fmt::format("max_pool{}d_backward", dims);
  const PoolGeometry g = pool_geometry(name, dims, x, a);
  require_pool_gradient(name, grad, x, g.places);
  require_pool_indices(indices, grad);
  return t.prim1(Prim::max_pool_backward, {grad, indices},
                 max_pool_attributes(g, "shape", g.shape));
}

// What max_pool1d says of its own arguments, before anything else.
void require_max_pool1d(const Val& x, const PoolArguments& a) {
  const auto one = [](const char* name, const Dims& list, bool optional) {
    require(list.size() == 1 || (optional && list.empty()), ErrorCode::runtime,
            fmt::format("max_pool1d() {} must be an int, list of ints, or tuple of ints of size 1 "
                        "but got size {}",
                        name, list.size()));
  };
  bool fits = x.rank() == 2 || x.rank() == 3;
  for (int64_t d = x.rank() - 2; fits && d < x.rank(); ++d) fits = x.size(d) > SymInt(0);
  require(fits, ErrorCode::runtime,
          fmt::format("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch "
                      "size for input, but got:{}",
                      shape_text(x.shape())));
  one("kernel_size", a.kernel, false);
  one("stride", a.stride, true);
  one("padding", a.padding, false);
  one("dilation", a.dilation, false);
  const auto bounded_below = [](const char* what, int64_t value, bool ok) {
    require(ok, ErrorCode::runtime, fmt::format("max_pool1d() {}, but got {}", what, value));
  };
  const int64_t kernel = a.kernel[0], padding = a.padding[0];
  bounded_below("kernel_size must be greater than zero", kernel, kernel > 0);
  if (!a.stride.empty())
    bounded_below("stride must be greater than zero", a.stride[0], a.stride[0] > 0);
  bounded_below("padding must be non-negative", padding, padding >= 0);
  require(padding <= kernel / 2, ErrorCode::runtime,
          fmt::format("max_pool1d() padding should be at most half of kernel size, but got "
                      "padding={} and kernel_size={}",
                      padding, kernel));
  bounded_below("dilation must be greater than zero", a.dilation[0], a.dilation[0] > 0);
  if (!is_floating(x.dtype())) not_implemented_for("max_pool1d_impl", x.dtype());
}

}  // namespace

Val max_pool1d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, const Dims& dilation, bool ceil_mode) {
  const PoolArguments a{kernel_size, stride, padding, dilation, ceil_mode};
  require_max_pool1d(self, a);
  return std::get<0>(max_pool_nd(t, 1, self, a));
}

std::tuple<Val, Val> max_pool1d_with_indices::decompose(Tracer& t, const Val& self,
                                                        const Dims& kernel_size, const Dims& stride,
                                                        const Dims& padding, const Dims& dilation,
                                                        bool ceil_mode) {
  require_one_dim("max_pool1d", self);
  require_one_int("max_pool1d", "kernel_size", kernel_size);
  require_one_int("max_pool1d", "padding", padding);
  require_one_int("max_pool1d", "dilation", dilation);
  if (!stride.empty()) require_one_int("max_pool1d", "stride", stride);
  return max_pool_nd(t, 1, self, {kernel_size, stride, padding, dilation, ceil_mode});
}

Val max_pool2d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, const Dims& dilation, bool ceil_mode) {
  return std::get<0>(max_pool_nd(t, 2, self, {kernel_size, stride, padding, dilation, ceil_mode}));
}

std::tuple<Val, Val> max_pool2d_with_indices::decompose(Tracer& t, const Val& self,
                                                        const Dims& kernel_size, const Dims& stride,
                                                        const Dims& padding, const Dims& dilation,
                                                        bool ceil_mode) {
  return max_pool_nd(t, 2, self, {kernel_size, stride, padding, dilation, ceil_mode});
}

Val max_pool3d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, const Dims& dilation, bool ceil_mode) {
  return std::get<0>(max_pool_nd(t, 3, self, {kernel_size, stride, padding, dilation, ceil_mode}));
}

std::tuple<Val, Val> max_pool3d_with_indices::decompose(Tracer& t, const Val& self,
                                                        const Dims& kernel_size, const Dims& stride,
                                                        const Dims& padding, const Dims& dilation,
                                                        bool ceil_mode) {
  return max_pool_nd(t, 3, self, {kernel_size, stride, padding, dilation, ceil_mode});
}

Val max_pool2d_with_indices_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                                const Dims& kernel_size, const Dims& stride,
                                                const Dims& padding, const Dims& dilation,
                                                bool ceil_mode, const Val& indices) {
  return max_pool_nd_backward(t, 2, grad_output, self,
                              {kernel_size, stride, padding, dilation, ceil_mode}, indices);
}

Val max_pool3d_with_indices_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                                const Dims& kernel_size, const Dims& stride,
                                                const Dims& padding, const Dims& dilation,
                                                bool ceil_mode, const Val& indices) {
  return max_pool_nd_backward(t, 3, grad_output, self,
                              {kernel_size, stride, padding, dilation, ceil_mode}, indices);
}

// Without the indices, which are found again.
Val max_pool2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                   const Dims& kernel_size, const Dims& stride, const Dims& padding,
                                   const Dims& dilation, bool ceil_mode) {
  const PoolArguments a{kernel_size, stride, padding, dilation, ceil_mode};
  const Val indices = std::get<1>(max_pool_nd(t, 2, self, a));
  return max_pool_nd_backward(t, 2, grad_output, self, a, indices);
}

}  // namespace primset::decomps
