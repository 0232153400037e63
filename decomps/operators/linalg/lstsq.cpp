// Least squares: gels by a QR factorisation, the other drivers of LAPACK, which take matrices of
// any rank, by singular values. gelsy gives none of these and takes the QR factorisation where that
// shows that the rank is full.
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

// Of the matrices, or of the adjoints of wide ones.
struct Factored {
  bool tall;
  std::vector<Val> qr;
  Val r;  // square; below its diagonal are the reflectors
};

Factored factored(Tracer& t, const Val& a) {
  const bool tall = a.size(-2) >= a.size(-1);
  const auto qr = t.prim(Prim::qr, {tall ? a : matrix_adjoint(a)});
  return {tall, qr, first_rows(qr[0], 0, min(a.size(-2), a.size(-1)))};
}

// Of full rank: R x is the beginning of Q* b, or x is Q y with R* y = b, which no x is shorter
// than.
Solution solution_of_full_rank(Tracer& t, const Factored& f, const Equations& e) {
  const SymInt m = e.a.size(-2), n = e.a.size(-1);
  Solution out;
  if (f.tall) {
    const Val y = columns_of_q(t, f.qr, e.b, true);
    out.x = solved(f.r, first_rows(y, 0, n), {.upper = true});
    if (m > n) out.residuals = sum_of_squares(first_rows(y, n, m));
    return out;
  }
  const Val y = solved(matrix_adjoint(t.call1("triu", {f.r})), e.b, {});
  SymInts none(y.shape().size(), 0), high = none;
  high[high.size() - 2] = n - m;
  const Val zero = t.constant(Scalar(0), y.dtype());
  out.x =
      columns_of_q(t, f.qr, t.wrap(t.builder().pad(y.id(), zero.id(), none, high, none)), false);
  return out;
}

// LAPACK's gels looks no further where all of a is 0, and gives 0.
Solution solved_by_qr(Tracer& t, const Equations& e) {
  const Factored f = factored(t, e.a);
  const int64_t dims = e.a.rank();
  const Val some = logical(is_complex(e.a.dtype()) ? unary(Prim::abs, e.a) : e.a);
  const Val is_zero = ~reduce(Prim::reduce_or, some, {dims - 2, dims - 1}, false);
  check_full_rank(f.r, is_zero);
  Solution out = solution_of_full_rank(t, f, e);
  const Val nothing = unsqueeze(unsqueeze(is_zero, -1), -1);
  out.x = where(nothing, full_like(out.x, Scalar(0)), out.x);
  return out;
}

// Unchecked: info says whether there are singular values.
struct SvdSolution {
  Solution of;
  Val info;
};

SvdSolution solved_by_svd(Tracer& t, const Equations& e, const Val& rcond) {
  const auto f = t.prim(Prim::svd, {e.a}, {{"full", false}, {"vectors", true}});
  const Val &u = f[0], &s = f[1], &vh = f[2];
  const int64_t last = s.rank() - 1;
  const Val counts = gt(s, rcond * slice(s, last, 0, 1, 1));
  const Val safe = where(counts, s, full_like(s, Scalar(1)));
  const Val factors = where(counts, Scalar(1.0) / safe, full_like(s, Scalar(0)));
  const Val along = t.call1("matmul", {matrix_adjoint(u), e.b});
  Solution out;
  out.x =
      t.call1("matmul", {matrix_adjoint(vh), unsqueeze(convert(factors, e.a.dtype()), -1) * along});
  out.rank = reduce(Prim::reduce_sum, convert(counts, DType::i64), {last}, false);
  out.values = s;
  return {out, f[3]};
}

double epsilon_of(DType dtype) {
  return real_type(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                        : double{std::numeric_limits<float>::epsilon()};
}

Val frobenius_norm(const Val& a) {
  const Val squares = sum_of_squares(a);
  return unary(Prim::sqrt, reduce(Prim::reduce_sum, squares, {squares.rank() - 1}, false));
}

// Whether no singular value of any matrix is so small beside the greatest one that it does not
// count: their quotient is no more than |R| |R^-1|, in Frobenius norms. `kSure` leaves room for
// rounding; what is not sure singular values decide.
Val surely_of_full_rank(Tracer& t, const Val& packed, const Val& rcond) {
  constexpr double kSure = 2;
  const Val r = t.call1("triu", {packed});
  const Val condition =
      frobenius_norm(r) * frobenius_norm(solved(r, identity_like(r), {.upper = true}));
  const Val size = t.constant(r.size(-1), condition.dtype());
  const Val least = binary(Prim::max, rcond, size * Scalar(epsilon_of(r.dtype())));
  const Val sure = lt(condition * least * Scalar(kSure), Scalar(1.0));
  return sure.rank() == 0 ? sure : reduce(Prim::reduce_and, sure, dims_from(0, sure.rank()), false);
}

SvdSolution solved_by_qr_or_svd(Tracer& t, const Equations& e, const Val& rcond) {
  const Factored f = factored(t, e.a);
  using Values = std::vector<Val>;
  const SymInts shape = e.a.shape(), batch(shape.begin(), shape.end() - 2);
  auto by_qr = t.region({}, [&](const Values&) -> Values {
    return {solution_of_full_rank(t, f, e).x,
            t.constant(min(e.a.size(-2), e.a.size(-1)), DType::i64, batch),
            t.constant(Scalar(0), DType::i32, batch)};
  });
  auto by_svd = t.region({}, [&](const Values&) -> Values {
    const SvdSolution s = solved_by_svd(t, e, rcond);
    return {s.of.x, s.of.rank, s.info};
  });
  const auto r = t.prim(Prim::cond, {surely_of_full_rank(t, f.r, rcond)}, {},
                        {std::move(by_qr), std::move(by_svd)});
  Solution out;
  out.x = r[0];
  out.rank = r[1];
  return {out, r[2]};
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
  const double eps = epsilon_of(real);
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
    // With the right-hand sides' batch, one of them may be that of many.
    const bool own_batch = equal_sizes(self.shape(), both.a.shape());
    const Val least = rcond_of(self, rcond);
    const SvdSolution found = name == "gelsy" && own_batch ? solved_by_qr_or_svd(t, e, least)
                                                           : solved_by_svd(t, e, least);
    check_singular_values(found.info);
    s = found.of;
    if (has_residuals) s.residuals = residuals_of_full_rank(t, e, s);
  }
  return {vector ? squeeze(s.x, s.x.rank() - 1) : s.x, s.residuals.valid() ? s.residuals : none,
          by_qr ? zeros(t, {0}, DType::i64) : s.rank,
          name == "gelsd" || name == "gelss" ? s.values : none};
}

}  // namespace primset::decomps
