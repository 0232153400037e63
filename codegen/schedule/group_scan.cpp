#include "codegen/schedule/group_scan.h"

namespace primset::schedule {

using kir::Value;

namespace {

// What one step takes together: fewer barriers than with two, few more loads.
constexpr uint32_t kRadix = 4;

std::vector<Value> zeros(kir::Builder& b, const std::vector<kir::Type>& types) {
  std::vector<Value> out;
  for (kir::Type t : types) out.push_back(b.constant(t, 0));
  return out;
}

}  // namespace

GroupScan::GroupScan(kir::Builder& b, const std::vector<kir::Type>& types, uint32_t threads)
    : b_(b), threads_(threads), memory_(b, zeros(b, types), threads) {}

// Hillis, Steele: Data Parallel Algorithms, 1986.
std::vector<Value> GroupScan::exclusive(const std::vector<Value>& own) {
  const Value t = b_.local_id(0);
  sums_ = own;
  for (uint32_t distance = 1; distance < threads_; distance *= kRadix) {
    memory_.put(t, sums_);
    b_.barrier();
    for (uint32_t k = 1; k < kRadix && k * distance < threads_; ++k) {
      const Value back = b_.i32(k * distance);
      const Value exists = b_.ule(back, t);
      const auto left = memory_.get(b_.select(exists, b_.sub(t, back), t));
      for (size_t i = 0; i < sums_.size(); ++i) {
        const Value zero = b_.constant(b_.type(sums_[i]), 0);
        sums_[i] = b_.add(sums_[i], b_.select(exists, left[i], zero));
      }
    }
    b_.barrier();
  }
  std::vector<Value> before;
  for (size_t i = 0; i < sums_.size(); ++i) before.push_back(b_.sub(sums_[i], own[i]));
  return before;
}

std::vector<Value> GroupScan::total() {
  memory_.put(b_.local_id(0), sums_);
  b_.barrier();
  std::vector<Value> all = memory_.get(b_.i32(threads_ - 1));
  b_.barrier();  // the memory is used again
  return all;
}

}  // namespace primset::schedule
