// A radix sort kernel under construction: a workgroup iterates over tiles of rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_TILES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_TILES_H_

#include <functional>
#include <vector>

#include "codegen/schedule/families/sort/radix_sort.h"
#include "codegen/schedule/families/sort/sort_keys.h"

namespace primset::schedule {

class RadixTiles {
 public:
  RadixTiles(const BuildContext& c, const RadixSort& sort, const RadixPass& pass);

  Frame& frame() { return frame_; }
  BuiltKernel finish() &&;
  // Runs `body` for every tile of the workgroup; all threads execute it together.
  void for_each(const std::function<void()>& body);

  // --- of the tile at hand ---
  kir::Value first() const { return first_; }  // its first element's number in the row
  kir::Value row() const { return row_; }      // its row's number
  // Its number of elements, i32.
  kir::Value elements();
  // The indices of element `number` of the row.
  Indices at(kir::Value number) const;
  // The address of element `number` + `more` of the row.
  Affine address(const Placement& p, kir::Value number, int64_t more = 0);
  // Addresses in RadixSort::counts and ::totals. digit: i32.
  Affine count_of(kir::Value digit), total_of(kir::Value digit);

  // The elements first, first + step, .. of the tile.
  struct Items {
    kir::Value first, step;  // i32
    uint32_t count;
  };
  kir::Value inside(const Items& items, uint32_t k);  // i1: there is a k-th one
  // What `load` returns for them; undefined for those past the tile's end, of which a full tile
  // has none.
  using Load = std::function<kir::Value(kir::Value number, int64_t more)>;
  std::vector<kir::Value> load_items(const Items& items, const Load& load);
  std::vector<kir::Value> load_full(const Items& items, const Load& load);
  std::vector<kir::Value> load_partial(const Items& items, const Load& load);
  kir::Value is_full();

  // --- keys, as integers of 32 or 64 bits that hold what is in memory ---
  kir::Value load_key(kir::Value number, int64_t more = 0);
  void store_key(const Placement& to, kir::Value number, int64_t more, kir::Value key);
  kir::Value ordered(kir::Value key) { return keys_.ordered(key); }
  kir::Value last() { return keys_.last(); }
  kir::Value digit(kir::Value ordered);  // i32
  kir::Value nan() { return keys_.nan(); }
  kir::Value above_digit(kir::Value ordered);  // the bits above the digit
  kir::Value digit_bit(int bit);               // the position of a digit's bit in such an integer

  kir::Value index(kir::Value i) { return frame_.index(i); }

 private:
  kir::Type word() const { return keys_.word(); }
  kir::Value digit_row(kir::Value digit);

  const RadixSort& sort_;
  const RadixPass& pass_;
  const Indices row_indices_;
  Frame frame_;
  SortKeys keys_;
  kir::Value shift_;
  kir::Value row_, tile_, first_;
};

// An address computed at run time.
Affine computed(kir::Value address);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_TILES_H_
