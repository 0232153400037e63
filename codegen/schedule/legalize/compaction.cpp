#include "codegen/schedule/legalize/compaction.h"

#include <limits>

#include "codegen/schedule/legalize/scans.h"
#include "codegen/schedule/tuning/compaction.h"

namespace primset::schedule {

using prims::Builder;
using prims::Graph;
using prims::Prim;
using prims::SymInt;

std::optional<Values> expand_compact(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::compact) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0], selection = op.operands[1];
  if (compacts_in_tiles(l.machine(), b.dtype(x))) {
    l.note_reused(selection);  // it is read twice
    return std::nullopt;
  }
  const SymInt n = b.shape(x)[0];
  const bool narrow = n <= SymInt(std::numeric_limits<int32_t>::max());
  const DType place_type = narrow ? DType::i32 : DType::i64;
  const ValueId selected = b.convert(selection, place_type);
  const ValueId before = scan_in_chunks(l, {Prim::scan_sum, {}, {}}, {selected}, 0)[0];
  const ValueId count = l.reduce_sum(selected, {0});
  const ValueId unselected = b.binary(Prim::sub, b.iota({n}, 0, place_type), before);
  const ValueId behind = b.binary(Prim::add, b.broadcast_in_dim(count, {n}, {}), unselected);
  const ValueId one = b.constant(primset::Scalar(1), place_type, {n});
  const ValueId place = b.select(selection, b.binary(Prim::sub, before, one), behind);
  const ValueId empty = b.constant(primset::Scalar(0), b.dtype(x), {n});
  return Values{b.scatter(Prim::scatter, empty, {place}, x, {0}, true, false, ""),
                b.convert(count, DType::i64)};
}

namespace {

bool is_count_of_compact(const Graph& g, ValueId v) {
  const prims::NodeId p = g.producer(v);
  return p != Graph::kNoNode && g.node(p).prim == Prim::compact;
}

}  // namespace

std::optional<Values> check_count(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::set_dim) return std::nullopt;
  if (is_count_of_compact(l.rewriter().from(), op.node.operands[1])) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0], count = op.operands[1];
  const auto dim = static_cast<size_t>(op.attr<int64_t>("dim"));
  const ValueId zero = b.constant(primset::Scalar(0), DType::i64);
  const ValueId size = b.constant(b.shape(x)[dim], DType::i64);
  const ValueId fits =
      b.binary(Prim::bit_and, b.binary(Prim::le, zero, count), b.binary(Prim::le, count, size));
  b.check(fits, count, "index", "set_dim: {value} elements do not fit its dimension");
  const ValueId cut = b.binary(Prim::min, b.binary(Prim::max, count, zero), size);
  return l.replace_operands(op, {x, cut});
}

}  // namespace primset::schedule
