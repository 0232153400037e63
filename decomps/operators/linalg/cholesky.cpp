// Cholesky factors, and solutions and inverses by them.
#include "decomps/operators/linalg.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct CholeskyFactors {
  Val factor, info;
};

CholeskyFactors cholesky_factors(Tracer& t, const char* op, const Val& a, bool upper) {
  require_square(op, a);
  require_floating_or_complex(op, a);
  require_factorable_dtype("cholesky_cpu", a);
  const auto out = t.prim(Prim::cholesky, {a}, {{"upper", upper}});
  return {out[0], out[1]};
}

}  // namespace

std::tuple<Val, Val> linalg_cholesky_ex::decompose(Tracer& t, const Val& self, bool upper,
                                                   bool check_errors) {
  const CholeskyFactors f = cholesky_factors(t, "linalg.cholesky", self, upper);
  if (check_errors) check_info("linalg.cholesky_ex", f.info);
  return {f.factor, f.info};
}

Val linalg_cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  const CholeskyFactors f = cholesky_factors(t, "linalg.cholesky", self, upper);
  check_info("linalg.cholesky", f.info);
  return f.factor;
}

Val cholesky::decompose(Tracer& t, const Val& self, bool upper) {
  if (self.is_empty()) return self;  // of any sizes
  const CholeskyFactors f = cholesky_factors(t, "cholesky", self, upper);
  check_info("cholesky", f.info);
  return f.factor;
}

namespace {

// A^-1 B of A = L L^H or U^H U.
Val solved_by_cholesky(const Val& factor, const Val& b, bool upper) {
  const Val first = upper ? matrix_adjoint(factor) : factor,
            second = upper ? factor : matrix_adjoint(factor);
  return solved(second, solved(first, b, {.upper = false}), {.upper = true});
}

void require_matrix_ranks(const Val& b, const Val& factor) {
  for (const auto& [x, name] : {std::pair{&b, "b"}, std::pair{&factor, "u"}}) {
    require(x->rank() >= 2, ErrorCode::runtime,
            fmt::format("{} should have at least 2 dimensions, but has {} dimensions instead", name,
                        x->rank()));
  }
}

}  // namespace

Val _cholesky_solve_helper::decompose(Tracer& /*t*/, const Val& self, const Val& A, bool upper) {
  require_factorable_dtype("cholesky_solve_cpu", self);
  require(self.dtype() == A.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(self.dtype()),
                      aten_name(A.dtype())));
  require_matrix_ranks(self, A);
  require_fitting_sizes("cholesky_solve", A, self);
  const BroadcastMatrices m = broadcast_matrices(A, self);
  return solved_by_cholesky(m.a, m.b, upper);
}

Val cholesky_solve::decompose(Tracer& /*t*/, const Val& self, const Val& input2, bool upper) {
  require_matrix_ranks(self, input2);
  require_one_dtype("", "b", self, "A", input2);
  require_fitting_sizes("cholesky_solve", input2, self);
  require_factorable_dtype("cholesky_solve_cpu", self);
  const BroadcastMatrices m = broadcast_matrices(input2, self);
  return solved_by_cholesky(m.a, m.b, upper);
}

Val cholesky_inverse::decompose(Tracer& t, const Val& self, bool upper) {
  require_square("cholesky_inverse", self);
  require_factorable_dtype("cholesky_inverse_out_cpu", self);
  const Val diagonal = t.call1("linalg_diagonal", {self});
  check_info("cholesky_inverse", first_zero(diagonal));
  return solved_by_cholesky(self, identity_like(self), upper);
}

}  // namespace primset::decomps
