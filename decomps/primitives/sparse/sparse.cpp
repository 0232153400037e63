// Places of entries of sparse arrays: rows from pointers and back, entries that meet, and products.
#include "decomps/primitives/sparse.h"

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

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

namespace {

// Entries of one place, row-major among all of `sizes`, become one: which each one becomes, and how
// many there are.
struct Merged {
  Val slot, count;
};
Merged merged_places(const Val& place) {
  const auto found = place.tracer().prim(Prim::unique, {place},
                                         {{"return_inverse", true}, {"return_counts", false}});
  return {found[1], found[3]};
}

Val sums_of(const Val& values, const Val& slot, const SymInt& entries) {
  SymInts shape = values.shape();
  shape[0] = entries;
  const Val wide = opmath(values);
  const Val sums =
      scattered(Prim::scatter_add, zeros(values.tracer(), shape, wide.dtype()), {slot}, {0}, wide);
  return convert(sums, values.dtype());
}

}  // namespace

std::tuple<Val, Val, Val> coo_coalesce::decompose(Tracer& t, const Val& indices, const Val& values,
                                                  const SymInts& sizes) {
  Val place = t.constant(0, DType::i64, {indices.size(1)});
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Val index = select(indices, 0, static_cast<int64_t>(d));
    place = place * full_like(place, sizes[d]) + index;
  }
  const Merged merged = merged_places(place);
  const Val at = scattered(Prim::scatter, full_like(indices, 0), {merged.slot}, {1},
                           transpose(indices, {1, 0}));
  return {at, sums_of(values, merged.slot, values.size(0)), merged.count};
}

// --- products ---

namespace {

Val taken(const Val& x, const Val& index, int64_t dim) {
  Tracer& t = x.tracer();
  require_nonempty_dim(x, dim, index);
  return t.wrap(t.builder().gather(x.id(), {index.id()}, {dim}, false, "index"));
}

// Counted, and so in memory: each entry's row is needed many times, which searches would repeat.
Val rows_of_entries(const Val& pointers, const SymInt& entries) {
  return bounds_up_to(convert(pointers, DType::i64), entries) - Scalar(1);
}

// [n], or [n, 1] beside a matrix.
Val beside(const Val& x, const Val& matrix) {
  return matrix.rank() == 2 ? unsqueeze(x, 1) : x;
}

// How many entries each row has.
Val row_lengths(const Val& pointers) {
  const SymInt end = pointers.size(0);
  return slice(pointers, 0, 1, end, 1) - slice(pointers, 0, 0, end - 1, 1);
}

// How a row's products are reduced, and what segment_reduce calls that.
struct RowReduction {
  std::string_view name, segments;
};
constexpr RowReduction kRowReductions[] = {
    {"sum", "sum"}, {"mean", "mean"}, {"amax", "max"}, {"amin", "min"}};

// Each product of an entry and a line of the dense matrix goes to a line of the result.
Val scattered_products(const Val& products, const Val& lines, const SymInt& count) {
  SymInts shape = products.shape();
  shape[0] = count;
  const Val start = zeros(products.tracer(), shape, products.dtype());
  return scattered(Prim::scatter_add, start, {lines}, {0}, products);
}

// The row of each entry; where it is needed once it is searched for.
Val rows_beside(const Val& pointers, const Val& columns, const Val& dense) {
  const SymInt entries = columns.size(0);
  if (dense.rank() > 1) return rows_of_entries(pointers, entries);
  return pointers.tracer().prim1(Prim::expand_rows, {pointers}, {{"entries", entries}});
}

// Of numbers with a point, the products of each row are neighbours that are reduced.
Val reduced_rows(const Val& products, const Val& pointers, std::string_view reduce) {
  if (is_complex(products.dtype()))
    return complex(reduced_rows(real(products), pointers, reduce),
                   reduced_rows(imag(products), pointers, reduce));
  return products.tracer().prim1(Prim::segment_reduce, {products, pointers},
                                 {{"reduce", std::string(reduce)}});
}

}  // namespace

// Products are added up where they are made, and are nowhere in memory.
Val sparse_matmul::decompose(Tracer&, const Val& values, const Val& pointers, const Val& columns,
                             const Val& dense, SymInt size, bool transpose,
                             const std::string& reduce) {
  const auto products = [&](const Val& lines) {
    return beside(opmath(values), dense) * opmath(taken(dense, lines, 0));
  };
  if (transpose)
    return convert(
        scattered_products(products(rows_beside(pointers, columns, dense)), columns, size),
        values.dtype());
  const Val of_entries = products(columns);
  if (is_integral(of_entries.dtype()))
    return convert(
        scattered_products(of_entries, rows_beside(pointers, columns, dense), pointers.size(0) - 1),
        values.dtype());
  const auto* r = std::ranges::find(kRowReductions, reduce, &RowReduction::name);
  Val y = reduced_rows(of_entries, pointers, r->segments);
  if (reduce != "sum") {
    const Val length = beside(convert(row_lengths(pointers), y.dtype()), dense);
    y = where(gt(length, Scalar(0.0)), y, full_like(y, 0));
  }
  return convert(y, values.dtype());
}

// Where one place in a few is wanted, the whole product is the shorter way: it reads each line
// once.
Val sampled_matmul::decompose(Tracer& t, const Val& a, const Val& b, const Val& pointers,
                              const Val& columns) {
  constexpr int64_t kFew = 16;
  const Val rows = rows_of_entries(pointers, columns.size(0));
  if (is_floating(a.dtype()) && a.size(0) * b.size(1) <= columns.size(0) * kFew) {
    const Val all = t.prim1(Prim::matmul, {a, b, Val()},
                            {{"scale", Scalar(1)}, {"activation", std::string("none")}});
    return t.wrap(t.builder().gather(all.id(), {rows.id(), columns.id()}, {0, 1}, false, "index"));
  }
  const Val products = opmath(taken(a, rows, 0)) * opmath(taken(b, columns, 1));
  return convert(reduce(Prim::reduce_sum, products, {1}, false), a.dtype());
}

namespace {

struct SparseMatrix {
  Val values, pointers, columns;
};

// Every product of two entries by itself: the entries of a one after the other, and behind each
// those of the row of b that its column names. Products of one place are then merged (Dalton, Olson
// and Bell, Optimizing sparse matrix-matrix multiplication for the GPU, 2015).
SparseMatrix merged_products(const SparseMatrix& a, const SparseMatrix& b, const SymInt& size,
                             const SymInt& products, const SymInt& entries) {
  Tracer& t = a.values.tracer();
  const Val starts = convert(b.pointers, DType::i64);
  const Val lengths = taken(row_lengths(starts), a.columns, 0);
  const Val ends = t.wrap(t.builder().scan(Prim::scan_sum, lengths.id(), 0)[0]);
  const Val left = bounds_up_to(ends, products);
  const Val within = t.iota({products}, 0, DType::i64) - taken(ends - lengths, left, 0);
  const Val right = taken(taken(starts, a.columns, 0), left, 0) + within;
  const Val row = taken(rows_of_entries(a.pointers, a.columns.size(0)), left, 0);
  const Val column = convert(taken(b.columns, right, 0), DType::i64);
  const Val product = opmath(taken(a.values, left, 0)) * opmath(taken(b.values, right, 0));
  const Merged merged = merged_places(row * full_like(row, size) + column);
  const Val at =
      scattered(Prim::scatter, zeros(t, {entries}, DType::i64), {merged.slot}, {0}, column);
  // Behind the last entry there are rows behind the last one.
  const SymInt rows = a.pointers.size(0) - 1;
  const Val row_at =
      scattered(Prim::scatter, t.constant(rows, DType::i64, {entries}), {merged.slot}, {0}, row);
  return {convert(sums_of(product, merged.slot, entries), a.values.dtype()),
          t.prim1(Prim::compress_rows, {row_at}, {{"count", rows}}), at};
}

// Rows of b laid out densely, added up for each entry of a. Places without an entry stand aside:
// zero times infinity is none of theirs.
SparseMatrix products_of_dense_rows(const SparseMatrix& a, const SparseMatrix& b,
                                    const SymInt& size, const SymInt& entries) {
  Tracer& t = a.values.tracer();
  const SymInt rows = a.pointers.size(0) - 1;
  const std::vector<Val> places = {rows_of_entries(b.pointers, b.columns.size(0)),
                                   convert(b.columns, DType::i64)};
  const SymInts shape = {b.pointers.size(0) - 1, size};
  const Val wide = opmath(b.values);
  const Val dense =
      scattered(Prim::scatter_add, zeros(t, shape, wide.dtype()), places, {0, 1}, wide);
  const Val there = scattered(Prim::scatter, zeros(t, shape, DType::boolean), places, {0, 1},
                              t.constant(true, DType::boolean, b.columns.shape()));
  const Val products = beside(opmath(a.values), dense) * taken(dense, a.columns, 0);
  const Val counted = where(taken(there, a.columns, 0), products, full_like(products, 0));
  const Val sums =
      is_integral(wide.dtype())
          ? scattered_products(counted, rows_of_entries(a.pointers, a.columns.size(0)), rows)
          : reduced_rows(counted, a.pointers, "sum");
  const Val met = taken(convert(there, DType::f32), a.columns, 0);
  const Val stored = gt(reduced_rows(met, a.pointers, "max"), Scalar(0.0));

  const Val ends = t.wrap(t.builder().scan(
      Prim::scan_sum, reduce(Prim::reduce_sum, convert(stored, DType::i64), {1}, false).id(),
      0)[0]);
  const SymInts flat = {rows * size};
  const auto packed = [&](const Val& x) {
    return resized_front(t.prim(Prim::compact, {reshape(x, flat), reshape(stored, flat)})[0],
                         entries);
  };
  return {packed(convert(sums, a.values.dtype())),
          concatenate({zeros(t, {1}, DType::i64), ends}, 0),
          packed(t.iota({rows, size}, 1, DType::i64))};
}

}  // namespace

// Where a place has a product or more in the mean, and b is not nearly empty, dense rows are the
// shorter way. They take no more memory than the keys and values of a few products each.
std::tuple<Val, Val, Val> sparse_sparse_matmul::decompose(
    Tracer&, const Val& a, const Val& a_pointers, const Val& a_columns, const Val& b,
    const Val& b_pointers, const Val& b_columns, SymInt size, SymInt products, SymInt entries) {
  constexpr int64_t kLeastFilled = 64;  // one in so many places of b has an entry
  constexpr int64_t kPlacesPerProduct = 4;
  const SparseMatrix left{a, a_pointers, a_columns}, right{b, b_pointers, b_columns};
  const bool dense = (a_pointers.size(0) - 1) * size <= products &&
                     (b_pointers.size(0) - 1) * size <= products * kPlacesPerProduct &&
                     a_columns.size(0) * size <= products * kLeastFilled;
  const SparseMatrix y = dense ? products_of_dense_rows(left, right, size, entries)
                               : merged_products(left, right, size, products, entries);
  return {y.values, y.pointers, y.columns};
}

}  // namespace primset::decomps::prim
