// LU factorizations, and solutions by them.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_some_dims(const char* op, const Val& a) {
  require(a.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}: Expected tensor with 2 or more dimensions. Got size: {} instead", op,
                      shape_text(a.shape())));
}

LuFactors checked_lu_factors(Tracer& t, const char* op, const Val& a, bool pivot) {
  require_some_dims(op, a);
  require_factorable_dtype("lu_cpu", a);
  return lu_factors(t, a, pivot);
}

// The triangles of LU: L [m, k] with ones on its diagonal, and U [k, n].
struct Triangles {
  Val lower, upper;
};

Triangles triangles_of(const Val& factors) {
  Tracer& t = factors.tracer();
  const SymInt m = factors.size(-2), n = factors.size(-1), k = m.same(n) ? m : min(m, n);
  const auto numbers = [&](const Val& x, int64_t dim) {
    return t.iota(x.shape(), x.rank() + dim, DType::i64);
  };
  const Val left = slice(factors, -1, 0, k, 1), top = slice(factors, -2, 0, k, 1);
  const Val below = gt(numbers(left, -2), numbers(left, -1)),
            above = ge(numbers(top, -1), numbers(top, -2));
  return {where(below, left, convert(eq(numbers(left, -2), numbers(left, -1)), left.dtype())),
          where(above, top, full_like(top, Scalar(0)))};
}

// P with A = P L U: column i has its one in row permutation[i].
Val permutation_matrix(const Val& permutation, DType dtype) {
  SymInts shape = permutation.shape();
  shape.push_back(shape.back());
  const Val row = permutation.tracer().iota(shape, permutation.rank() - 1, DType::i32);
  return convert(eq(row, unsqueeze(permutation, permutation.rank() - 1)), dtype);
}

Val nothing_of(Tracer& t, const Val& like) {
  return t.constant(Scalar(0), like.dtype(), {SymInt(0)});
}

}  // namespace

std::tuple<Val, Val, Val> linalg_lu_factor_ex::decompose(Tracer& t, const Val& A, bool pivot,
                                                         bool check_errors) {
  const LuFactors f = checked_lu_factors(t, "torch.lu_factor", A, pivot);
  if (check_errors) check_info("torch.linalg.lu_factor_ex", f.info);
  return {f.factors, f.pivots, f.info};
}

std::tuple<Val, Val> linalg_lu_factor::decompose(Tracer& t, const Val& A, bool pivot) {
  const LuFactors f = checked_lu_factors(t, "torch.lu_factor", A, pivot);
  check_info("torch.linalg.lu_factor", f.info);
  return {f.factors, f.pivots};
}

std::tuple<Val, Val, Val> linalg_lu::decompose(Tracer& t, const Val& A, bool pivot) {
  const LuFactors f = checked_lu_factors(t, "linalg.lu", A, pivot);
  const Triangles parts = triangles_of(f.factors);
  return {pivot ? permutation_matrix(f.permutation, A.dtype()) : nothing_of(t, A), parts.lower,
          parts.upper};
}

namespace {

// Of a matrix without rows the pivots are not looked at.
Val unpacked_permutation(Tracer& t, const Val& factors, const Val& pivots) {
  require(pivots.dtype() == DType::i32, ErrorCode::runtime,
          "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
          "dtype.\nNote: this function is intended to be used with the output produced by "
          "torch.linalg.lu_factor");
  const SymInt rows = factors.size(-2);
  if (rows == SymInt(0)) {
    SymInts shape = factors.shape();
    shape.back() = 0;
    return zeros(t, shape, factors.dtype());
  }
  const Val inside = ge(pivots, Scalar(1)) & le(pivots, full_like(pivots, rows));
  check(inside, pivots, ErrorCode::runtime,
        "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
        "Did you properly pass the result of lu_factor?");
  return permutation_matrix(permutation_of(t, pivots, rows), factors.dtype());
}

}  // namespace

std::tuple<Val, Val, Val> lu_unpack::decompose(Tracer& t, const Val& LU_data, const Val& LU_pivots,
                                               bool unpack_data, bool unpack_pivots) {
  require_some_dims("torch.lu_unpack", LU_data);
  const Val p =
      unpack_pivots ? unpacked_permutation(t, LU_data, LU_pivots) : nothing_of(t, LU_data);
  if (!unpack_data) return {p, nothing_of(t, LU_data), nothing_of(t, LU_data)};
  const Triangles parts = triangles_of(LU_data);
  return {p, parts.lower, parts.upper};
}

namespace {

void check_pivots(const Val& pivots, const SymInt& rows) {
  check(ge(pivots, Scalar(1)), pivots, ErrorCode::runtime,
        "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the "
        "result of lu_factor?");
  check(le(pivots, full_like(pivots, rows)), pivots, ErrorCode::runtime,
        "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly "
        "pass the result of lu_factor?");
}

void require_lu_and_b(const Val& lu, const Val& pivots, const Val& b, bool left) {
  require_full_precision("torch.linalg.lu_solve", lu);
  require_one_dtype("linalg.lu_solve: ", "LU", lu, "B", b);
  require(pivots.dtype() == DType::i32, ErrorCode::runtime,
          "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  require_square("torch.linalg.lu_solve", lu);
  require_equation("linalg.lu_solve", lu, b, left);
  require(lu.size(-1) == pivots.size(-1), ErrorCode::runtime,
          "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
          "matrix");
  SymInts rows = lu.shape();
  rows.pop_back();
  require(equal_sizes(rows, pivots.shape()), ErrorCode::runtime,
          fmt::format("linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, "
                      "but got pivots with shape {} instead",
                      shape_text(pivots.shape())));
}

}  // namespace

// X A = B is A^H X^H = B^H.
Val linalg_lu_solve::decompose(Tracer& t, const Val& LU, const Val& pivots, const Val& B, bool left,
                               bool adjoint) {
  require_lu_and_b(LU, pivots, B, left);
  check_pivots(pivots, LU.size(-2));
  const BroadcastMatrices m = broadcast_matrices(LU, left ? B : matrix_adjoint(B));
  SymInts rows = m.a.shape();
  rows.pop_back();
  const Val permutation = broadcast_to(permutation_of(t, pivots, LU.size(-2)), rows);
  const Val x = solved_by_lu(m.a, permutation, m.b, adjoint == left);
  return left ? x : matrix_adjoint(x);
}

}  // namespace primset::decomps
