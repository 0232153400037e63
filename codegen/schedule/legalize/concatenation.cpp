#include "codegen/schedule/legalize/concatenation.h"

#include <algorithm>

#include "codegen/schedule/tuning/concatenation_parts.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;

namespace {

// Bytes of a kernel's parameters that an operand takes at most: where it begins, its strides, and
// where in the result it lies and ends.
uint32_t parameter_bytes(const prims::ValueType& t) {
  const auto strides =
      std::ranges::count_if(t.shape, [](const SymInt& s) { return !s.same(SymInt(1)); });
  return static_cast<uint32_t>(8 + 8 * strides + 16);
}

// Runs of operands that fit into one kernel, of at least two each, so that the parts are fewer, and
// of no more than are copied one by one.
std::vector<Values> runs_of_operands(const Builder& b, const Values& operands, uint32_t budget) {
  std::vector<Values> runs;
  uint32_t bytes = 0;
  for (ValueId v : operands) {
    bytes += parameter_bytes(b.type(v));
    if (runs.empty() || runs.back().size() == kMostCopies ||
        (bytes > budget && runs.back().size() >= 2)) {
      runs.emplace_back();
      bytes = parameter_bytes(b.type(v));
    }
    runs.back().push_back(v);
  }
  return runs;
}

}  // namespace

// The parts are concatenated in turn, again in parts if they are many. A kernel compares an
// element's index with the range of each of its operands: with parts that work is the sum of the
// operands of both kernels instead of all operands. Half of the parameters are left for what is
// fused in.
std::optional<Values> split_concatenate(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::concatenate) return std::nullopt;
  if (is_copied_by_parts(l.target(), op.operands.size())) return std::nullopt;
  Builder& b = l.builder();
  const uint32_t budget = l.machine().limits.parameter_bytes / 2;
  Values operands = op.operands;
  while (true) {
    const std::vector<Values> runs = runs_of_operands(b, operands, budget);
    if (runs.size() <= 1) break;
    operands.clear();
    for (const Values& run : runs) {
      operands.push_back(run.size() == 1 ? run[0] : b.concatenate(run, op.attr<int64_t>("dim")));
      if (run.size() > 1) l.note_part(operands.back());
    }
  }
  if (operands.size() == op.operands.size()) return std::nullopt;
  return l.replace_operands(op, operands);
}

}  // namespace primset::schedule
