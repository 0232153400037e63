// What the builders of kernels are given and what they make: one kernel and the launch that goes
// with it. The parts of a launch that sizes decide stay symbolic.
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_

#include <string>
#include <vector>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

struct BuildContext {
  const Materialized& values;
  const Machine& machine;
  bool index32 = true;
  BufferId errors = 0;
  std::string name;
  const kir::TargetModel& target = machine.target;
};

// A value to be written, and where.
struct Root {
  prims::ValueId value = prims::kNoValue;
  Placement out;
};

struct BuiltKernel {
  kir::Kernel kernel;
  LaunchStep step;
  Analysis analysis;
};
// What a frame has become, with the launch and the accesses that it has noted.
BuiltKernel built(Frame&& f);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
