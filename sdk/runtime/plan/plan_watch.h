// Why plans are made. While somebody watches, each plan that is made is recorded with what kept
// calls of its key's other plans from taking it: to see that a call with other sizes compiles
// nothing, or which guard made it do so.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_WATCH_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace primset::runtime {

struct PlanMade {
  std::string op;                   // "add.Tensor"
  std::vector<std::string> guards;  // the first that does not hold, of each other plan of the key
  uint64_t kernels = 0;             // emitted for it, or taken from the disk's cache
};

// Guards have texts in plans that are made from then on. Of the whole process.
void watch_plans();
bool plans_watched();
void record_plan(PlanMade made);
// What was recorded since the last call.
std::vector<PlanMade> take_plans_made();

// Kernels emitted or taken from the disk's cache so far.
uint64_t kernels_made();

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_WATCH_H_
