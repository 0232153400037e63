// Eigenvalues and eigenvectors.
#include <fmt/format.h>

#include <cctype>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/spectra.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

HermitianEigen hermitian_eigen(Tracer& t, const Val& a, const std::string& uplo, bool vectors) {
  require_square("linalg.eigh", a);
  const int triangle = uplo.size() == 1 ? std::toupper(static_cast<unsigned char>(uplo[0])) : 0;
  require(triangle == 'L' || triangle == 'U', ErrorCode::runtime,
          fmt::format("Expected UPLO argument to be 'L' or 'U', but got {}", uplo));
  require_factorable_dtype("linalg_eigh_cpu", a);
  // The lower triangle of a* is the upper one of a.
  const Val lower = triangle == 'U' ? matrix_transpose(conj(a)) : a;
  const auto r = t.prim(Prim::eigh, {lower}, {{"vectors", vectors}});
  check_info("linalg.eigh", r[2]);
  return {r[0], vectors ? r[1] : zeros(t, {0}, a.dtype())};
}

std::tuple<Val, Val> _linalg_eigh::decompose(Tracer& t, const Val& a, const std::string& uplo,
                                             bool compute_v) {
  const HermitianEigen e = hermitian_eigen(t, a, uplo, compute_v);
  return {e.values, e.vectors};
}

std::tuple<Val, Val> linalg_eigh::decompose(Tracer& t, const Val& self, const std::string& uplo) {
  const HermitianEigen e = hermitian_eigen(t, self, uplo, true);
  return {e.values, e.vectors};
}

Val linalg_eigvalsh::decompose(Tracer& t, const Val& self, const std::string& uplo) {
  return hermitian_eigen(t, self, uplo, false).values;
}

namespace {

std::vector<Val> general_eigen_of(Tracer& t, const char* op, const Val& a, bool vectors) {
  require_square(op, a);
  require(is_floating(a.dtype()) || is_complex(a.dtype()), ErrorCode::runtime,
          fmt::format("Unknown Complex ScalarType for {}", aten_name(a.dtype())));
  require_factorable_dtype("linalg_eig_out_cpu", a);
  const Val parts = is_complex(a.dtype()) ? unary(Prim::abs, real(a)) + unary(Prim::abs, imag(a))
                                          : unary(Prim::abs, a);
  check(lt(parts, Scalar(std::numeric_limits<double>::infinity())),
        t.constant(Scalar(0), DType::i64), ErrorCode::runtime,
        fmt::format("torch.{}: input tensor should not contain infs or NaNs.", op));
  auto r = t.prim(Prim::eig, {a}, {{"vectors", vectors}});
  check_info(op, r[2]);
  return r;
}

}  // namespace

std::tuple<Val, Val> linalg_eig::decompose(Tracer& t, const Val& self) {
  const auto r = general_eigen_of(t, "linalg.eig", self, true);
  return {r[0], r[1]};
}

Val linalg_eigvals::decompose(Tracer& t, const Val& self) {
  return general_eigen_of(t, "linalg.eigvals", self, false)[0];
}

Val _linalg_eigvals::decompose(Tracer& t, const Val& self) {
  return linalg_eigvals::decompose(t, self);
}

}  // namespace primset::decomps
