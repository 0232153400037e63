#include "codegen/schedule/element/bounds_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::ValueId;

// The tensor inputs of integers that the value depends on.
std::set<const prims::Input*> integer_inputs(const Graph& graph, ValueId value) {
  std::set<const prims::Input*> found;
  std::set<ValueId> seen;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (v == prims::kNoValue || !seen.insert(v).second) continue;
    if (const prims::NodeId p = graph.producer(v); p != Graph::kNoNode) {
      const auto& operands = graph.node(p).operands;
      open.insert(open.end(), operands.begin(), operands.end());
      continue;
    }
    const auto in = std::ranges::find(graph.inputs, v, &prims::Input::value);
    if (in != graph.inputs.end() && in->kind == prims::Input::Kind::tensor &&
        is_integral(graph.type(v).dtype))
      found.insert(&*in);
  }
  return found;
}

}  // namespace

std::string bounds_message(const Graph& graph, const prims::Node& node, ValueId operand,
                           int64_t dim) {
  const std::set<const prims::Input*> inputs = integer_inputs(graph, operand);
  const auto* argument = node.attr_if<std::string>("argument");
  std::string name = "index";
  if (inputs.size() == 1)
    name = (*inputs.begin())->name;
  else if (argument != nullptr)
    name = *argument;
  return fmt::format(
      "index {{value}} of '{}' is out of bounds for dimension {}; expected one within its size",
      name, dim);
}

// Compared in the operand's own width, and unsigned, so that one comparison finds negative indices
// too: a 64-bit index must not wrap into range.
kir::Value check_bounds(Frame& f, const ValueEnvironment& values, const prims::Node& node, size_t k,
                        kir::Value index) {
  kir::Builder& b = f.builder();
  const Graph& g = values.graph;
  const ValueId operand = node.operands[1 + k];
  const int64_t dim = node.attr<std::vector<int64_t>>("dims")[k];
  const SymInt& size = g.type(node.operands[0]).shape[static_cast<size_t>(dim)];
  const kir::Value in_bounds =
      b.ult(index, b.int_resize(f.param(size), b.type(index).scalar, true));
  f.report(values.check_site("index", bounds_message(g, node, operand, dim)), b.not_(in_bounds),
           index, g.type(operand).dtype);
  return in_bounds;
}

}  // namespace primset::schedule
