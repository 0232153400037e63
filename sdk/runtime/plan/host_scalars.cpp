#include "sdk/runtime/plan/host_scalars.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "decomps/engine/narrow_floats.h"
#include "prims/graph/present_operands.h"
#include "prims/reference/interpreter.h"

namespace primset::runtime {
namespace {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::Region;
using prims::SymInt;
using prims::ValueId;

class Extraction {
 public:
  Extraction(Graph& graph, const HostScalarsQuestions& ask)
      : graph_(graph),
        ask_(ask),
        hosted_(decomps::host_numbers(graph, ask.is_known)),
        wide_(graph.value_count()),
        live_(graph.value_count()) {}

  std::optional<HostScalars> run(std::vector<decomps::InputSource>& sources) {
    find_wide();
    find_ends(graph_.body);
    for (const ValueId v : graph_.body.results) look_at_use(v);
    std::optional<HostScalars> out;
    if (!ends_.empty()) out = expressions();
    replace_ends(sources);
    return out;
  }

 private:
  void find_wide() {
    for (const prims::Input& in : graph_.inputs) wide_[in.value] = ask_.lacks(type(in.value));
    for (const NodeId id : graph_.body.nodes) {
      const Node& n = graph_.node(id);
      const bool wide =
          std::ranges::any_of(present_operands(n), [&](ValueId v) { return wide_[v]; });
      for (const ValueId v : n.results) wide_[v] = hosted_[v] && (wide || ask_.lacks(type(v)));
    }
  }
  DType type(ValueId v) const { return graph_.type(v).dtype; }

  void look_at_use(ValueId v) {
    if (!hosted_[v] || !wide_[v] || ask_.lacks(type(v))) return;
    if (std::ranges::find(ends_, v) == ends_.end()) ends_.push_back(v);
  }

  // Uses by what stays on the device, also inside of its regions.
  void find_ends(const Region& region) {
    for (const NodeId id : region.nodes) {
      const Node& n = graph_.node(id);
      const bool stays = n.results.empty() || !hosted_[n.results[0]];
      if (stays) std::ranges::for_each(present_operands(n), [&](ValueId v) { look_at_use(v); });
      for (const Region& r : n.regions) {
        find_ends(r);
        for (const ValueId v : r.results) look_at_use(v);
      }
    }
  }

  // The nodes of the body that make the values, which are marked, or make what they need.
  template <typename Takes>
  std::vector<NodeId> nodes_for(const std::vector<ValueId>& values, const Takes& takes) {
    live_.assign(graph_.value_count(), false);
    for (const ValueId v : values) live_[v] = true;
    std::vector<NodeId> nodes;
    for (auto it = graph_.body.nodes.rbegin(); it != graph_.body.nodes.rend(); ++it) {
      const Node& n = graph_.node(*it);
      if (!takes(n)) continue;
      mark_uses(n);
      nodes.push_back(*it);
    }
    std::ranges::reverse(nodes);
    return nodes;
  }
  void mark_uses(const Node& n) {
    for (const ValueId v : present_operands(n)) live_[v] = true;
    for (const Region& r : n.regions) {
      for (const NodeId id : r.nodes) mark_uses(graph_.node(id));
      for (const ValueId v : r.results) live_[v] = true;
    }
  }
  bool is_live(const Node& n) const {
    return std::ranges::any_of(n.results, [&](ValueId v) { return live_[v]; });
  }

  // The ends' expressions, in a graph of their own.
  HostScalars expressions() {
    HostScalars out;
    std::unordered_map<ValueId, ValueId> renamed;
    const auto new_value = [&](ValueId v) {
      return renamed[v] = out.graph.new_value({graph_.type(v).dtype, {}}, Graph::kNoNode);
    };
    const auto new_input = [&](ValueId v) {
      out.graph.inputs.push_back({prims::Input::Kind::scalar, new_value(v), "number"});
      out.graph.body.params.push_back(renamed[v]);
    };
    const std::vector<NodeId> nodes = nodes_for(ends_, [&](const Node& n) { return is_live(n); });
    for (uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      if (!live_[graph_.inputs[i].value]) continue;
      new_input(graph_.inputs[i].value);
      out.inputs.push_back(i);
    }
    for (const NodeId id : nodes) {
      if (const SymInt* size = size_of_constant(graph_.node(id))) {
        new_input(graph_.node(id).results[0]);
        out.sizes.push_back(*size);
      }
    }
    for (const NodeId id : nodes) {
      Node n = graph_.node(id);
      if (size_of_constant(n)) continue;
      for (ValueId& v : n.operands) v = renamed.at(v);
      for (ValueId& v : n.results) v = new_value(v);
      const auto results = n.results;
      const NodeId made = out.graph.new_node(std::move(n));
      for (const ValueId v : results) out.graph.set_producer(v, made);
      out.graph.body.nodes.push_back(made);
    }
    for (const ValueId v : ends_) {
      out.graph.body.results.push_back(renamed.at(v));
      out.graph.outputs.push_back({renamed.at(v), "number", std::nullopt});
    }
    return out;
  }

  static const SymInt* size_of_constant(const Node& n) {
    return n.prim == Prim::constant ? std::get_if<SymInt>(&n.find_attr("value").value) : nullptr;
  }

  void replace_ends(std::vector<decomps::InputSource>& sources) {
    for (const ValueId v : ends_) {
      graph_.set_producer(v, Graph::kNoNode);
      graph_.inputs.push_back({prims::Input::Kind::scalar, v, "number"});
      graph_.body.params.push_back(v);
      sources.push_back({decomps::InputSource::Kind::scalar, 0, 0});
    }
    graph_.body.nodes = nodes_for(graph_.body.results, [&](const Node& n) {
      const bool hosted = !n.results.empty() && hosted_[n.results[0]];
      const bool is_end = std::ranges::any_of(
          n.results, [&](ValueId v) { return std::ranges::find(ends_, v) != ends_.end(); });
      return !is_end && (!hosted || is_live(n));
    });
  }

  Graph& graph_;
  const HostScalarsQuestions& ask_;
  std::vector<bool> hosted_, wide_, live_;  // by value
  std::vector<ValueId> ends_;
};

// A number that a check shows is the host's, too. Beyond 32 bits it shows the nearest that fits.
class CheckedNumbers {
 public:
  explicit CheckedNumbers(Graph& graph, std::vector<bool> hosted)
      : graph_(graph), hosted_(std::move(hosted)) {}

  void run() {
    std::vector<NodeId> nodes = std::move(graph_.body.nodes);
    graph_.body.nodes.clear();
    for (const NodeId id : nodes) {
      replace_in(id);
      graph_.body.nodes.push_back(id);
    }
  }

 private:
  void replace_in(NodeId id) {
    if (graph_.node(id).prim == Prim::check) {
      const ValueId narrow = narrowed(graph_.node(id).operands[1]);
      graph_.mutable_node(id).operands[1] = narrow;
    }
    for (size_t r = 0; r < graph_.node(id).regions.size(); ++r) {
      const std::vector<NodeId> inside = graph_.node(id).regions[r].nodes;
      for (const NodeId node : inside) replace_in(node);
    }
  }

  ValueId narrowed(ValueId v) {
    if (v >= hosted_.size() || !hosted_[v] || graph_.type(v).dtype != DType::i64) return v;
    const ValueId above = add(Prim::max, {v, bound(INT32_MIN)}, DType::i64, {});
    const ValueId fits = add(Prim::min, {above, bound(INT32_MAX)}, DType::i64, {});
    return add(Prim::convert, {fits}, DType::i32, {{"dtype", DType::i32}});
  }
  ValueId bound(int64_t x) {
    return add(Prim::constant, {}, DType::i64,
               {{"value", Scalar(x)}, {"dtype", DType::i64}, {"shape", prims::SymInts{}}});
  }
  ValueId add(Prim prim, std::initializer_list<ValueId> operands, DType dtype,
              std::vector<prims::Attr> attrs) {
    const ValueId made = graph_.new_value({dtype, {}}, Graph::kNoNode);
    const NodeId node = graph_.new_node({prim, operands, {made}, std::move(attrs), {}});
    graph_.set_producer(made, node);
    graph_.body.nodes.push_back(node);
    return made;
  }

  Graph& graph_;
  const std::vector<bool> hosted_;
};

prims::reference::Array array_of_number(DType t, const Scalar& x) {
  prims::reference::Element e;
  if (is_integral(t) || is_bool(t)) {
    e.integer = is_bool(t) ? x.to_bool() : x.to_int();
  } else {
    e.re = x.to_complex().real();
    e.im = x.to_complex().imag();
  }
  return {t, {}, {e}};
}

Scalar number_of_element(DType t, const prims::reference::Element& e) {
  if (is_bool(t)) return Scalar(e.integer != 0);
  if (is_integral(t)) return Scalar(e.integer);
  if (is_complex(t))
    return Scalar(std::complex<double>(static_cast<double>(e.re), static_cast<double>(e.im)));
  return Scalar(static_cast<double>(e.re));
}

}  // namespace

std::vector<Scalar> HostScalars::evaluate(std::span<const Scalar> values) const {
  std::vector<prims::reference::Array> params;
  for (size_t i = 0; i < values.size(); ++i)
    params.push_back(array_of_number(graph.type(graph.body.params[i]).dtype, values[i]));
  prims::reference::Interpreter interpreter(graph, {}, {.without_bounds = true});
  std::vector<Scalar> out;
  for (const prims::reference::Array& a : interpreter.run(graph.body, std::move(params)))
    out.push_back(number_of_element(a.dtype, a.data[0]));
  return out;
}

std::optional<HostScalars> take_host_scalars(Graph& graph,
                                             std::vector<decomps::InputSource>& sources,
                                             const HostScalarsQuestions& ask) {
  if (ask.lacks(DType::i64))
    CheckedNumbers(graph, decomps::host_numbers(graph, ask.is_known)).run();
  return Extraction(graph, ask).run(sources);
}

}  // namespace primset::runtime
