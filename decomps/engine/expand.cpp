// Replaces derived primitives by their decompositions, which may hold others: pass by pass until
// only kept ones are left. A decomposition is written into the graph that its operands are in,
// since convert() looks at what they are made of; what it holds itself is seen in the next pass.
#include <fmt/format.h>

#include <unordered_set>

#include "decomps/engine/engine.h"
#include "decomps/engine/formula/formula.h"
#include "decomps/engine/registry.h"
#include "prims/graph/rewriter.h"
#include "prims/graph/traits.h"

namespace primset::decomps {
namespace {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Region;
using Keep = std::function<bool(const Graph&, NodeId)>;

Tracer::Argument argument_of(Tracer& t, const prims::Attr& a) {
  return std::visit(
      [&](const auto& v) -> Tracer::Argument {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Scalar>) {
          return t.literal(v);
        } else {
          return v;
        }
      },
      a.value);
}

// What a primitive's decomposition works on: halves become f32 where the primitive computes so.
// Contractions say their accumulator, and of scatters only the core ones widen what they add: an
// index_put of one element must not convert the rest.
Val operand_for(const specs::Primitive& p, const Val& v) {
  using enum specs::OpPattern;
  const bool widened =
      p.compute == "opmath" && p.traits.pattern != contraction && p.traits.pattern != scatter;
  return widened ? opmath(v) : v;
}

std::vector<Val> decompose(Tracer& t, const specs::Primitive& p, const std::vector<Val>& operands,
                           const std::vector<prims::Attr>& attrs) {
  Arguments args;
  size_t given = 0;
  for (const specs::Operand& o : p.operands) {
    if (o.variadic) {
      const size_t count = operands.size() + 1 - p.operands.size();
      std::vector<Val> list(operands.begin() + static_cast<std::ptrdiff_t>(given),
                            operands.begin() + static_cast<std::ptrdiff_t>(given + count));
      given += count;
      args.emplace_back(std::move(list));
      continue;
    }
    const Val& v = operands[given++];
    args.push_back(v.valid() ? Tracer::Argument(operand_for(p, v)) : Tracer::Argument());
  }
  for (const prims::Attr& a : attrs) args.push_back(argument_of(t, a));
  if (p.decomposition.kind == specs::ImplKind::function) {
    const Decomposition f = find_prim_decomposition(p.decomposition.function);
    require(static_cast<bool>(f), ErrorCode::internal,
            fmt::format("no decomposition of primitive '{}'", p.name));
    return f(t, args);
  }
  require(p.decomposition.kind == specs::ImplKind::formula, ErrorCode::internal,
          fmt::format("primitive '{}' has no decomposition", p.name));
  FormulaInput input{p.decomposition.formula, std::move(args), {}, DType::f32, DType::f32, {}};
  for (const specs::Operand& o : p.operands) input.optional.push_back(o.optional);
  input.optional.resize(input.args.size());
  if (auto* v = std::get_if<Val>(&input.args[0].value)) {
    input.compute = input.storage = v->dtype();
    input.shape = v->shape();
  }
  return evaluate(t, input);
}

using Nodes = std::unordered_set<NodeId>;

// Adds the nodes to replace, of the region and of those inside it.
void find_derived(const Graph& graph, const Region& region, const Keep& keep, Nodes& found) {
  for (NodeId id : region.nodes) {
    const Node& n = graph.node(id);
    if (prims::traits(n.prim).tier == prims::Tier::derived && !keep(graph, id)) found.insert(id);
    for (const Region& r : n.regions) find_derived(graph, r, keep, found);
  }
}

// The results of a derived node's decomposition, in the dtypes of its own.
std::vector<ValueId> replacement(Tracer& t, const Graph& from, const Node& n,
                                 const std::vector<ValueId>& operands) {
  const specs::Primitive* p = t.bundle().find_primitive(prims::info(n.prim).name);
  require(p != nullptr, ErrorCode::internal, "a primitive that the specs do not have");
  std::vector<Val> values;
  for (ValueId v : operands) values.push_back(v == prims::kNoValue ? Val() : t.wrap(v));
  const std::vector<Val> results = decompose(t, *p, values, n.attrs);
  require(results.size() == n.results.size(), ErrorCode::internal,
          fmt::format("the decomposition of '{}' gives {} results", p->name, results.size()));
  std::vector<ValueId> ids;
  for (size_t i = 0; i < results.size(); ++i) {
    ids.push_back(convert(results[i], from.type(n.results[i]).dtype).id());
  }
  return ids;
}

Graph expanded(const Graph& from, const Nodes& derived, const specs::Bundle& bundle,
               DeviceTraits device) {
  Graph to(from.shared_context());
  Tracer tracer(to, bundle, device);
  prims::Rewriter rewriter(from, tracer.builder(),
                           [&](prims::Rewriter&, NodeId id,
                               const auto& operands) -> std::optional<std::vector<ValueId>> {
                             if (!derived.contains(id)) return std::nullopt;
                             return replacement(tracer, from, from.node(id), operands);
                           });
  rewriter.graph();
  return to;
}

}  // namespace

void expand_derived(Graph& graph, const specs::Bundle& bundle, const Keep& keep,
                    DeviceTraits device) {
  constexpr int kMostPasses = 32;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    Nodes derived;
    find_derived(graph, graph.body, keep, derived);
    if (derived.empty()) return;
    graph = expanded(graph, derived, bundle, device);
  }
  fail(ErrorCode::internal, "the decompositions of primitives go in a circle");
}

}  // namespace primset::decomps
