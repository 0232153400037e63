// QR factorisations, and products with their orthogonal factors.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

Val leading_columns(const Val& x, const SymInt& count) {
  return slice(x, x.rank() - 1, 0, count, 1);
}

Val leading_rows(const Val& x, const SymInt& count) {
  return slice(x, x.rank() - 2, 0, count, 1);
}

Val with_columns(const Val& x, const SymInt& count) {
  Tracer& t = x.tracer();
  const SymInts none(x.shape().size(), 0);
  SymInts high = none;
  high.back() = count - x.size(-1);
  return t.wrap(t.builder().pad(x.id(), t.constant(Scalar(0), x.dtype()).id(), none, high, none));
}

// Q and R. A complete Q has a column for each row of A.
std::tuple<Val, Val> qr_factors(Tracer& t, const Val& a, bool complete) {
  const auto packed = t.prim(Prim::qr, {a});
  const Val &v = packed[0], &tau = packed[1];
  const SymInt m = a.size(-2), count = tau.size(-1), columns = complete ? m : count;
  const bool narrow = complete && a.size(-1) < m;
  const Val reflectors = narrow ? with_columns(v, m) : leading_columns(v, columns);
  return {t.prim1(Prim::householder_product, {reflectors, tau}),
          t.call1("triu", {leading_rows(v, columns)})};
}

}  // namespace

std::tuple<Val, Val> geqrf::decompose(Tracer& t, const Val& self) {
  require(self.rank() >= 2, ErrorCode::runtime,
          "torch.geqrf: input must have at least 2 dimensions.");
  require_factorable_dtype("geqrf_cpu", self);
  const auto packed = t.prim(Prim::qr, {self});
  return {packed[0], packed[1]};
}

std::tuple<Val, Val> linalg_qr::decompose(Tracer& t, const Val& a, const std::string& mode) {
  require_matrices("linalg.qr", a);
  require_floating_or_complex("linalg.qr", a);
  require(mode == "reduced" || mode == "complete" || mode == "r", ErrorCode::runtime,
          fmt::format("qr received unrecognized mode '{}' but expected one of 'reduced' (default), "
                      "'r', or 'complete'",
                      mode));
  require_factorable_dtype("geqrf_cpu", a);
  if (mode != "r") return qr_factors(t, a, mode == "complete");
  const Val v = t.prim(Prim::qr, {a})[0];
  return {zeros(t, {0}, a.dtype()),
          t.call1("triu", {leading_rows(v, min(a.size(-1), a.size(-2)))})};
}

std::tuple<Val, Val> qr::decompose(Tracer& t, const Val& self, bool some) {
  return linalg_qr::decompose(t, self, some ? "reduced" : "complete");
}

namespace {

void require_tau(const char* op, const Val& input, const Val& tau) {
  require(input.rank() - tau.rank() == 1, ErrorCode::runtime,
          fmt::format("{}: Expected tau to have one dimension less than input, but got tau.ndim "
                      "equal to {} and input.ndim is equal to {}",
                      op, tau.rank(), input.rank()));
  const SymInts of_input = input.shape(), of_tau = tau.shape();
  const SymInts batch(of_tau.begin(), of_tau.end() - 1);
  require(equal_sizes(SymInts(of_input.begin(), of_input.end() - 2), batch), ErrorCode::runtime,
          fmt::format("{}: Expected batch dimensions of tau to be equal to input.shape[:-2], but "
                      "got {}",
                      op, shape_text(batch)));
}

}  // namespace

Val linalg_householder_product::decompose(Tracer& t, const Val& input, const Val& tau) {
  const char* op = "torch.linalg.householder_product";
  const auto check_that = [&](bool ok, const char* what) {
    require(ok, ErrorCode::runtime, fmt::format("{}: {}", op, what));
  };
  check_that(input.rank() >= 2, "input must have at least 2 dimensions.");
  check_that(input.size(-2) >= input.size(-1),
             "input.shape[-2] must be greater than or equal to input.shape[-1]");
  check_that(input.size(-1) >= tau.size(-1),
             "input.shape[-1] must be greater than or equal to tau.shape[-1]");
  require_tau(op, input, tau);
  require(tau.dtype() == input.dtype(), ErrorCode::runtime,
          fmt::format("{}: tau dtype {} does not match input dtype {}", op, aten_name(tau.dtype()),
                      aten_name(input.dtype())));
  require_factorable_dtype("orgqr_cpu", input);
  return t.prim1(Prim::householder_product, {input, tau});
}

namespace {

void require_other(const Val& input, const Val& other) {
  require(other.rank() == input.rank(), ErrorCode::runtime,
          fmt::format("torch.ormqr: Expected other to have the same number of dimensions as input, "
                      "but got other.ndim equal to {} and input.ndim is equal to {}",
                      other.rank(), input.rank()));
  const SymInts of_input = input.shape(), of_other = other.shape();
  const SymInts batch(of_other.begin(), of_other.end() - 2);
  require(equal_sizes(SymInts(of_input.begin(), of_input.end() - 2), batch), ErrorCode::runtime,
          fmt::format("torch.ormqr: Expected batch dimensions of other to be equal to "
                      "input.shape[:-2], but got {}",
                      shape_text(batch)));
}

void require_dtype_of_input(const Val& input, const char* name, const Val& x) {
  require(x.dtype() == input.dtype(), ErrorCode::runtime,
          fmt::format("torch.ormqr: Expected input and {} to have the same dtype, but input has "
                      "dtype{} and {} has dtype {}",
                      name, aten_name(input.dtype()), name, aten_name(x.dtype())));
}

}  // namespace

Val ormqr::decompose(Tracer& t, const Val& input, const Val& tau, const Val& other, bool left,
                     bool transpose) {
  require(input.rank() >= 2, ErrorCode::runtime,
          "torch.ormqr: input must have at least 2 dimensions.");
  require(other.rank() >= 2, ErrorCode::runtime,
          "torch.ormqr: other must have at least 2 dimensions.");
  const int64_t side = left ? -2 : -1;
  require(other.size(side) == input.size(-2), ErrorCode::runtime,
          fmt::format("torch.ormqr: other.shape[{}] must be equal to input.shape[-2]", side));
  require(tau.size(-1) == min(other.size(side), input.size(-1)), ErrorCode::runtime,
          fmt::format("torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{}], "
                      "input.shape[-1])",
                      side));
  require_tau("torch.ormqr", input, tau);
  require_other(input, other);
  require_dtype_of_input(input, "tau", tau);
  require_dtype_of_input(input, "other", other);
  require_factorable_dtype("ormqr_cpu", input);
  const Val reflectors = leading_columns(input, tau.size(-1));
  return t.prim(Prim::apply_reflectors, {reflectors, tau, other},
                {{"left", left}, {"adjoint", transpose}})[0];
}

}  // namespace primset::decomps
