#include "backends/cpu/random/permutation.h"

#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

primset_status* run_permutation(primset_stream stream, const void*,
                                const primset_primitive_call* call) {
  return primset_backend::guarded("random_permutation", [&]() -> primset_status* {
    const primset_tensor& y = call->results[0];
    const int64_t size = y.sizes[0];
    RandomPermutation(*data_at<uint64_t>(call->operands[0]), *data_at<uint64_t>(call->operands[1]),
                      size, data_at<int64_t>(y), RandomPermutation::bits_of_numbers(size))
        .run(*stream->device->pool);
    return nullptr;
  });
}

}  // namespace

bool find_permutation(const char* name, const primset_primitive_call& call,
                      primset_primitive* out) {
  if (std::string_view(name) != "random_permutation") return false;
  if (call.operand_count != 2 || call.result_count != 1) return false;
  if (call.results[0].sizes[0] > INT32_MAX) return false;  // counts have 32 bits
  return answer(out, run_permutation, 0);
}

}  // namespace primset_cpu
