#include "codegen/schedule/legalize/integers/narrow_integers.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/schedule/legalize/integers/integer_ranges.h"
#include "prims/graph/present_operands.h"
#include "primset/error.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;
using prims::Region;
using prims::SymInt;
using prims::ValueId;

DType narrow(DType t) {
  return t == DType::i64 ? DType::i32 : t == DType::u64 ? DType::u32 : t;
}

class Narrowing {
 public:
  explicit Narrowing(Graph& graph)
      : graph_(graph), ranges_(integer_ranges(graph)), shown_(graph.value_count(), true) {}

  void run() {
    find_shown(graph_.body);
    region(graph_.body);
    for (const ValueId v : graph_.body.results) value(v, Prim::convert);
  }

 private:
  // Values that checks show and nothing else uses.
  void find_shown(const Region& r) {
    for (const ValueId v : r.results) shown_[v] = false;
    for (const NodeId id : r.nodes) {
      const Node& n = graph_.node(id);
      for (const ValueId v : prims::present_operands(n))
        if (n.prim != Prim::check) shown_[v] = false;
      for (const Region& inner : n.regions) find_shown(inner);
    }
  }

  void region(const Region& r) {
    for (const NodeId id : r.nodes) node(graph_.mutable_node(id));
  }

  void node(Node& n) {
    for (const Region& r : n.regions)
      for (const ValueId v : r.params) value(v, n.prim);
    for (const Region& r : n.regions) region(r);
    for (const ValueId v : prims::present_operands(n)) value(v, n.prim);
    bool changed = false;
    for (const ValueId v : n.results) changed |= value(v, n.prim);
    if (!changed) return;
    for (prims::Attr& a : n.attrs)
      if (DType* t = std::get_if<DType>(&a.value)) *t = narrow(*t);
  }

  // Whether it changes.
  bool value(ValueId v, Prim where) {
    DType& t = graph_.mutable_type(v).dtype;
    if (narrow(t) == t) return false;
    if (!shown_[v] && !fits(v))
      throw Error(ErrorCode::not_implemented,
                  fmt::format("{} that may not fit 32 bits ({}), and the device has no 64-bit "
                              "integers",
                              name(t), prims::info(where).name));
    t = narrow(t);
    return true;
  }

  bool fits(ValueId v) const {
    const auto& range = ranges_[v];
    return range && range->low >= SymInt(INT32_MIN) && range->high <= SymInt(INT32_MAX);
  }

  Graph& graph_;
  const std::vector<std::optional<IntegerRange>> ranges_;
  std::vector<bool> shown_;
};

}  // namespace

void narrow_integers(Graph& graph) {
  Narrowing(graph).run();
}

}  // namespace primset::schedule
