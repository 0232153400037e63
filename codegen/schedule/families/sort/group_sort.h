// Rows that fit into a workgroup's memory are sorted there: a kernel reads them once and writes
// them once. Each thread sorts a few neighbours in registers; then runs are merged, twice as long
// ones each time, by as many threads as before: each finds by bisection where its part of the
// result begins in the two runs (Odeh, Green, Mwassi, Shmueli, Birk: Merge Path, 2012). A workgroup
// takes as many rows as its threads can hold, adjacent ones, so that rows that are interleaved in
// memory are read in full lines. It needs neither ballots nor shuffles
// (docs/decisions/group_sort.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_SORT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_SORT_H_

#include <optional>
#include <vector>

#include "codegen/schedule/families/sort/sort_result.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// What a workgroup holds.
struct GroupTile {
  uint32_t threads = 0;
  uint32_t items = 0;  // neighbours of a row that a thread sorts and merges
  uint32_t elements() const { return threads * items; }
};
// The longest row that this device can sort so; 0: none.
int64_t longest_grouped_row(const Machine& machine, DType key);
// The smallest workgroup that does for rows of this length, which is no more than that; may add
// guards. interleaved: adjacent rows' elements are neighbours in memory.
GroupTile group_tile(const Machine& machine, DType key, const SymInt& length, bool interleaved);

struct GroupSort {
  prims::NodeId node = 0;  // of primitive `sort`, `kth_value` or `median`
  SymInts shape;
  size_t dim = 0;
  DType key = DType::f32;
  bool descending = false;
  GroupTile tile;
  Placement keys;
  std::vector<SortResult> results;

  const SymInt& length() const { return shape[dim]; }
  // One at least: a length that only the run knows may be 0.
  SymInt row_threads() const {
    return prims::max(prims::ceil_div(length(), tile.items), SymInt(1));
  }
  SymInt row_slots() const { return row_threads() * SymInt(tile.items); }
  SymInt group_rows() const { return prims::floor_div(SymInt(tile.threads), row_threads()); }
};

BuiltKernel group_sort_kernel(const BuildContext& c, const GroupSort& sort);
// Of `kth_value` and `median`: an element of each sorted row, and where it stood.
BuiltKernel group_select_kernel(const BuildContext& c, const GroupSort& sort);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_SORT_H_
