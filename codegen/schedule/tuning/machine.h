// The machine that a graph is scheduled for: its target model, the rates of the cost model, the
// parameters of the kernel families, and the limits of one kernel. Everything follows from the
// target model: devices with equal properties are scheduled alike, whoever makes them.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_

#include <cstdint>
#include <string_view>

#include "codegen/kernel/ir/target_model.h"
#include "codegen/schedule/tuning/cost_model.h"
#include "codegen/schedule/tuning/tuning.h"

namespace primset::schedule {

// Limits of one kernel.
struct KernelLimits {
  uint32_t operations = 0, depth = 0;  // Tuning::fusion, kernel_operations and kernel_depth
  uint32_t parameter_bytes = 4096;
};

struct Machine {
  // `overrides` as in Tuning::set; throws as that does.
  Machine(kir::TargetModel target, std::string_view overrides = {});

  kir::TargetModel target;
  Tuning tuning;
  Rates rates;
  KernelLimits limits;

  double seconds(const Cost& c) const { return rates.seconds(c); }
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_MACHINE_H_
