// Least-significant-digit radix sort of long rows on SIMT devices. A pass orders the rows by eight
// bits of their keys and keeps the order of elements that agree in them. It has three steps:
//   count    each workgroup counts how often each digit is in its tile of a row
//   offsets  the counts of a digit become the numbers of such elements in the tiles before
//   scatter  each workgroup orders its tile by the digit and writes it, a run for each digit, to
//            where digits' totals and offsets say
// (Satish, Harris, Garland: Designing Efficient Sorting Algorithms for Manycore GPUs, 2009). In a
// tile a subgroup finds its equal digits by ballots (Ashkiani, Davidson, Meyer, Owens: GPU
// Multisplit, 2016). Keys travel as they are in memory, with their original positions; other
// payloads are gathered by position in the last pass (docs/decisions/radix_sort.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SORT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SORT_H_

#include <optional>
#include <vector>

#include "codegen/schedule/families/sort/sort_result.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

inline constexpr int kDigitBits = 8;
inline constexpr uint32_t kDigits = 1u << kDigitBits;

// The tile of a workgroup.
struct RadixTile {
  uint32_t threads = 0;
  uint32_t items = 0;            // elements of a thread
  uint32_t subgroups = 0;        // of a group, at most
  bool separate_memory = false;  // counters and elements do not share workgroup memory
  // An occupancy hint: fewer groups leave memory waiting, more leave too few registers for a
  // thread's elements.
  uint32_t min_groups_per_multiprocessor = 0;
  int64_t elements() const { return int64_t{threads} * items; }
};
// nullopt: the device cannot radix-sort such keys. `place` is the dtype of positions.
std::optional<RadixTile> radix_tile(const Machine& machine, DType key, DType place);

struct RadixSort {
  prims::NodeId node = 0;  // of primitive `sort`
  SymInts shape;
  size_t dim = 0;
  DType key = DType::f32;
  bool descending = false;
  DType place = DType::i32;  // of positions and counts: i32 or i64
  RadixTile tile;
  BufferId counts = 0;  // [rows, digits, tiles of a row]
  BufferId totals = 0;  // [rows, digits]

  SymInt rows() const;
  SymInt tiles() const { return prims::ceil_div(shape[dim], tile.elements()); }
};

struct RadixPass {
  int shift = 0;                       // of the digit in the key
  Placement keys;                      // to be read
  std::optional<Placement> positions;  // none: the index of the element that is read
  bool moves_positions = true;
  // The outputs of all passes but the last, which writes `results`.
  Placement to_keys, to_positions;
  std::vector<SortResult> results;
};

BuiltKernel radix_count_kernel(const BuildContext& c, const RadixSort& sort, const RadixPass& pass);
BuiltKernel radix_offsets_kernel(const BuildContext& c, const RadixSort& sort);
BuiltKernel radix_scatter_kernel(const BuildContext& c, const RadixSort& sort,
                                 const RadixPass& pass);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_RADIX_SORT_H_
