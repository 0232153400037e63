#include "codegen/schedule/families/segments/segments_family.h"

#include "codegen/schedule/families/segments/segment_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

class SegmentsFamily : public Family {
 public:
  std::string_view name() const override { return "segments"; }

  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    if (!is_legal_derived(g, node, machine)) return std::nullopt;
    return Cost{};
  }
  // A mean is a quotient of a sum. Offsets may be as wide as integers are.
  bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                        const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    return n.prim == prims::Prim::segment_reduce && n.attr<std::string>("reduce") != "mean" &&
           machine.target.simt && machine.target.i64;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    b.launch(segment_kernel(b.context("segments"), group.anchor, group.roots[0].out), group.anchor);
  }
};

const SegmentsFamily kSegments;

}  // namespace

const Family& segments_family = kSegments;

}  // namespace primset::schedule
