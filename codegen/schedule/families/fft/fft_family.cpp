#include "codegen/schedule/families/fft/fft_family.h"

#include "codegen/schedule/families/fft/cpu_fft_kernel.h"
#include "codegen/schedule/families/fft/group_fft_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

void two_passes(ProgramBuilder& b, CpuFftRequest r, DType dtype) {
  const DType part = real_type(dtype);
  const SymInt elements = prims::product(b.graph().type(b.graph().node(r.node).results[0]).shape);
  r.between = b.scratch(dtype, elements, "between the passes");
  r.table = b.table(part, first_pass_table(r.plan, part), "twiddles");
  b.launch(first_pass_kernel(b.context("fft_first"), r), r.node);
  r.table = b.table(part, second_pass_table(r.plan, part), "twiddles");
  b.launch(second_pass_kernel(b.context("fft_second"), r), r.node);
}

class Fft : public Family {
 public:
  std::string_view name() const override { return "fft"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    return fft_plan(g, g.node(node), machine) ? std::optional<Cost>(Cost{}) : std::nullopt;
  }
  bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                        const Machine& machine) const override {
    return fft_plan(g, g.node(node), machine).has_value();
  }
  bool fuses_epilogue() const override { return true; }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Node& n = b.graph().node(group.anchor);
    const DType dtype = b.graph().type(n.results[0]).dtype, part = real_type(dtype);
    const FftPlan plan = *fft_plan(b.graph(), n, b.machine());
    CpuFftRequest r{plan, group.anchor, group.roots};
    switch (plan.kind) {
      case FftPlan::Kind::two_passes:
        return two_passes(b, r, dtype);
      case FftPlan::Kind::group: {
        const BufferId table = b.table(part, group_fft_table(plan, part), "twiddles");
        return b.launch(group_fft_kernel(b.context("fft"), plan, group.anchor, group.roots, table),
                        group.anchor);
      }
      case FftPlan::Kind::across:
      case FftPlan::Kind::within:
        r.table = b.table(part, cpu_fft_table(plan, part), "twiddles");
        return b.launch(cpu_fft_kernel(b.context("fft"), r), group.anchor);
      case FftPlan::Kind::to_half:
      case FftPlan::Kind::from_half:
        r.table = b.table(part, cpu_real_fft_table(plan, part), "twiddles");
        return b.launch(cpu_real_fft_kernel(b.context("fft_real"), r), group.anchor);
    }
  }
};

const Fft kFft;

}  // namespace

const Family& fft_family = kFft;

}  // namespace primset::schedule
