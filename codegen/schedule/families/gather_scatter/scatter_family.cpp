#include "codegen/schedule/families/gather_scatter/scatter_family.h"

#include "codegen/schedule/families/gather_scatter/count_kernel.h"
#include "codegen/schedule/families/gather_scatter/scatter_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

// An index below zero counts from the end: two comparisons, their conjunction, a negated size, a
// sum and a select. That is cheaper beside the update than a kernel and memory of its own.
constexpr int kCheapOperations = 6;

// Element-wise operations of an element, counted to one more than `limit`.
int operations(const prims::Graph& g, prims::ValueId v, int limit) {
  const prims::NodeId producer = g.producer(v);
  if (producer == prims::Graph::kNoNode || limit < 0) return 0;
  const prims::Node& n = g.node(producer);
  const bool counted = prims::is_elementwise(n.prim) && n.prim != prims::Prim::convert;
  if (!counted && n.prim != prims::Prim::convert && !prims::is_view(n.prim)) return 0;
  int total = counted ? 1 : 0;
  for (prims::ValueId operand : n.operands) total += operations(g, operand, limit - total);
  return total;
}

bool takes_effort(const prims::Graph& g, prims::ValueId v) {
  return operations(g, v, kCheapOperations) > kCheapOperations;
}

class Scatter : public Family {
 public:
  std::string_view name() const override { return "scatter"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    const prims::Prim p = g.node(node).prim;
    if (!prims::is_scatter(p) || prims::traits(p).tier != prims::Tier::core) return std::nullopt;
    return Cost{};
  }
  // Updates go into a copy of the first operand, which is its own memory where that is taken over.
  // What a CPU writes one by one is computed before that, in vectors and by all threads.
  OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t index,
                     const Machine& machine) const override {
    if (index == 0) return OperandUse::copied;
    const bool one_by_one =
        !machine.target.simt && n.prim != prims::Prim::scatter && !writes_vectors(g, n);
    return one_by_one && takes_effort(g, n.operands[index]) ? OperandUse::in_memory
                                                            : OperandUse::inlined;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const Placement& out = group.roots[0].out;
    b.copy_into(b.graph().node(group.anchor).operands[0], out);
    const prims::Node& n = b.graph().node(group.anchor);
    const bool ordered = n.prim == prims::Prim::scatter && n.attr<bool>("ordered");
    if (counts_in_groups(b.machine(), b.graph(), n)) {
      b.launch(count_kernel(b.context("count"), group.anchor, out), group.anchor);
      return;
    }
    if (!ordered || !can_claim(b.machine().target, b.options().index32)) {
      b.launch(scatter_kernel(b.context("scatter"), group.anchor, out), group.anchor);
      return;
    }
    const LastWriters last = claimed(b, group.anchor);
    b.launch(scatter_kernel(b.context("scatter"), group.anchor, out, &last), group.anchor);
  }

 private:
  static LastWriters claimed(ProgramBuilder& b, prims::NodeId node) {
    const prims::Node& n = b.graph().node(node);
    LastWriters last;
    for (int64_t d : n.attr<std::vector<int64_t>>("dims"))
      last.places.push_back(b.graph().type(n.operands[0]).shape[static_cast<size_t>(d)]);
    last.dtype = b.options().index32 ? DType::i32 : DType::i64;
    last.positions = b.scratch(last.dtype, prims::product(last.places), "last writers");
    b.launch(clear_positions(b.context("clear"), last), node);
    b.launch(claim_positions(b.context("claim"), node, last), node);
    return last;
  }
};

const Scatter kScatter;

}  // namespace

const Family& scatter_family = kScatter;

}  // namespace primset::schedule
