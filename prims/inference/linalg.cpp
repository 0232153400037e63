// Factorizations and solutions over the last two dims.
#include "prims/inference/rules.h"

namespace primset::prims {
namespace {

SymInts batch_of(const Call& c) {
  return {c.shape(0).begin(), c.shape(0).end() - 2};
}

bool is_matrix(const Call& c, size_t operand) {
  return c.rank(operand) >= 2;
}

bool is_square(const Call& c) {
  return is_matrix(c, 0) && c.shape(0)[c.rank(0) - 1] == c.shape(0)[c.rank(0) - 2];
}

SymInts with(SymInts shape, const SymInt& size) {
  shape.push_back(size);
  return shape;
}

Types cholesky(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_square(c), "cholesky_c1: matrices are square");
  return {c.type(0), {DType::i32, batch_of(c)}};
}

Types lu(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_matrix(c, 0), "lu_c1: a has at least two dims");
  const SymInt rows = c.shape(0)[c.rank(0) - 2], columns = c.shape(0).back();
  const SymInt pivots = rows.same(columns) ? rows : min(rows, columns);
  return {c.type(0),
          {DType::i32, with(batch_of(c), pivots)},
          {DType::i32, with(batch_of(c), rows)},
          {DType::i32, batch_of(c)}};
}

// The right-hand sides of a solution have the matrices' batch dims and as many rows.
void require_right_hand_sides(const Call& c, size_t operand, const char* rule) {
  const size_t r = c.rank(0);
  bool fits = c.rank(operand) == r;
  for (size_t d = 0; fits && d + 1 < r; ++d) fits = c.shape(operand)[d] == c.shape(0)[d];
  c.require(fits, rule);
}

Types triangular_solve(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_square(c), "triangular_solve_c1: matrices are square");
  require_right_hand_sides(c, 1, "triangular_solve_c2: b has a's batch dims and rows");
  return {c.type(1)};
}

Types ldl_factor(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_square(c), "ldl_factor_c1: matrices are square");
  return {c.type(0), {DType::i32, with(batch_of(c), c.shape(0).back())}, {DType::i32, batch_of(c)}};
}

Types ldl_solve(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_square(c), "ldl_solve_c1: matrices are square");
  const SymInts rows(c.shape(0).begin(), c.shape(0).end() - 1);
  bool fits = c.rank(1) + 1 == c.rank(0);
  for (size_t d = 0; fits && d < rows.size(); ++d) fits = c.shape(1)[d] == rows[d];
  c.require(fits, "ldl_solve_c2: one pivot a row");
  require_right_hand_sides(c, 2, "ldl_solve_c3: b has a's batch dims and rows");
  return {c.type(2)};
}

Types matrix_exp(const Call& c) {
  c.require_signature_dtypes();
  c.require(is_square(c), "matrix_exp_c1: matrices are square");
  return {c.type(0)};
}

}  // namespace

void add_linalg_rules(RuleTable& t) {
  t.set(Prim::cholesky, cholesky);
  t.set(Prim::lu, lu);
  t.set(Prim::triangular_solve, triangular_solve);
  t.set(Prim::ldl_factor, ldl_factor);
  t.set(Prim::ldl_solve, ldl_solve);
  t.set(Prim::matrix_exp, matrix_exp);
}

}  // namespace primset::prims
