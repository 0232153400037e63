// The costs of merge sort and radix sort, and the length of rows from which radix sort is cheaper.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_COSTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_COSTS_H_

#include "codegen/schedule/families/sort/radix_sort.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

struct SortSize {
  double rows = 1, length = 1;
  double key_bytes = 4, payload_bytes = 0;  // of an element; payloads are the arrays beside keys
  double arrays = 2;                        // that are moved: keys, payloads and positions
};
SortSize sort_size(const prims::Graph& g, const prims::Node& n);

// One kernel that reads and writes each element once.
Cost group_sort_cost(const SortSize& size, const Machine& machine);
// Runs sorted by insertion, then a pass for each doubling of the runs' length.
Cost merge_sort_cost(const SortSize& size, const Machine& machine);
// Three kernels for each digit of the key.
Cost radix_sort_cost(const SortSize& size, const RadixTile& tile);

// Rows up to this length are sorted in a workgroup's memory: those that fit, where no other way is
// cheaper. Tuning::sort.group_row overrides it.
int64_t longest_grouped_row(const SortSize& size, DType key, const Machine& machine);
// Whether the node's rows are are no longer than that. Adds a guard, which holds for any number of
// rows.
bool is_grouped(const prims::Graph& g, const prims::Node& n, const Machine& machine);
// One element of each row: a count and a pick for each digit.
Cost radix_select_cost(const SortSize& size);

// Rows longer than this are sorted digit by digit. Where Tuning::sort.radix_row is automatic, it is
// where the costs cross over when there are rows enough to keep the machine busy.
int64_t longest_merged_row(const SortSize& size, const RadixTile& tile, const Machine& machine);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_COSTS_H_
