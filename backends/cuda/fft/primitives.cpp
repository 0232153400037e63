#include "backends/cuda/fft/primitives.h"

#include <string_view>

#include "backends/cuda/fft/fft_library.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

DevicePointer fft_address(const primset_tensor& t) {
  return t.buffer ? t.buffer->address + t.offset : 0;
}

primset_status* run_fft(primset_stream stream, const void* data,
                        const primset_primitive_call* call) {
  const auto* name = static_cast<const char*>(data);
  return guarded(name, [&] {
    const ContextScope scope(*stream->device);
    const std::optional<FftCall> x = read_fft(name, *call, stream->device->tuning);
    FftLibrary* library = stream->device->ffts();
    if (!x || !library) throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
    if (x->is_empty) return;
    const auto plan = library->plan(x->shape);
    if (!plan) throw BackendError(PRIMSET_INTERNAL, "cuFFT has no code for this transform");
    library->run(*stream, *x, plan, fft_address(call->operands[0]), fft_address(call->results[0]));
  });
}

constexpr const char* kFftNames[] = {"fft_c2c", "fft_r2c", "fft_c2r"};

}  // namespace

bool find_fft(primset_device_t& device, const char* name, const primset_primitive_call& call,
              primset_primitive* out) {
  const std::optional<FftCall> x = read_fft(name, call, device.tuning);
  if (!x) return false;
  const ContextScope scope(device);
  FftLibrary* library = device.ffts();
  if (!library) return false;
  uint64_t bytes = 0;
  if (!x->is_empty) {
    const auto plan = library->plan(x->shape);
    if (!plan) return false;
    if (x->copied) device.kernels();
    bytes = extra_bytes(*x, *plan);
  }
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  if (bytes > kWorkspaceBytes) out->flags |= PRIMSET_PRIMITIVE_UNRECORDED;
  out->run = run_fft;
  for (const char* known : kFftNames)
    if (std::string_view(known) == name) out->data = known;
  return true;
}

}  // namespace primset_cuda
