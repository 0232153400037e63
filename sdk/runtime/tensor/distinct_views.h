// The distinct views among tensors, numbered in order of appearance: tensors with the same memory
// and geometry have one number.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_DISTINCT_VIEWS_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_DISTINCT_VIEWS_H_

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/tensor/tensor_impl.h"

namespace primset::runtime {

// A few tensors are searched linearly, many by a hash of storage and offset.
class DistinctViews {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The view's number; kNone when it has none.
  uint32_t find(const TensorImpl& t) const {
    if (list_.size() > kFew) [[unlikely]]
      return find_in_bucket(t);
    for (uint32_t i = 0; i < list_.size(); ++i) {
      if (same_view(*list_[i], t)) return i;
    }
    return kNone;
  }

  // The view's number; a new view gets the next one.
  uint32_t find_or_add(const TensorImpl& t) {
    if (const uint32_t known = find(t); known != kNone) return known;
    const auto number = static_cast<uint32_t>(list_.size());
    list_.push_back(&t);
    if (list_.size() > kFew) [[unlikely]]
      link(number);
    return number;
  }

  size_t size() const { return list_.size(); }
  const TensorImpl& operator[](size_t number) const { return *list_[number]; }
  std::span<const TensorImpl* const> list() const { return {list_.data(), list_.size()}; }

 private:
  static constexpr size_t kFew = 32;

  uint32_t find_in_bucket(const TensorImpl& t) const {
    uint32_t i = buckets_[bucket(t)];
    while (i != kNone && !same_view(*list_[i], t)) i = next_[i];
    return i;
  }
  size_t bucket(const TensorImpl& t) const {
    const auto place = reinterpret_cast<uintptr_t>(t.storage) + static_cast<uint64_t>(t.offset);
    return place * 0x9e3779b97f4a7c15u >> 32 & (buckets_.size() - 1);
  }
  // A chain of numbers a bucket.
  void link(uint32_t number) {
    if (list_.size() > buckets_.size()) return rehash();
    uint32_t& first = buckets_[bucket(*list_[number])];
    next_.push_back(first);
    first = number;
  }
  void rehash() {
    buckets_.assign(std::bit_ceil(4 * list_.size()), kNone);
    next_.clear();
    for (uint32_t i = 0; i < list_.size(); ++i) link(i);
  }

  SmallVector<const TensorImpl*, 8> list_;
  std::vector<uint32_t> buckets_, next_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_DISTINCT_VIEWS_H_
