// Sorting by merging runs, as steps of a program.
#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/families/sort/merge_sort_kernel.h"
#include "codegen/schedule/families/sort/sort_costs.h"
#include "codegen/schedule/families/sort/sort_families.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

void merge_passes(ProgramBuilder& b, SortRequest r) {
  b.launch(sort_runs_kernel(b.context("sort"), r), r.node);
  prims::SymContext& symbols = b.graph().context();
  r.pass_pair = symbols.symbol("sort_round" + std::to_string(symbols.symbol_count()), 0, 0);
  LoopStep loop{merge_pass_pairs(r, b.machine()), *symbols.as_symbol(r.pass_pair), {}};
  b.append_to(loop.body, [&] {
    for (const bool back : {false, true})
      b.launch(merge_runs_kernel(b.context("merge"), r, back), r.node);
  });
  b.append({std::move(loop)});
}

class MergeSort : public Family {
 public:
  std::string_view name() const override { return "merge_sort"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    if (g.node(node).prim != prims::Prim::sort) return std::nullopt;
    if (is_grouped(g, g.node(node), machine)) return std::nullopt;
    return merge_sort_cost(sort_size(g, g.node(node)), machine);
  }
  // The arrays are sorted where they are to stay when that place is dense, else in a temporary.
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t,
                     const Machine&) const override {
    return OperandUse::copied;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override;
};

void MergeSort::build(ProgramBuilder& b, const FusionGroup& group) const {
  const prims::Graph& g = b.graph();
  const prims::Node& n = g.node(group.anchor);
  const SymInts shape = g.type(n.operands[0]).shape;
  const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
  SortRequest r{group.anchor, 1, shape[dim], 1, {}, {}, 0};
  for (size_t d = 0; d < shape.size(); ++d)
    (d < dim ? r.rows : r.inner) *= d == dim ? SymInt(1) : shape[d];
  std::vector<Root> copies;
  std::vector<Placement> places;
  for (size_t k = 0; k < n.operands.size(); ++k) {
    const prims::ValueId result = n.results[k];
    const Placement* wanted = ProgramBuilder::wanted(group, result);
    const bool direct = wanted && same_shape(wanted->strides, dense_strides(shape)) &&
                        wanted->offset.same(SymInt(0));
    const Placement place = direct ? *wanted : b.temp(result);
    b.copy_into(n.operands[k], place);
    if (wanted && !direct) copies.push_back({result, *wanted});
    places.push_back(place);
    r.arrays.push_back(place.buffer);
    r.others.push_back(b.scratch(g.type(result).dtype, prims::product(shape), "merged"));
  }
  // Original positions, which make the order of equal keys that of the input.
  for (std::vector<BufferId>* arrays : {&r.arrays, &r.others})
    arrays->push_back(
        b.scratch(position_dtype(b.options().index32), prims::product(shape), "positions"));
  const Placement positions{r.arrays.back(), dense_strides(shape), 0};
  b.launch(positions_kernel(b.context("pointwise"), shape, dim, positions), group.anchor);
  merge_passes(b, r);
  for (size_t k = 0; k < places.size(); ++k) b.place(n.results[k], places[k]);
  for (const Root& root : copies) b.copy_into(root.value, root.out);
}

const MergeSort kMergeSort;

}  // namespace

const Family& merge_sort_family = kMergeSort;

}  // namespace primset::schedule
