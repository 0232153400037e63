#include "codegen/schedule/tuning/machine.h"

#include <algorithm>

namespace primset::schedule {

Machine::Machine(const kir::TargetModel& t) : target(t) {
  limits.parameter_bytes = t.param_bytes;
  if (t.simt) {
    // A processor of a GPU adds up some 128 numbers a cycle, and memory brings some ten bytes a
    // cycle and processor.
    operations_per_second = t.processors * 128 * 1.5e9;
    bytes_per_second = t.processors * 20e9;
    seconds_per_launch = 3e-6;
    transcendental = 20;
  } else {
    const double lanes = t.vector_bytes / 4.0;
    operations_per_second = lanes * 2 * 3e9;
    bytes_per_second = 10e9;
    seconds_per_launch = 1e-6;
    transcendental = 24;
  }
}

double Machine::seconds(const Cost& c) const {
  return std::max(c.bytes / bytes_per_second, c.operations / operations_per_second) +
         c.launches * seconds_per_launch;
}

}  // namespace primset::schedule
