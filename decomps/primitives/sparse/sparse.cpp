// Places of entries of sparse arrays: rows from pointers and back, and entries that meet.
#include "decomps/primitives/sparse.h"

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps::prim {

// Row r begins before the first entry whose row is not less than r.
Val compress_rows::decompose(Tracer& t, const Val& rows, SymInt count) {
  const Val numbers = t.iota({count + 1}, 0, rows.dtype());
  return t.prim1(Prim::search_sorted, {rows, numbers, Val()}, {{"right", false}});
}

// An entry is in the last row that begins at or before it.
Val expand_rows::decompose(Tracer& t, const Val& pointers, SymInt entries) {
  SymInts shape = pointers.shape();
  shape.back() = entries;
  const Val numbers = t.iota(shape, pointers.rank() - 1, pointers.dtype());
  return t.prim1(Prim::search_sorted, {pointers, numbers, Val()}, {{"right", true}}) - Scalar(1);
}

std::tuple<Val, Val, Val> coo_coalesce::decompose(Tracer& t, const Val& indices, const Val& values,
                                                  const SymInts& sizes) {
  const SymInt entries = indices.size(1);
  Val place = t.constant(0, DType::i64, {entries});
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Val index = select(indices, 0, static_cast<int64_t>(d));
    check(ge(index, Scalar(0)) & lt(index, full_like(index, sizes[d])), index, ErrorCode::index,
          "size is inconsistent with indices: an index is out of range");
    place = place * full_like(place, sizes[d]) + index;
  }
  const auto found = t.prim(Prim::unique, {place});
  const Val &slot = found[1], &count = found[3];
  const auto cut = [&](const Val& x, int64_t dim) {
    return t.wrap(t.builder().set_dim(x.id(), count.id(), dim));
  };
  const Val merged =
      scattered(Prim::scatter, full_like(indices, 0), {slot}, {1}, transpose(indices, {1, 0}));
  const Val sums =
      scattered(Prim::scatter_add, zeros(t, values.shape(), values.dtype()), {slot}, {0}, values);
  return {cut(merged, 1), cut(sums, 0), count};
}

}  // namespace primset::decomps::prim
