#include <string_view>

#include "backends/cpu/lookup/row_gradients.h"
#include "backends/cpu/primitives.h"
#include "backends/cpu/wide_type.h"

namespace primset_cpu {
namespace {

primset_status* run_row_gradients(primset_stream stream, const void*,
                                  const primset_primitive_call* call) {
  return primset_backend::guarded("embedding_backward", [&]() -> primset_status* {
    with_wide_type(call->operands[0].dtype, [&]<typename T, typename Wide>(T, Wide) {
      RowGradients<T, Wide>(*call).run(*stream->device->pool);
    });
    return nullptr;
  });
}

}  // namespace

bool find_row_gradients(const char* name, const primset_primitive_call& call,
                        primset_primitive* out) {
  if (std::string_view(name) != "embedding_backward") return false;
  if (call.operand_count != 2 || call.result_count != 1 || !has_wide_type(call.operands[0].dtype))
    return false;
  const primset_tensor& indices = call.operands[1];
  if (indices.dtype != PRIMSET_I32 && indices.dtype != PRIMSET_I64) return false;
  if (indices.sizes[0] > INT32_MAX || flag(call, "scale_grad_by_freq")) return false;
  return answer(out, run_row_gradients, 0);
}

}  // namespace primset_cpu
