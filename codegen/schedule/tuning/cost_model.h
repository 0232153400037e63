// What one way to compute something costs, as families and the fusion planner estimate it, and how
// long a machine takes for it: a roofline (Williams, Waterman, Patterson: Roofline, 2009) with the
// price of launches and of processors that stand idle.
//
//   seconds = launches · latency + max(bytes / bandwidth, operations / rate) / occupancy
//   occupancy = min(1, threads / threads that the machine needs to be busy)
//
// The model orders alternatives; it does not predict times. cost_model_test.cpp holds it against
// measured orderings (testdata/measured_orderings.tsv).
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_

#include <functional>

#include "codegen/kernel/ir/target_model.h"
#include "prims/graph/symint.h"

namespace primset::schedule {

struct Cost {
  double bytes = 0;       // moved between memory and the processors
  double operations = 0;  // arithmetic on 32 bits
  double launches = 1;
  double threads = 0;  // that work beside one another; 0: enough to keep the machine busy

  Cost operator+(const Cost& next) const;  // one after the other
};

// Rates of the whole device. Only their ratios matter, so they are typical ones for its kind and
// its number of processors.
struct Rates {
  explicit Rates(const kir::TargetModel& target);

  double bytes_per_second = 0, operations_per_second = 0, seconds_per_launch = 0;
  double busy_threads = 1;    // fewer leave the machine waiting for memory
  double transcendental = 0;  // operations that such a function takes

  double seconds(const Cost& c) const;
};

// The least size from 1 to 2^40 at which the second way is cheaper than the first; 2^40 where it
// never is. Once cheaper, it is to stay so. What a schedule compares with it is a guard of the
// plan, which holds for all sizes on one side.
int64_t crossover(const Rates& rates, const std::function<Cost(double)>& first,
                  const std::function<Cost(double)>& second);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_
