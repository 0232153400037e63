#include "codegen/schedule/fusion/fusion_plan.h"

#include "codegen/schedule/element/view_placement.h"

namespace primset::schedule {

bool takes_over(const FusionPlan& plan, const prims::Graph& g, const Placement& at,
                const Placement& out) {
  if (out.buffer >= plan.buffers.size()) return false;  // scratch memory of the program's
  const Buffer& buffer = plan.buffers[out.buffer];
  if (buffer.kind != Buffer::Kind::output) return false;
  const std::optional<uint32_t> input = g.outputs[buffer.index].writes_input;
  return input && same(at, {plan.input_buffers[*input], out.strides, out.offset});
}

std::string_view text(NotFused why) {
  switch (why) {
    case NotFused::graph_output:
      return "it is a result of the graph";
    case NotFused::family_operand:
      return "its reader takes operands from memory";
    case NotFused::reused_operand:
      return "its reader reads each element many times";
    case NotFused::recompute_cost:
      return "several kernels read it, and computing it in each costs more";
    case NotFused::other_index:
      return "its reader asks for another row's than its own";
    case NotFused::other_rows:
      return "its reader goes along other rows";
    case NotFused::other_family:
      return "no kernel family computes it together with its reader";
    case NotFused::order:
      return "its reader also needs what is made of it elsewhere";
    case NotFused::operation_limit:
      return "its reader holds as many operations as a kernel may";
    case NotFused::depth_limit:
      return "its reader is as deep as a kernel may be";
    case NotFused::parameter_limit:
      return "its reader has as many parameters as a kernel may";
    case NotFused::waiting_rows:
      return "it loops, and its reader's threads would wait for each other";
    case NotFused::loop_carried:
      return "it goes from one iteration to the next";
    case NotFused::fusion_off:
      return "fusion is off";
  }
  return "";
}

}  // namespace primset::schedule
