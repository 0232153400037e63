#include "decomps/operators/upsample/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decomps/operators/operator_support.h"
#include "decomps/primitives/spatial/resampling_neighbours.h"

namespace primset::decomps {
namespace {

constexpr std::string_view kAntialias = "antialias_";

SymInts last_of(const SymInts& shape, size_t count) {
  return {shape.end() - static_cast<std::ptrdiff_t>(count), shape.end()};
}

std::string sizes_by_dim(const SymInts& sizes) {
  constexpr std::string_view kNames[] = {"D", "H", "W"};
  std::string text;
  for (size_t d = 0; d < sizes.size(); ++d)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", kNames[3 - sizes.size() + d],
                        sizes[d].hint());
  return text;
}

// `input_size` is the whole shape.
void require_sizes(const SymInts& input_size, const SymInts& output_size, size_t dims) {
  require(output_size.size() == dims, ErrorCode::runtime,
          fmt::format("It is expected output_size equals to {}, but got size {}", dims,
                      output_size.size()));
  require(input_size.size() == dims + 2, ErrorCode::runtime,
          fmt::format("It is expected input_size equals to {}, but got size {}", dims + 2,
                      input_size.size()));
  const SymInts in = last_of(input_size, dims);
  const auto some = [](const SymInts& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](const SymInt& s) { return s > SymInt(0); });
  };
  require(some(in) && some(output_size), ErrorCode::runtime,
          fmt::format("Input and output sizes should be greater than 0, but got input ({}) and "
                      "output ({})",
                      sizes_by_dim(in), sizes_by_dim(output_size)));
}

void require_resizable(const Val& x, const SymInts& size, size_t dims) {
  require_sizes(x.shape(), size, dims);
  require(x.size(1) > SymInt(0), ErrorCode::runtime,
          fmt::format("Non-empty {}D data tensor expected but got a tensor with sizes {}", dims + 2,
                      shape_text(x.shape())));
}

void require_resized_gradient(const Val& grad, const SymInts& output_size,
                              const SymInts& input_size, size_t dims) {
  require_sizes(input_size, output_size, dims);
  require(grad.rank() == static_cast<int64_t>(dims) + 2, ErrorCode::runtime,
          fmt::format("Expected grad_output to be a tensor of dimension {} but got: dimension {}",
                      dims + 2, grad.rank()));
  SymInts wanted = input_size;
  std::copy_backward(output_size.begin(), output_size.end(), wanted.end());
  for (size_t d = 0; d < wanted.size(); ++d) {
    const SymInt found = grad.size(static_cast<int64_t>(d));
    require(found == wanted[d], ErrorCode::runtime,
            fmt::format("Expected grad_output to have the same shape as output; output.size({}) = "
                        "{} but got grad_output.size({}) = {}",
                        d, wanted[d].hint(), d, found.hint()));
  }
}

// Scales are computed in the dtype of the weights; those of nearest are f32 whatever that is.
DType scale_type(Tracer& t, DType type, const std::string& filter) {
  if (filter.starts_with("nearest")) return DType::f32;
  return t.device().fast_f64 || type == DType::f64 ? DType::f64 : DType::f32;
}

Val size_ratio(Tracer& t, const SymInt& in, const SymInt& out, bool align_corners, DType type) {
  if (!align_corners) return t.constant(in, type) / t.constant(out, type);
  if (out == SymInt(1)) return t.constant(0, type);
  return t.constant(in - 1, type) / t.constant(out - 1, type);
}

// Factors that are not positive say nothing.
Val scale_of(Tracer& t, const SymInt& in, const SymInt& out, bool align_corners, DType type,
             const std::optional<ScalarArg>& factor) {
  const Val by_size = size_ratio(t, in, out, align_corners, type);
  if (!factor || align_corners) return by_size;
  if (factor->constant) {
    const double f = factor->constant->to_double();
    return f > 0 ? t.constant(1 / f, type) : by_size;
  }
  const Val f = t.scalar(*factor, DType::f64);
  return where(gt(f, Scalar(0.0)), convert(Scalar(1.0) / f, type), by_size);
}

std::vector<Val> with_scales(Tracer& t, const Val& x, const SymInts& in, const SymInts& out,
                             const std::string& filter, bool align_corners,
                             const ResizeFactors& factors) {
  std::vector<Val> operands = {x};
  const DType type = scale_type(t, x.dtype(), filter);
  for (size_t d = 0; d < in.size(); ++d)
    operands.push_back(scale_of(t, in[d], out[d], align_corners, type, factors[d]));
  return operands;
}

ResizeFactors as_arguments(Tracer& t, const KnownFactors& factors) {
  ResizeFactors list;
  for (const auto& f : factors)
    list.push_back(f ? std::optional(t.literal(Scalar(*f))) : std::nullopt);
  return list;
}

bool is_stated(const std::optional<double>& factor, bool align_corners) {
  return factor && *factor > 0 && !align_corners;
}

int64_t filter_width(std::string_view filter) {
  return filter.ends_with("lanczos") ? 6 : filter.ends_with("cubic") ? 4 : 2;
}

// How many elements an antialiasing filter covers at most: its width, times a scale above 1.
SymInts filter_reach(const SymInts& in, const SymInts& out, std::string_view filter,
                     bool align_corners, const KnownFactors& factors) {
  SymInts reach;
  const int64_t width = filter_width(filter);
  for (size_t d = 0; d < in.size(); ++d) {
    if (is_stated(factors[d], align_corners)) {
      const double stretched = static_cast<double>(width) * std::max(1.0, 1 / *factors[d]);
      reach.push_back(stretched < 1e9 ? min(SymInt(std::llround(std::ceil(stretched))) + 1,
                                            max(in[d], width + 1))
                                      : in[d]);
      continue;
    }
    const SymInt steps_in = align_corners ? in[d] - 1 : in[d];
    const SymInt steps_out = align_corners ? max(out[d] - 1, 1) : out[d];
    reach.push_back(ceil_div(width * max(steps_in, steps_out), steps_out) + 1);
  }
  return reach;
}

// How far the elements that one has a part in are from where the sizes' ratio puts them. Factors
// move them by an element where they are what the output's size was made of. An index of nearest
// is rounded, which moves it where the ratio meets an element exactly.
int64_t slack_of(const SymInts& in, const SymInts& out, const std::string& filter,
                 bool align_corners, const KnownFactors& factors) {
  int64_t slack = filter.starts_with("nearest") ? 1 : 0;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!is_stated(factors[d], align_corners)) continue;
    const auto size = static_cast<double>(in[d].specialize());
    if (std::fabs(size * *factors[d] - static_cast<double>(out[d].specialize())) > 1) return -1;
    slack = 2;
  }
  return slack;
}

}  // namespace

Val resized(Tracer& t, const Val& x, const SymInts& size, const std::string& filter,
            bool align_corners, const ResizeFactors& factors) {
  require_resizable(x, size, factors.size());
  const SymInts in = last_of(x.shape(), size.size());
  const auto operands = with_scales(t, x, in, size, filter, align_corners, factors);
  if (filter == "linear" || filter == "cubic")
    return t.prim1(filter == "linear" ? Prim::resample_linear : Prim::resample_cubic, operands,
                   {{"size", size}, {"align_corners", align_corners}});
  const std::vector<Val> scales(operands.begin() + 1, operands.end());
  // Of images ATen looks at the sizes first, of rows and volumes it does not.
  const bool by_scale = filter == "nearest" && size.size() != 2;
  return interpolated(x, resampled_axes(x, scales, in, size, false),
                      by_scale ? "nearest_scaled" : filter);
}

Val resized_antialiased(Tracer& t, const Val& x, const SymInts& size, const std::string& filter,
                        bool align_corners, const KnownFactors& factors) {
  require_resizable(x, size, factors.size());
  const SymInts in = last_of(x.shape(), size.size());
  return t.prim1(Prim::resample_antialias,
                 with_scales(t, x, in, size, filter, align_corners, as_arguments(t, factors)),
                 {{"size", size},
                  {"filter", filter.substr(kAntialias.size())},
                  {"reach", filter_reach(in, size, filter, align_corners, factors)}});
}

Val resized_backward(Tracer& t, const Val& grad, const SymInts& output_size,
                     const SymInts& input_size, const std::string& filter, bool align_corners,
                     const KnownFactors& factors) {
  const size_t dims = factors.size();
  require_resized_gradient(grad, output_size, input_size, dims);
  const SymInts in = last_of(input_size, dims);
  if (grad.is_empty()) return zeros(t, input_size, grad.dtype());
  return t.prim1(
      Prim::resample_backward,
      with_scales(t, grad, in, output_size, filter, align_corners, as_arguments(t, factors)),
      {{"size", in},
       {"filter", filter},
       {"align_corners", align_corners},
       {"reach", filter_reach(in, output_size, filter, align_corners, factors)},
       {"slack", slack_of(in, output_size, filter, align_corners, factors)}});
}

ResizeTarget::ResizeTarget(const Val& x, int64_t dims, const std::optional<SymInts>& output_size,
                           const std::optional<std::vector<double>>& scale_factors)
    : factors(static_cast<size_t>(dims)) {
  require(output_size.has_value() != scale_factors.has_value(), ErrorCode::runtime,
          "Must specify exactly one of output_size and scale_factors");
  require(
      x.rank() == dims + 2, ErrorCode::runtime,
      fmt::format("It is expected input_size equals to {}, but got size {}", dims + 2, x.rank()));
  if (output_size) {
    size = *output_size;
    return;
  }
  require(static_cast<int64_t>(scale_factors->size()) == dims, ErrorCode::runtime,
          fmt::format("It is expected scale_factors equals to {}, but got size {}", dims,
                      scale_factors->size()));
  for (size_t d = 0; d < factors.size(); ++d) {
    factors[d] = (*scale_factors)[d];
    const double enlarged =
        static_cast<double>(x.size(static_cast<int64_t>(d) + 2).specialize()) * *factors[d];
    require(std::fabs(enlarged) < 9e18, ErrorCode::runtime,
            fmt::format("scale factor {} gives a size that is too great", *factors[d]));
    size.push_back(static_cast<int64_t>(enlarged));
  }
}

ResizeFactors ResizeTarget::arguments(Tracer& t) const {
  return as_arguments(t, factors);
}

}  // namespace primset::decomps
