#include "backends/cpu/sort/sort.h"

#include <string_view>

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

primset_status* run_sort(primset_stream stream, const void*, const primset_primitive_call* call) {
  return primset_backend::guarded("sort", [&]() -> primset_status* {
    with_key_type(call->operands[0].dtype, [&]<typename U, KeyKind kKind>(Keys<U, kKind> keys) {
      SortCall<U, kKind>(*call, keys.infinity).run(*stream->device->pool);
    });
    return nullptr;
  });
}

bool is_sortable(const primset_primitive_call& call) {
  if (call.operand_count == 0 || call.result_count != call.operand_count) return false;
  if (!is_key_type(call.operands[0].dtype) || !fits_row_order(call)) return false;
  return std::all_of(
      call.operands, call.operands + call.operand_count,
      [](const primset_tensor& t) { return primset_backend::element_bytes(t.dtype) != 0; });
}

}  // namespace

bool find_sort(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "sort" || !is_sortable(call)) return false;
  return answer(out, run_sort);
}

}  // namespace primset_cpu
