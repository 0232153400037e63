// Symmetric indefinite factorization with the diagonal pivoting of Bunch and Kaufman (LAPACK's
// sytf2 and hetf2, lower). The whole of what is left of the matrix is kept, both triangles, so that
// rows and columns are exchanged alike. Matrices of a batch may take blocks of size 2 at different
// columns: each goes through all columns and does nothing at the second one of a block.
#include <cmath>

#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// Bounds the growth of two steps by one with blocks of size 1 equally.
const double kAlpha = (1 + std::sqrt(17.0)) / 8;

// What is chosen at column k, for each matrix: [count, 1, 1].
struct PivotChoice {
  Val zero;      // the column is zero throughout
  Val pair;      // a block of size 2
  Val exchange;  // the row that takes the place of the block's last one
};

// Column `index` of a symmetric matrix as rows [count, 1, n] of magnitudes; -1 before k and at
// `index`.
Val other_magnitudes(const Val& row, const Val& k, const Val& index) {
  const Val column = mat::column_numbers(row), size = mat::pivot_magnitude(row);
  return where(ge(column, k) & ne(column, index), size, math::number(size, -1.0));
}

Val greatest_magnitude(const Val& sizes) {
  const Val most = restore_dims(reduce(Prim::reduce_max, sizes, {2}, false), sizes.shape(), {2});
  return math::max(most, math::number(most, 0.0));
}

// The rows `index` ([count, 1, 1]) of x, one of each matrix, as [count, 1, n].
Val ldl_rows(const Val& x, const Val& index) {
  Tracer& t = x.tracer();
  const Val matrix = t.iota({x.size(0)}, 0, index_type(t)), at = reshape(index, {x.size(0)});
  const Val rows =
      t.wrap(t.builder().gather(x.id(), {matrix.id(), at.id()}, {0, 1}, true, "pivots"));
  return reshape(rows, {x.size(0), 1, x.size(2)});
}

Val element_at(const Val& row, const Val& index) {
  const Val ldl_pivot = where(eq(mat::column_numbers(row), index), row, full_like(row, Scalar(0)));
  return restore_dims(reduce(Prim::reduce_sum, ldl_pivot, {2}, false), row.shape(), {2});
}

PivotChoice ldl_pivot(Tracer& t, const Val& x, const Val& k, bool hermitian) {
  const SymInt &count = x.size(0), &n = x.size(2);
  const auto diagonal_size = [&](const Val& d) {
    return hermitian ? math::abs(real(d)) : mat::pivot_magnitude(d);
  };
  const Val row = mat::block(x, k, mat::zero_index(t), {count, 1, n});
  const Val own = diagonal_size(mat::block(x, k, k, {count, 1, 1}));
  const Val sizes = other_magnitudes(row, k, k), column_max = greatest_magnitude(sizes);
  const Val at = convert(t.prim1(Prim::argmax, {sizes}, {{"dim", int64_t{2}}}), index_type(t));
  const Val other = reshape(at, {count, 1, 1}), other_row = ldl_rows(x, other);
  const Val row_max = greatest_magnitude(other_magnitudes(other_row, k, other));
  const Val other_own = diagonal_size(element_at(other_row, other));

  const Val largest = math::max(own, column_max);
  const Val zero = eq(largest, math::number(largest, 0.0));
  const Val stay = zero | math::is_unordered(largest) | ge(own, column_max * Scalar(kAlpha)) |
                   ge(own, column_max * Scalar(kAlpha) * (column_max / row_max));
  const Val pair = ~stay & ~ge(other_own, row_max * Scalar(kAlpha));
  return {zero, pair, where(stay, broadcast_to(k, other.shape()), other)};
}

// Rows and columns a and b of what is left at column k in place of one another.
Val both_exchanged(const Val& x, const Val& k, const Val& a, const Val& b) {
  const Val row = mat::row_numbers(x), column = mat::column_numbers(x);
  const auto partner = [&](const Val& i) {
    return where(lt(i, k), i,
                 where(eq(i, a), broadcast_to(b, i.shape()),
                       where(eq(i, b), broadcast_to(a, i.shape()), i)));
  };
  Tracer& t = x.tracer();
  const Val matrix = t.iota(x.shape(), 0, index_type(t));
  const Val left = ge(row, k) & ge(column, k);
  const Val from_row = where(left, partner(row), row),
            from_column = where(left, partner(column), column);
  return t.wrap(t.builder().gather(x.id(), {matrix.id(), from_row.id(), from_column.id()},
                                   {0, 1, 2}, true, "pivots"));
}

// The columns of L of a block, below it, and what they take off the rest.
struct Elimination {
  Val first, second;  // [count, n, 1]; the second of a pair alone
  Val product;        // [count, n, n]
};

Val flipped_column(const Val& column, bool hermitian) {
  return hermitian ? mat::adjoint(column) : mat::transposed(column);
}

Elimination eliminate_single(const Val& x, const Val& k, bool hermitian) {
  Tracer& t = x.tracer();
  const SymInts shape = x.shape();
  const Val column = mat::block(x, mat::zero_index(t), k, {shape[0], shape[1], 1});
  const Val d = mat::block(x, k, k, {shape[0], 1, 1});
  const Val factor = hermitian ? mat::divided(column, real(d)) : column / d;
  return {factor, factor, factor * flipped_column(column, hermitian)};
}

// [a b] D^-1 for the columns a and b of a pair, scaled by D's other diagonal as LAPACK has it.
Elimination eliminate_pair(const Val& x, const Val& k, bool hermitian) {
  Tracer& t = x.tracer();
  const SymInts shape = x.shape(), one = {shape[0], 1, 1}, tall = {shape[0], shape[1], 1};
  const Val next = k + Scalar(1), zero = mat::zero_index(t);
  const Val a = mat::block(x, zero, k, tall), b = mat::block(x, zero, next, tall);
  const Val below = mat::block(x, next, k, one), above = hermitian ? conj(below) : below;
  const Val d11 = mat::block(x, next, next, one) / below, d22 = mat::block(x, k, k, one) / above;
  const Val scale = full_like(below, Scalar(1)) / (d11 * d22 - full_like(below, Scalar(1)));
  const Val first = scale * (d11 * a - b) / above, second = scale * (d22 * b - a) / below;
  return {first, second,
          first * flipped_column(a, hermitian) + second * flipped_column(b, hermitian)};
}

// The diagonal of a Hermitian matrix is real, whatever is stored there and however it is rounded.
Val with_real_diagonal(const Val& x) {
  return where(eq(mat::row_numbers(x), mat::column_numbers(x)), convert(real(x), x.dtype()), x);
}

std::vector<Val> ldl_step(Tracer& t, const Val& k, const Val& x, const Val& partner,
                          bool hermitian) {
  const SymInts shape = x.shape();
  const Val done = ne(partner, full_like(partner, Scalar(0)));
  const PivotChoice c = ldl_pivot(t, x, k, hermitian);
  const Val is_pair = c.pair & ~done;
  const Val last =
      broadcast_to(k, is_pair.shape()) + convert(is_pair, index_type(is_pair.tracer()));
  const Val y = both_exchanged(x, k, last, where(done, last, c.exchange));

  const Val row = mat::row_numbers(x), column = mat::column_numbers(x);
  const Elimination one = eliminate_single(y, k, hermitian), two = eliminate_pair(y, k, hermitian);
  const Val acts = ~done & ~c.zero, below = gt(row, last) & acts;
  const Val whole = y - where(is_pair, two.product, one.product);
  const Val rest = hermitian ? with_real_diagonal(whole) : whole;
  const Val next =
      where(below & eq(column, k), broadcast_to(where(is_pair, two.first, one.first), shape),
            where(below & is_pair & eq(column, last), broadcast_to(two.second, shape),
                  where(below & gt(column, last), rest, y)));

  const Val number = c.exchange + Scalar(1), negative = -number;
  const Val pivot = where(done, partner, where(is_pair, negative, number));
  const Val next_partner = where(is_pair, negative, full_like(negative, Scalar(0)));
  const SymInts flat = {shape[0]};
  return {next, next_partner, reshape(pivot, flat),
          reshape(convert(c.zero & ~done, DType::i32), flat)};
}

}  // namespace

std::tuple<Val, Val, Val> ldl_factor::decompose(Tracer& t, const Val& a, bool hermitian) {
  const SymInts shape = a.shape(), batch = mat::batch_of(shape);
  const SymInts rows(shape.begin(), shape.end() - 1);
  if (known_equal(shape.back(), 0) == true) {
    return {a, t.constant(Scalar(0), DType::i32, rows), t.constant(Scalar(0), DType::i32, batch)};
  }
  const bool conjugated = hermitian && is_complex(a.dtype());
  const Val flat = mat::as_matrices(a),
            lower = ge(mat::row_numbers(flat), mat::column_numbers(flat));
  const Val mirrored = where(lower, flat, conjugated ? mat::adjoint(flat) : mat::transposed(flat));
  const Val start = conjugated ? with_real_diagonal(mirrored) : mirrored;
  const Val none = t.constant(Scalar(0), index_type(t), {flat.size(0), 1, 1});
  const auto step = [&](const Val& k, const std::vector<Val>& carried) {
    return ldl_step(t, k, carried[0], carried[1], conjugated);
  };
  const auto out = mat::loop(t, shape.back(), {start, none}, step, 2);
  const Val factors = where(lower, out[0], full_like(flat, Scalar(0)));
  const Val info = mat::first_true(gt(transpose(out[3], {1, 0}), Scalar(0)));
  return {reshape(factors, shape), reshape(convert(transpose(out[2], {1, 0}), DType::i32), rows),
          reshape(info, batch)};
}

}  // namespace primset::decomps::prim
