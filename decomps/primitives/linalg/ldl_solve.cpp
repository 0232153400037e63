// Solutions by a symmetric indefinite factorization (LAPACK's sytrs and hetrs, lower): substitution
// downwards, the blocks of D, which are independent of one another, and substitution upwards. A row
// is a block of its own, or the first or the second of a pair.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"

namespace primset::decomps::prim {
namespace {

struct LdlFactors {
  Val factors, pivots;  // [count, n, n], and i64 [count, n, 1]
  Val first;            // bool [count, n, 1]: the row is the first of a pair
  bool conjugated;
};

// A negative pivot is that of a pair; of a run of these every other row is a first one.
Val first_of_pairs(Tracer& t, const Val& pivots) {
  const SymInts shape = pivots.shape(), one = {shape[0], 1, 1};
  const Val none = t.constant(Scalar(0), DType::i32, one);
  const auto step = [&](const Val& k, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val negative = lt(mat::block(pivots, k, mat::zero_index(t), one), Scalar(0));
    const Val first = convert(negative & eq(carried[0], Scalar(0)), DType::i32);
    return {first, reshape(first, {shape[0]})};
  };
  const Val rows = mat::loop(t, shape[1], {none}, step, 1)[1];
  return reshape(gt(transpose(rows, {1, 0}), Scalar(0)), shape);
}

// What belongs to row k of each matrix, all [count, 1, 1].
struct LdlRow {
  Val first;     // whether it is the first of a pair
  Val last;      // the last row of its block
  Val exchange;  // the row that this was exchanged with, itself at the second of a pair
};

// A row of the matrix, whatever the pivots say.
Val inside_matrix(const Val& row, const LdlFactors& f) {
  const Val end = full_like(row, f.factors.size(1));
  return binary(Prim::max, binary(Prim::min, row, end - Scalar(1)), full_like(row, Scalar(0)));
}

LdlRow ldl_row(const LdlFactors& f, const Val& k) {
  Tracer& t = k.tracer();
  const SymInts one = {f.pivots.size(0), 1, 1};
  const Val zero = mat::zero_index(t), pivot = mat::block(f.pivots, k, zero, one);
  const Val first = mat::block(f.first, k, zero, one), single = gt(pivot, Scalar(0));
  const Val last =
      inside_matrix(broadcast_to(k, one) + convert(first, index_type(first.tracer())), f);
  const Val number = inside_matrix(where(single, pivot, -pivot) - Scalar(1), f);
  return {first, last, where(single | first, number, last)};
}

Val block_exchanged(const Val& x, const LdlRow& r) {
  Tracer& t = x.tracer();
  const SymInts shape = {x.size(0), x.size(1)};
  const Val row = t.iota(shape, 1, index_type(t)), matrix = t.iota(shape, 0, index_type(t));
  const Val a = reshape(r.last, {shape[0], 1}), b = reshape(r.exchange, {shape[0], 1});
  const Val from =
      where(eq(row, a), broadcast_to(b, shape), where(eq(row, b), broadcast_to(a, shape), row));
  return t.wrap(t.builder().gather(x.id(), {matrix.id(), from.id()}, {0, 1}, true, "pivots"));
}

// Column k of L below its block, zero elsewhere: what is left in the block is D's.
Val ldl_column(const LdlFactors& f, const Val& k, const LdlRow& r) {
  const Val column = mat::block(f.factors, mat::zero_index(k.tracer()), k,
                                {f.factors.size(0), f.factors.size(1), 1});
  return where(gt(mat::row_numbers(column), r.last), column, full_like(column, Scalar(0)));
}

Val downwards(Tracer& t, const LdlFactors& f, const Val& b) {
  const SymInts shape = b.shape();
  const auto step = [&](const Val& k, const std::vector<Val>& carried) -> std::vector<Val> {
    const LdlRow r = ldl_row(f, k);
    const Val x = block_exchanged(carried[0], r);
    const Val solved = mat::block(x, k, mat::zero_index(t), {shape[0], 1, shape[2]});
    return {x - ldl_column(f, k, r) * solved};
  };
  return mat::loop(t, shape[1], {b}, step)[0];
}

Val upwards(Tracer& t, const LdlFactors& f, const Val& b) {
  const SymInts shape = b.shape();
  const auto step = [&](const Val& i, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val k = t.constant(shape[1], index_type(t)) - Scalar(1) - i, &x = carried[0];
    const LdlRow r = ldl_row(f, k);
    const Val column = ldl_column(f, k, r);
    const Val known =
        mat::product(f.conjugated ? mat::adjoint(column) : mat::transposed(column), x);
    return {block_exchanged(where(eq(mat::row_numbers(x), k), x - known, x), r)};
  };
  return mat::loop(t, shape[1], {b}, step)[0];
}

// Each row of x moved down (or up) by one; what comes in is not looked at.
Val shifted_rows(const Val& x, bool down) {
  Tracer& t = x.tracer();
  const Val zero = t.constant(Scalar(0), x.dtype());
  const SymInts none(3, SymInt(0)), more = {0, 1, 0}, less = {0, -1, 0};
  return t.wrap(t.builder().pad(x.id(), zero.id(), down ? more : less, down ? less : more, none));
}

// D^-1 x. With D = [p q*; q r], and all divided by q as LAPACK does to stay in range.
Val divided_by_blocks(const LdlFactors& f, const Val& x) {
  Tracer& t = x.tracer();
  const auto diagonal = [&](const Val& m) {
    return unsqueeze(t.prim1(Prim::diagonal, {m},
                             {{"offset", int64_t{0}}, {"dim1", int64_t{1}}, {"dim2", int64_t{2}}}),
                     2);
  };
  const Val second = shifted_rows(convert(f.first, DType::i32), true);
  const Val own = diagonal(f.factors);
  const Val below = diagonal(shifted_rows(f.factors, false));  // what is under the diagonal
  const Val above = f.conjugated ? conj(below) : below, one = full_like(own, Scalar(1));

  const Val next = shifted_rows(own, false), before = shifted_rows(own, true);
  const Val q = shifted_rows(below, true), q_above = f.conjugated ? conj(q) : q;
  const Val scale_first = one / ((own / above) * (next / below) - one);
  const Val scale_second = one / ((before / q_above) * (own / q) - one);
  const Val as_first =
      scale_first * ((next / below) * (x / above) - shifted_rows(x, false) / below);
  const Val as_second =
      scale_second * ((before / q_above) * (x / q) - shifted_rows(x, true) / q_above);
  const Val single = f.conjugated ? mat::divided(x, real(own)) : x / own;
  return where(f.first, as_first, where(gt(second, Scalar(0)), as_second, single));
}

}  // namespace

Val ldl_solve::decompose(Tracer& t, const Val& factors, const Val& pivots, const Val& b,
                         bool hermitian) {
  const SymInts shape = b.shape();
  if (known_equal(factors.size(-1), 0) == true) return b;
  const Val flat = mat::as_matrices(factors);
  const Val rows =
      reshape(convert(pivots, index_type(pivots.tracer())), {flat.size(0), flat.size(1), 1});
  const LdlFactors f{flat, rows, first_of_pairs(t, rows), hermitian && is_complex(factors.dtype())};
  return reshape(upwards(t, f, divided_by_blocks(f, downwards(t, f, mat::as_matrices(b)))), shape);
}

}  // namespace primset::decomps::prim
