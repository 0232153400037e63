// The cost model of recomputation: inline a value into several kernels, or store it once?
#ifndef PRIMSET_CODEGEN_SCHEDULE_FUSION_RECOMPUTE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FUSION_RECOMPUTE_H_

#include <vector>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// For each value the bytes and operations of one element when everything that it depends on is
// inlined, down to values that are in memory anyway. An upper bound: what is used twice counts
// twice.
class RecomputeEstimate {
 public:
  RecomputeEstimate(const prims::Graph& g, const Machine& machine);

  // Is storing `v` cheaper than computing its elements so many times? `extra_result`: a kernel that
  // reads it could store it as a further root.
  bool favours_memory(prims::ValueId v, double times, bool extra_result) const;
  // The node's own operations for one element.
  double operations(const prims::Node& n) const;

 private:
  struct Element {
    double bytes = 0, operations = 0;
  };
  void visit(const prims::Region& r);
  Element of(const prims::Node& n, prims::ValueId result) const;
  double size_in_memory(prims::ValueId v) const;
  double share_read(const prims::Node& n, prims::ValueId operand) const;

  const prims::Graph& g_;
  const Machine& machine_;
  std::vector<Element> elements_;  // by value
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_RECOMPUTE_H_
