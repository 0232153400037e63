#include <fmt/format.h>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

struct Average {
  std::string name;
  int64_t dims;
  PoolArguments arguments;
  bool count_include_pad;
  std::optional<int64_t> divisor;

  PoolGeometry geometry(const Val& x) const {
    const PoolGeometry g = pool_geometry(name, dims, x, arguments);
    require(divisor != 0, ErrorCode::runtime, "divisor must be not zero");
    // Said of volumes alone.
    for (size_t d = 0; dims == 3 && d < 3; ++d)
      require(g.shape[d] >= g.window[d], ErrorCode::runtime,
              fmt::format("input image {} smaller than kernel size {}", shape_text(g.shape),
                          shape_text(g.window)));
    return g;
  }
  std::vector<prims::Attr> attributes(const PoolGeometry& g, const char* result,
                                      const SymInts& sizes) const {
    return {{"window", g.window},
            {"strides", g.strides},
            {"padding", g.padding},
            {result, sizes},
            {"count_include_pad", count_include_pad},
            {"divisor", divisor.value_or(0)}};
  }
};

Average average(int64_t dims, const Dims& kernel, const Dims& stride, const Dims& padding,
                bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) {
  return {fmt::format("avg_pool{}d", dims),
          dims,
          {kernel, stride, padding, {1}, ceil_mode},
          count_include_pad,
          divisor};
}

Val avg_pooled(Tracer& t, const Val& x, const Average& a) {
  const PoolGeometry g = a.geometry(x);
  return t.prim1(Prim::avg_pool, {x}, a.attributes(g, "places", g.places));
}

Val avg_pooled_backward(Tracer& t, const Val& grad, const Val& x, const Average& a) {
  const PoolGeometry g = a.geometry(x);
  require_pool_gradient(a.name + "_backward", grad, x, g.places);
  return t.prim1(Prim::avg_pool_backward, {grad}, a.attributes(g, "shape", g.shape));
}

}  // namespace

Val avg_pool1d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, bool ceil_mode, bool count_include_pad) {
  require_one_dim("avg_pool1d", self);
  require_one_int("avg_pool1d", "kernel_size", kernel_size);
  require_one_int("avg_pool1d", "padding", padding);
  if (!stride.empty()) require_one_int("avg_pool1d", "stride", stride);
  return avg_pooled(t, self,
                    average(1, kernel_size, stride, padding, ceil_mode, count_include_pad, {}));
}

Val avg_pool2d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, bool ceil_mode, bool count_include_pad,
                          const std::optional<int64_t>& divisor_override) {
  return avg_pooled(
      t, self,
      average(2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}

Val avg_pool3d::decompose(Tracer& t, const Val& self, const Dims& kernel_size, const Dims& stride,
                          const Dims& padding, bool ceil_mode, bool count_include_pad,
                          const std::optional<int64_t>& divisor_override) {
  return avg_pooled(
      t, self,
      average(3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}

Val avg_pool2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                   const Dims& kernel_size, const Dims& stride, const Dims& padding,
                                   bool ceil_mode, bool count_include_pad,
                                   const std::optional<int64_t>& divisor_override) {
  return avg_pooled_backward(
      t, grad_output, self,
      average(2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}

Val avg_pool3d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                   const Dims& kernel_size, const Dims& stride, const Dims& padding,
                                   bool ceil_mode, bool count_include_pad,
                                   const std::optional<int64_t>& divisor_override) {
  return avg_pooled_backward(
      t, grad_output, self,
      average(3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
}

}  // namespace primset::decomps
