// What a graph is scheduled for, besides the machine: layouts of inputs and outputs, and switches.
#ifndef PRIMSET_CODEGEN_SCHEDULE_OPTIONS_H_
#define PRIMSET_CODEGEN_SCHEDULE_OPTIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::schedule {

// The layout of a graph input or output: a stride a dimension, in elements. The first element is at
// the start of its buffer.
struct Layout {
  prims::SymInts strides;
};

struct Options {
  std::vector<Layout> inputs;          // one a graph input; ignored for scalar inputs
  std::vector<Layout> outputs;         // one a graph output
  bool index32 = true;                 // every offset of the call fits 31 bits
  bool fuse = true;                    // false: one kernel a node, for tests and comparison
  bool kernels = true;                 // false: the device runs native primitives alone
  std::string* fusion_text = nullptr;  // set to the printed fusion plan (fusion/fusion_plan.h)
  // Does the device compute this node itself (a native primitive)? Empty: it computes none.
  std::function<bool(const prims::Graph&, prims::NodeId)> native;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_OPTIONS_H_
