// Rows sorted in a workgroup's memory, as a step of a program; and one element of each.
#include "codegen/schedule/families/sort/group_sort.h"
#include "codegen/schedule/families/sort/select_family.h"
#include "codegen/schedule/families/sort/sort_costs.h"
#include "codegen/schedule/families/sort/sort_families.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

GroupSort request(const ProgramBuilder& b, const FusionGroup& group) {
  const prims::Node& n = b.graph().node(group.anchor);
  GroupSort sort;
  sort.node = group.anchor;
  sort.shape = b.graph().type(n.operands[0]).shape;
  sort.dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  sort.key = b.graph().type(n.operands[0]).dtype;
  sort.keys = b.placement(n.operands[0]).value();
  const bool interleaved = !sort.keys.strides[sort.dim].same(SymInt(1));
  sort.tile = group_tile(b.machine(), sort.key, sort.length(), interleaved);
  sort.results = wanted_results(b, group);
  return sort;
}

class GroupSortFamily : public Family {
 public:
  std::string_view name() const override { return "group_sort"; }

  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (n.prim != prims::Prim::sort || !is_grouped(g, n, machine)) return std::nullopt;
    return group_sort_cost(sort_size(g, n), machine);
  }

  // Other arrays than the keys are read by the sorted positions.
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t index,
                     const Machine&) const override {
    return index == 0 ? OperandUse::in_memory : OperandUse::inlined;
  }

  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    GroupSort sort = request(b, group);
    sort.descending = b.graph().node(group.anchor).attr<bool>("descending");
    b.launch(group_sort_kernel(b.context("group_sort"), sort), group.anchor);
  }
};

class GroupSelectFamily : public SelectFamily {
 public:
  std::string_view name() const override { return "group_select"; }

  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (!selects(n) || !is_grouped(g, n, machine)) return std::nullopt;
    return group_sort_cost(sort_size(g, n), machine);
  }

  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    b.launch(group_select_kernel(b.context("group_select"), request(b, group)), group.anchor);
  }
};

const GroupSortFamily kGroupSort;
const GroupSelectFamily kGroupSelect;

}  // namespace

const Family& group_sort_family = kGroupSort;
const Family& group_select_family = kGroupSelect;

}  // namespace primset::schedule
