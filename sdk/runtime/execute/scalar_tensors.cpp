#include "sdk/runtime/execute/scalar_tensors.h"

#include <algorithm>

namespace primset::runtime {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::Prim;
using prims::ValueId;

// Sizes in a constant's value are no number before the run.
std::optional<Scalar> number_of(const prims::Node& node) {
  if (node.prim != Prim::constant) return std::nullopt;
  const auto* value = std::get_if<Scalar>(&node.find_attr("value").value);
  return value ? std::optional(*value) : std::nullopt;
}

ValueId add_input(Graph& graph, ValueId value) {
  graph.inputs.push_back({prims::Input::Kind::tensor, value, "number"});
  graph.body.params.push_back(value);
  return value;
}

}  // namespace

std::vector<std::optional<Scalar>> scalars_to_tensors(
    Graph& graph, std::vector<decomps::InputSource>& sources,
    const std::function<bool(const Graph&, NodeId)>& native) {
  std::vector<std::optional<Scalar>> numbers(graph.inputs.size());
  for (prims::Input& in : graph.inputs) in.kind = prims::Input::Kind::tensor;
  std::vector<NodeId> remaining;
  for (NodeId id : graph.body.nodes) {
    const std::optional<Scalar> number = number_of(graph.node(id));
    if (!number || native(graph, id)) {
      remaining.push_back(id);
      continue;
    }
    const ValueId result = graph.node(id).results[0];
    const prims::ValueType type = graph.type(result);
    if (type.shape.empty()) {
      graph.set_producer(result, Graph::kNoNode);
      add_input(graph, result);
    } else {  // one number, seen in the constant's shape
      const ValueId input = add_input(graph, graph.new_value({type.dtype, {}}, Graph::kNoNode));
      prims::Node& node = graph.mutable_node(id);
      node.prim = Prim::broadcast_in_dim;
      node.operands = {input};
      node.attrs = {{"shape", type.shape}, {"dims", prims::Attr::Ints{}}};
      remaining.push_back(id);
    }
    numbers.push_back(number);
    sources.push_back({decomps::InputSource::Kind::scalar, 0, 0});
  }
  graph.body.nodes = std::move(remaining);
  return numbers;
}

}  // namespace primset::runtime
