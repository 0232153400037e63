#include "codegen/schedule/legalize/control_flow.h"

namespace primset::schedule {

using prims::Prim;
using prims::Region;

std::optional<Values> capture_operands(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::cond) return std::nullopt;
  const std::span<const ValueId> operands = std::span(op.operands).subspan(1);
  std::vector<Region> branches;
  for (const Region& branch : op.node.regions) {
    branches.push_back(l.builder().region(
        {}, [&](std::span<const ValueId>) { return l.rewriter().inlined(branch, operands); }));
  }
  return l.builder().add(Prim::cond, {op.operands[0]}, {}, std::move(branches));
}

}  // namespace primset::schedule
