// The machine that a graph is scheduled for: what its device says of itself, the rates that costs
// are estimated with, and the limits of one kernel.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_

#include <cstdint>

#include "codegen/kernel/ir/target_model.h"

namespace primset::schedule {

// Work of one way to compute something. Ways are compared by seconds().
struct Cost {
  double bytes = 0;       // moved between memory and the processors
  double operations = 0;  // arithmetic, on 32 bits
  double launches = 1;
};

// What one kernel may hold.
struct KernelLimits {
  // Primitives inlined into one kernel: beyond some hundreds, registers spill and compiling takes
  // longer than running.
  uint32_t operations = 2048;
  // Primitives from a result to the deepest operand: the kernel's builder recurses so deep.
  uint32_t depth = 384;
  uint32_t parameter_bytes = 4096;
};

struct Machine {
  explicit Machine(const kir::TargetModel& target);

  const kir::TargetModel& target;
  KernelLimits limits;
  // Of the whole device. Only ratios matter, so they are typical ones for its kind of device.
  double bytes_per_second = 0, operations_per_second = 0, seconds_per_launch = 0;
  // SIMT: rows longer than this are sorted digit by digit, others by merging.
  int64_t radix_length = 4096;
  // Operations that a transcendental function takes.
  double transcendental = 0;

  double seconds(const Cost& c) const;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_
