#include "backends/cuda/primitives.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "backends/cuda/attention/primitives.h"
#include "backends/cuda/convolution/primitives.h"
#include "backends/cuda/fft/primitives.h"
#include "backends/cuda/linalg/primitives.h"
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

// What the library computes of the primitives of one name.
struct Kind {
  const char* name;
  std::optional<Matmuls> (*read)(const primset_primitive_call& call);
};
constexpr Kind kKinds[] = {{"dot_general", read_dot_general}, {"matmul", read_matmul}};

void multiply(primset_stream_t& stream, const Kind& kind, const primset_primitive_call& call) {
  const std::optional<Matmuls> x = kind.read(call);
  MatrixLibrary* library = stream.device->matrices();
  if (!x || !library) throw BackendError(PRIMSET_INVALID_ARGUMENT, "find refuses this call");
  const DevicePointer a = address_of(call.operands[1]), b = address_of(call.operands[0]),
                      d = address_of(call.results[0]),
                      bias = x->shape.bias ? address_of(call.operands[2]) : 0;
  if (x->result_bytes == 0) return;
  if (x->sums_nothing) {
    PRIMSET_CUDA(stream.cu, cuMemsetD8Async, d, 0, x->result_bytes, stream.handle);
    return;
  }
  const auto plan = library->plan(x->shape);
  if (!plan) throw BackendError(PRIMSET_INTERNAL, "cuBLASLt has no code for " + text_of(x->shape));
  for (const MatmulPlace& p : x->places)
    library->run(stream, *plan,
                 {a + static_cast<uint64_t>(p.a), b + static_cast<uint64_t>(p.b),
                  d + static_cast<uint64_t>(p.d), bias});
}

primset_status* run(primset_stream stream, const void* data, const primset_primitive_call* call) {
  const Kind& kind = *static_cast<const Kind*>(data);
  return guarded(kind.name, [&] {
    const ContextScope scope(*stream->device);
    multiply(*stream, kind, *call);
  });
}

// The library, when it computes the call.
const MatrixLibrary* library_for(primset_device_t& device, const Kind& kind,
                                 const primset_primitive_call& call) {
  const std::optional<Matmuls> x = kind.read(call);
  if (!x) return nullptr;
  const ContextScope scope(device);
  MatrixLibrary* library = device.matrices();
  if (!library) return nullptr;
  const bool nothing_to_do = x->result_bytes == 0 || x->sums_nothing;
  return nothing_to_do || library->plan(x->shape) ? library : nullptr;
}

bool find_product(primset_device_t& device, const char* name, const primset_primitive_call& call,
                  primset_primitive* out) {
  const auto kind = std::ranges::find(kKinds, std::string_view(name), &Kind::name);
  const MatrixLibrary* library =
      kind != std::end(kKinds) ? library_for(device, *kind, call) : nullptr;
  if (!library) return false;
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  out->run = run;
  out->data = kind;
  if (out->struct_size >= sizeof(primset_primitive))
    out->least_products = library->min_multiplications();
  return true;
}

primset_status* find(primset_device device, const char* name, const primset_primitive_call* call,
                     primset_primitive* out) {
  return guarded("find", [&]() -> primset_status* {
    if (find_product(*device, name, *call, out) || find_fft(*device, name, *call, out) ||
        find_linalg(*device, name, *call, out) || find_convolution(*device, name, *call, out) ||
        find_attention(*device, name, *call, out))
      return nullptr;
    return primset_backend::make_status(PRIMSET_UNSUPPORTED,
                                        "find: this %s is left to generated kernels", name);
  });
}

}  // namespace

const primset_primitives kPrimitives = {sizeof(primset_primitives), 0, find};

}  // namespace primset_cuda
