#include "backends/cpu/sort/unique.h"

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

template <bool kSorted>
primset_status* run_unique(primset_stream stream, const void*, const primset_primitive_call* call) {
  return primset_backend::guarded("unique", [&]() -> primset_status* {
    with_key_type(call->operands[0].dtype, [&]<typename U, KeyKind kKind>(Keys<U, kKind> keys) {
      UniqueCall<U, kKind>(*call, keys.infinity).run(*stream->device->pool, kSorted);
    });
    return nullptr;
  });
}

}  // namespace

bool find_unique(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  const bool sorted = std::string_view(name) == "unique";
  if (!sorted && std::string_view(name) != "unique_consecutive") return false;
  if (call.operand_count != 1 || call.result_count != 4) return false;
  const primset_tensor& x = call.operands[0];
  if (x.rank != 1 || x.sizes[0] > INT32_MAX || !is_key_type(x.dtype)) return false;
  return answer(out, sorted ? run_unique<true> : run_unique<false>);
}

}  // namespace primset_cpu
