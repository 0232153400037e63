// Fractional max pooling (Graham, 2014): windows of one size whose starts are pseudo-random, from
// one sample of each plane and dim.
#include <fmt/format.h>

#include "decomps/operators/operator_support.h"
#include "decomps/operators/pooling.h"
#include "decomps/operators/pooling/chosen_places.h"
#include "decomps/operators/pooling/geometry.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

std::string fractional_name(int64_t dims) {
  return fmt::format("fractional_max_pool{}d{}", dims, dims == 3 ? "_out" : "");
}

void require_fractional_samples(const Val& x, const Val& samples, int64_t dims) {
  require(samples.dtype() == x.dtype(), ErrorCode::runtime,
          "Expect _random_samples to have the same dtype as input");
  require(samples.rank() == 3, ErrorCode::runtime,
          fmt::format("Expect _random_samples to have 3 dimensions, got {}", samples.rank()));
  const bool batched = x.rank() == dims + 2;
  require(samples.size(0) >= (batched ? x.size(0) : SymInt(1)), ErrorCode::runtime,
          "Expect _random_samples.size(0) no less then input batch size.");
  require(samples.size(1) == x.size(batched ? 1 : 0), ErrorCode::runtime,
          "Expect _random_samples.size(1) equals to input channel size.");
  require(samples.size(2) == SymInt(dims), ErrorCode::runtime,
          fmt::format("Expect _random_samples.size(2) equals to {}; got {}.", dims,
                      samples.size(2).hint()));
}

// Of images windows may end where the input does, of volumes they may not.
void require_fractional_room(std::string_view name, const SymInts& shape, const Dims& kernel,
                             const Dims& output) {
  constexpr std::string_view kNames[] = {"time", "height", "width"};
  for (size_t d = 0; d < kernel.size(); ++d) {
    const SymInt room = shape[d] + (kernel.size() == 2 ? 1 : 0);
    require(SymInt(output[d]) + kernel[d] - 1 < room, ErrorCode::runtime,
            fmt::format("{}(): pool {} {} too large relative to input {} {}", name,
                        kNames[3 - kernel.size() + d], kernel[d], kNames[3 - kernel.size() + d],
                        shape[d].hint()));
  }
}

// In the samples' own dtype, each step rounded to it as ATen does.
Val rounded_to(const Val& x, DType type) {
  return opmath(convert(x, type));
}

// Where the windows of a dim start: int((o + sample) * alpha) - int(sample * alpha) with alpha so
// that the last one ends the dim. samples is [batch..., 1].
Val window_starts(const Val& samples, const SymInt& size, int64_t kernel, int64_t places) {
  Tracer& t = samples.tracer();
  const DType type = samples.dtype();
  SymInts shape = samples.shape();
  shape.back() = places;
  const SymInt last = size - kernel;
  const Val at = t.iota(shape, samples.rank() - 1, DType::i64);
  const Val end = full_like(at, last);
  if (places == 1) return end;
  const Val sample = broadcast_to(opmath(samples), shape);
  const Val steps = rounded_to(full_like(sample, places - 1), type);
  const Val alpha = rounded_to(rounded_to(full_like(sample, last), type) / steps, type);
  const Val here = rounded_to(rounded_to(convert(at, sample.dtype()), type) + sample, type);
  const Val start = convert(rounded_to(here * alpha, type), DType::i64) -
                    convert(rounded_to(sample * alpha, type), DType::i64);
  return where(eq(at, Scalar(places - 1)), end, start);
}

// ATen's images have the sample of the width first, its volumes that of the depth.
int64_t sample_of(size_t dim, int64_t dims) {
  return dims == 2 ? 1 - static_cast<int64_t>(dim) : static_cast<int64_t>(dim);
}

std::tuple<Val, Val> fractional(Tracer& t, int64_t dims, const Val& x, const Dims& kernel,
                                const Dims& output, const Val& samples) {
  const std::string name = fractional_name(dims);
  require(
      static_cast<int64_t>(kernel.size()) == dims, ErrorCode::runtime,
      fmt::format("{}: kernel_size must either be a single Int or tuple of {} Ints", name, dims));
  require(
      static_cast<int64_t>(output.size()) == dims, ErrorCode::runtime,
      fmt::format("{}: output_size must either be a single Int or tuple of {} Ints", name, dims));
  for (const int64_t size : kernel) {
    require(size > 0, ErrorCode::runtime,
            fmt::format("{}: kernel_size must be greater than zero, but got [{}]", name,
                        fmt::join(kernel, ", ")));
  }
  require_fractional_samples(x, samples, dims);
  require_pooled_input(name, dims, x);
  const SymInts shape = last_sizes(x, kernel.size());
  require_fractional_room(name, shape, kernel, output);
  const SymInts sizes(output.begin(), output.end()), result = with_last_sizes(x, sizes);
  if (prims::product(result) == SymInt(0))
    return {zeros(t, result, x.dtype()), zeros(t, result, DType::i64)};
  // [batch, channels, 1] or [channels, 1] of each dim.
  const bool batched = x.rank() == dims + 2;
  const Val used = batched ? slice(samples, 0, 0, x.size(0), 1) : select(samples, 0, 0);
  std::vector<Val> operands = {x};
  for (size_t d = 0; d < kernel.size(); ++d) {
    const int64_t which = sample_of(d, dims);
    const Val start = window_starts(slice(used, used.rank() - 1, which, which + 1, 1), shape[d],
                                    kernel[d], output[d]);
    operands.push_back(start);
    operands.push_back(start + full_like(start, kernel[d]));
  }
  const auto out =
      t.prim(Prim::variable_window_reduce, operands,
             {{"reach", SymInts(kernel.begin(), kernel.end())}, {"reduce", std::string("max")}});
  return {out[0], out[1]};
}

Val fractional_backward(Tracer& t, int64_t dims, const Val& grad, const Val& x, const Dims& output,
                        const Val& indices) {
  require_pool_indices(indices, grad);
  require_pool_gradient(fractional_name(dims) + "_backward", grad, x,
                        {output.begin(), output.end()});
  const SymInts shape = last_sizes(x, static_cast<size_t>(dims));
  return at_chosen_places(Prim::scatter_add, grad, indices, shape);
}

}  // namespace

std::tuple<Val, Val> fractional_max_pool2d::decompose(Tracer& t, const Val& self,
                                                      const Dims& kernel_size,
                                                      const Dims& output_size,
                                                      const Val& random_samples) {
  return fractional(t, 2, self, kernel_size, output_size, random_samples);
}
std::tuple<Val, Val> fractional_max_pool3d::decompose(Tracer& t, const Val& self,
                                                      const Dims& kernel_size,
                                                      const Dims& output_size,
                                                      const Val& random_samples) {
  return fractional(t, 3, self, kernel_size, output_size, random_samples);
}
Val fractional_max_pool2d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                              const Dims&, const Dims& output_size,
                                              const Val& indices) {
  return fractional_backward(t, 2, grad_output, self, output_size, indices);
}
Val fractional_max_pool3d_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                              const Dims&, const Dims& output_size,
                                              const Val& indices) {
  return fractional_backward(t, 3, grad_output, self, output_size, indices);
}

}  // namespace primset::decomps
