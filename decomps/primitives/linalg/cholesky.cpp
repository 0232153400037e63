#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

struct CholeskyPanel {
  Val columns;  // of the factor; zeros above the diagonal
  Val pivots;   // [columns, count]: what the diagonal is the root of
};

// Factors the columns that begin at column `first` of a matrix, once those to their left are
// subtracted. Step j divides column j by the root of its pivot and subtracts it from those to its
// right (right-looking).
CholeskyPanel cholesky_panel(Tracer& t, const Val& panel, const Val& first) {
  const SymInts shape = panel.shape();
  const auto step = [&](const Val& j, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val& x = carried[0];
    const Val r = first + j, row = mat::row_numbers(x), column = mat::column_numbers(x);
    const Val pivot = real(mat::block(x, r, j, {shape[0], 1, 1})), root = math::sqrt(pivot);
    const Val below =
        mat::divided(mat::block(x, mat::zero_index(t), j, {shape[0], shape[1], 1}), root);
    // Those of these in the panel's own rows.
    const Val across =
        mat::adjoint(mat::divided(mat::block(x, first, j, {shape[0], shape[2], 1}), root));
    const Val nothing = full_like(x, Scalar(0));
    const Val own =
        where(gt(row, r), broadcast_to(below, shape),
              where(eq(row, r), broadcast_to(convert(root, x.dtype()), shape), nothing));
    const Val rest = where(gt(column, j) & gt(row, r), x - below * across, x);
    return {where(eq(column, j), own, rest), reshape(pivot, {shape[0]})};
  };
  const auto out = mat::loop(t, shape[2], {panel}, step, 1);
  return {out[0], out[1]};
}

// The lower factor, and the pivots as [count, n].
struct CholeskyFactor {
  Val lower, pivots;
};

CholeskyFactor cholesky_at_once(Tracer& t, const Val& a) {
  const CholeskyPanel p = cholesky_panel(t, a, mat::zero_index(t));
  return {p.columns, transpose(p.pivots, {1, 0})};
}

// By blocks of columns, from left to right: from each the product of what is known with its own
// rows is subtracted first (left-looking).
CholeskyFactor cholesky_by_blocks(Tracer& t, const Val& a) {
  const SymInt n = a.size(1), blocks = ceil_div(n, mat::kBlock), order = blocks * mat::kBlock;
  const SymInt count = a.size(0);
  const Val matrix = mat::padded_by_identity(a, order);
  const auto step = [&](const Val& b, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val& known = carried[0];
    const Val first = b * Scalar(mat::kBlock), zero = mat::zero_index(t);
    const Val own = mat::block(known, first, zero, {count, mat::kBlock, order});
    const Val panel = mat::block(matrix, zero, first, {count, order, mat::kBlock}) -
                      mat::product(known, mat::adjoint(own));
    const CholeskyPanel p = cholesky_panel(t, panel, first);
    return {mat::updated(known, p.columns, zero, first), p.pivots};
  };
  const auto out = mat::loop(t, blocks, {full_like(matrix, Scalar(0))}, step, 1);
  const Val pivots = transpose(reshape(out[1], {order, count}), {1, 0});
  return {mat::cut(out[0], n, n), slice(pivots, 1, 0, n, 1)};
}

// What is left of the lower factor from a column that failed on is no number, whatever was
// computed.
Val without_failed_columns(const Val& lower, const Val& info) {
  const Val failed = reshape(convert(info, index_type(info.tracer())), {lower.size(0), 1, 1});
  const Val row = mat::row_numbers(lower), column = mat::column_numbers(lower);
  const Val lost = gt(failed, full_like(failed, 0)) & lt(failed - Scalar(2), column);
  return where(lost & ge(row, column), full_like(lower, Scalar(math::kNan)), lower);
}

}  // namespace

std::tuple<Val, Val> cholesky::decompose(Tracer& t, const Val& a, bool upper) {
  const SymInts shape = a.shape(), batch = mat::batch_of(shape);
  // An empty matrix has no column to take out, not even in a loop of no rounds.
  if (known_equal(shape.back(), 0) == true) return {a, t.constant(Scalar(0), DType::i32, batch)};
  const Val flat = upper ? mat::adjoint(mat::as_matrices(a)) : mat::as_matrices(a);
  const CholeskyFactor f = shape.back() <= SymInt(mat::kOneBlock) ? cholesky_at_once(t, flat)
                                                                  : cholesky_by_blocks(t, flat);
  const Val info = mat::first_true(~gt(f.pivots, full_like(f.pivots, Scalar(0))));
  const Val lower = without_failed_columns(f.lower, info);
  return {reshape(upper ? mat::adjoint(lower) : lower, shape), reshape(info, batch)};
}

}  // namespace primset::decomps::prim
