// How often the loops of a kernel go round. Some drivers end a thread's loops after so many rounds
// without a word (TargetModel::loop_limit): a launch that may come there runs another form.
#ifndef PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_
#define PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::kir {

inline constexpr uint64_t kUnboundedRounds = UINT64_MAX;
// What a while loop counts for each time it is entered: nobody knows its rounds.
inline constexpr uint64_t kWhileRounds = 1024;

// At most so many rounds do all loops of one thread take together, the last look at each loop's
// condition included. `scalars` is the launch's parameter block behind the pointers. A for loop
// whose bounds come from memory is unbounded.
uint64_t most_rounds(const Kernel& kernel, std::span<const uint32_t, 3> groups,
                     std::span<const std::byte> scalars);

// The target for launches of few rounds: a kernel is emitted as it is written.
inline TargetModel without_loop_limit(TargetModel target) {
  target.loop_limit = 0;
  return target;
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_
