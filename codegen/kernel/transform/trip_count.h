// Bounds on the iterations of a kernel's loops. Some drivers end a thread's
// loops after a number of iterations without an error (TargetModel::loop_limit): a launch that may
// reach it uses an unrolled form (docs/decisions/driver_workarounds.md).
#ifndef PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_
#define PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "codegen/kernel/ir/ir.h"
#include "codegen/kernel/ir/target_model.h"

namespace primset::kir {

inline constexpr uint64_t kUnbounded = UINT64_MAX;
// The iterations assumed for a while loop each time it is entered, since no bound is known.
inline constexpr uint64_t kWhileIterations = 1024;

// An upper bound on the iterations of all loops of one thread together, including the last
// evaluation of each loop's condition. `scalars` is the launch's parameter block after the
// pointers. A for loop whose bounds are loaded from memory is unbounded.
uint64_t max_iterations(const Kernel& kernel, std::span<const uint32_t, 3> groups,
                        std::span<const std::byte> scalars);

// The target for launches that stay below the limit: kernels are emitted as written.
inline TargetModel without_loop_limit(TargetModel target) {
  target.loop_limit = 0;
  return target;
}

}  // namespace primset::kir

#endif  // PRIMSET_CODEGEN_KERNEL_TRANSFORM_TRIP_COUNT_H_
