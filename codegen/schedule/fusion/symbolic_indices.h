// Which elements of its operands an element of a primitive depends on, as symbolic indices.
//
// The planner follows them from a kernel's stores to its loads, as the element emitter will
// (element/element.h), but emits nothing: a value that the kernel computes at run time (a gathered
// index, a quotient) is a name. Equal computations have equal names.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FUSION_SYMBOLIC_INDICES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FUSION_SYMBOLIC_INDICES_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/schedule/element/view_indices.h"

namespace primset::schedule {

class SymbolicArithmetic : public IndexArithmetic {
 public:
  Affine add(const Affine& a, const Affine& b) override;
  Affine scale(const Affine& a, const SymInt& factor) override;
  Affine divide_out(const Index& i) override;
  // An index about which nothing is known: equal to no other.
  Index unknown();

 private:
  kir::Value named(std::string computation);

  std::unordered_map<std::string, uint32_t> names_;
  uint32_t next_ = 0;
};

struct OperandAccess {
  prims::ValueId value = prims::kNoValue;
  Indices at;
  bool elementwise = false;  // at the result's own index, by an elementwise primitive
};

// Appends the accesses of an indexable primitive's operands for its element `at`.
void operand_accesses(const prims::Graph& g, const prims::Node& n, const Indices& at,
                      SymbolicArithmetic& arithmetic, std::vector<OperandAccess>& out);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_SYMBOLIC_INDICES_H_
