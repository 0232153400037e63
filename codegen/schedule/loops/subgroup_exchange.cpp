#include "codegen/schedule/loops/subgroup_exchange.h"

#include <algorithm>

namespace primset::schedule {

using kir::Value;

namespace {

// Shuffles take 32 bits or more.
template <class Exchange>
Value exchanged(kir::Builder& b, Value v, Exchange exchange) {
  const kir::Scalar s = b.type(v).scalar;
  if (kir::width(s) >= 32) return exchange(v);
  return b.trunc(exchange(b.zext(v, kir::Scalar::i32)), s);
}

}  // namespace

// Devices with ballots define the order of a subgroup's lanes.
bool has_known_subgroups(const kir::TargetModel& target) {
  return target.subgroup_ballot && target.min_subgroup == target.max_subgroup &&
         target.max_subgroup > 1;
}

bool exchanges(const kir::Builder& b, uint32_t threads, std::span<const Value> values) {
  return has_known_subgroups(b.target()) && threads % b.target().max_subgroup == 0 &&
         std::ranges::all_of(values, [&](Value v) { return b.type(v).scalar != kir::Scalar::f16; });
}

Value of_lane_xor(kir::Builder& b, Value v, uint32_t mask) {
  return exchanged(b, v, [&](Value x) { return b.subgroup_shuffle_xor(x, mask); });
}

Value of_lane(kir::Builder& b, Value v, Value lane) {
  return exchanged(b, v, [&](Value x) { return b.subgroup_shuffle(x, lane); });
}

}  // namespace primset::schedule
