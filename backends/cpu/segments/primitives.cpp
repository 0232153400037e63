#include <string_view>

#include "backends/cpu/primitives.h"
#include "backends/cpu/segments/segment_reduce.h"

namespace primset_cpu {
namespace {

template <typename Reduction>
primset_status* run_segments(primset_stream stream, const void*,
                             const primset_primitive_call* call) {
  return primset_backend::guarded("segment_reduce", [&]() -> primset_status* {
    ThreadPool& pool = *stream->device->pool;
    if (call->operands[0].dtype == PRIMSET_F32)
      SegmentReduceCall<float, Reduction>(*call).run(pool);
    else
      SegmentReduceCall<double, Reduction>(*call).run(pool);
    return nullptr;
  });
}

struct NamedReduction {
  std::string_view name;
  decltype(primset_primitive::run) run;
};

constexpr NamedReduction kReductions[] = {
    {"sum", run_segments<SumOfSegment>},
    {"prod", run_segments<ProductOfSegment>},
    {"max", run_segments<GreatestOfSegment>},
    {"min", run_segments<LeastOfSegment>},
};

}  // namespace

bool find_segments(const char* name, const primset_primitive_call& call, primset_primitive* out) {
  if (std::string_view(name) != "segment_reduce") return false;
  if (call.operand_count != 2 || call.result_count != 1) return false;
  const uint32_t dtype = call.operands[0].dtype, index = call.operands[1].dtype;
  const auto* found =
      std::ranges::find(kReductions, primset_backend::text(call, "reduce"), &NamedReduction::name);
  if (found == std::end(kReductions) || (dtype != PRIMSET_F32 && dtype != PRIMSET_F64) ||
      (index != PRIMSET_I32 && index != PRIMSET_I64))
    return false;
  return answer(out, found->run, 0);
}

}  // namespace primset_cpu
