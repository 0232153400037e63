// Solutions of linear equations, and what operators around them share.
#ifndef PRIMSET_DECOMPS_OPERATORS_LINALG_SOLUTIONS_H_
#define PRIMSET_DECOMPS_OPERATORS_LINALG_SOLUTIONS_H_

#include <string_view>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// Batches of matrices with their batch dims broadcast together.
struct BroadcastMatrices {
  Val a, b;
};
BroadcastMatrices broadcast_matrices(const Val& a, const Val& b);

Val matrix_adjoint(const Val& x);
Val identity_like(const Val& a);  // of a's shape

// A is square and, of A X = B, has as many rows as B (columns, of X A = B).
void require_fitting_sizes(std::string_view op, const Val& a, const Val& b);
void require_equation(std::string_view op, const Val& a, const Val& b, bool left);

// The solution of A X = B, A a triangular matrix of the same batch dims.
struct Triangle {
  bool upper = false, unit_diagonal = false;
};
Val solved(const Val& a, const Val& b, Triangle triangle);

// The number of the first zero in each row of x, from 1, or 0, as i32.
Val first_zero(const Val& x);

struct LuFactors {
  Val factors, pivots, permutation, info;
};
LuFactors lu_factors(Tracer& t, const Val& a, bool pivot = true);

// The rows of P^T x, where permutation tells which of x's rows each is, or of P x (inverse).
Val rows_in_order(const Val& x, const Val& permutation, bool inverse = false);

// The permutation that exchanging row after row as the pivots say makes: i32. Pivots out of range
// count as the nearest row.
Val permutation_of(Tracer& t, const Val& pivots, const SymInt& rows);

// The solution of A X = B, or of A^H X = B, for A of these factors.
Val solved_by_lu(const Val& factors, const Val& permutation, const Val& b, bool adjoint = false);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_LINALG_SOLUTIONS_H_
