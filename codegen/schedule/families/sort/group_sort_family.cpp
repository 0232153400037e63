// Rows sorted in a workgroup's memory, as a step of a program.
#include "codegen/schedule/families/sort/group_sort.h"
#include "codegen/schedule/families/sort/sort_costs.h"
#include "codegen/schedule/families/sort/sort_families.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

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

  // Results without readers are not computed.
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Node& n = b.graph().node(group.anchor);
    GroupSort sort;
    sort.node = group.anchor;
    sort.shape = b.graph().type(n.operands[0]).shape;
    sort.dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    sort.key = b.graph().type(n.operands[0]).dtype;
    sort.descending = n.attr<bool>("descending");
    sort.keys = b.placement(n.operands[0]).value();
    const bool interleaved = !sort.keys.strides[sort.dim].same(SymInt(1));
    sort.tile = group_tile(b.machine(), sort.key, sort.length(), interleaved);
    for (size_t k = 0; k < n.results.size(); ++k) {
      if (const Placement* wanted = ProgramBuilder::wanted(group, n.results[k]))
        sort.results.push_back({k, *wanted});
    }
    b.launch(group_sort_kernel(b.context("group_sort"), sort), group.anchor);
  }
};

const GroupSortFamily kGroupSort;

}  // namespace

const Family& group_sort_family = kGroupSort;

}  // namespace primset::schedule
