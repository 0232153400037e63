// What kernel builders are given, and what they make: one kernel and its launch. Grid and scalar
// parameters of the launch stay symbolic.
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_

#include <string>
#include <vector>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

struct BuildContext {
  const ValueEnvironment& values;
  const Machine& machine;
  bool index32 = true;
  BufferId errors = 0;
  std::string name;
  const kir::TargetModel& target = machine.target;
};

// A value that a kernel writes, and where.
struct Root {
  prims::ValueId value = prims::kNoValue;
  Placement out;
};

struct BuiltKernel {
  kir::Kernel kernel;
  LaunchStep step;
  Analysis analysis;
};
// Finishes a frame: its kernel, launch and recorded accesses.
BuiltKernel built(Frame&& f);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
