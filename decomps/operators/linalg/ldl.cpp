// Factorizations of symmetric and Hermitian matrices that need not be definite.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

std::tuple<Val, Val, Val> linalg_ldl_factor_ex::decompose(Tracer& t, const Val& self,
                                                          bool hermitian, bool check_errors) {
  require_square("torch.linalg.ldl_factor_ex", self);
  require_floating_or_complex("torch.linalg.ldl_factor_ex", self);
  require_factorable_dtype("ldl_factor_kernel_cpu", self);
  const auto out = t.prim(Prim::ldl_factor, {self}, {{"hermitian", hermitian}});
  if (check_errors) check_info("torch.linalg.ldl_factor_ex", out[2]);
  return {out[0], out[1], out[2]};
}

std::tuple<Val, Val> linalg_ldl_factor::decompose(Tracer& t, const Val& self, bool hermitian) {
  const auto [factors, pivots, info] = linalg_ldl_factor_ex::decompose(t, self, hermitian, false);
  check_info("torch.linalg.ldl_factor", info);
  return {factors, pivots};
}

Val linalg_ldl_solve::decompose(Tracer& t, const Val& LD, const Val& pivots, const Val& B,
                                bool hermitian) {
  constexpr const char* kName = "torch.linalg.ldl_solve";
  require_square(kName, LD);
  require_floating_or_complex(kName, LD);
  require(
      is_integral(pivots.dtype()), ErrorCode::runtime,
      fmt::format("{}: Expected pivots to be integers. Got {}", kName, aten_name(pivots.dtype())));
  SymInts rows = LD.shape();
  rows.pop_back();
  require(equal_sizes(rows, pivots.shape()), ErrorCode::runtime,
          fmt::format("{}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots "
                      "with shape {} instead",
                      kName, shape_text(pivots.shape())));
  require_matrices(kName, B, "B");
  require_fitting_sizes(kName, LD, B);
  require_one_dtype("", "b", B, "A", LD);
  require_factorable_dtype("ldl_solve_kernel_cpu", LD);
  const BroadcastMatrices m = broadcast_matrices(LD, B);
  if (m.b.is_empty()) return m.b;
  rows = m.a.shape();
  rows.pop_back();
  return t.prim1(Prim::ldl_solve, {m.a, broadcast_to(convert(pivots, DType::i32), rows), m.b},
                 {{"hermitian", hermitian}});
}

}  // namespace primset::decomps
