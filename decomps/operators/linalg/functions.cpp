// Powers and exponentials of matrices.
#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

// By squaring, from the exponent's lowest bit on; the powers of an inverse for a negative one.
Val linalg_matrix_power::decompose(Tracer& t, const Val& self, int64_t n) {
  require_square("linalg.matrix_power", self);
  if (n == 0) return identity_like(self);
  Val square = n < 0 ? t.call1("linalg_inv", {self}) : self, result;
  const auto product = [&](const Val& a, const Val& b) { return t.call1("matmul", {a, b}); };
  for (uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest & 1) result = result.valid() ? product(square, result) : square;
    rest >>= 1;
    if (rest == 0) return result;
    square = product(square, square);
  }
}

namespace {

// Half types are computed in f32.
Val matrix_exponential(Tracer& t, const Val& a) {
  require_floating_or_complex("linalg.matrix_exp", a);
  if (a.is_empty()) return a;
  return convert(t.prim1(Prim::matrix_exp, {opmath(a)}), a.dtype());
}

}  // namespace

Val linalg_matrix_exp::decompose(Tracer& t, const Val& self) {
  require_square("linalg.matrix_exp", self);
  return matrix_exponential(t, self);
}

// The derivative at A^H in the direction of grad is the upper right block of the exponential of
// [A^H grad; 0 A^H] (Mathias, "A chain rule for matrix functions and applications", 1996).
Val matrix_exp_backward::decompose(Tracer& t, const Val& self, const Val& grad) {
  require_square("matrix_exp_backward", self);
  require_expandable(grad.shape(), self.shape());
  const Val a = convert(matrix_adjoint(self), grad.dtype()), none = full_like(a, Scalar(0));
  const int64_t columns = a.rank() - 1, rows = a.rank() - 2;
  const Val whole = concatenate(
      {concatenate({a, broadcast_to(grad, a.shape())}, columns), concatenate({none, a}, columns)},
      rows);
  const SymInt n = a.size(-1);
  return slice(slice(matrix_exponential(t, whole), rows, 0, n, 1), columns, n, n + n, 1);
}

}  // namespace primset::decomps
