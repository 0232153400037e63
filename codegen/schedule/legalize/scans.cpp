#include "codegen/schedule/legalize/scans.h"

#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/legalize/chunks.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

class ChunkedScan {
 public:
  ChunkedScan(Legalizer& l, const Scan& scan, size_t dim, int64_t chunk)
      : l_(l), b_(l.builder()), scan_(scan), dim_(dim), chunk_(chunk) {}

  Values of(const Values& xs);

 private:
  ValueId identity(size_t k, DType dtype);
  ValueId last_of_chunks(ValueId scanned);
  ValueId carried_into_chunks(size_t k, ValueId total, const SymInts& split);
  Values combined(const Values& before, const Values& chunks);

  Legalizer& l_;
  Builder& b_;
  const Scan& scan_;
  const size_t dim_;
  const int64_t chunk_;
};

ValueId ChunkedScan::identity(size_t k, DType dtype) {
  if (!scan_.inits.empty()) return scan_.inits[k];
  return b_.constant(combine_identity(scan_.prim, dtype), dtype);
}

ValueId ChunkedScan::last_of_chunks(ValueId scanned) {
  const SymInts split = b_.shape(scanned);
  SymInts start(split.size(), SymInt(0)), one(split.size(), SymInt(1)), shape = split;
  start[dim_ + 1] = chunk_ - 1;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim_) + 1);
  return b_.reshape(b_.slice(scanned, start, split, one), shape);
}

// For every element of a chunk, the total of the chunks before it.
ValueId ChunkedScan::carried_into_chunks(size_t k, ValueId total, const SymInts& split) {
  SymInts zero(b_.rank(total), SymInt(0)), low = zero, high = zero;
  low[dim_] = 1;
  high[dim_] = -1;
  Ints dims;
  for (size_t d = 0; d < split.size(); ++d) {
    if (d != dim_ + 1) dims.push_back(static_cast<int64_t>(d));
  }
  const ValueId before = b_.pad(total, identity(k, b_.dtype(total)), low, high, zero);
  return b_.broadcast_in_dim(before, split, dims);
}

Values ChunkedScan::combined(const Values& before, const Values& chunks) {
  if (const auto combiner = prims::combiner_prim(scan_.prim))
    return {b_.binary(*combiner, before[0], chunks[0])};
  Values operands = before;
  operands.insert(operands.end(), chunks.begin(), chunks.end());
  return b_.add(Prim::map, operands, {}, {scan_.combine()});
}

Values ChunkedScan::of(const Values& xs) {
  const auto dim = static_cast<int64_t>(dim_);
  const SymInts shape = b_.shape(xs[0]);
  Values parts;
  for (size_t k = 0; k < xs.size(); ++k)
    parts.push_back(in_chunks(b_, xs[k], identity(k, b_.dtype(xs[k])), dim_, chunk_));
  const SymInts split = b_.shape(parts[0]);
  parts = scan_in_chunks(l_, scan_, parts, dim + 1, chunk_);
  Values totals;
  for (ValueId p : parts) totals.push_back(last_of_chunks(p));
  totals = scan_in_chunks(l_, scan_, totals, dim, chunk_);
  Values before;
  for (size_t k = 0; k < totals.size(); ++k)
    before.push_back(carried_into_chunks(k, totals[k], split));

  SymInts padded = shape;
  padded[dim_] = split[dim_] * split[dim_ + 1];
  const SymInts zero(shape.size(), SymInt(0)), one(shape.size(), SymInt(1));
  Values out;
  for (ValueId v : combined(before, parts))
    out.push_back(b_.slice(b_.reshape(v, padded), zero, shape, one));
  return out;
}

}  // namespace

Values scan_in_chunks(Legalizer& l, const Scan& scan, const Values& xs, int64_t dim,
                      int64_t chunk) {
  const auto d = static_cast<size_t>(dim);
  if (SymInt(chunk) < l.builder().shape(xs[0])[d]) return ChunkedScan(l, scan, d, chunk).of(xs);
  if (!scan.combine) return l.add(scan.prim, xs, {{"dim", dim}});
  Values operands = xs;
  operands.insert(operands.end(), scan.inits.begin(), scan.inits.end());
  return l.add(scan.prim, operands, {{"dim", dim}, {"ordered", false}}, scan.combine);
}

// Sums of integers wrap, so that they are the same in any order.
std::optional<Values> split_long_scan(Legalizer& l, const Op& op) {
  if (op.prim() != Prim::scan_sum || !l.target().simt) return std::nullopt;
  Builder& b = l.builder();
  const ValueId x = op.operands[0];
  const DType dtype = b.dtype(x);
  if (is_floating(dtype) || is_complex(dtype)) return std::nullopt;
  const auto dim = op.attr<int64_t>("dim");
  const int64_t chunk = l.machine().tuning.scan.chunk;
  SymInts others = b.shape(x);
  const SymInt length = std::exchange(others[static_cast<size_t>(dim)], SymInt(1));
  if (!(SymInt(chunk) < length)) return std::nullopt;
  if (!(prims::product(others) < SymInt(l.target().multiprocessors))) return std::nullopt;
  return scan_in_chunks(l, {Prim::scan_sum, {}, {}}, {x}, dim, chunk);
}

}  // namespace primset::schedule
