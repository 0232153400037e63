// What all contraction kernels use: index arithmetic over dims by role, and stores of the result
// with its epilogue.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/schedule/program/kernels.h"
#include "codegen/schedule/tuning/contraction_tiles.h"

namespace primset::schedule {

// Quotient and remainder of v by `by`.
std::pair<kir::Value, kir::Value> divide(Frame& f, kir::Value v, const SymInt& by);
// Delinearises an index over `dims` into `at`.
void delinearize(Frame& f, kir::Value linear, const DimList& dims, const SymInts& sizes,
                 Indices& at);

// Does the memory that a value is elementwise computed from run along one of the dims `along`?
// nullopt: it is computed from other elements.
std::optional<bool> memory_runs_along(const ValueEnvironment& values, prims::ValueId v,
                                      const DimList& along);

// The result, [batch, free dims of a, free dims of b], and its epilogue.
class ContractionResult {
 public:
  ContractionResult(Frame& f, ElementEmitter& e, const prims::Graph& g, const prims::Node& n,
                    const std::vector<Root>& roots, const ContractionRoles& a,
                    const ContractionRoles& b);

  // The indices of an element; batch, row and column are linear indices over their dims.
  Indices at(kir::Value batch, kir::Value row, kir::Value column) const;
  // The epilogue's values for an element's sum, one a root; `at` as above.
  std::vector<ElementValue> epilogue(kir::Value sum, const Indices& at);
  // Computes and stores them, under the frame's mask.
  void store(kir::Value sum, const Indices& at);

  // i1: `count` columns (2 or 4) from a multiple of it are contiguous and aligned in every root, so
  // that they can be stored as a vector. Tested at run time; invalid where it never holds.
  kir::Value can_store_vectors(uint32_t count);
  // Stores such a vector: the sums, and the indices of each.
  void store_vector(std::span<const kir::Value> sums, std::span<const Indices> at);

 private:
  bool may_store_vectors(const Root& r) const;

  Frame& f_;
  ElementEmitter& e_;
  const prims::Graph& g_;
  const prims::ValueId result_;
  const std::vector<Root>& roots_;
  DimList dims_[3];  // of the result: batch, rows, columns
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_PARTS_H_
