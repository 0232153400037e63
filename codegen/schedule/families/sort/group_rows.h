// A kernel under construction that sorts rows in a workgroup's memory: a workgroup goes through
// blocks of adjacent rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_ROWS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_ROWS_H_

#include <functional>
#include <vector>

#include "codegen/schedule/families/sort/sorted_rows.h"

namespace primset::schedule {

class GroupRows {
 public:
  // rows: the loops over them.
  GroupRows(const BuildContext& c, const GroupSort& sort, std::vector<LoopDim> rows);

  Frame& frame() { return f_; }
  SortedRows& sorted() { return sorted_; }
  // Runs `body` for every block of the workgroup, its rows sorted; all threads execute it together.
  BuiltKernel for_each_block(const std::function<void()>& body) &&;

  // Some elements of the block; each thread takes as many as it has slots. Threads walk along rows
  // where these are dense in `p`, else across them, so that neighbours access neighbours.
  struct Walk {
    std::vector<kir::Value> row, place, inside;  // inside: i1, the element is there
  };
  Walk walk(const Placement& p);
  // The row and place of the k-th one; where it is not inside those of an element that is.
  std::pair<kir::Value, kir::Value> safe(const Walk& w, uint32_t k);
  kir::Value row_count() const { return row_count_; }  // of the block, i32
  // Keys as they are in memory, extended by zeros.
  kir::Value load_key(kir::Value row, kir::Value place);
  std::vector<kir::Value> load_keys(const Walk& w);
  // The indices of an element of the block; sets the loop variables to its row.
  Indices at(kir::Value row, kir::Value place);
  kir::Value narrow(kir::Value index) {
    return f_.builder().int_resize(index, kir::Scalar::i32, true);
  }

 private:
  void put_keys();

  const GroupSort& sort_;
  std::vector<LoopDim> loops_;
  const Indices indices_;
  Frame f_;
  kir::Builder& b_;
  SortedRows sorted_;
  kir::Value first_row_, row_count_;
};

// Builds a kernel with loops over rows that are merged where all its accesses allow it.
BuiltKernel with_merged_rows(const GroupSort& sort,
                             const std::function<BuiltKernel(std::vector<LoopDim>)>& build);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_GROUP_ROWS_H_
