// Random nodes: which primitive comes next, and operands and attributes that fit it.
//
// The table of primitives says what there is to draw from. Where a primitive's pattern does not say
// what its operands look like a rule of its own does; a core primitive that no rule makes fails the
// test of what random graphs cover.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_NODES_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_NODES_H_

#include <vector>

#include "codegen/schedule/testing/random/random_values.h"

namespace primset::schedule {

class RandomNodes {
 public:
  explicit RandomNodes(RandomValues& values);

  RandomValues& values() { return values_; }
  Random& random() { return values_.random(); }

  // One node, with those that make its operands; none where what was drawn finds no operands.
  void add();
  void add(size_t attempts) {
    for (size_t i = 0; i < attempts; ++i) add();
  }
  // A view of the value, if there is one; else the value.
  prims::ValueId view_of(prims::ValueId v);
  // An elementwise node of this type.
  prims::ValueId elementwise(DType t, const prims::SymInts& shape);

 private:
  struct Choice {
    prims::Prim prim;
    uint32_t weight;
  };
  void choose_weights();
  prims::Prim draw();
  prims::ValueId rearranged(prims::ValueId v);

  RandomValues& values_;
  std::vector<Choice> choices_;
  uint32_t total_ = 0;
};

// Makes a node of the primitive, or none.
using NodeRule = void (*)(RandomNodes&, prims::Prim);

class NodeRules {
 public:
  NodeRules() : rules_(static_cast<size_t>(prims::prim_count()), nullptr) {}
  void set(prims::Prim p, NodeRule rule) { rules_[static_cast<size_t>(p)] = rule; }
  NodeRule find(prims::Prim p) const { return rules_[static_cast<size_t>(p)]; }

 private:
  std::vector<NodeRule> rules_;
};

// One function a file of rules.
void add_shape_rules(NodeRules&);
void add_indexing_rules(NodeRules&);
void add_region_rules(NodeRules&);

// Null where random graphs have none of the primitive.
NodeRule node_rule(prims::Prim p);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_RANDOM_RANDOM_NODES_H_
