#include "codegen/schedule/testing/random/cut.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/schedule/element/view_placement.h"
#include "prims/graph/rewriter.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::ValueId;

class Rebuild {
 public:
  Rebuild(const RandomCase& c, const Cut& cut)
      : c_(c), from_(*c.graph), cut_(cut), live_(from_.node_count()) {
    for (uint32_t j = 0; j < from_.outputs.size(); ++j) {
      if (!cut.outputs.contains(j)) want(from_.outputs[j].value);
    }
    for (NodeId n : from_.body.nodes) {
      if (prims::has_side_effect(from_.node(n).prim) && !cut.effects.contains(n)) keep(n);
    }
  }

  RandomCase run() {
    to_.seed = c_.seed;
    to_.graph = std::make_shared<Graph>(from_.shared_context());
    to_.symbols = c_.symbols;
    to_.dynamic = c_.dynamic;
    to_.options = c_.options;
    to_.options.inputs.clear();
    to_.options.outputs.clear();
    prims::Builder b(*to_.graph);
    prims::Rewriter rewriter(from_, b);
    inputs(b, rewriter);
    for (NodeId n : from_.body.nodes) {
      if (live_[n]) node(n, b, rewriter);
    }
    outputs(b, rewriter);
    return std::move(to_);
  }

 private:
  void want(ValueId v) {
    wanted_.insert(v);
    const NodeId p = from_.producer(v);
    if (p != Graph::kNoNode && !cut_.inputs.contains(v)) keep(p);
  }
  void keep(NodeId n) {
    if (live_[n]) return;
    live_[n] = true;
    const prims::Node& node = from_.node(n);
    for (ValueId v : node.operands) {
      if (v != prims::kNoValue) want(v);
    }
    for (const prims::Region& r : node.regions) {
      for (NodeId inner : r.nodes) keep(inner);
      for (ValueId v : r.results) want(v);
    }
  }

  bool keeps_input(uint32_t i) const {
    if (wanted_.contains(from_.inputs[i].value)) return true;
    for (uint32_t j = 0; j < from_.outputs.size(); ++j) {
      if (!cut_.outputs.contains(j) && !cut_.fresh.contains(j) &&
          from_.outputs[j].writes_input == i)
        return true;
    }
    return false;
  }

  void inputs(prims::Builder& b, prims::Rewriter& rewriter) {
    for (uint32_t i = 0; i < from_.inputs.size(); ++i) {
      if (!keeps_input(i)) continue;
      const prims::Input& in = from_.inputs[i];
      moved_.emplace(i, static_cast<uint32_t>(to_.graph->inputs.size()));
      rewriter.map(in.value, in.kind == prims::Input::Kind::tensor
                                 ? b.tensor_input(in.name, from_.type(in.value))
                                 : b.scalar_input(in.name, from_.type(in.value).dtype));
      to_.options.inputs.push_back(c_.options.inputs[i]);
      to_.inputs.push_back(c_.inputs[i]);
    }
    for (const auto& [v, array] : cut_.inputs) {
      if (!wanted_.contains(v)) continue;
      const prims::ValueType& type = from_.type(v);
      rewriter.map(v, b.tensor_input("v" + std::to_string(v), type));
      to_.options.inputs.push_back({dense_strides(type.shape)});
      to_.inputs.push_back(array);
    }
  }

  void node(NodeId n, prims::Builder& b, prims::Rewriter& rewriter) {
    const prims::Node& node = from_.node(n);
    const auto made = rewriter.copy(n, rewriter(node.operands));
    for (size_t i = 0; i < made.size(); ++i) {
      // A size that the run makes keeps its symbol.
      b.graph().mutable_type(made[i]).shape = from_.type(node.results[i]).shape;
      if (!cut_.inputs.contains(node.results[i])) rewriter.map(node.results[i], made[i]);
    }
  }

  void outputs(prims::Builder& b, prims::Rewriter& rewriter) {
    for (uint32_t j = 0; j < from_.outputs.size(); ++j) {
      if (cut_.outputs.contains(j)) continue;
      const prims::Output& o = from_.outputs[j];
      std::optional<uint32_t> input;
      if (o.writes_input && !cut_.fresh.contains(j)) input = moved_.at(*o.writes_input);
      b.output(o.name, rewriter(o.value), input);
      to_.options.outputs.push_back(c_.options.outputs[j]);
    }
  }

  const RandomCase& c_;
  const Graph& from_;
  const Cut& cut_;
  std::vector<bool> live_;  // by node
  std::set<ValueId> wanted_;
  std::map<uint32_t, uint32_t> moved_;  // inputs
  RandomCase to_;
};

}  // namespace

RandomCase without(const RandomCase& c, const Cut& cut) {
  return Rebuild(c, cut).run();
}

}  // namespace primset::schedule
