#include "decomps/engine/narrow_floats.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "prims/graph/present_operands.h"
#include "prims/graph/traits.h"

namespace primset::decomps {
namespace {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::ValueId;

DType narrow(DType t) {
  if (t == DType::f64) return DType::f32;
  return t == DType::c128 ? DType::c64 : t;
}

class Narrowing {
 public:
  Narrowing(Graph& graph, std::vector<bool> hosts) : graph_(graph), hosts_(std::move(hosts)) {}

  void run() {
    keep_ = hosts_;
    for (const prims::Input& in : graph_.inputs) keep_[in.value] = true;
    for (const ValueId v : graph_.body.results) keep_[v] = true;
    const size_t values = graph_.value_count(), nodes = graph_.node_count();
    for (ValueId v = 0; v < values; ++v) {
      DType& t = graph_.mutable_type(v).dtype;
      if (!keep_[v]) t = narrow(t);
    }
    for (NodeId id = 0; id < nodes; ++id) narrow_attributes(graph_.mutable_node(id));
    convert_host_numbers();
  }

 private:
  void narrow_attributes(Node& n) const {
    if (std::ranges::any_of(n.results, [&](ValueId v) { return keep_[v]; })) return;
    for (prims::Attr& a : n.attrs)
      if (DType* t = std::get_if<DType>(&a.value)) *t = narrow(*t);
  }

  // Before the first node of the body that uses each of them beside others.
  void convert_host_numbers() {
    std::vector<NodeId> nodes = std::move(graph_.body.nodes);
    graph_.body.nodes.clear();
    for (const NodeId id : nodes) {
      const Node& n = graph_.node(id);
      const bool hosts = !n.results.empty() && hosts_[n.results[0]];
      if (!hosts) convert_uses(id);
      graph_.body.nodes.push_back(id);
    }
  }

  void convert_uses(NodeId id) {
    for (size_t i = 0; i < graph_.node(id).operands.size(); ++i) {
      const ValueId narrowed = converted(graph_.node(id).operands[i]);
      graph_.mutable_node(id).operands[i] = narrowed;
    }
    for (size_t r = 0; r < graph_.node(id).regions.size(); ++r) {
      const std::vector<NodeId> inside = graph_.node(id).regions[r].nodes;
      for (const NodeId node : inside) convert_uses(node);
      for (size_t i = 0; i < graph_.node(id).regions[r].results.size(); ++i) {
        const ValueId narrowed = converted(graph_.node(id).regions[r].results[i]);
        graph_.mutable_node(id).regions[r].results[i] = narrowed;
      }
    }
  }

  ValueId converted(ValueId v) {
    if (v >= hosts_.size() || !hosts_[v]) return v;
    const DType from = graph_.type(v).dtype, to = narrow(from);
    if (to == from) return v;
    const auto [it, is_new] = converted_.try_emplace(v);
    if (!is_new) return it->second;
    const ValueId made = graph_.new_value({to, {}}, Graph::kNoNode);
    const NodeId node = graph_.new_node({Prim::convert, {v}, {made}, {{"dtype", to}}, {}});
    graph_.set_producer(made, node);
    graph_.body.nodes.push_back(node);
    return it->second = made;
  }

  Graph& graph_;
  const std::vector<bool> hosts_;
  std::vector<bool> keep_;
  std::unordered_map<ValueId, ValueId> converted_;
};

}  // namespace

std::vector<bool> host_numbers(const Graph& graph,
                               const std::function<bool(const prims::SymInt&)>& is_known) {
  std::vector<bool> hosts(graph.value_count());
  for (const prims::Input& in : graph.inputs)
    hosts[in.value] = in.kind == prims::Input::Kind::scalar;
  for (const NodeId id : graph.body.nodes) {
    const Node& n = graph.node(id);
    if (n.prim == Prim::constant) {
      const auto* size = std::get_if<prims::SymInt>(&n.find_attr("value").value);
      if (size && !is_known(*size)) continue;
    } else if (!prims::is_core_elementwise(n.prim)) {
      continue;
    }
    const bool all = std::ranges::all_of(present_operands(n), [&](ValueId v) { return hosts[v]; });
    for (const ValueId v : n.results) hosts[v] = all && graph.type(v).shape.empty();
  }
  return hosts;
}

void narrow_floats(Graph& graph, const std::function<bool(const prims::SymInt&)>& is_known) {
  const auto is_wide = [&](ValueId v) {
    return graph.type(v).dtype != narrow(graph.type(v).dtype);
  };
  if (std::ranges::any_of(graph.body.results, is_wide)) return;
  for (const prims::Input& in : graph.inputs)
    if (in.kind == prims::Input::Kind::tensor && is_wide(in.value)) return;
  Narrowing(graph, host_numbers(graph, is_known)).run();
}

}  // namespace primset::decomps
