// Replaces derived primitives by their decompositions, pass by pass until only kept ones are left.
#include <fmt/format.h>

#include <unordered_map>

#include "decomps/engine/engine.h"
#include "decomps/engine/formula.h"
#include "decomps/engine/registry.h"
#include "prims/graph/signature.h"

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
    require(f != nullptr, ErrorCode::internal,
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

class Expander {
 public:
  Expander(const Graph& from, Graph& to, const specs::Bundle& bundle, const Keep& keep,
           DeviceTraits device)
      : from_(from), to_(to), bundle_(bundle), keep_(keep), tracer_(to, bundle, device) {}

  // False when there was nothing to replace.
  bool run() {
    for (const prims::Input& i : from_.inputs) {
      const prims::ValueType& type = from_.type(i.value);
      map_[i.value] = i.kind == prims::Input::Kind::tensor
                          ? tracer_.builder().tensor_input(i.name, type)
                          : tracer_.builder().scalar_input(i.name, type.dtype);
    }
    nodes(from_.body);
    for (const prims::Output& o : from_.outputs)
      tracer_.builder().output(o.name, map_.at(o.value), o.writes_input);
    return changed_;
  }

 private:
  void nodes(const Region& region) {
    for (NodeId n : region.nodes) node(n);
  }

  ValueId mapped(ValueId v) const { return v == prims::kNoValue ? v : map_.at(v); }

  void node(NodeId id) {
    const Node& n = from_.node(id);
    std::vector<ValueId> operands;
    for (ValueId v : n.operands) operands.push_back(mapped(v));
    if (prims::info(n.prim).tier == prims::Tier::derived && !keep_(from_, id)) {
      replace(n, operands);
      changed_ = true;
      return;
    }
    std::vector<Region> regions;
    for (const Region& r : n.regions) regions.push_back(region(r));
    set_results(n, tracer_.builder().add(n.prim, std::move(operands), n.attrs, std::move(regions)));
  }

  Region region(const Region& r) {
    std::vector<prims::ValueType> params;
    for (ValueId v : r.params) params.push_back(from_.type(v));
    return tracer_.builder().region(params, [&](std::span<const ValueId> values) {
      for (size_t i = 0; i < values.size(); ++i) map_[r.params[i]] = values[i];
      nodes(r);
      std::vector<ValueId> results;
      for (ValueId v : r.results) results.push_back(map_.at(v));
      return results;
    });
  }

  void replace(const Node& n, const std::vector<ValueId>& operands) {
    const specs::Primitive* p = bundle_.find_primitive(prims::info(n.prim).name);
    require(p != nullptr, ErrorCode::internal, "a primitive that the specs do not have");
    std::vector<Val> values;
    for (ValueId v : operands) values.push_back(v == prims::kNoValue ? Val() : tracer_.wrap(v));
    std::vector<Val> results = decompose(tracer_, *p, values, n.attrs);
    require(results.size() == n.results.size(), ErrorCode::internal,
            fmt::format("the decomposition of '{}' gives {} results", p->name, results.size()));
    std::vector<ValueId> ids;
    for (size_t i = 0; i < results.size(); ++i)
      ids.push_back(convert(results[i], from_.type(n.results[i]).dtype).id());
    set_results(n, ids);
  }

  // Sizes known at run time only keep the symbols that the rest of the graph speaks of.
  void set_results(const Node& n, const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      const SymInts& shape = from_.type(n.results[i]).shape;
      const SymInts& have = to_.type(ids[i]).shape;
      require(shape.size() == have.size(), ErrorCode::internal,
              fmt::format("the decomposition of '{}' gives a result of another rank",
                          prims::info(n.prim).name));
      const bool produced = to_.producer(ids[i]) != Graph::kNoNode;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (produced && !shape[d].same(have[d]) && to_.context().as_symbol(have[d]))
          to_.mutable_type(ids[i]).shape[d] = shape[d];
      }
      map_[n.results[i]] = ids[i];
    }
  }

  const Graph& from_;
  Graph& to_;
  const specs::Bundle& bundle_;
  const Keep& keep_;
  Tracer tracer_;
  std::unordered_map<ValueId, ValueId> map_;
  bool changed_ = false;
};

}  // namespace

void expand_derived(Graph& graph, const specs::Bundle& bundle, const Keep& keep,
                    DeviceTraits device) {
  constexpr int kMostPasses = 32;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    Graph next(graph.shared_context());
    if (!Expander(graph, next, bundle, keep, device).run()) return;
    graph = std::move(next);
  }
  fail(ErrorCode::internal, "the decompositions of primitives go in a circle");
}

}  // namespace primset::decomps
