#include "codegen/schedule/legalize/accumulation.h"

#include "codegen/schedule/tuning/summation_order.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Prim;
using prims::SymInt;

namespace {

bool has_few_terms(const prims::Builder& b, const Op& op) {
  SymInt terms = 1;
  for (int64_t d : op.attr<Ints>("dims")) terms *= b.shape(op.operands[0])[static_cast<size_t>(d)];
  return terms < SymInt(kFewTerms);
}

DType accumulated_in(Legalizer& l, const Op& op) {
  const DType dtype = l.builder().dtype(op.operands[0]);
  if (is_short_float(dtype)) return DType::f32;
  if (dtype == DType::c32) return DType::c64;
  const bool single = dtype == DType::f32 || dtype == DType::c64;
  if (!single || !l.target().fast_f64()) return dtype;
  if (is_reduction(op.prim())) {
    if (!has_few_terms(l.builder(), op)) return dtype;
    return is_complex(dtype) ? DType::c128 : DType::f64;
  }
  const bool each_step = is_scan(op.prim()) || op.prim() == Prim::window_scatter_add;
  return each_step && dtype == DType::f32 ? DType::f64 : dtype;
}

}  // namespace

bool is_short_float(DType t) {
  return is_floating(t) && bits(t) < 32;
}

std::optional<Values> widen_accumulation(Legalizer& l, const Op& op) {
  if (!accumulates(op.prim())) return std::nullopt;
  prims::Builder& b = l.builder();
  const DType narrow = b.dtype(op.operands[0]), wide = accumulated_in(l, op);
  if (wide == narrow) return std::nullopt;
  Values operands = op.operands;
  for (ValueId& v : operands) {
    if (v != prims::kNoValue && b.dtype(v) == narrow) v = b.convert(v, wide);
  }
  Values results = l.replace_operands(op, operands);
  for (ValueId& v : results) v = b.convert(v, narrow);
  return results;
}

}  // namespace primset::schedule
