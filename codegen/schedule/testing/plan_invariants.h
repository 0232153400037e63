// For tests: what holds of every fusion plan and of every program, whatever they compute. Nothing
// is run.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_PLAN_INVARIANTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_PLAN_INVARIANTS_H_

#include <string>
#include <vector>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

// What is wrong; empty: nothing.
//
// Of a plan: every group runs once, behind those that make what it reads; every output is written;
// no kernel holds more than its limits say, but for what one node needs.
std::vector<std::string> violations(const FusionPlan& plan, const prims::Graph& g,
                                    const KernelLimits& limits);
// Of a program: what a step reads has been written by then, and an input is not read once an output
// lies over it.
std::vector<std::string> violations(const Program& program);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_PLAN_INVARIANTS_H_
