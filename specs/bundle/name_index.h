// Names to positions in a vector, in O(1). It stores positions only, so that a copied or moved
// owner needs no rebuilding and no name is held twice.
#ifndef PRIMSET_SPECS_BUNDLE_NAME_INDEX_H_
#define PRIMSET_SPECS_BUNDLE_NAME_INDEX_H_

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace primset::specs {

inline constexpr uint64_t kFnvBasis = 0xcbf29ce484222325u;

constexpr uint64_t fnv1a(std::string_view bytes, uint64_t hash = kFnvBasis) {
  for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

class NameIndex {
 public:
  // `name_of(i)` for i in [0, count) must give distinct names; of equal ones the first is found.
  template <typename NameOf>
  void build(size_t count, NameOf name_of) {
    slots_.assign(std::bit_ceil(count * 2 + 1), kEmpty);
    for (uint32_t i = 0; i < count; ++i) {
      size_t slot = fnv1a(name_of(i)) & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  // The position of `name`, or -1.
  template <typename NameOf>
  int64_t find(std::string_view name, NameOf name_of) const {
    if (slots_.empty()) return -1;
    size_t slot = fnv1a(name) & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) {
      if (name_of(slots_[slot]) == name) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return -1;
  }

 private:
  static constexpr uint32_t kEmpty = 0xffffffffu;
  std::vector<uint32_t> slots_;
};

}  // namespace primset::specs

#endif  // PRIMSET_SPECS_BUNDLE_NAME_INDEX_H_
