#include "backends/cpu/sort.h"

#include <string_view>

#include "backends/cpu/primitives.h"

namespace primset_cpu {

namespace {

using SortRun = primset_status* (*)(primset_stream, const void*, const primset_primitive_call*);

template <typename U, KeyKind kKind, U kInfinity = 0>
primset_status* run_sort(primset_stream stream, const void*, const primset_primitive_call* call) {
  return primset_backend::guarded("sort", [&]() -> primset_status* {
    SortCall<U, kKind>(*call, kInfinity).run(*stream->device->pool);
    return nullptr;
  });
}

SortRun sort_of(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_BOOL:
    case PRIMSET_U8:
      return run_sort<uint8_t, KeyKind::unsigned_integer>;
    case PRIMSET_U16:
      return run_sort<uint16_t, KeyKind::unsigned_integer>;
    case PRIMSET_U32:
      return run_sort<uint32_t, KeyKind::unsigned_integer>;
    case PRIMSET_U64:
      return run_sort<uint64_t, KeyKind::unsigned_integer>;
    case PRIMSET_I8:
      return run_sort<uint8_t, KeyKind::signed_integer>;
    case PRIMSET_I16:
      return run_sort<uint16_t, KeyKind::signed_integer>;
    case PRIMSET_I32:
      return run_sort<uint32_t, KeyKind::signed_integer>;
    case PRIMSET_I64:
      return run_sort<uint64_t, KeyKind::signed_integer>;
    case PRIMSET_F16:
      return run_sort<uint16_t, KeyKind::floating, 0x7c00>;
    case PRIMSET_BF16:
      return run_sort<uint16_t, KeyKind::floating, 0x7f80>;
    case PRIMSET_F32:
      return run_sort<uint32_t, KeyKind::floating, 0x7f800000>;
    case PRIMSET_F64:
      return run_sort<uint64_t, KeyKind::floating, 0x7ff0000000000000>;
    default:
      return nullptr;
  }
}

// Counts of elements are of 32 bits.
bool is_sortable(const primset_primitive_call& call) {
  if (call.operand_count == 0 || call.result_count != call.operand_count) return false;
  const primset_tensor& keys = call.operands[0];
  const int64_t dim = integer(call, "dim");
  if (dim < 0 || dim >= keys.rank || keys.sizes[dim] > INT32_MAX) return false;
  return std::all_of(
      call.operands, call.operands + call.operand_count,
      [](const primset_tensor& t) { return primset_backend::element_bytes(t.dtype) != 0; });
}

}  // namespace

bool find_sort(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "sort" || !is_sortable(call)) return false;
  out->flags = PRIMSET_PRIMITIVE_STRIDED;
  out->run = sort_of(call.operands[0].dtype);
  out->data = nullptr;
  out->least_products = 0;
  return out->run != nullptr;
}

}  // namespace primset_cpu
