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

// Step i exchanges row i with row pivots[i] - 1.
Val permutation_of(Tracer& t, const Val& pivots, const SymInt& rows) {
  SymInts shape = pivots.shape();
  require(!shape.empty(), ErrorCode::runtime,
          "expected pivots of at least 1 dim, but got a number");
  const SymInt steps = shape.back();
  shape.pop_back();
  const SymInt count = prims::product(shape);
  shape.push_back(rows);
  const Val start = t.iota({count, rows}, 1, DType::i64);
  if (known_equal(steps, 0) == true || pivots.is_empty())
    return reshape(convert(start, DType::i32), shape);
  const Val wanted = convert(binary(Prim::max, pivots, full_like(pivots, 1)), DType::i64);
  const Val inside = binary(Prim::min, wanted - Scalar(1), full_like(wanted, rows - 1));
  const Val targets = reshape(inside, {count, steps}), matrix = t.iota({count}, 0, DType::i64);
  const prims::Region body =
      t.region({{DType::i64, {}}, {DType::i64, start.shape()}}, [&](const std::vector<Val>& v) {
        const Val zero = t.constant(0, DType::i64), &order = v[1];
        const auto at = [&](const Val& x, const Val& column) {
          return t.wrap(
              t.builder().dynamic_slice(x.id(), {zero.id(), column.id()}, {count, SymInt(1)}));
        };
        const Val target = at(targets, v[0]), place = t.iota(order.shape(), 1, DType::i64);
        const Val other = t.wrap(t.builder().gather(
            order.id(), {matrix.id(), reshape(target, {count}).id()}, {0, 1}, true, "pivots"));
        const Val now = where(eq(place, v[0]), reshape(other, {count, 1}),
                              where(eq(place, target), at(order, v[0]), order));
        return std::vector<Val>{now};
      });
  const Val order =
      t.prim(Prim::for_loop, {start}, {{"count", steps}, {"stacked", int64_t{0}}}, {body})[0];
  return reshape(convert(order, DType::i32), shape);
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
