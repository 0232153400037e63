#include "codegen/schedule/legalize/native_bounds.h"

#include <algorithm>
#include <optional>

#include "codegen/schedule/element/bounds_check.h"
#include "prims/graph/rewriter.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::SymInt;
using prims::ValueId;
using Values = prims::Builder::Values;

// Does the node say of its indices that they may lie anywhere?
bool may_miss(const Node& n) {
  const bool* in_bounds = n.attr_if<bool>("in_bounds");
  return in_bounds && !*in_bounds;
}

void check_index(prims::Builder& b, ValueId index, const SymInt& size, const std::string& message) {
  const DType dtype = b.dtype(index);
  const prims::SymInts shape = b.shape(index);
  const ValueId inside =
      b.binary(Prim::bit_and, b.binary(Prim::le, b.constant(Scalar(0), dtype, shape), index),
               b.binary(Prim::lt, index, b.constant(size, dtype, shape)));
  b.check(inside, b.convert(index, DType::i64), "index", message);
}

}  // namespace

prims::Graph with_bounds_checks(const Graph& graph, const IsNative& native) {
  Graph to(graph.shared_context());
  prims::Builder b(to);
  prims::Rewriter rewriter(
      graph, b, [&](prims::Rewriter&, NodeId id, const Values& operands) -> std::optional<Values> {
        const Node& n = graph.node(id);
        if (!may_miss(n) || !native(graph, id)) return std::nullopt;
        // Dims of the first operand, where the node names them; else rows of the result.
        const auto* named = n.attr_if<std::vector<int64_t>>("dims");
        const auto dims = named ? *named : std::vector<int64_t>{0};
        const prims::SymInts& shape = graph.type(named ? n.operands[0] : n.results[0]).shape;
        for (size_t k = 0; k < dims.size(); ++k) {
          const SymInt size = shape[static_cast<size_t>(dims[k])];
          check_index(b, operands[1 + k], size,
                      bounds_message(graph, n, n.operands[1 + k], dims[k]));
        }
        return std::nullopt;
      });
  rewriter.graph();
  return to;
}

}  // namespace primset::schedule
