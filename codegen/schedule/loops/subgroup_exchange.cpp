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

bool exchanges(const kir::Builder& b, uint32_t threads, std::span<const Value> values) {
  const kir::TargetModel& t = b.target();
  // Devices with ballots define the order of a subgroup's lanes.
  if (!t.subgroup_ballot || t.min_subgroup != t.max_subgroup || t.max_subgroup < 2) return false;
  return threads % t.max_subgroup == 0 &&
         std::ranges::all_of(values, [&](Value v) { return b.type(v).scalar != kir::Scalar::f16; });
}

Value of_lane_xor(kir::Builder& b, Value v, uint32_t mask) {
  return exchanged(b, v, [&](Value x) { return b.subgroup_shuffle_xor(x, mask); });
}

Value of_lane(kir::Builder& b, Value v, Value lane) {
  return exchanged(b, v, [&](Value x) { return b.subgroup_shuffle(x, lane); });
}

}  // namespace primset::schedule
