#include "backends/cpu/compact.h"

#include <string_view>

#include "backends/common/element_bytes.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

struct Bits128 {
  uint64_t low, high;
};

template <typename T>
primset_status* run_compact(primset_stream stream, const void*,
                            const primset_primitive_call* call) {
  return primset_backend::guarded("compact", [&]() -> primset_status* {
    CompactCall<T>(*call).run(*stream->device->pool);
    return nullptr;
  });
}

using Run = primset_status* (*)(primset_stream, const void*, const primset_primitive_call*);

Run run_of_bytes(size_t bytes) {
  switch (bytes) {
    case 1:
      return run_compact<uint8_t>;
    case 2:
      return run_compact<uint16_t>;
    case 4:
      return run_compact<uint32_t>;
    case 8:
      return run_compact<uint64_t>;
    case 16:
      return run_compact<Bits128>;
    default:
      return nullptr;
  }
}

}  // namespace

// As kernels it is a sum over the mask and a scatter, which go over memory several times.
bool find_compaction(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "compact") return false;
  const bool known = call.operand_count == 2 && call.result_count == 2 &&
                     call.operands[0].rank == 1 && call.operands[1].dtype == PRIMSET_BOOL &&
                     call.results[1].dtype == PRIMSET_I64;
  return known &&
         answer(out, run_of_bytes(primset_backend::element_bytes(call.operands[0].dtype)), 0);
}

}  // namespace primset_cpu
