#include "backends/cuda/convolution/primitives.h"

#include <string_view>

#include "backends/cuda/convolution/convolution_library.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

primset_status* run_convolution(primset_stream stream, const void* data,
                                const primset_primitive_call* call) {
  const auto* name = static_cast<const char*>(data);
  return guarded(name, [&] {
    const ContextScope scope(*stream->device);
    const auto c = read_cudnn_convolution(name, *call);
    ConvolutionLibrary* library = stream->device->convolutions();
    if (!c || !library) throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
    const auto plan = library->plan(c->shape);
    if (!plan) throw BackendError(PRIMSET_INTERNAL, "cuDNN has no code for this convolution");
    library->run(*stream, plan, c->tensors);
  });
}

constexpr const char* kConvolutionNames[] = {"convolution", "convolution_backward_input",
                                             "convolution_backward_weight"};

}  // namespace

bool find_convolution(primset_device_t& device, const char* name,
                      const primset_primitive_call& call, primset_primitive* out) {
  const auto c = read_cudnn_convolution(name, call);
  if (!c || !DenseTensors::can_copy(c->tensors)) return false;
  const ContextScope scope(device);
  ConvolutionLibrary* library = device.convolutions();
  const auto plan = library ? library->plan(c->shape) : nullptr;
  if (!plan) return false;
  const bool copies = !DenseTensors::hold(c->tensors);
  if (c->shape.bias || copies) device.kernels();  // so that they are loaded before a recording
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  if (copies || plan->workspace_bytes() > kWorkspaceBytes)
    out->flags |= PRIMSET_PRIMITIVE_UNRECORDED;
  out->run = run_convolution;
  for (const char* known : kConvolutionNames)
    if (std::string_view(known) == name) out->data = known;
  if (out->struct_size >= sizeof(primset_primitive))
    out->least_products = static_cast<uint64_t>(device.tuning.convolution_products);
  return true;
}

}  // namespace primset_cuda
