// A convolution as cuDNN takes it: row-major, of two or three spatial dims.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_SHAPE_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_SHAPE_H_

#include <primset/plugin.h>

#include <array>
#include <compare>
#include <optional>
#include <string_view>

#include "backends/common/convolution/convolution.h"
#include "backends/cuda/libraries/cudnn_api.h"

namespace primset_cuda {

struct ConvolutionShape {
  primset_backend::ConvolutionKind kind{};
  DnnType type = DnnType::f32;
  int rank = 4;  // of the tensors
  std::array<int, 5> x{}, w{}, y{};
  std::array<int, 3> padding{}, stride{}, dilation{};
  int groups = 1;
  bool bias = false;

  const std::array<int, 5>& result() const {
    return kind == primset_backend::ConvolutionKind::places   ? y
           : kind == primset_backend::ConvolutionKind::images ? x
                                                              : w;
  }
  int64_t element_bytes() const { return type == DnnType::f64 ? 8 : type == DnnType::f32 ? 4 : 2; }
  auto operator<=>(const ConvolutionShape&) const = default;
};

struct ConvolutionCall {
  ConvolutionShape shape;
  primset_backend::Convolution tensors;
};

// Nullopt when the call is no convolution that cuDNN could compute, or computes slowly.
std::optional<ConvolutionCall> read_cudnn_convolution(std::string_view name,
                                                      const primset_primitive_call& call);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_SHAPE_H_
