// Rows in a workgroup's memory, and the order that they are brought into there. Row r has the
// elements at slots r * row_slots, .. of it; what a row does not fill orders last.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORTED_ROWS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORTED_ROWS_H_

#include <vector>

#include "codegen/schedule/families/sort/group_sort.h"
#include "codegen/schedule/families/sort/sort_keys.h"

namespace primset::schedule {

class SortedRows {
 public:
  SortedRows(Frame& f, const GroupSort& sort);
  // Bytes of workgroup memory for so many slots.
  static uint32_t group_bytes(DType key, uint32_t slots);

  SortKeys& keys() { return keys_; }
  // All numbers of slots, rows and places are i32.
  kir::Value slot_of(kir::Value row, kir::Value place) {
    return b_.add(b_.mul(row, row_slots_), place);
  }
  // What is in a slot before sorting: an integer that orders as the key does.
  void put(kir::Value slot, kir::Value ordered);
  kir::Value after_all();  // such an integer for a slot without an element
  // Sorts all rows, stably. Collective, as all that follows: the caller places the barriers before
  // and behind it.
  void sort();
  // What orders of the element in this slot.
  kir::Value key(kir::Value slot);
  // The place in its row that the element in this slot has come from.
  kir::Value origin(kir::Value slot);
  // Memory of a word a slot, free once rows are sorted.
  void stage(kir::Value slot, kir::Value word);
  kir::Value staged(kir::Value slot);

 private:
  // What a thread holds: neighbours of a row.
  struct Held {
    std::vector<kir::Value> words, origins;  // origins: none where words hold them
  };
  struct Runs {
    kir::Value a, a_end, b, b_end;
  };
  // A word has a key and its place where there is room for both.
  bool packed() const { return byte_size(key_) <= 2; }
  kir::Value padded(kir::Value slot);
  kir::Value load_word(kir::Value slot);
  Held own_items();
  void sort_held(Held& held);
  void write(const Held& held);
  Runs runs_of(kir::Value run);
  kir::Value taken_from_a(const Runs& runs, kir::Value diagonal);
  Held merged(kir::Value run);

  Frame& f_;
  kir::Builder& b_;
  const GroupSort& sort_;
  const DType key_;
  SortKeys keys_;
  const kir::Value row_slots_;
  const kir::Value words_, others_;                            // others: origins, or what is staged
  kir::Value first_slot_, first_place_, row_begin_, row_end_;  // of the thread's items
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORTED_ROWS_H_
