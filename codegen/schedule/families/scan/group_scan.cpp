#include "codegen/schedule/families/scan/group_scan.h"

#include <utility>

#include "codegen/schedule/loops/subgroup_exchange.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Partial results that one step combines: fewer barriers than with two, few more loads.
constexpr uint32_t kRadix = 4;
// Each thread reads the totals of all subgroups.
constexpr uint32_t kMaxSubgroups = 32;

uint32_t subgroups_of(const kir::Builder& b, uint32_t threads, std::span<const Value> values) {
  if (!exchanges(b, threads, values)) return 0;
  const uint32_t n = threads / b.target().max_subgroup;
  return n <= kMaxSubgroups ? n : 0;
}

}  // namespace

GroupScan::Operation GroupScan::sums(kir::Builder& b, const std::vector<kir::Type>& types) {
  Operation out;
  for (kir::Type t : types) out.identity.push_back(b.constant(t, 0));
  out.combine = [&b](std::span<const Value> left, std::span<const Value> right) {
    Values sum;
    for (size_t i = 0; i < left.size(); ++i) sum.push_back(b.add(left[i], right[i]));
    return sum;
  };
  return out;
}

GroupScan::GroupScan(kir::Builder& b, Operation operation, uint32_t threads)
    : b_(b),
      operation_(std::move(operation)),
      threads_(threads),
      subgroups_(subgroups_of(b, threads, operation_.identity)),
      memory_(b, operation_.identity, subgroups_ != 0 ? subgroups_ : threads) {}

GroupScan::Result GroupScan::of(const Values& own) {
  return subgroups_ != 0 ? by_subgroups(own) : by_memory(own);
}

GroupScan::Values GroupScan::chosen(Value condition, const Values& yes, const Values& no) {
  Values out;
  for (size_t i = 0; i < yes.size(); ++i) out.push_back(b_.select(condition, yes[i], no[i]));
  return out;
}

// The inclusive scan of a subgroup's lanes.
GroupScan::Values GroupScan::within_subgroup(const Values& own, Value lane) {
  Values sums = own;
  for (uint32_t distance = 1; distance < b_.target().max_subgroup; distance *= 2) {
    const Value exists = b_.ule(b_.i32(distance), lane);
    const Value from = b_.select(exists, b_.sub(lane, b_.i32(distance)), lane);
    Values left;
    for (Value v : sums) left.push_back(of_lane(b_, v, from));
    sums = chosen(exists, operation_.combine(left, sums), sums);
  }
  return sums;
}

// Shuffles scan each subgroup; the subgroups' totals are combined through workgroup memory.
GroupScan::Result GroupScan::by_subgroups(const Values& own) {
  const uint32_t lanes = b_.target().max_subgroup;
  const Value t = b_.local_id(0), lane = b_.and_(t, b_.i32(lanes - 1)),
              subgroup = b_.udiv(t, b_.i32(lanes));
  const Values sums = within_subgroup(own, lane);
  b_.if_then(b_.ieq(lane, b_.i32(lanes - 1)), [&] { memory_.put(subgroup, sums); });
  b_.barrier();
  Values before = operation_.identity, all = memory_.get(b_.i32(0));
  for (uint32_t i = 1; i < subgroups_; ++i) {
    before = chosen(b_.ieq(subgroup, b_.i32(i)), all, before);
    all = operation_.combine(all, memory_.get(b_.i32(i)));
  }
  b_.barrier();  // the memory is used again
  const Value not_first = b_.ine(lane, b_.i32(0));
  const Value from = b_.select(not_first, b_.sub(lane, b_.i32(1)), lane);
  Values previous;
  for (Value v : sums) previous.push_back(of_lane(b_, v, from));
  return {chosen(not_first, operation_.combine(before, previous), before), all};
}

// Through workgroup memory, in log steps (Hillis, Steele: Data Parallel Algorithms, 1986).
GroupScan::Result GroupScan::by_memory(const Values& own) {
  const Value t = b_.local_id(0);
  Values sums = own;
  for (uint32_t distance = 1; distance < threads_; distance *= kRadix) {
    memory_.put(t, sums);
    b_.barrier();
    for (uint32_t k = 1; k < kRadix && k * distance < threads_; ++k) {
      const Value back = b_.i32(k * distance);
      const Value exists = b_.ule(back, t);
      const Values left = memory_.get(b_.select(exists, b_.sub(t, back), t));
      sums = chosen(exists, operation_.combine(left, sums), sums);
    }
    b_.barrier();
  }
  memory_.put(t, sums);
  b_.barrier();
  const Value not_first = b_.ine(t, b_.i32(0));
  const Values previous = memory_.get(b_.select(not_first, b_.sub(t, b_.i32(1)), t));
  Result out{chosen(not_first, previous, operation_.identity), memory_.get(b_.i32(threads_ - 1))};
  b_.barrier();  // the memory is used again
  return out;
}

}  // namespace primset::schedule
