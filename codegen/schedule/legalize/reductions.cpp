#include "codegen/schedule/legalize/reductions.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/legalize/chunks.h"
#include "codegen/schedule/tuning/summation_order.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Builder;
using prims::Prim;
using prims::SymInt;
using prims::SymInts;

namespace {

// What is reduced, and the identities that follow it among the operands of a region's reduction.
struct ReducedOperands {
  Values xs, inits;
};

ReducedOperands reduced_operands(const Op& op) {
  const size_t arity = op.node.prim == Prim::reduce ? op.operands.size() / 2 : 1;
  const auto middle = op.operands.begin() + static_cast<std::ptrdiff_t>(arity);
  return {Values(op.operands.begin(), middle), Values(middle, op.operands.end())};
}

bool combines_dims(Prim p) {
  return is_reduction(p) && has_combiner(p);
}

// The same reduction of other arrays.
Values reduce_along(Legalizer& l, const Op& op, Values xs, const Values& inits, Ints dims) {
  xs.insert(xs.end(), inits.begin(), inits.end());
  const MakeRegion combine = [&] { return l.combine_region(op); };
  const bool by_region = prims::combiner_prim(op.prim()) == std::nullopt;
  return l.add(op.prim(), xs, {{"dims", std::move(dims)}}, by_region ? combine : MakeRegion());
}

// The dims in the order [outer, reduced, inner], and the shape with one dim for the reduced.
struct MergedDims {
  Ints order;
  SymInts shape;
  int64_t reduced = 0;
};

MergedDims merged_dims(const SymInts& shape, Ints dims) {
  std::ranges::sort(dims);
  MergedDims m;
  for (int64_t d = 0; d < dims.back(); ++d) {
    if (std::ranges::binary_search(dims, d)) continue;
    m.order.push_back(d);
    m.shape.push_back(shape[static_cast<size_t>(d)]);
  }
  m.reduced = static_cast<int64_t>(m.shape.size());
  SymInt length = 1;
  for (int64_t d : dims) {
    m.order.push_back(d);
    length *= shape[static_cast<size_t>(d)];
  }
  m.shape.push_back(length);
  for (auto d = static_cast<size_t>(dims.back()) + 1; d < shape.size(); ++d) {
    m.order.push_back(static_cast<int64_t>(d));
    m.shape.push_back(shape[d]);
  }
  return m;
}

}  // namespace

namespace {

// Where the last reduced dims begin, of `dims` in rising order: those with no kept dim between.
size_t last_neighbours(const SymInts& shape, const Ints& dims) {
  size_t first = dims.size() - 1;
  while (first > 0) {
    for (int64_t d = dims[first - 1] + 1; d < dims[first]; ++d)
      if (!shape[static_cast<size_t>(d)].same(SymInt(1))) return first;
    --first;
  }
  return first;
}

// How many of the last dims are reduced first. Dims that lie apart in memory would be indexed by
// division for every element. Of an array that is reduced altogether nothing shares a row's kernel,
// so its rows may be reduced wherever they are; but a very large one is read in streams.
size_t dims_of_first_step(const SymInts& shape, const Ints& dims) {
  constexpr int64_t kLeastRow = 256, kMostElements = int64_t{1} << 22;
  const size_t first = last_neighbours(shape, dims);
  SymInt length = 1;
  for (size_t k = first; k < dims.size(); ++k) length *= shape[static_cast<size_t>(dims[k])];
  if (first > 0) return SymInt(kRowLanes) < length ? dims.size() - first : 0;
  if (dims.size() < shape.size() || shape.back() < SymInt(kLeastRow)) return 0;
  return length < SymInt(kMostElements) ? 1 : 0;
}

}  // namespace

std::optional<Values> reduce_in_steps(Legalizer& l, const Op& op) {
  if (l.target().simt || !combines_dims(op.prim())) return std::nullopt;
  Ints dims = op.attr<Ints>("dims");
  if (dims.size() < 2) return std::nullopt;
  std::ranges::sort(dims);
  ReducedOperands in = reduced_operands(op);
  const size_t count = dims_of_first_step(l.builder().shape(in.xs[0]), dims);
  if (count == 0) return std::nullopt;
  const auto middle = dims.end() - static_cast<std::ptrdiff_t>(count);
  in.xs = reduce_along(l, op, in.xs, in.inits, {middle, dims.end()});
  return reduce_along(l, op, in.xs, in.inits, {dims.begin(), middle});
}

std::optional<Values> merge_reduced_dims(Legalizer& l, const Op& op) {
  if (!combines_dims(op.prim())) return std::nullopt;
  const Ints& dims = op.attr<Ints>("dims");
  if (dims.size() == 1) return std::nullopt;
  ReducedOperands in = reduced_operands(op);
  if (dims.empty()) return in.xs;
  Builder& b = l.builder();
  const MergedDims merged = merged_dims(b.shape(in.xs[0]), dims);
  for (ValueId& x : in.xs) x = b.reshape(b.transpose(x, merged.order), merged.shape);
  return reduce_along(l, op, in.xs, in.inits, {merged.reduced});
}

// Chunks' results may be a long row again.
std::optional<Values> split_long_reduction(Legalizer& l, const Op& op) {
  if (!combines_dims(op.prim())) return std::nullopt;
  Builder& b = l.builder();
  const int64_t dim = op.attr<Ints>("dims")[0];
  const auto d = static_cast<size_t>(dim);
  ReducedOperands in = reduced_operands(op);
  auto chunk = reduction_chunk(l.machine(), b.shape(in.xs[0]), d);
  if (!chunk) return std::nullopt;
  do {
    for (size_t k = 0; k < in.xs.size(); ++k) {
      const DType dtype = b.dtype(in.xs[k]);
      const ValueId fill =
          in.inits.empty() ? b.constant(combine_identity(op.prim(), dtype), dtype) : in.inits[k];
      in.xs[k] = in_chunks(b, in.xs[k], fill, d, *chunk);
    }
    in.xs = reduce_along(l, op, in.xs, in.inits, {dim + 1});
    chunk = reduction_chunk(l.machine(), b.shape(in.xs[0]), d);
  } while (chunk);
  return reduce_along(l, op, in.xs, in.inits, {dim});
}

}  // namespace primset::schedule
