// The combiner of a reduction or scan, whether a primitive of its own or a region.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_COMBINE_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_COMBINE_H_

#include <span>
#include <vector>

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

// Combines tuples: a primitive's combiner has one value, a region may have several (a mean, a sum
// of squares and a count, say).
class Combiner {
 public:
  // node: reduce_*, scan_sum, scan_prod, reduce or scan.
  Combiner(ElementEmitter& e, prims::NodeId node);

  size_t arity() const { return dtypes_.size(); }
  DType dtype(size_t k) const { return dtypes_[k]; }
  prims::ValueId operand(size_t k) const { return operands_[k]; }
  prims::ValueId result(size_t k) const { return results_[k]; }

  std::vector<ElementValue> identity();
  std::vector<ElementValue> combine(std::span<const ElementValue> a,
                                    std::span<const ElementValue> b);
  // `a` where the condition (i1) holds, else the identity.
  std::vector<ElementValue> or_identity(kir::Value condition, std::span<const ElementValue> a);

  // A tuple as loop-carried registers, each splat to `lanes`, and back.
  std::vector<kir::Value> flatten(std::span<const ElementValue> elems, uint16_t lanes);
  std::vector<ElementValue> unflatten(std::span<const kir::Value> values) const;
  size_t registers() const;  // count of a flattened tuple

 private:
  ElementEmitter& e_;
  const prims::Graph& graph_;
  const prims::Node& node_;
  std::vector<DType> dtypes_;
  std::vector<prims::ValueId> operands_, results_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_COMBINE_H_
