#include "backends/cpu/resample_bytes.h"

#include <string_view>

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

primset_status* run_resample_bytes(primset_stream stream, const void*,
                                   const primset_primitive_call* call) {
  return primset_backend::guarded("resample_antialias", [&]() -> primset_status* {
    ResampleBytesCall(*call).run(*stream->device->pool);
    return nullptr;
  });
}

}  // namespace

bool find_resampling(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "resample_antialias" || call.operand_count < 2) return false;
  const primset_tensor& x = call.operands[0];
  if (x.dtype != PRIMSET_U8 || x.rank + 1 < call.operand_count) return false;
  const auto is_scale = [](const primset_tensor& t) {
    return t.rank == 0 && (t.dtype == PRIMSET_F32 || t.dtype == PRIMSET_F64);
  };
  if (!std::all_of(call.operands + 1, call.operands + call.operand_count, is_scale)) return false;
  if (std::any_of(x.sizes, x.sizes + x.rank,
                  [](int64_t size) { return size < 1 || size > INT32_MAX; }))
    return false;
  return answer(out, run_resample_bytes);
}

}  // namespace primset_cpu
