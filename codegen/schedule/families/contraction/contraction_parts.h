// What the kernels of a contraction have in common: the dims of its operands by what they are for,
// and its result, element by element.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_

#include <span>
#include <utility>
#include <vector>

#include "codegen/schedule/program/kernels.h"
#include "codegen/schedule/tuning/contraction_tiles.h"

namespace primset::schedule {

// v / by and v % by.
std::pair<kir::Value, kir::Value> divide(Frame& f, kir::Value v, const SymInt& by);
// The linear index over `dims`, taken apart into `at`.
void spread(Frame& f, kir::Value linear, const DimList& dims, const SymInts& sizes, Indices& at);

// The result's elements: [batch, free dims of a, free dims of b].
class ContractionResult {
 public:
  ContractionResult(Frame& f, ElementEmitter& e, const prims::Graph& g, const prims::Node& n,
                    const std::vector<Root>& roots, const ContractionRoles& a,
                    const ContractionRoles& b);

  // Batch, row and column are linear over their dims.
  Indices at(kir::Value batch, kir::Value row, kir::Value column) const;
  // What is made of the sum of an element, a root each; `at` as above.
  std::vector<Elem> made_of(kir::Value sum, const Indices& at);
  // Makes and stores them, under the frame's mask.
  void store(kir::Value sum, const Indices& at);

  // Do runs of `count` neighbouring columns (2 or 4), the first of them a multiple of it, lie side
  // by side and aligned in every root? A truth value found when the kernel runs; invalid where they
  // never do.
  kir::Value has_runs(uint32_t count);
  // Stores such a run: the sums, and where each of them is.
  void store_run(std::span<const kir::Value> sums, std::span<const Indices> at);

 private:
  bool may_have_runs(const Root& r) const;

  Frame& f_;
  ElementEmitter& e_;
  const prims::Graph& g_;
  const prims::ValueId result_;
  const std::vector<Root>& roots_;
  DimList dims_[3];  // of the result: batch, rows, columns
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_
