// Equations with triangular matrices.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

// X A = B is A^T X^T = B^T.
// The right side becomes the result, which has the matrix's dtype.
Val linalg_solve_triangular::decompose(Tracer& /*t*/, const Val& self, const Val& given, bool upper,
                                       bool left, bool unitriangular) {
  const Val B = convert(given, self.dtype());
  require_equation("linalg.solve_triangular", self, B, left);
  require_factorable_dtype("triangular_solve_cpu", self);
  const BroadcastMatrices m = broadcast_matrices(self, B);
  if (left) return solved(m.a, m.b, {upper, unitriangular});
  return matrix_transpose(
      solved(matrix_transpose(m.a), matrix_transpose(m.b), {!upper, unitriangular}));
}

std::tuple<Val, Val> triangular_solve::decompose(Tracer& /*t*/, const Val& self, const Val& A,
                                                 bool upper, bool transpose, bool unitriangular) {
  for (const auto& [x, name] : {std::pair{&self, "b"}, std::pair{&A, "A"}}) {
    require(x->rank() >= 2, ErrorCode::runtime,
            fmt::format("torch.triangular_solve: Expected {} to have at least 2 dimensions, but it "
                        "has {} dimensions instead",
                        name, x->rank()));
  }
  require_one_dtype("", "b", self, "A", A);
  require_fitting_sizes("triangular_solve", A, self);
  require_factorable_dtype("triangular_solve_cpu", self);
  const BroadcastMatrices m = broadcast_matrices(A, self);
  const Val a = transpose ? matrix_transpose(m.a) : m.a;
  return {solved(a, m.b, {upper != transpose, unitriangular}), m.a};
}

}  // namespace primset::decomps
