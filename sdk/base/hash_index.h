// Numbers of things by the hash of what they are, eight bytes an entry, for things that lie
// elsewhere. The caller compares, since only it has the things. Hashes must be good in their low
// bits (std::hash of a string is, of an integer is not).
//
// Open addressing with linear probing, at most half full; nothing is ever removed. A miss, the
// ordinary case, costs one cache line; a std::unordered_map costs an allocation an entry.
#ifndef PRIMSET_SDK_BASE_HASH_INDEX_H_
#define PRIMSET_SDK_BASE_HASH_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace primset {

class HashIndex {
 public:
  // A number that was put in under this hash and for which `equal(number)` holds.
  template <typename Equal>
  std::optional<uint32_t> find(size_t hash, Equal equal) const {
    if (slots_.empty()) return std::nullopt;
    const uint32_t folded = fold(hash);
    for (size_t i = folded & mask(); slots_[i].number != kEmpty; i = (i + 1) & mask())
      if (slots_[i].hash == folded && equal(slots_[i].number)) return slots_[i].number;
    return std::nullopt;
  }

  // A number below UINT32_MAX.
  void insert(size_t hash, uint32_t number) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    place({fold(hash), number});
    ++size_;
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kEmpty;
  };

  static uint32_t fold(size_t hash) {
    return static_cast<uint32_t>(hash) ^ static_cast<uint32_t>(uint64_t{hash} >> 32);
  }
  size_t mask() const { return slots_.size() - 1; }
  void place(Slot s) {
    size_t i = s.hash & mask();
    while (slots_[i].number != kEmpty) i = (i + 1) & mask();
    slots_[i] = s;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.number != kEmpty) place(s);
  }

  std::vector<Slot> slots_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_HASH_INDEX_H_
