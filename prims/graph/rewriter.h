// Rebuilds a graph, or a region of one, through a Builder: nodes in their order, each copied or
// replaced by what a hook makes of it. Time is linear in the graph.
//
//   Rewriter rewriter(from, builder, [&](Rewriter&, NodeId n, const Values& operands) { … });
//   rewriter.graph();                    // inputs, nodes and outputs, into an empty graph; or
//   rewriter.inlined(from.body, inputs)  // the nodes alone, behind what the graph holds
//
// Both graphs have one SymContext.
#ifndef PRIMSET_PRIMS_GRAPH_REWRITER_H_
#define PRIMSET_PRIMS_GRAPH_REWRITER_H_

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "prims/graph/builder.h"

namespace primset::prims {

class Rewriter {
 public:
  using Values = Builder::Values;
  // What stands in the new graph for a node's results, once its operands have become `operands`
  // (kNoValue for one that is absent); nothing where the node is to be copied. It may append to the
  // builder, and call copy, region and inlined.
  using Hook = std::function<std::optional<Values>(Rewriter&, NodeId, const Values& operands)>;

  Rewriter(const Graph& from, Builder& to, Hook hook = {});

  const Graph& from() const { return from_; }
  Builder& builder() { return to_; }

  // Says what a value becomes. Inputs, parameters and results are mapped by what follows.
  void map(ValueId from, ValueId to);
  // What a value became; kNoValue stays so. Throws Error{internal} for one that was not mapped.
  ValueId operator()(ValueId v) const;
  Values operator()(std::span<const ValueId> values) const;

  void graph();
  // Appends the region's nodes, its parameters being `arguments`; what its results became.
  Values inlined(const Region& region, std::span<const ValueId> arguments);
  // The region with parameters of its own. It may use what encloses it, as before.
  Region region(const Region& region);
  // The node with these operands.
  Values copy(NodeId node, const Values& operands);

 private:
  void rewrite(NodeId node);
  std::vector<Region> regions(const Node& node);
  bool renames_sizes(const Node& node, const Values& made) const;
  bool is_renamed(const ValueType& type, ValueId made, size_t dim) const;
  void bind(const Node& node, const Values& made);

  const Graph& from_;
  Builder& to_;
  Hook hook_;
  Values map_;  // by values of `from`; kNoValue where nothing is known yet
};

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_REWRITER_H_
