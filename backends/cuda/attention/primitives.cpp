#include "backends/cuda/attention/primitives.h"

#include "backends/cuda/attention/attention_library.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

constexpr const char* kAttention = "attention";

primset_status* run_attention(primset_stream stream, const void*,
                              const primset_primitive_call* call) {
  return guarded(kAttention, [&] {
    const ContextScope scope(*stream->device);
    const auto a = read_cudnn_attention(kAttention, *call);
    AttentionLibrary* library = stream->device->attentions();
    if (!a || !library) throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
    const auto plan = library->plan(a->shape);
    if (!plan) throw BackendError(PRIMSET_INTERNAL, "cuDNN has no code for this attention");
    library->run(*stream, plan, *a);
  });
}

}  // namespace

bool find_attention(primset_device_t& device, const char* name, const primset_primitive_call& call,
                    primset_primitive* out) {
  const auto a = read_cudnn_attention(name, call);
  if (!a || !AttentionLibrary::can_copy(a->tensors)) return false;
  const ContextScope scope(device);
  AttentionLibrary* library = device.attentions();
  const auto plan = library ? library->plan(a->shape) : nullptr;
  if (!plan) return false;
  const bool copies = !AttentionLibrary::takes_as_they_lie(a->tensors);
  if (copies) device.kernels();  // so that they are loaded before a recording
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  if (copies || plan->workspace_bytes() > kWorkspaceBytes)
    out->flags |= PRIMSET_PRIMITIVE_UNRECORDED;
  out->run = run_attention;
  if (out->struct_size >= sizeof(primset_primitive))
    out->least_products = static_cast<uint64_t>(device.tuning.attention_products);
  return true;
}

}  // namespace primset_cuda
