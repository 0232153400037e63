#include "codegen/schedule/tuning/cost_model.h"

#include <algorithm>

namespace primset::schedule {

Cost Cost::operator+(const Cost& next) const {
  // Of two numbers of threads the smaller one: the estimate errs towards waiting.
  const double both = threads == 0 || next.threads == 0 ? std::max(threads, next.threads)
                                                        : std::min(threads, next.threads);
  return {bytes + next.bytes, operations + next.operations, launches + next.launches, both};
}

Rates::Rates(const kir::TargetModel& t) {
  if (t.simt) {
    // A multiprocessor of a GPU adds up some 128 numbers a cycle, memory brings some ten bytes a
    // cycle and multiprocessor, and a thousand threads a multiprocessor hide its latency.
    operations_per_second = t.multiprocessors * 128 * 1.5e9;
    bytes_per_second = t.multiprocessors * 20e9;
    seconds_per_launch = 3e-6;
    busy_threads = t.multiprocessors * 1024.0;
    transcendental = 20;
  } else {
    const double lanes = t.vector_bytes / 4.0;
    operations_per_second = lanes * 2 * 3e9;
    bytes_per_second = 10e9;
    seconds_per_launch = 1e-6;
    transcendental = 24;
  }
}

double Rates::seconds(const Cost& c) const {
  const double occupancy = c.threads == 0 ? 1 : std::min(1.0, c.threads / busy_threads);
  return c.launches * seconds_per_launch +
         std::max(c.bytes / bytes_per_second, c.operations / operations_per_second) / occupancy;
}

int64_t crossover(const Rates& rates, const std::function<Cost(double)>& first,
                  const std::function<Cost(double)>& second) {
  int64_t low = 0, high = int64_t{1} << 40;  // the second way is not cheaper at low
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const auto size = static_cast<double>(middle);
    (rates.seconds(second(size)) < rates.seconds(first(size)) ? high : low) = middle;
  }
  return high;
}

}  // namespace primset::schedule
