// Products of matrices, and attention, as steps of a program.
#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/families/attention/attention_kernel.h"
#include "codegen/schedule/families/contraction/cooperative_contraction.h"
#include "codegen/schedule/families/contraction/pipelined_contraction.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

void ProgramBuilder::contraction(NodeId id, const std::vector<Root>& roots) {
  std::set<ValueId> needed, seen;
  for (ValueId operand : g_.node(id).operands) frontier(operand, needed, seen);
  for (ValueId u : needed) materialize(u);
  const auto &a = g_.node(id).operands[0], &b = g_.node(id).operands[1];
  launch(fused([&] {
           const BuildContext c = context("contraction");
           for (const auto& family : {pipelined_contraction, cooperative_contraction})
             if (auto built = family(c, id, roots, viewed(a), viewed(b))) return std::move(*built);
           return contraction_kernel(c, id, roots);
         }),
         id);
}

// Operands that the kernel cannot read where they are become dense.
void ProgramBuilder::attention(NodeId id, const std::vector<Root>& roots) {
  const Node& n = g_.node(id);
  std::array<Placement, 3> operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ValueId v = n.operands[i];
    if (!viewed(v)) materialize(v);
    operands[i] = viewed(v).value();
    if (attention_reads(g_, n, i, operands[i])) continue;
    operands[i] = temp(v);
    copy_into(v, operands[i]);
  }
  launch(attention_kernel(context("attention"), id, roots, operands), id);
}

}  // namespace primset::schedule
