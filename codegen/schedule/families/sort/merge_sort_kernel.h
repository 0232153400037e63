// Stable merge sort of dense arrays [rows, length, inner] along `length`.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_MERGE_SORT_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_MERGE_SORT_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

struct SortRequest {
  prims::NodeId node = 0;
  SymInt rows = 1, length = 1, inner = 1;
  std::vector<BufferId> arrays;  // keys, payloads, then an array of original positions
  std::vector<BufferId> others;  // the other half of the double buffers
  SymInt pass_pair = 0;          // counter of the loop over pairs of passes
};
// Of the array of positions: a place in a row is an index.
constexpr DType position_dtype(bool index32) {
  return index32 ? DType::i32 : DType::i64;
}
// Stores the index along `dim` of every element.
BuiltKernel positions_kernel(const BuildContext& c, const SymInts& domain, size_t dim,
                             const Placement& out);
// The first step: sorts short runs in place.
BuiltKernel sort_runs_kernel(const BuildContext& c, const SortRequest& r);
// A merge pass from `arrays` to `others`, or back; the latter merges runs twice as long.
BuiltKernel merge_runs_kernel(const BuildContext& c, const SortRequest& r, bool back);
// The number of pairs of passes that sort all rows.
SymInt merge_pass_pairs(const SortRequest& r, const Machine& machine);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_MERGE_SORT_KERNEL_H_
