#include "prims/graph/rewriter.h"

#include <algorithm>
#include <utility>

#include "primset/error.h"

namespace primset::prims {

using Values = Rewriter::Values;

Rewriter::Rewriter(const Graph& from, Builder& to, Hook hook)
    : from_(from), to_(to), hook_(std::move(hook)), map_(from.value_count(), kNoValue) {}

void Rewriter::map(ValueId from, ValueId to) {
  map_.at(from) = to;
}

ValueId Rewriter::operator()(ValueId v) const {
  if (v == kNoValue) return v;
  if (v < map_.size() && map_[v] != kNoValue) return map_[v];
  throw Error(ErrorCode::internal,
              "value %" + std::to_string(v) + " is used before it was rewritten");
}

Values Rewriter::operator()(std::span<const ValueId> values) const {
  Values out;
  out.reserve(values.size());
  for (ValueId v : values) out.push_back((*this)(v));
  return out;
}

void Rewriter::graph() {
  Values inputs;
  for (const Input& i : from_.inputs) {
    const ValueType& type = from_.type(i.value);
    inputs.push_back(i.kind == Input::Kind::tensor ? to_.tensor_input(i.name, type)
                                                   : to_.scalar_input(i.name, type.dtype));
    map(i.value, inputs.back());
  }
  for (NodeId n : from_.body.nodes) rewrite(n);
  for (const Output& o : from_.outputs) to_.output(o.name, (*this)(o.value), o.writes_input);
}

Values Rewriter::inlined(const Region& region, std::span<const ValueId> arguments) {
  if (arguments.size() != region.params.size()) {
    throw Error(ErrorCode::internal, "a region of " + std::to_string(region.params.size()) +
                                         " parameters is given " +
                                         std::to_string(arguments.size()) + " values");
  }
  for (size_t i = 0; i < arguments.size(); ++i) map(region.params[i], arguments[i]);
  for (NodeId n : region.nodes) rewrite(n);
  return (*this)(region.results);
}

Region Rewriter::region(const Region& region) {
  std::vector<ValueType> params;
  for (ValueId v : region.params) params.push_back(from_.type(v));
  return to_.region(params, [&](std::span<const ValueId> made) { return inlined(region, made); });
}

std::vector<Region> Rewriter::regions(const Node& node) {
  std::vector<Region> out;
  for (const Region& r : node.regions) out.push_back(region(r));
  return out;
}

Values Rewriter::copy(NodeId node, const Values& operands) {
  const Node& n = from_.node(node);
  std::vector<Region> bodies = regions(n);
  const size_t before = to_.graph().node_count();
  Values made = to_.add(n.prim, operands, n.attrs, std::move(bodies));
  const bool shared = !made.empty() && to_.graph().producer(made[0]) < before;
  if (!shared || !renames_sizes(n, made)) return made;
  // An equal node was there, whose sizes others know by their own symbols.
  return to_.append(n.prim, operands, n.attrs, regions(n));
}

void Rewriter::rewrite(NodeId node) {
  const Node& n = from_.node(node);
  const Values operands = (*this)(n.operands);
  std::optional<Values> made = hook_ ? hook_(*this, node, operands) : std::nullopt;
  bind(n, made ? *made : copy(node, operands));
}

// A size that only the run knows has a symbol of its own, which inference makes anew. The rest of
// the graph, and who reads its outputs, speak of the old one: it stays.
bool Rewriter::is_renamed(const ValueType& type, ValueId made, size_t dim) const {
  const Graph& to = to_.graph();
  const SymInt& size = to.type(made).shape[dim];
  return to.producer(made) != Graph::kNoNode && !type.shape[dim].same(size) &&
         to.context().as_symbol(size).has_value();
}

bool Rewriter::renames_sizes(const Node& node, const Values& made) const {
  for (size_t i = 0; i < made.size(); ++i) {
    const ValueType& type = from_.type(node.results[i]);
    for (size_t d = 0; d < type.rank(); ++d) {
      if (is_renamed(type, made[i], d)) return true;
    }
  }
  return false;
}

void Rewriter::bind(const Node& node, const Values& made) {
  const std::string_view name = info(node.prim).name;
  if (made.size() != node.results.size()) {
    throw Error(ErrorCode::internal, std::string(name) + " is replaced by " +
                                         std::to_string(made.size()) + " values; expected " +
                                         std::to_string(node.results.size()));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    const ValueType& type = from_.type(node.results[i]);
    ValueType& have = to_.graph().mutable_type(made[i]);
    if (have.dtype != type.dtype || have.rank() != type.rank()) {
      throw Error(ErrorCode::internal, std::string(name) + " is replaced by a value of " +
                                           std::string(primset::name(have.dtype)) + " and rank " +
                                           std::to_string(have.rank()) + "; expected " +
                                           std::string(primset::name(type.dtype)) + " and rank " +
                                           std::to_string(type.rank()));
    }
    for (size_t d = 0; d < type.rank(); ++d) {
      if (is_renamed(type, made[i], d)) have.shape[d] = type.shape[d];
    }
    map(node.results[i], made[i]);
  }
}

}  // namespace primset::prims
