// The estimated cost of one way to compute something, and the time that a machine takes for it: a
// roofline model (Williams, Waterman, Patterson: Roofline, 2009) with launch latency and occupancy.
//
//   seconds = launches · latency + max(bytes / bandwidth, operations / rate) / occupancy
//   occupancy = min(1, threads / threads that the machine needs to be busy)
//
// The model orders alternatives; it does not predict times. families/sort/sort_costs_test.cpp
// compares its orders with measured ones (families/sort/testdata/measured_on_h100.tsv).
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_

#include <functional>

#include "codegen/kernel/ir/target_model.h"
#include "prims/graph/symint.h"

namespace primset::schedule {

struct Cost {
  double bytes = 0;       // moved between memory and the multiprocessors
  double operations = 0;  // arithmetic on 32 bits
  double launches = 1;
  double threads = 0;  // that run in parallel; 0: enough to fill the machine

  Cost operator+(const Cost& next) const;  // one after the other
};

// Rates of the whole device. Only their ratios matter, so they are typical ones for its kind and
// its number of multiprocessors.
struct Rates {
  explicit Rates(const kir::TargetModel& target);

  double bytes_per_second = 0, operations_per_second = 0, seconds_per_launch = 0;
  double busy_threads = 1;    // threads that hide memory latency: full occupancy
  double transcendental = 0;  // operations of a transcendental function

  double seconds(const Cost& c) const;
};

// The least size from 1 to 2^40 at which the second way is cheaper than the first; 2^40 where it
// never is. Once cheaper, it is to stay so. What a schedule compares with it is a guard of the
// plan, which holds for all sizes on one side.
int64_t crossover(const Rates& rates, const std::function<Cost(double)>& first,
                  const std::function<Cost(double)>& second);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_COST_MODEL_H_
