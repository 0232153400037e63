// Least squares: gels by a QR factorisation, the other drivers of LAPACK, which take matrices of
// any rank, by singular values.
#include <fmt/format.h>

#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/linalg/spectra.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

constexpr const char* kLstsq = "torch.linalg.lstsq";

void require_that(bool ok, const std::string& what) {
  require(ok, ErrorCode::runtime, fmt::format("{}: {}", kLstsq, what));
}

// Is b one right-hand side for each matrix?
bool is_vector(const Val& a, const Val& b) {
  const SymInts of_a = a.shape();
  return a.rank() == b.rank() + 1 && equal_sizes(SymInts(of_a.begin(), of_a.end() - 1), b.shape());
}

void require_equations(const Val& a, const Val& b) {
  require_that(a.rank() >= 2, "input must have at least 2 dimensions.");
  require_that(b.rank() >= 1, "other must have at least 1 dimension.");
  const int64_t more = a.rank() - b.rank();
  require_that(more == 0 || more == 1,
               "input.dim() must be greater or equal to other.dim() and (input.dim() - "
               "other.dim()) <= 1");
  if (is_vector(a, b)) return;
  const int64_t rows = more == 1 ? -1 : -2;
  require_that(a.size(-2) == b.size(rows),
               fmt::format("input.size(-2) should match other.size({})", rows));
}

struct Equations {
  Val a, b;  // b has all the batch dims
};

struct Solution {
  Val x, residuals, rank, values;
};

Val sum_of_squares(const Val& x) {  // of the columns
  const Val size = is_complex(x.dtype()) ? real(x) * real(x) + imag(x) * imag(x) : x * x;
  return reduce(Prim::reduce_sum, size, {x.rank() - 2}, false);
}

Val first_rows(const Val& x, const SymInt& from, const SymInt& to) {
  return slice(x, x.rank() - 2, from, to, 1);
}

Val columns_of_q(Tracer& t, const std::vector<Val>& qr, const Val& c, bool adjoint) {
  return t.prim(Prim::apply_reflectors, {qr[0], qr[1], c},
                {{"left", true}, {"adjoint", adjoint}})[0];
}

void check_full_rank(const Val& r, const Val& is_zero) {
  const auto dims = static_cast<int64_t>(r.rank());
  const Val diagonal = r.tracer().prim1(
      Prim::diagonal, {r}, {{"offset", int64_t{0}}, {"dim1", dims - 2}, {"dim2", dims - 1}});
  const Val info = first_zero(diagonal);
  check_info(kLstsq, where(is_zero, full_like(info, Scalar(0)), info));
}

// Of full rank. LAPACK's gels looks no further where all of a is 0, and gives 0.
Solution solved_by_qr(Tracer& t, const Equations& e) {
  const SymInt m = e.a.size(-2), n = e.a.size(-1);
  const bool tall = m >= n;
  const auto qr = t.prim(Prim::qr, {tall ? e.a : matrix_adjoint(e.a)});
  const SymInt k = min(m, n);
  const Val r = first_rows(qr[0], 0, k);
  const int64_t dims = e.a.rank();
  const Val some = logical(is_complex(e.a.dtype()) ? unary(Prim::abs, e.a) : e.a);
  const Val is_zero = ~reduce(Prim::reduce_or, some, {dims - 2, dims - 1}, false);
  check_full_rank(r, is_zero);
  Solution out;
  if (tall) {
    const Val y = columns_of_q(t, qr, e.b, true);
    out.x = solved(r, first_rows(y, 0, n), {.upper = true});
    if (m > n) out.residuals = sum_of_squares(first_rows(y, n, m));
  } else {
    const Val y = solved(matrix_adjoint(t.call1("triu", {r})), e.b, {});
    SymInts none(y.shape().size(), 0), high = none;
    high[high.size() - 2] = n - m;
    const Val zero = t.constant(Scalar(0), y.dtype());
    out.x =
        columns_of_q(t, qr, t.wrap(t.builder().pad(y.id(), zero.id(), none, high, none)), false);
  }
  const Val nothing = unsqueeze(unsqueeze(is_zero, -1), -1);
  out.x = where(nothing, full_like(out.x, Scalar(0)), out.x);
  return out;
}

Solution solved_by_svd(Tracer& t, const Equations& e, const Val& rcond) {
  const SingularValues f = singular_values(t, e.a, false, true);
  const int64_t last = f.s.rank() - 1;
  const Val counts = gt(f.s, rcond * slice(f.s, last, 0, 1, 1));
  const Val safe = where(counts, f.s, full_like(f.s, Scalar(1)));
  const Val factors = where(counts, Scalar(1.0) / safe, full_like(f.s, Scalar(0)));
  const Val along = t.call1("matmul", {matrix_adjoint(f.u), e.b});
  Solution out;
  out.x = t.call1("matmul",
                  {matrix_adjoint(f.vh), unsqueeze(convert(factors, e.a.dtype()), -1) * along});
  out.rank = reduce(Prim::reduce_sum, convert(counts, DType::i64), {last}, false);
  out.values = f.s;
  return out;
}

// There are residuals where all matrices have full rank.
Val residuals_of_full_rank(Tracer& t, const Equations& e, const Solution& s) {
  const Val apart = e.b - t.call1("matmul", {e.a, s.x});
  const Val sums = sum_of_squares(apart);
  const Val full = eq(s.rank, t.constant(e.a.size(-1), DType::i64));
  const Val all =
      full.rank() == 0 ? full : reduce(Prim::reduce_and, full, dims_from(0, full.rank()), false);
  const Val size = t.constant(sums.size(0), DType::i64);
  return t.wrap(
      t.builder().set_dim(sums.id(), where(all, size, full_like(size, Scalar(0))).id(), 0));
}

Solution solved_empty(Tracer& t, const Equations& e, bool has_residuals) {
  SymInts shape = e.b.shape(), batch(shape.begin(), shape.end() - 2), values = batch;
  shape[shape.size() - 2] = e.a.size(-1);
  values.push_back(min(e.a.size(-1), e.a.size(-2)));
  const DType real = real_type(e.a.dtype());
  Solution out{
      zeros(t, shape, e.a.dtype()), {}, zeros(t, batch, DType::i64), zeros(t, values, real)};
  if (has_residuals) out.residuals = sum_of_squares(e.b);
  return out;
}

Val rcond_of(const Val& a, const std::optional<ScalarArg>& rcond) {
  Tracer& t = a.tracer();
  const DType real = real_type(a.dtype());
  const double eps = real == DType::f64 ? std::numeric_limits<double>::epsilon()
                                        : double{std::numeric_limits<float>::epsilon()};
  if (!rcond) return t.constant(max(a.size(-1), a.size(-2)), real) * Scalar(eps);
  const Val given = t.scalar(*rcond, real);
  return where(lt(given, Scalar(0.0)), full_like(given, eps), given);
}

}  // namespace

std::tuple<Val, Val, Val, Val> linalg_lstsq::decompose(Tracer& t, const Val& self, const Val& b,
                                                       const std::optional<ScalarArg>& rcond,
                                                       const std::optional<std::string>& driver) {
  require_equations(self, b);
  require_that(self.dtype() == b.dtype(),
               fmt::format("Expected input and other to have the same dtype, but got input's dtype "
                           "{} and other's dtype {}",
                           aten_name(self.dtype()), aten_name(b.dtype())));
  const std::string name = driver.value_or("gelsy");
  require(
      name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss", ErrorCode::runtime,
      fmt::format("{}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)", kLstsq));
  const DType real = real_type(self.dtype());
  require((real == DType::f32 || real == DType::f64) &&
              (is_floating(self.dtype()) || is_complex(self.dtype())),
          ErrorCode::runtime, "This function doesn't handle types other than float and double");
  const bool vector = is_vector(self, b), by_qr = name == "gels";
  const BroadcastMatrices both = broadcast_matrices(self, vector ? unsqueeze(b, -1) : b);
  // Singular values are of the matrices as they are given, once each.
  const Equations e{by_qr ? both.a : self, both.b};
  const bool tall = self.size(-2) > self.size(-1), has_residuals = tall && name != "gelsy";
  const Val none = zeros(t, {0}, real);
  Solution s;
  if (self.is_empty() || b.is_empty()) {
    s = solved_empty(t, e, has_residuals);
  } else if (by_qr) {
    s = solved_by_qr(t, e);
  } else {
    s = solved_by_svd(t, e, rcond_of(self, rcond));
    if (has_residuals) s.residuals = residuals_of_full_rank(t, e, s);
  }
  return {vector ? squeeze(s.x, s.x.rank() - 1) : s.x, s.residuals.valid() ? s.residuals : none,
          by_qr ? zeros(t, {0}, DType::i64) : s.rank,
          name == "gelsd" || name == "gelss" ? s.values : none};
}

}  // namespace primset::decomps
