// The k-th element and the median of long rows on SIMT devices: digit by digit, the highest first.
// A pass has two steps:
//   count  workgroups count how often each digit is among the elements that have all digits found
//          so far
//   pick   a workgroup a row takes the digit that the wanted element has, and how many of the
//          elements with it come before
// (Alabi, Blanchard, Gordon, Steinbach: Fast k-Selection Algorithms for Graphics Processing Units,
// 2012). Then the first element with all these digits is looked for.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SELECT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SELECT_H_

#include <vector>

#include "codegen/schedule/families/sort/radix_sort.h"

namespace primset::schedule {

struct RadixSelect {
  RadixSort rows;  // of primitive `kth_value` or `median`; totals: counts of digits, cleared
  Placement keys;
  // Of each row, i32 but for the prefix, which has the key's width.
  BufferId nans = 0, wanted = 0, prefix = 0, found = 0;
  std::vector<SortResult> results;

  DType prefix_dtype() const { return byte_size(rows.key) == 8 ? DType::u64 : DType::u32; }
};
bool can_radix_select(const Machine& machine, DType key);
RadixTile select_tile(const Machine& machine, DType key);

BuiltKernel select_clear_kernel(const BuildContext& c, const RadixSelect& select);
// shift: of the digit in the key. The first pass counts NaN too.
BuiltKernel select_count_kernel(const BuildContext& c, const RadixSelect& select, int shift,
                                bool first);
BuiltKernel select_pick_kernel(const BuildContext& c, const RadixSelect& select, int shift,
                               bool first);
BuiltKernel select_find_kernel(const BuildContext& c, const RadixSelect& select);
BuiltKernel select_store_kernel(const BuildContext& c, const RadixSelect& select);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SELECT_H_
