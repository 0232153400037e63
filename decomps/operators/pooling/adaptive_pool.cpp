// Windows that divide a dim into as many parts as the result has elements: part o of n covers the
// elements from floor(o * size / n) up to ceil((o + 1) * size / n). Where n divides the size they
// are windows of one size, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling.h"
#include "decomps/operators/pooling/chosen_places.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

// Between the sizes of a tensor and of its parts, the greater divisible by the smaller in each dim.
std::optional<SymInts> even_parts(const SymInts& sizes, const SymInts& parts) {
  SymInts window;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (parts[d] == SymInt(0) || !(mod(sizes[d], parts[d]) == SymInt(0))) return {};
    window.push_back(floor_div(sizes[d], parts[d]));
  }
  return window;
}

struct AdaptiveParts {
  std::vector<Val> bounds;  // starts and ends of each dim
  SymInts reach;

  AdaptiveParts(Tracer& t, const SymInts& sizes, const SymInts& parts) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      const SymInt limit = (sizes[d] + 1) * (parts[d] + 1);
      const Val begun =
          t.iota({parts[d]}, 0, place_type(limit)) * t.constant(sizes[d], place_type(limit));
      const Val end = begun + t.constant(sizes[d] + parts[d] - 1, begun.dtype());
      bounds.push_back(quotient(begun, parts[d], limit));
      bounds.push_back(quotient(end, parts[d], limit));
      reach.push_back(ceil_div(sizes[d], parts[d]) + 1);
    }
  }

  // How many elements each has, of all dims together.
  Val counts() const {
    Val product;
    for (size_t d = 0; d < reach.size(); ++d) {
      SymInts axis(reach.size(), SymInt(1));
      axis[d] = bounds[2 * d].size(0);
      const Val along = reshape(bounds[2 * d + 1] - bounds[2 * d], axis);
      product = product.valid() ? product * along : along;
    }
    return product;
  }

  std::vector<Val> reduced(const Val& x, const char* how) const {
    std::vector<Val> operands = {x};
    operands.insert(operands.end(), bounds.begin(), bounds.end());
    return x.tracer().prim(Prim::variable_window_reduce, operands,
                           {{"reach", reach}, {"reduce", std::string(how)}});
  }
};

SymInts no_padding(size_t dims) {
  return SymInts(dims, SymInt(0));
}

void require_output_size(std::string_view name, const SymInts& size, int64_t dims) {
  require(static_cast<int64_t>(size.size()) == dims, ErrorCode::runtime,
          fmt::format("{}: output_size must be {}; found {} of them", name, dims, size.size()));
  require(std::all_of(size.begin(), size.end(), [](const SymInt& s) { return s >= SymInt(0); }),
          ErrorCode::runtime,
          fmt::format("{}: elements of output_size must be greater than or equal to 0 but received "
                      "{{{}}}",
                      name, fmt::join(hints_of(size), ", ")));
}

Val adaptive_average(Tracer& t, int64_t dims, const Val& x, const SymInts& output_size) {
  const std::string name = fmt::format("adaptive_avg_pool{}d", dims);
  require_output_size(name, output_size, dims);
  require_pooled_input(name, dims, x, dims == 3 ? 1 : x.rank() - dims);
  if (!is_floating(x.dtype())) not_implemented_for(name, x.dtype());
  const SymInts result = with_last_sizes(x, output_size);
  if (prims::product(result) == SymInt(0)) return zeros(t, result, x.dtype());
  const SymInts shape = last_sizes(x, output_size.size());
  if (const auto window = even_parts(shape, output_size)) {
    return t.prim1(Prim::avg_pool, {x},
                   {{"window", *window},
                    {"strides", *window},
                    {"padding", no_padding(window->size())},
                    {"places", output_size},
                    {"count_include_pad", true},
                    {"divisor", int64_t{0}}});
  }
  const AdaptiveParts parts(t, shape, output_size);
  const Val sum = parts.reduced(opmath(x), "sum")[0];
  return convert(sum / convert(parts.counts(), sum.dtype()), x.dtype());
}

// A result of one element is a mean, of complex numbers too and of nothing.
Val adaptive_average_or_mean(Tracer& t, int64_t dims, const Val& x, const SymInts& output_size) {
  require_output_size(fmt::format("adaptive_avg_pool{}d", dims), output_size, dims);
  const bool one = std::all_of(output_size.begin(), output_size.end(),
                               [](const SymInt& s) { return s == SymInt(1); });
  if (!one) return adaptive_average(t, dims, x, output_size);
  Dims last;
  for (int64_t d = -dims; d < 0; ++d) last.push_back(d);
  return t.call1("mean.dim", {x, last, true});
}

// An element of the input has shares of the parts that cover it, and these are its parts of them.
Val adaptive_average_backward(Tracer& t, int64_t dims, const Val& grad, const Val& x) {
  const std::string name = fmt::format("adaptive_avg_pool{}d_backward", dims);
  require_pooled_input(name, dims, x, x.rank());
  require(grad.rank() == x.rank(), ErrorCode::runtime,
          fmt::format("{}: Expected dimensions {} for `grad_output` but got dimensions {}", name,
                      x.rank(), grad.rank()));
  require_pooled_input(name, dims, grad);
  const auto n = static_cast<size_t>(dims);
  const SymInts shape = last_sizes(x, n), parts_shape = last_sizes(grad, n);
  require_pool_gradient(name, grad, x, parts_shape);
  if (x.is_empty()) return zeros(t, x.shape(), x.dtype());
  if (const auto window = even_parts(shape, parts_shape)) {
    return t.prim1(Prim::avg_pool_backward, {grad},
                   {{"window", *window},
                    {"strides", *window},
                    {"padding", no_padding(n)},
                    {"shape", shape},
                    {"count_include_pad", true},
                    {"divisor", int64_t{0}}});
  }
  const Val wide = opmath(grad);
  const Val counts = convert(AdaptiveParts(t, shape, parts_shape).counts(), wide.dtype());
  return convert(AdaptiveParts(t, parts_shape, shape).reduced(wide / counts, "sum")[0], x.dtype());
}

std::tuple<Val, Val> adaptive_maximum(Tracer& t, int64_t dims, const Val& x, const Dims& list) {
  const std::string name = fmt::format("adaptive_max_pool{}d", dims);
  const SymInts output_size(list.begin(), list.end());
  require_pooled_input(name, dims, x);
  require_output_size(name, output_size, dims);
  const SymInts result = with_last_sizes(x, output_size);
  if (prims::product(result) == SymInt(0))
    return {zeros(t, result, x.dtype()), zeros(t, result, DType::i64)};
  const SymInts shape = last_sizes(x, output_size.size());
  if (const auto window = even_parts(shape, output_size)) {
    const auto out = t.prim(Prim::max_pool, {x},
                            {{"window", *window},
                             {"strides", *window},
                             {"dilations", SymInts(window->size(), SymInt(1))},
                             {"padding", no_padding(window->size())},
                             {"places", output_size}});
    return {out[0], out[1]};
  }
  const auto out = AdaptiveParts(t, shape, output_size).reduced(x, "max");
  return {out[0], out[1]};
}

Val adaptive_maximum_backward(Tracer& t, int64_t dims, const Val& grad, const Val& x,
                              const Val& indices) {
  const std::string name = fmt::format("adaptive_max_pool{}d_backward", dims);
  require_pooled_input(name, dims, grad);
  const auto n = static_cast<size_t>(dims);
  require_pool_indices(indices, grad);
  require_pool_gradient(name, grad, x, last_sizes(grad, n));
  return at_chosen_places(Prim::scatter_add, grad, indices, last_sizes(x, n));
}

}  // namespace

Val adaptive_avg_pool1d::decompose(Tracer& t, const Val& self, const Dims& output_size) {
  require_one_dim("adaptive_avg_pool1d", self);
  require_one_int("adaptive_avg_pool1d", "output_size", output_size);
  return adaptive_average_or_mean(t, 1, self, {output_size.begin(), output_size.end()});
}
Val adaptive_avg_pool2d::decompose(Tracer& t, const Val& self, const SymInts& output_size) {
  return adaptive_average_or_mean(t, 2, self, output_size);
}
Val adaptive_avg_pool3d::decompose(Tracer& t, const Val& self, const SymInts& output_size) {
  return adaptive_average_or_mean(t, 3, self, output_size);
}
Val _adaptive_avg_pool2d::decompose(Tracer& t, const Val& self, const SymInts& output_size) {
  return adaptive_average(t, 2, self, output_size);
}
Val _adaptive_avg_pool3d::decompose(Tracer& t, const Val& self, const SymInts& output_size) {
  return adaptive_average(t, 3, self, output_size);
}
Val _adaptive_avg_pool2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self) {
  return adaptive_average_backward(t, 2, grad_output, self);
}
Val _adaptive_avg_pool3d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self) {
  return adaptive_average_backward(t, 3, grad_output, self);
}

std::tuple<Val, Val> adaptive_max_pool1d::decompose(Tracer& t, const Val& self,
                                                    const Dims& output_size) {
  require_one_dim("adaptive_max_pool1d", self);
  require_one_int("adaptive_max_pool1d", "output_size", output_size);
  return adaptive_maximum(t, 1, self, output_size);
}
std::tuple<Val, Val> adaptive_max_pool2d::decompose(Tracer& t, const Val& self,
                                                    const Dims& output_size) {
  return adaptive_maximum(t, 2, self, output_size);
}
std::tuple<Val, Val> adaptive_max_pool3d::decompose(Tracer& t, const Val& self,
                                                    const Dims& output_size) {
  return adaptive_maximum(t, 3, self, output_size);
}
Val adaptive_max_pool2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                            const Val& indices) {
  return adaptive_maximum_backward(t, 2, grad_output, self, indices);
}
Val adaptive_max_pool3d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                            const Val& indices) {
  return adaptive_maximum_backward(t, 3, grad_output, self, indices);
}

}  // namespace primset::decomps
