// One random case on one machine: scheduled, its plan and program looked at, run in the kernel
// interpreter and held against the reference interpreter.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CHECK_CASE_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CHECK_CASE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/testing/random/random_graph.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

struct RandomTarget {
  std::string_view name;
  Machine machine;
};
// CPUs and SIMT machines, large and small; kernels that hold next to nothing.
const std::vector<RandomTarget>& random_targets();
// Each seed is run on one of them.
const RandomTarget& target_of(uint64_t seed);

// How often what was seen.
struct Coverage {
  std::map<NotFused, size_t> reasons;
  std::map<std::string_view, size_t> families;
  std::map<prims::Prim, size_t> prims;
  size_t detached = 0, in_place = 0, overwriting = 0, views = 0, failed_checks = 0;
  size_t elements = 0, undecided = 0;  // of outputs

  void add(const prims::Graph& g);
  void add(const FusionPlan& plan);
};

// What is wrong; nullopt: nothing.
std::optional<std::string> check_case(const RandomCase& c, const RandomTarget& target,
                                      Coverage* coverage = nullptr);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CHECK_CASE_H_
