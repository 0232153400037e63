#include "decomps/operators/linalg/solutions.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

BroadcastMatrices broadcast_matrices(const Val& a, const Val& b) {
  const SymInts as = a.shape(), bs = b.shape();
  const std::array<SymInts, 2> batches = {SymInts(as.begin(), as.end() - 2),
                                          SymInts(bs.begin(), bs.end() - 2)};
  SymInts a_shape = broadcast_shapes(batches), b_shape = a_shape;
  a_shape.insert(a_shape.end(), as.end() - 2, as.end());
  b_shape.insert(b_shape.end(), bs.end() - 2, bs.end());
  return {broadcast_to(a, a_shape), broadcast_to(b, b_shape)};
}

Val matrix_adjoint(const Val& x) {
  return matrix_transpose(conj(x));
}

Val identity_like(const Val& a) {
  Tracer& t = a.tracer();
  const Val row = t.iota(a.shape(), a.rank() - 2, DType::i64),
            column = t.iota(a.shape(), a.rank() - 1, DType::i64);
  return convert(eq(row, column), a.dtype());
}

void require_fitting_sizes(std::string_view op, const Val& a, const Val& b) {
  require(a.size(-1) == a.size(-2), ErrorCode::runtime,
          fmt::format("A must be batches of square matrices, but they are {} by {} matrices",
                      a.size(-2).hint(), a.size(-1).hint()));
  require(
      a.size(-2) == b.size(-2), ErrorCode::runtime,
      fmt::format("Incompatible matrix sizes for {}: each A matrix is {} by {} but each b "
                  "matrix is {} by {}",
                  op, a.size(-1).hint(), a.size(-1).hint(), b.size(-2).hint(), b.size(-1).hint()));
}

void require_equation(std::string_view op, const Val& a, const Val& b, bool left) {
  require_square(op, a);
  require_matrices(op, b, "B");
  require(left ? a.size(-2) == b.size(-2) : a.size(-1) == b.size(-1), ErrorCode::runtime,
          fmt::format("{}: Incompatible shapes of A and B for the equation {} ({}x{} and {}x{})",
                      op, left ? "AX = B" : "XA = B", a.size(-2).hint(), a.size(-1).hint(),
                      b.size(-2).hint(), b.size(-1).hint()));
}

Val solved(const Val& a, const Val& b, Triangle triangle) {
  if (b.is_empty()) return b;
  return a.tracer().prim1(Prim::triangular_solve, {a, b},
                          {{"upper", triangle.upper}, {"unit_diagonal", triangle.unit_diagonal}});
}

Val first_zero(const Val& x) {
  const int64_t last = x.rank() - 1;
  const Val place = x.tracer().iota(x.shape(), last, DType::i32) + Scalar(1);
  const Val none = full_like(place, std::numeric_limits<int32_t>::max());
  const Val zero = eq(x, full_like(x, 0)), marked = where(zero, place, none);
  const Val first = reduce(Prim::reduce_min, marked, {last}, false);
  const Val any = reduce(Prim::reduce_or, zero, {last}, false);
  return where(any, first, full_like(first, 0));
}

LuFactors lu_factors(Tracer& t, const Val& a, bool pivot) {
  const auto out = t.prim(Prim::lu, {a}, {{"pivot", pivot}});
  return {out[0], out[1], out[2], out[3]};
}

Val rows_in_order(const Val& x, const Val& permutation, bool inverse) {
  if (x.is_empty()) return x;
  Tracer& t = x.tracer();
  std::vector<Val> indices;
  const SymInts rows = permutation.shape();
  for (int64_t d = 0; d + 1 < permutation.rank(); ++d)
    indices.push_back(t.iota(rows, d, DType::i64));
  indices.push_back(convert(permutation, DType::i64));
  const std::vector<int64_t> dims = dims_from(0, permutation.rank());
  if (inverse) return scattered(Prim::scatter, x, indices, dims, x);
  std::vector<ValueId> ids;
  for (const Val& i : indices) ids.push_back(i.id());
  return t.wrap(t.builder().gather(x.id(), std::move(ids), dims, true, "pivots"));
}

namespace {

// What a step of the walk below sees, along dim 0: the row to begin at, which no other says, then
// each exchange from the last to the first, of row `step` with row `target`.
struct Exchanges {
  Val step, target;  // i32 [steps + 1, matrices, rows]
};

Exchanges exchanges_backwards(Tracer& t, const Val& targets, const SymInt& rows) {
  const SymInt count = targets.size(0), steps = targets.size(1);
  const SymInts shape = {steps + 1, count, rows};
  const Val place = t.iota(shape, 0, DType::i32), row = t.iota(shape, 2, DType::i32);
  const Val last_first = t.wrap(t.builder().reverse(transpose(targets, {1, 0}).id(), {0}));
  const Val begun = t.wrap(
      t.builder().pad(last_first.id(), t.constant(-1, DType::i32).id(), {1, 0}, {0, 0}, {0, 0}));
  const Val step = t.constant(steps, DType::i32, shape) - place;
  return {where(eq(place, full_like(place, 0)), row, step),
          broadcast_to(unsqueeze(begun, 2), shape)};
}

}  // namespace

// Step i exchanges row i with row pivots[i] - 1. Each row is followed backwards, from where it ends
// to where it came from, so that rows do not wait for each other.
Val permutation_of(Tracer& t, const Val& pivots, const SymInt& rows) {
  SymInts shape = pivots.shape();
  require(!shape.empty(), ErrorCode::runtime,
          "expected pivots of at least 1 dim, but got a number");
  const SymInt steps = shape.back();
  shape.pop_back();
  const SymInt count = prims::product(shape);
  shape.push_back(rows);
  if (known_equal(steps, 0) == true || pivots.is_empty())
    return reshape(t.iota({count, rows}, 1, DType::i32), shape);
  const Val wanted = binary(Prim::max, pivots, full_like(pivots, 1));
  const Val inside = binary(Prim::min, wanted - Scalar(1), full_like(wanted, rows - 1));
  const Exchanges x = exchanges_backwards(t, reshape(inside, {count, steps}), rows);
  const auto exchange = [&](const std::vector<Val>& v) {
    const Val &at = v[0], &step = v[2], &target = v[3];
    const Val other = where(eq(at, step), target, where(eq(at, target), step, at));
    return std::vector<Val>{where(lt(target, full_like(target, 0)), step, other), target};
  };
  const Val none = t.constant(-1, DType::i32);
  const Val walked =
      t.prim(Prim::scan, {x.step, x.target, none, none}, {{"dim", int64_t{0}}, {"ordered", true}},
             {t.scalar_region(std::vector<DType>(4, DType::i32), exchange)})[0];
  return reshape(slice(walked, 0, steps, steps + 1, 1), shape);
}

// A = P L U, so A^H = U^H L^H P^T.
Val solved_by_lu(const Val& factors, const Val& permutation, const Val& b, bool adjoint) {
  if (!adjoint) {
    const Val y = solved(factors, rows_in_order(b, permutation), {.unit_diagonal = true});
    return solved(factors, y, {.upper = true});
  }
  const Val a = matrix_adjoint(factors);
  const Val y = solved(a, solved(a, b, {.upper = false}), {.upper = true, .unit_diagonal = true});
  return rows_in_order(y, permutation, true);
}

}  // namespace primset::decomps
