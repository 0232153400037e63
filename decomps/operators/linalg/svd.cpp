#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/spectra.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

// Drivers are cuSOLVER's.
void require_no_driver(const std::optional<std::string>& driver) {
  require(!driver, ErrorCode::runtime,
          "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
          "cuSOLVER backend.");
}

// Of a batch the value is the matrix's number, in row-major order.
void check_finite(const Val& info) {
  Tracer& t = info.tracer();
  const bool batch = info.rank() > 0;
  const Val number = batch ? reshape(t.iota({info.numel()}, 0, DType::i64), info.shape())
                           : convert(info, DType::i64);
  check(ne(info, Scalar(1)), number, ErrorCode::linalg,
        fmt::format("linalg.svd: {}The algorithm failed to converge because the input matrix "
                    "contained non-finite values.",
                    batch ? "(Batch element {value}): " : ""));
}

}  // namespace

void check_singular_values(const Val& info) {
  check_finite(info);
  check_info("linalg.svd", info);
}

SingularValues singular_values(Tracer& t, const Val& a, bool full, bool vectors) {
  require_floating_or_complex("linalg.svd", a);
  require_matrices("linalg.svd", a);
  require_factorable_dtype("linalg_svd_cpu", a);
  const auto r = t.prim(Prim::svd, {a}, {{"full", full}, {"vectors", vectors}});
  check_singular_values(r[3]);
  return {r[0], r[1], r[2]};
}

Val singular_values(Tracer& t, const Val& a) {
  return singular_values(t, a, false, false).s;
}

std::tuple<Val, Val, Val> _linalg_svd::decompose(Tracer& t, const Val& a, bool full_matrices,
                                                 bool compute_uv,
                                                 const std::optional<std::string>& driver) {
  const SingularValues r = singular_values(t, a, full_matrices, compute_uv);
  require_no_driver(driver);
  if (compute_uv) return {r.u, r.s, r.vh};
  const Val none = zeros(t, {0}, a.dtype());
  return {none, r.s, none};
}

std::tuple<Val, Val, Val> linalg_svd::decompose(Tracer& t, const Val& a, bool full_matrices,
                                                const std::optional<std::string>& driver) {
  return _linalg_svd::decompose(t, a, full_matrices, true, driver);
}

Val linalg_svdvals::decompose(Tracer& t, const Val& a, const std::optional<std::string>& driver) {
  const Val s = singular_values(t, a);
  require_no_driver(driver);
  return s;
}

// Without vectors ATen gives zeros of the full sizes.
std::tuple<Val, Val, Val> svd::decompose(Tracer& t, const Val& self, bool some, bool compute_uv) {
  require(self.rank() >= 2, ErrorCode::runtime,
          fmt::format("linalg.svd: input should have at least 2 dimensions, but has {} dimensions "
                      "instead",
                      self.rank()));
  const SingularValues r = singular_values(t, self, !some, compute_uv);
  if (compute_uv) return {r.u, r.s, matrix_transpose(conj(r.vh))};
  SymInts u = self.shape(), v = self.shape();
  u.back() = self.size(-2);
  v[v.size() - 2] = self.size(-1);
  return {zeros(t, u, self.dtype()), r.s, zeros(t, v, self.dtype())};
}

}  // namespace primset::decomps
