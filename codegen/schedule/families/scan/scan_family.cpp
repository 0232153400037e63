#include "codegen/schedule/families/scan/scan_family.h"

#include "codegen/schedule/families/scan/scan_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

class Scan : public Family {
 public:
  std::string_view name() const override { return "scan"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    const prims::Prim p = g.node(node).prim;
    if (!prims::is_scan(p) || !prims::has_combiner(p)) return std::nullopt;
    return Cost{};
  }
  OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t index,
                     const Machine&) const override {
    const bool element = g.type(n.operands[index]).rank() == g.type(n.results[0]).rank();
    return element ? OperandUse::at_result : OperandUse::inlined;
  }
  bool fuses_epilogue() const override { return true; }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    b.launch(scan_kernel(b.context("scan"), group.anchor, group.roots), group.anchor);
  }
};

const Scan kScan;

}  // namespace

const Family& scan_family = kScan;

}  // namespace primset::schedule
