// What the families that find one element of each row have alike.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SELECT_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SELECT_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

class SelectFamily : public Family {
 public:
  // What the primitives are made of reads a row many times.
  bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                        const Machine& machine) const override {
    return cost(g, node, machine).has_value();
  }
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t,
                     const Machine&) const override {
    return OperandUse::in_memory;
  }

 protected:
  static bool selects(const prims::Node& n) {
    return n.prim == prims::Prim::kth_value || n.prim == prims::Prim::median;
  }
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SELECT_FAMILY_H_
