#include "backends/cuda/convolution/convolution_library.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "backends/cuda/kernels/matrix_kernels.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

using primset_backend::ConvolutionKind;

// An engine that needs more memory is not taken, however much is free.
constexpr uint64_t kMostConvolutionBytes = uint64_t{256} << 20;

}  // namespace

// --- plans ---------------------------------------------------------------------------------------

namespace {

std::optional<CudnnPlan> plan_with(const CudnnHandle& dnn, const ConvolutionShape& shape,
                                   BiasWay bias) {
  try {
    return CudnnPlan::choose(dnn, convolution_operations(dnn.api(), shape, bias),
                             {kMostConvolutionBytes, shape.type != DnnType::f32});
  } catch (const CudnnRefusal&) {
    return std::nullopt;
  }
}

// Engines that add a bias to halves take channels that lie innermost, and copy others to that. So
// where one without a bias needs no copies, the bias is laid out. Either way halves are rounded
// once. Of f32 and f64 no engine that adds one is fast.
BiasWay bias_way(const CudnnHandle& dnn, const ConvolutionShape& shape) {
  if (!shape.bias) return BiasWay::none;
  if (shape.type == DnnType::f32 || shape.type == DnnType::f64) return BiasWay::laid_out;
  const auto plain = plan_with(dnn, shape, BiasWay::none);
  return plain && plain->workspace_bytes() == 0 ? BiasWay::laid_out : BiasWay::fused;
}

}  // namespace

std::shared_ptr<const ConvolutionPlan> ConvolutionPlan::make(std::shared_ptr<const CudnnHandle> dnn,
                                                             const ConvolutionShape& shape) {
  const std::lock_guard lock(dnn->mutex());
  const auto with = [&](BiasWay way) -> std::shared_ptr<const ConvolutionPlan> {
    auto plan = plan_with(*dnn, shape, way);
    if (!plan) return nullptr;
    return std::make_shared<ConvolutionPlan>(dnn, shape, std::move(*plan), way);
  };
  const BiasWay way = bias_way(*dnn, shape);
  auto plan = with(way);
  return !plan && way == BiasWay::fused ? with(BiasWay::laid_out) : plan;
}

void ConvolutionPlan::run(primset_stream_t& stream, const ConvolutionMemory& m,
                          DevicePointer workspace) const {
  if (bias_ == BiasWay::laid_out) {
    const auto& sizes = shape_.result();
    Channels channels{sizes[0], sizes[1], 1};
    for (size_t d = 2; d < static_cast<size_t>(shape_.rank); ++d) channels.places *= sizes[d];
    const DevicePointer to = shape_.kind == ConvolutionKind::images ? m.x : m.y;
    stream.device->kernels().spread(stream, to, m.bias, shape_.element_bytes(), channels);
  }
  constexpr int64_t ids[] = {kTensorX, kTensorW, kTensorY, kTensorBias};
  void* const addresses[] = {cudnn_address(m.x), cudnn_address(m.w), cudnn_address(m.y),
                             cudnn_address(m.bias)};
  const size_t count = bias_ == BiasWay::fused ? 4 : 3;
  const std::lock_guard lock(dnn_->mutex());
  plan_.run(*dnn_, std::span(ids).first(count), std::span<void* const>(addresses).first(count),
            cudnn_address(workspace), stream.handle);
}

// --- the library ---------------------------------------------------------------------------------

std::shared_ptr<const ConvolutionPlan> ConvolutionLibrary::plan(const ConvolutionShape& shape) {
  const RelaxedCapture relaxed(device_.cu);
  return plans_.get(shape, [&] {
    auto plan = ConvolutionPlan::make(dnn_, shape);
    primset_backend::log(device_.driver->host(), PRIMSET_LOG_DEBUG,
                         plan ? "cuda: a convolution by cuDNN's engine " +
                                    std::to_string(plan->engine()) + " with a workspace of " +
                                    std::to_string(plan->workspace_bytes()) + " bytes"
                              : std::string("cuda: cuDNN has no code for a convolution"));
    return plan;
  });
}

void ConvolutionLibrary::run(primset_stream_t& stream,
                             const std::shared_ptr<const ConvolutionPlan>& plan,
                             const primset_backend::Convolution& tensors) const {
  std::optional<Scratch> scratch;
  const DenseTensors dense(stream, tensors, scratch);
  const DevicePointer workspace = workspace_of(stream, plan->workspace_bytes(), scratch);
  if (stream.is_recording) stream.recorded.push_back(plan);
  plan->run(stream, dense.memory(), workspace);
  dense.finish();
}

}  // namespace primset_cuda
