// A random case without some of its outputs and nodes.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CUT_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CUT_H_

#include <map>
#include <set>

#include "codegen/schedule/testing/random/random_graph.h"

namespace primset::schedule {

// What a smaller graph leaves out of a larger one.
struct Cut {
  std::set<uint32_t> outputs;                                // that are dropped
  std::set<uint32_t> fresh;                                  // outputs that get memory of their own
  std::map<prims::ValueId, prims::reference::Array> inputs;  // values that become inputs
  std::set<prims::NodeId> effects;  // nodes without results that are dropped
};

// Nor with what nothing is made of any more. Both cases have one SymContext.
RandomCase without(const RandomCase& c, const Cut& cut);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_CUT_H_
