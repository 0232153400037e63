// Native primitives: convolutions and their gradients by oneDNN, of f32, and of bf16 summed in f32.
// (oneDNN has no f64, and this version no f16 on CPUs: those are left to generated kernels.)
#include "backends/cpu/primitives.h"

#include <algorithm>
#include <string_view>

#include "backends/common/convolution/convolution.h"
#include "backends/common/status.h"
#include "backends/cpu/convolution/onednn_convolution.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using primset_backend::Convolution;
using primset_backend::guarded;
using primset_backend::make_status;

// From so many multiplications on oneDNN is the faster way: its calls and copies take longer than a
// generated kernel does for fewer.
constexpr uint64_t kLeastConvolved = uint64_t{1} << 16;

char* memory_of(const primset_tensor* t) {
  return t && t->buffer ? t->buffer->address + t->offset : nullptr;
}

std::shared_ptr<const OneDnnConvolution> onednn_convolution(const Convolution& c) {
  const bool known_type = c.dtype == PRIMSET_F32 || c.dtype == PRIMSET_BF16;
  return known_type && onednn() ? OneDnnConvolution::get(*onednn(), c) : nullptr;
}

primset_status* run_convolution(primset_stream stream, const void* data,
                                const primset_primitive_call* call) {
  const auto* name = static_cast<const char*>(data);
  return guarded(name, [&]() -> primset_status* {
    const auto c = primset_backend::read_convolution(name, *call);
    const auto convolution = c ? onednn_convolution(*c) : nullptr;
    if (!convolution) return make_status(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
    const ConvolutionData memory{{memory_of(c->x), memory_of(c->w), memory_of(c->y)},
                                 memory_of(c->bias)};
    const dnnl_status_t status = convolution->run(*stream->device->pool, memory);
    if (status == dnnl_success) return nullptr;
    return make_status(status == dnnl_out_of_memory ? PRIMSET_OUT_OF_MEMORY : PRIMSET_INTERNAL,
                       "%s: oneDNN status %d", name, static_cast<int>(status));
  });
}

constexpr std::string_view kConvolutions[] = {"convolution", "convolution_backward_input",
                                              "convolution_backward_weight"};

}  // namespace

bool find_convolution(const char* name, const primset_primitive_call& call,
                      primset_primitive* out) {
  const auto c = primset_backend::read_convolution(name, call);
  if (!c || (c->bias && c->bias->sizes[0] > 1 && c->bias->strides[0] != 1)) return false;
  for (const primset_tensor* t : {c->x, c->w, c->y})
    if (!primset_backend::steps_everywhere(*t)) return false;
  if (!onednn_convolution(*c)) return false;
  const auto* known = std::ranges::find(kConvolutions, std::string_view(name));
  return answer(out, run_convolution, PRIMSET_PRIMITIVE_STRIDED, kLeastConvolved, known->data());
}

}  // namespace primset_cpu
