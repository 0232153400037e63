#include "sdk/runtime/graph/graph_inliner.h"

#include <unordered_map>

namespace primset::runtime {
namespace {

using prims::ValueId;

class Inliner {
 public:
  Inliner(prims::Builder& builder, const prims::Graph& from) : builder_(builder), from_(from) {}

  void map(ValueId from, ValueId to) { values_[from] = to; }
  ValueId operator()(ValueId v) const { return v == prims::kNoValue ? v : values_.at(v); }

  void nodes(const prims::Region& region) {
    for (prims::NodeId n : region.nodes) node(from_.node(n));
  }

 private:
  void node(const prims::Node& n) {
    std::vector<ValueId> operands;
    for (ValueId v : n.operands) operands.push_back((*this)(v));
    std::vector<prims::Region> regions;
    for (const prims::Region& r : n.regions) regions.push_back(region(r));
    const auto results = builder_.add(n.prim, std::move(operands), n.attrs, std::move(regions));
    for (size_t i = 0; i < n.results.size(); ++i) {
      // Sizes known at run time only keep their symbols: the call's results are told in them.
      builder_.graph().mutable_type(results[i]).shape = from_.type(n.results[i]).shape;
      map(n.results[i], results[i]);
    }
  }

  prims::Region region(const prims::Region& r) {
    std::vector<prims::ValueType> params;
    for (ValueId p : r.params) params.push_back(from_.type(p));
    return builder_.region(params, [&](std::span<const ValueId> made) {
      for (size_t i = 0; i < r.params.size(); ++i) map(r.params[i], made[i]);
      nodes(r);
      std::vector<ValueId> results;
      for (ValueId v : r.results) results.push_back((*this)(v));
      return results;
    });
  }

  prims::Builder& builder_;
  const prims::Graph& from_;
  std::unordered_map<ValueId, ValueId> values_;
};

}  // namespace

std::vector<ValueId> inline_graph(prims::Builder& builder, const prims::Graph& from,
                                  std::span<const ValueId> inputs) {
  Inliner inliner(builder, from);
  for (size_t i = 0; i < from.inputs.size(); ++i) inliner.map(from.inputs[i].value, inputs[i]);
  inliner.nodes(from.body);
  std::vector<ValueId> outputs;
  for (const prims::Output& o : from.outputs) outputs.push_back(inliner(o.value));
  return outputs;
}

}  // namespace primset::runtime
