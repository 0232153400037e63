// Determinants from LU factors.
#include "decomps/engine/engine.h"
#include "decomps/engine/strides.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/linalg/checks.h"
#include "decomps/operators/linalg/solutions.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct Determinant {
  LuFactors lu;
  Val diagonal;  // of U
  Val sign;      // of the permutation, in U's dtype
};

// ATen factors the transpose of a real matrix that lies by rows, which for LAPACK is one by
// columns.
bool factors_transpose(Tracer& t, const Val& a) {
  return !is_complex(a.dtype()) && is_contiguous(a.shape(), t.place_of(a).strides);
}

// Each exchange of two different rows turns the sign.
Determinant determinant_of(Tracer& t, const Val& a) {
  const LuFactors f = lu_factors(t, factors_transpose(t, a) ? matrix_transpose(a) : a);
  const Val place = t.iota(f.pivots.shape(), f.pivots.rank() - 1, DType::i32) + Scalar(1);
  const Val exchanges = reduce(Prim::reduce_sum, convert(ne(f.pivots, place), DType::i32),
                               {f.pivots.rank() - 1}, false);
  const Val odd = exchanges & full_like(exchanges, Scalar(1));
  return {f, t.call1("linalg_diagonal", {f.factors}),
          convert(Scalar(1) - Scalar(2) * odd, a.dtype())};
}

struct SignAndLog {
  Val sign, log;
};

// A factor of 0 has the sign 0 and the logarithm -inf.
SignAndLog sign_and_log(Tracer& t, const Determinant& d) {
  const std::vector<int64_t> last = {d.diagonal.rank() - 1};
  const Val signs = t.call1("sgn", {d.diagonal});
  return {reduce(Prim::reduce_prod, signs, last, false) * d.sign,
          reduce(Prim::reduce_sum, unary(Prim::log, unary(Prim::abs, d.diagonal)), last, false)};
}

SignAndLog checked_sign_and_log(Tracer& t, const char* op, const Val& a, Determinant* factors) {
  require_square(op, a);
  require_full_precision(op, a);
  const Determinant d = determinant_of(t, a);
  if (factors) *factors = d;
  return sign_and_log(t, d);
}

}  // namespace

std::tuple<Val, Val, Val> _linalg_det::decompose(Tracer& t, const Val& A) {
  require_square("linalg.det", A);
  require_floating_or_complex("linalg.det", A);
  require_factorable_dtype("lu_cpu", A);
  const Determinant d = determinant_of(t, A);
  const Val product =
      reduce(Prim::reduce_prod, d.diagonal, {d.diagonal.rank() - 1}, false) * d.sign;
  return {product, d.lu.factors, d.lu.pivots};
}

Val linalg_det::decompose(Tracer& t, const Val& A) {
  return std::get<0>(_linalg_det::decompose(t, A));
}

std::tuple<Val, Val, Val, Val> _linalg_slogdet::decompose(Tracer& t, const Val& A) {
  Determinant d;
  const SignAndLog s = checked_sign_and_log(t, "linalg.slogdet", A, &d);
  return {s.sign, s.log, d.lu.factors, d.lu.pivots};
}

std::tuple<Val, Val> linalg_slogdet::decompose(Tracer& t, const Val& A) {
  const auto [sign, log, factors, pivots] = _linalg_slogdet::decompose(t, A);
  return {sign, log};
}

// Of a complex matrix the logarithm's imaginary part is the sign's angle, else a negative sign has
// no logarithm.
Val logdet::decompose(Tracer& t, const Val& self) {
  const SignAndLog s = checked_sign_and_log(t, "logdet", self, nullptr);
  if (is_complex(self.dtype())) return unary(Prim::log, s.sign) + convert(s.log, self.dtype());
  const Val none = full_like(s.log, Scalar(std::numeric_limits<double>::quiet_NaN()));
  return where(lt(s.sign, full_like(s.sign, Scalar(0))), none, s.log);
}

}  // namespace primset::decomps
