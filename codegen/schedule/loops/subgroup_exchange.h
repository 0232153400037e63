// Shuffles: exchange between the lanes of a subgroup without memory.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_SUBGROUP_EXCHANGE_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_SUBGROUP_EXCHANGE_H_

#include <span>

#include "codegen/kernel/ir/builder.h"

namespace primset::schedule {

// Are subgroups of one size, whose lanes are in a known order?
bool has_known_subgroups(const kir::TargetModel& target);

// Are a workgroup's threads in subgroups of one known size, in the order of their ids, and can
// these values be shuffled?
bool exchanges(const kir::Builder& b, uint32_t threads, std::span<const kir::Value> values);

// v of lane (this lane xor mask); v of lane `lane` (i32).
kir::Value of_lane_xor(kir::Builder& b, kir::Value v, uint32_t mask);
kir::Value of_lane(kir::Builder& b, kir::Value v, kir::Value lane);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_SUBGROUP_EXCHANGE_H_
