#include "prims/graph/graph.h"

#include <unordered_map>

#include "primset/error.h"

namespace primset::prims {
namespace {

constexpr PrimInfo kPrims[] = {
#define PRIMSET_PRIM(id, text, tier, category, operands, variadic, results, regions) \
  {text, Tier::tier, category, operands, variadic, results, regions},
#include "prims/prim_list.inc"
#undef PRIMSET_PRIM
};

}  // namespace

const PrimInfo& info(Prim p) {
  return kPrims[static_cast<size_t>(p)];
}
int prim_count() {
  return static_cast<int>(std::size(kPrims));
}

std::optional<Prim> prim_from_name(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, Prim>;
    for (int i = 0; i < prim_count(); ++i) map->emplace(kPrims[i].name, static_cast<Prim>(i));
    return map;
  }();
  auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

const Attr& Node::find_attr(std::string_view name) const {
  for (const Attr& a : attrs) {
    if (a.name == name) return a;
  }
  throw Error(ErrorCode::internal,
              std::string(info(prim).name) + " has no attribute '" + std::string(name) + "'");
}

ValueId Graph::new_value(ValueType type, NodeId producer) {
  types_.push_back(std::move(type));
  producers_.push_back(producer);
  return static_cast<ValueId>(types_.size() - 1);
}

NodeId Graph::new_node(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

}  // namespace primset::prims

template class primset::LargeVariant<primset::prims::Attr::Value::Alternatives>;
