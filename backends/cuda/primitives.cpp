#include "backends/cuda/primitives.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

std::string text_of(const MatmulShape& s) {
  return std::to_string(s.batch) + " x (" + std::to_string(s.n) + " x " + std::to_string(s.k) +
         " times " + std::to_string(s.k) + " x " + std::to_string(s.m) + ") of dtype " +
         std::to_string(s.dtype);
}

DevicePointer address_of(const primset_tensor& t) {
  return t.buffer ? t.buffer->address + t.offset : 0;
}

void multiply(primset_stream_t& stream, const primset_primitive_call& call) {
  const std::optional<Matmuls> x = read_matmuls(call);
  MatrixLibrary* library = stream.device->matrices();
  if (!x || !library) throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
  const DevicePointer a = address_of(call.operands[1]), b = address_of(call.operands[0]),
                      d = address_of(call.results[0]);
  if (x->result_bytes == 0) return;
  if (x->sums_nothing) {
    PRIMSET_CUDA(stream.cu, cuMemsetD8Async, d, 0, x->result_bytes, stream.handle);
    return;
  }
  const auto plan = library->plan(x->shape);
  if (!plan) throw BackendError(PRIMSET_INTERNAL, "cuBLASLt has no code for " + text_of(x->shape));
  for (const MatmulPlace& p : x->places)
    library->run(stream, *plan, a + static_cast<uint64_t>(p.a), b + static_cast<uint64_t>(p.b),
                 d + static_cast<uint64_t>(p.d));
}

primset_status* run_dot_general(primset_stream stream, const void*,
                                const primset_primitive_call* call) {
  return guarded("dot_general", [&] {
    const ContextScope scope(*stream->device);
    multiply(*stream, *call);
  });
}

// The library, when it computes the call.
const MatrixLibrary* library_for(primset_device_t& device, const primset_primitive_call& call) {
  const std::optional<Matmuls> x = read_matmuls(call);
  if (!x) return nullptr;
  const ContextScope scope(device);
  MatrixLibrary* library = device.matrices();
  if (!library) return nullptr;
  const bool nothing_to_do = x->result_bytes == 0 || x->sums_nothing;
  return nothing_to_do || library->plan(x->shape) ? library : nullptr;
}

primset_status* find(primset_device device, const char* name, const primset_primitive_call* call,
                     primset_primitive* out) {
  return guarded("find", [&]() -> primset_status* {
    const MatrixLibrary* library =
        std::string_view(name) == "dot_general" ? library_for(*device, *call) : nullptr;
    if (!library)
      return primset_backend::make_status(PRIMSET_UNSUPPORTED,
                                          "find: this %s is left to generated kernels", name);
    out->flags = PRIMSET_PRIMITIVE_STRIDED;
    out->run = run_dot_general;
    out->data = nullptr;
    if (out->struct_size >= sizeof(primset_primitive))
      out->least_products = library->least_products();
    return nullptr;
  });
}

}  // namespace

const primset_primitives kPrimitives = {sizeof(primset_primitives), 0, find};

}  // namespace primset_cuda
