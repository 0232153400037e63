// Images of other sizes: each operator is a filter, for the dims that its name says.
#include "decomps/operators/upsample.h"

#include "decomps/operators/upsample/resize.h"

namespace primset::decomps {
namespace {

using Factor = std::optional<ScalarArg>;
using KnownFactor = std::optional<double>;
using VecFactors = std::optional<std::vector<double>>;

Val resized_to_target(Tracer& t, const Val& x, int64_t dims, const std::optional<SymInts>& size,
                      const VecFactors& factors, const std::string& filter,
                      bool align_corners = false) {
  const ResizeTarget target(x, dims, size, factors);
  if (filter.starts_with("antialias_"))
    return resized_antialiased(t, x, target.size, filter, align_corners, target.factors);
  return resized(t, x, target.size, filter, align_corners, target.arguments(t));
}

}  // namespace

Val upsample_nearest1d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                  const Factor& scales) {
  return resized(t, self, output_size, "nearest", false, {scales});
}

Val upsample_nearest1d_vec::decompose(Tracer& t, const Val& input,
                                      const std::optional<SymInts>& output_size,
                                      const VecFactors& scale_factors) {
  return resized_to_target(t, input, 1, output_size, scale_factors, "nearest");
}

Val upsample_nearest1d_backward::decompose(Tracer& t, const Val& grad_output,
                                           const SymInts& output_size, const SymInts& input_size,
                                           const KnownFactor& scales) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest", false, {scales});
}

Val upsample_nearest2d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                  const Factor& scales_h, const Factor& scales_w) {
  return resized(t, self, output_size, "nearest", false, {scales_h, scales_w});
}

Val upsample_nearest2d_vec::decompose(Tracer& t, const Val& input,
                                      const std::optional<SymInts>& output_size,
                                      const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "nearest");
}

Val upsample_nearest2d_backward::decompose(Tracer& t, const Val& grad_output,
                                           const SymInts& output_size, const SymInts& input_size,
                                           const KnownFactor& scales_h,
                                           const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest", false,
                          {scales_h, scales_w});
}

Val upsample_nearest3d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                  const Factor& scales_d, const Factor& scales_h,
                                  const Factor& scales_w) {
  return resized(t, self, output_size, "nearest", false, {scales_d, scales_h, scales_w});
}

Val upsample_nearest3d_vec::decompose(Tracer& t, const Val& input,
                                      const std::optional<SymInts>& output_size,
                                      const VecFactors& scale_factors) {
  return resized_to_target(t, input, 3, output_size, scale_factors, "nearest");
}

Val upsample_nearest3d_backward::decompose(Tracer& t, const Val& grad_output,
                                           const SymInts& output_size, const SymInts& input_size,
                                           const KnownFactor& scales_d, const KnownFactor& scales_h,
                                           const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest", false,
                          {scales_d, scales_h, scales_w});
}

Val _upsample_nearest_exact1d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                         const Factor& scales) {
  return resized(t, self, output_size, "nearest_exact", false, {scales});
}

Val _upsample_nearest_exact1d_vec::decompose(Tracer& t, const Val& input,
                                             const std::optional<SymInts>& output_size,
                                             const VecFactors& scale_factors) {
  return resized_to_target(t, input, 1, output_size, scale_factors, "nearest_exact");
}

Val _upsample_nearest_exact1d_backward::decompose(Tracer& t, const Val& grad_output,
                                                  const SymInts& output_size,
                                                  const SymInts& input_size,
                                                  const KnownFactor& scales) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest_exact", false,
                          {scales});
}

Val _upsample_nearest_exact2d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                         const Factor& scales_h, const Factor& scales_w) {
  return resized(t, self, output_size, "nearest_exact", false, {scales_h, scales_w});
}

Val _upsample_nearest_exact2d_vec::decompose(Tracer& t, const Val& input,
                                             const std::optional<SymInts>& output_size,
                                             const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "nearest_exact");
}

Val _upsample_nearest_exact2d_backward::decompose(Tracer& t, const Val& grad_output,
                                                  const SymInts& output_size,
                                                  const SymInts& input_size,
                                                  const KnownFactor& scales_h,
                                                  const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest_exact", false,
                          {scales_h, scales_w});
}

Val _upsample_nearest_exact3d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                         const Factor& scales_d, const Factor& scales_h,
                                         const Factor& scales_w) {
  return resized(t, self, output_size, "nearest_exact", false, {scales_d, scales_h, scales_w});
}

Val _upsample_nearest_exact3d_vec::decompose(Tracer& t, const Val& input,
                                             const std::optional<SymInts>& output_size,
                                             const VecFactors& scale_factors) {
  return resized_to_target(t, input, 3, output_size, scale_factors, "nearest_exact");
}

Val _upsample_nearest_exact3d_backward::decompose(
    Tracer& t, const Val& grad_output, const SymInts& output_size, const SymInts& input_size,
    const KnownFactor& scales_d, const KnownFactor& scales_h, const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "nearest_exact", false,
                          {scales_d, scales_h, scales_w});
}

Val upsample_linear1d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                 bool align_corners, const Factor& scales) {
  return resized(t, self, output_size, "linear", align_corners, {scales});
}

Val upsample_linear1d_vec::decompose(Tracer& t, const Val& input,
                                     const std::optional<SymInts>& output_size, bool align_corners,
                                     const VecFactors& scale_factors) {
  return resized_to_target(t, input, 1, output_size, scale_factors, "linear", align_corners);
}

Val upsample_linear1d_backward::decompose(Tracer& t, const Val& grad_output,
                                          const SymInts& output_size, const SymInts& input_size,
                                          bool align_corners, const KnownFactor& scales) {
  return resized_backward(t, grad_output, output_size, input_size, "linear", align_corners,
                          {scales});
}

Val upsample_bilinear2d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                   bool align_corners, const Factor& scales_h,
                                   const Factor& scales_w) {
  return resized(t, self, output_size, "linear", align_corners, {scales_h, scales_w});
}

Val upsample_bilinear2d_vec::decompose(Tracer& t, const Val& input,
                                       const std::optional<SymInts>& output_size,
                                       bool align_corners, const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "linear", align_corners);
}

Val upsample_bilinear2d_backward::decompose(Tracer& t, const Val& grad_output,
                                            const SymInts& output_size, const SymInts& input_size,
                                            bool align_corners, const KnownFactor& scales_h,
                                            const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "linear", align_corners,
                          {scales_h, scales_w});
}

Val upsample_trilinear3d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                    bool align_corners, const Factor& scales_d,
                                    const Factor& scales_h, const Factor& scales_w) {
  return resized(t, self, output_size, "linear", align_corners, {scales_d, scales_h, scales_w});
}

Val upsample_trilinear3d_vec::decompose(Tracer& t, const Val& input,
                                        const std::optional<SymInts>& output_size,
                                        bool align_corners, const VecFactors& scale_factors) {
  return resized_to_target(t, input, 3, output_size, scale_factors, "linear", align_corners);
}

Val upsample_trilinear3d_backward::decompose(Tracer& t, const Val& grad_output,
                                             const SymInts& output_size, const SymInts& input_size,
                                             bool align_corners, const KnownFactor& scales_d,
                                             const KnownFactor& scales_h,
                                             const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "linear", align_corners,
                          {scales_d, scales_h, scales_w});
}

Val upsample_bicubic2d::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                  bool align_corners, const Factor& scales_h,
                                  const Factor& scales_w) {
  return resized(t, self, output_size, "cubic", align_corners, {scales_h, scales_w});
}

Val upsample_bicubic2d_vec::decompose(Tracer& t, const Val& input,
                                      const std::optional<SymInts>& output_size, bool align_corners,
                                      const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "cubic", align_corners);
}

Val upsample_bicubic2d_backward::decompose(Tracer& t, const Val& grad_output,
                                           const SymInts& output_size, const SymInts& input_size,
                                           bool align_corners, const KnownFactor& scales_h,
                                           const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "cubic", align_corners,
                          {scales_h, scales_w});
}

Val _upsample_bilinear2d_aa::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                       bool align_corners, const KnownFactor& scales_h,
                                       const KnownFactor& scales_w) {
  return resized_antialiased(t, self, output_size, "antialias_linear", align_corners,
                             {scales_h, scales_w});
}

Val _upsample_bilinear2d_aa_vec::decompose(Tracer& t, const Val& input,
                                           const std::optional<SymInts>& output_size,
                                           bool align_corners, const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "antialias_linear",
                           align_corners);
}

Val _upsample_bilinear2d_aa_backward::decompose(Tracer& t, const Val& grad_output,
                                                const SymInts& output_size,
                                                const SymInts& input_size, bool align_corners,
                                                const KnownFactor& scales_h,
                                                const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "antialias_linear",
                          align_corners, {scales_h, scales_w});
}

Val _upsample_bicubic2d_aa::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                      bool align_corners, const KnownFactor& scales_h,
                                      const KnownFactor& scales_w) {
  return resized_antialiased(t, self, output_size, "antialias_cubic", align_corners,
                             {scales_h, scales_w});
}

Val _upsample_bicubic2d_aa_vec::decompose(Tracer& t, const Val& input,
                                          const std::optional<SymInts>& output_size,
                                          bool align_corners, const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "antialias_cubic",
                           align_corners);
}

Val _upsample_bicubic2d_aa_backward::decompose(Tracer& t, const Val& grad_output,
                                               const SymInts& output_size,
                                               const SymInts& input_size, bool align_corners,
                                               const KnownFactor& scales_h,
                                               const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "antialias_cubic", align_corners,
                          {scales_h, scales_w});
}

Val _upsample_lanczos2d_aa::decompose(Tracer& t, const Val& self, const SymInts& output_size,
                                      bool align_corners, const KnownFactor& scales_h,
                                      const KnownFactor& scales_w) {
  return resized_antialiased(t, self, output_size, "antialias_lanczos", align_corners,
                             {scales_h, scales_w});
}

Val _upsample_lanczos2d_aa_vec::decompose(Tracer& t, const Val& input,
                                          const std::optional<SymInts>& output_size,
                                          bool align_corners, const VecFactors& scale_factors) {
  return resized_to_target(t, input, 2, output_size, scale_factors, "antialias_lanczos",
                           align_corners);
}

Val _upsample_lanczos2d_aa_backward::decompose(Tracer& t, const Val& grad_output,
                                               const SymInts& output_size,
                                               const SymInts& input_size, bool align_corners,
                                               const KnownFactor& scales_h,
                                               const KnownFactor& scales_w) {
  return resized_backward(t, grad_output, output_size, input_size, "antialias_lanczos",
                          align_corners, {scales_h, scales_w});
}

}  // namespace primset::decomps
