#include "sdk/runtime/execute/product_epilogue.h"

#include <algorithm>
#include <vector>

#include "prims/graph/traits.h"

namespace primset::runtime {
namespace {

bool sums_halves(const prims::Graph& graph, const prims::Node& node) {
  const auto is_half = [&](prims::ValueId v) {
    const DType t = graph.type(v).dtype;
    return t == DType::f16 || t == DType::bf16;
  };
  return node.prim == prims::Prim::dot_general && is_half(node.operands[0]) &&
         is_half(node.operands[1]) && graph.type(node.results[0]).dtype == DType::f32;
}

// Is more done with the sums, element by element, before they are rounded, and nothing else?
bool has_epilogue(const prims::Graph& graph, prims::ValueId sums) {
  bool found = false;
  for (const prims::NodeId id : graph.body.nodes) {
    const prims::Node& user = graph.node(id);
    if (std::ranges::find(user.operands, sums) == user.operands.end()) continue;
    if (!prims::is_elementwise(user.prim) || user.prim == prims::Prim::convert) return false;
    found = true;
  }
  return found && std::ranges::find(graph.body.results, sums) == graph.body.results.end();
}

// A library writes the sums in f32, and they are read again: 8 bytes, in 2.7 ps on an H100. It
// multiplies at 690 TFLOP/s there, a generated kernel at 540 by whole groups and at 400 by
// subgroups: it would be ahead from sums of 3,100 and of 1,250 terms on. Half of that, since small
// matrices reach neither rate.
int64_t most_terms(const primset_device_properties& device) {
  if (device.kernel_format != PRIMSET_FORMAT_PTX) return 0;
  if (device.features & PRIMSET_FEATURE_GROUP_MATRIX) return 1536;
  return device.features & PRIMSET_FEATURE_MATRIX ? 640 : 0;
}

}  // namespace

bool is_faster_with_epilogue(const primset_device_properties& device, const prims::Graph& graph,
                             prims::NodeId id) {
  const prims::Node& node = graph.node(id);
  const int64_t most = most_terms(device);
  if (most == 0 || !sums_halves(graph, node) || !has_epilogue(graph, node.results[0])) return false;
  prims::SymInt terms = 1;
  for (const int64_t d : node.attr<std::vector<int64_t>>("a_contract"))
    terms *= graph.type(node.operands[0]).shape[static_cast<size_t>(d)];
  return terms <= prims::SymInt(most);
}

}  // namespace primset::runtime
