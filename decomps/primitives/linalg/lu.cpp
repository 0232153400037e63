// LU factorization with partial pivoting, by blocks of columns (LAPACK's getrf): each is factored
// by a loop over its columns (getf2), and then one product updates all that is to its right.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

struct LuPanel {
  Val factors;
  Val order;   // [count, rows] i64: where each row was before
  Val pivots;  // [columns, count] i64: the rows exchanged with
};

// Columns of a matrix, of which column j has its diagonal in row first + j.
struct LuColumns {
  Val values, first;
  SymInt steps;  // how many columns to eliminate
  SymInt last;   // rows from here on have no diagonal
  bool pivot;
};

// The row with the greatest magnitude in column j, of those from r on: the first of equal ones.
Val pivot_row(const Val& x, const LuColumns& c, const Val& j, const Val& r) {
  Tracer& t = x.tracer();
  const SymInts rows = {x.size(0), x.size(1)};
  if (!c.pivot) return broadcast_to(r, {rows[0]});
  const Val size = reshape(
      mat::pivot_magnitude(mat::block(x, mat::zero_index(t), j, {rows[0], rows[1], 1})), rows);
  const Val eligible = ge(t.iota(rows, 1, index_type(t)), r);
  const Val greatest =
      convert(t.prim1(Prim::argmax, {where(eligible, size, math::number(size, -1.0))},
                      {{"dim", int64_t{1}}}),
              index_type(t));
  // Behind the last diagonal there is nothing to exchange.
  return where(lt(r, t.constant(c.last, index_type(t))), greatest, broadcast_to(r, {rows[0]}));
}

// Rows r and p of each matrix in place of one another.
Val rows_exchanged(const Val& x, const Val& row, const Val& r, const Val& p, const Val& at_r,
                   const Val& at_p) {
  return where(eq(row, r), at_p, where(eq(row, p), at_r, x));
}

// The rows p of x, one of each matrix.
Val rows_at(const Val& x, const Val& p) {
  Tracer& t = x.tracer();
  const Val matrix = t.iota({x.size(0)}, 0, index_type(t));
  const Val rows =
      t.wrap(t.builder().gather(x.id(), {matrix.id(), p.id()}, {0, 1}, true, "pivots"));
  return x.rank() == 3 ? reshape(rows, {x.size(0), 1, x.size(2)}) : reshape(rows, {x.size(0), 1});
}

// One step: exchange, divide the column below the diagonal, subtract its multiples to the right.
std::vector<Val> lu_step(Tracer& t, const LuColumns& c, const Val& j, const Val& x,
                         const Val& order) {
  const SymInts shape = x.shape();
  const SymInt& count = shape[0];
  const Val r = c.first + j, p = pivot_row(x, c, j, r), zero = mat::zero_index(t);
  const Val place = reshape(p, {count, 1, 1}), row = mat::row_numbers(x),
            column = mat::column_numbers(x);
  const Val at_r = mat::block(x, r, zero, {count, 1, shape[2]}), at_p = rows_at(x, p);
  const Val now = rows_exchanged(x, row, r, place, at_r, at_p);

  const Val pivot = mat::block(at_p, zero, j, {count, 1, 1});
  const Val left = mat::block(x, zero, j, {count, shape[1], 1});
  const Val own = rows_exchanged(left, mat::row_numbers(left), r, place,
                                 mat::block(at_r, zero, j, {count, 1, 1}), pivot);
  const Val none = full_like(pivot, Scalar(0));
  const Val factor = where(eq(pivot, none), full_like(own, Scalar(0)), own / pivot);
  const Val below = gt(row, r) & lt(r, t.constant(c.last, index_type(t)));
  const Val next = where(below & eq(column, j), broadcast_to(factor, shape),
                         where(below & gt(column, j), now - factor * at_p, now));

  const Val flat_row = t.iota(order.shape(), 1, index_type(t));
  const Val order_at_r =
      t.wrap(t.builder().dynamic_slice(order.id(), mat::starts({zero, r}), {count, SymInt(1)}));
  const Val next_order =
      rows_exchanged(order, flat_row, r, reshape(p, {count, 1}), order_at_r, rows_at(order, p));
  return {next, next_order, p};
}

LuPanel lu_panel(Tracer& t, const LuColumns& c) {
  const Val order = t.iota({c.values.size(0), c.values.size(1)}, 1, index_type(t));
  const auto step = [&](const Val& j, const std::vector<Val>& carried) {
    return lu_step(t, c, j, carried[0], carried[1]);
  };
  const auto out = mat::loop(t, c.steps, {c.values, order}, step, 1);
  return {out[0], out[1], out[2]};
}

// x with the rows of each matrix in an order.
Val rows_in_place(const Val& x, const Val& order) {
  Tracer& t = x.tracer();
  const Val matrix = t.iota(order.shape(), 0, index_type(t));
  return t.wrap(t.builder().gather(x.id(), {matrix.id(), order.id()}, {0, 1}, true, "pivots"));
}

// L^-1 of the block on the diagonal, times the rows that it is in, by substitution.
Val lu_rows(Tracer& t, const Val& diagonal, const Val& rows) {
  const SymInts shape = rows.shape();
  const auto step = [&](const Val& j, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val& x = carried[0];
    const Val factor = mat::block(diagonal, mat::zero_index(t), j, {shape[0], shape[1], 1});
    const Val solved = mat::block(x, j, mat::zero_index(t), {shape[0], 1, shape[2]});
    return {where(gt(mat::row_numbers(x), j), x - factor * solved, x)};
  };
  return mat::loop(t, shape[1], {rows}, step)[0];
}

// What the block of columns at `first` leaves: its rows of U, and the rest minus a product.
Val lu_trailing(Tracer& t, const Val& x, const Val& panel, const Val& first) {
  const SymInts shape = x.shape();
  const Val end = first + Scalar(mat::kBlock), zero = mat::zero_index(t);
  const Val diagonal = mat::block(panel, first, zero, {shape[0], mat::kBlock, mat::kBlock});
  const Val rows =
      lu_rows(t, diagonal, mat::block(x, first, zero, {shape[0], mat::kBlock, shape[2]}));
  const Val upper = where(ge(mat::column_numbers(rows), end), rows, full_like(rows, Scalar(0)));
  const Val lower = where(ge(mat::row_numbers(panel), end), panel, full_like(panel, Scalar(0)));
  const Val rest = x - mat::product(lower, upper);
  const Val own = where(ge(mat::column_numbers(rows), end), rows,
                        mat::block(x, first, zero, {shape[0], mat::kBlock, shape[2]}));
  return mat::updated(mat::updated(rest, own, first, zero), panel, zero, first);
}

LuPanel lu_by_blocks(Tracer& t, const Val& a, const SymInt& steps, bool pivot) {
  const SymInt count = a.size(0), m = a.size(1), n = a.size(2);
  const SymInt blocks = ceil_div(steps, mat::kBlock), covered = blocks * mat::kBlock;
  const bool square = m.same(n);
  const SymInt rows = square ? covered : max(m, covered),
               columns = square ? covered : max(n, covered);
  const Val matrix = mat::padded(a, rows, columns);
  const Val start = t.iota({count, rows}, 1, index_type(t));
  const auto step = [&](const Val& b, const std::vector<Val>& carried) -> std::vector<Val> {
    const Val first = b * Scalar(mat::kBlock), zero = mat::zero_index(t);
    const Val panel = mat::block(carried[0], zero, first, {count, rows, mat::kBlock});
    const LuPanel p = lu_panel(t, {panel, first, mat::kBlock, steps, pivot});
    const Val x = pivot ? rows_in_place(carried[0], p.order) : carried[0];
    const Val order = pivot ? rows_in_place(carried[1], p.order) : carried[1];
    return {lu_trailing(t, x, p.factors, first), order, p.pivots};
  };
  const auto out = mat::loop(t, blocks, {matrix, start}, step, 1);
  return {mat::cut(out[0], m, n), slice(out[1], 1, 0, m, 1),
          slice(reshape(out[2], {covered, count}), 0, 0, steps, 1)};
}

}  // namespace

std::tuple<Val, Val, Val, Val> lu::decompose(Tracer& t, const Val& a, bool pivot) {
  const SymInts shape = a.shape(), batch = mat::batch_of(shape);
  const SymInt m = a.size(-2), n = a.size(-1), steps = m.same(n) ? m : min(m, n);
  SymInts rows = batch, pivots = batch;
  rows.push_back(m);
  pivots.push_back(steps);
  if (known_equal(steps, 0) == true) {
    return {a, t.constant(Scalar(0), DType::i32, pivots),
            t.iota(rows, static_cast<int64_t>(rows.size()) - 1, DType::i32),
            t.constant(Scalar(0), DType::i32, batch)};
  }
  const Val flat = mat::as_matrices(a);
  const LuPanel f = steps <= SymInt(mat::kOneBlock)
                        ? lu_panel(t, {flat, mat::zero_index(t), steps, steps, pivot})
                        : lu_by_blocks(t, flat, steps, pivot);
  const Val diagonal =
      t.prim1(Prim::diagonal, {f.factors},
              {{"offset", int64_t{0}}, {"dim1", int64_t{1}}, {"dim2", int64_t{2}}});
  const Val info = mat::first_true(eq(diagonal, full_like(diagonal, Scalar(0))));
  const Val exchanged_with = transpose(f.pivots, {1, 0}) + Scalar(1);
  return {reshape(f.factors, shape), reshape(convert(exchanged_with, DType::i32), pivots),
          reshape(convert(f.order, DType::i32), rows), reshape(info, batch)};
}

}  // namespace primset::decomps::prim
