// Pseudoinverses and ranks: singular values above a tolerance count, the others are taken for 0.
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

// Both against the singular values, whose dim is the last: the tolerance is the greater of
// `absolute` and `relative` times the greatest value.
struct Tolerance {
  Val absolute, relative;
};

Val default_relative(const Val& a) {
  Tracer& t = a.tracer();
  const DType real = real_type(a.dtype());
  require(real == DType::f32 || real == DType::f64, ErrorCode::runtime,
          "This function doesn't handle types other than float and double");
  const double eps = real == DType::f64 ? std::numeric_limits<double>::epsilon()
                                        : double{std::numeric_limits<float>::epsilon()};
  return t.constant(max(a.size(-1), a.size(-2)), real) * Scalar(eps);
}

// An absolute tolerance alone makes the relative one 0.
Tolerance tolerance_of(const Val& a, const std::optional<Val>& atol,
                       const std::optional<Val>& rtol) {
  Tracer& t = a.tracer();
  const Val nothing = t.constant(Scalar(0), real_type(a.dtype()));
  if (rtol) return {atol.value_or(nothing), *rtol};
  const Val usual = default_relative(a);
  if (!atol) return {nothing, usual};
  return {*atol, where(gt(*atol, Scalar(0)), full_like(*atol, Scalar(0)), usual)};
}

using Number = std::optional<ScalarArg>;
using OptionalVal = std::optional<Val>;

OptionalVal value_of(const Val& a, const Number& x) {
  return x ? OptionalVal(a.tracer().scalar(*x, real_type(a.dtype()))) : std::nullopt;
}

// One for each matrix, which broadcasts with the batch.
OptionalVal value_of(const char* op, const char* name, const OptionalVal& x) {
  if (!x) return x;
  require(!is_complex(x->dtype()), ErrorCode::runtime,
          fmt::format("{}: {} tensor of complex type is not supported. Got {}", op, name,
                      aten_name(x->dtype())));
  return unsqueeze(*x, -1);
}

struct Spectrum {
  Val sizes, tolerance;
};

Spectrum with_tolerance(const Val& sizes, const Tolerance& given) {
  const Val greatest = reduce(Prim::reduce_max, sizes, {sizes.rank() - 1}, true);
  return {sizes, binary(Prim::max, given.absolute, given.relative * greatest)};
}

Val scaled_rows(const Val& factors, const Val& rows) {
  return unsqueeze(factors, -1) * rows;
}

Val inverses(const Val& values, const Spectrum& s) {
  const Val counts = gt(s.sizes, s.tolerance);
  const Val shape_of = where(counts, values, full_like(values, Scalar(1)));
  return where(counts, Scalar(1.0) / shape_of, full_like(shape_of, Scalar(0)));
}

void require_invertible_type(const Val& a) {
  const DType t = a.dtype();
  const bool taken = t == DType::f32 || t == DType::f64 || t == DType::c64 || t == DType::c128;
  require(
      taken && a.rank() >= 2, ErrorCode::runtime,
      fmt::format("linalg.pinv({}{{{}}}): expected a tensor with 2 or more dimensions of float, "
                  "double, cfloat or cdouble types",
                  aten_name(t), shape_text(a.shape())));
}

Val pseudoinverse(Tracer& t, const Val& a, const Tolerance& tolerance, bool hermitian) {
  if (a.is_empty()) {
    SymInts shape = a.shape();
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return zeros(t, shape, a.dtype());
  }
  if (hermitian) {
    const HermitianEigen e = hermitian_eigen(t, a, "L", true);
    const Spectrum s = with_tolerance(unary(Prim::abs, e.values), tolerance);
    return t.call1("matmul", {e.vectors, scaled_rows(convert(inverses(e.values, s), a.dtype()),
                                                     matrix_adjoint(e.vectors))});
  }
  const SingularValues r = singular_values(t, a, false, true);
  const Val factors = convert(inverses(r.s, with_tolerance(r.s, tolerance)), a.dtype());
  return t.call1("matmul", {matrix_adjoint(r.vh), scaled_rows(factors, matrix_adjoint(r.u))});
}

}  // namespace

Val linalg_pinv_atol_rtol_float::decompose(Tracer& t, const Val& self, const Number& atol,
                                           const Number& rtol, bool hermitian) {
  // ATen asks for the dtype's roundoff before it looks at the dtype otherwise.
  const Tolerance tolerance = tolerance_of(self, value_of(self, atol), value_of(self, rtol));
  require_invertible_type(self);
  return pseudoinverse(t, self, tolerance, hermitian);
}

Val linalg_pinv_atol_rtol_tensor::decompose(Tracer& t, const Val& self, const OptionalVal& atol,
                                            const OptionalVal& rtol, bool hermitian) {
  require_invertible_type(self);
  const char* op = "torch.linalg.pinv";
  return pseudoinverse(t, self,
                       tolerance_of(self, value_of(op, "atol", atol), value_of(op, "rtol", rtol)),
                       hermitian);
}

Val linalg_pinv::decompose(Tracer& t, const Val& self, const ScalarArg& rcond, bool hermitian) {
  return linalg_pinv_atol_rtol_float::decompose(t, self, {}, rcond, hermitian);
}

Val linalg_pinv_rcond_tensor::decompose(Tracer& t, const Val& self, const Val& rcond,
                                        bool hermitian) {
  return linalg_pinv_atol_rtol_tensor::decompose(t, self, {}, rcond, hermitian);
}

Val pinverse::decompose(Tracer& t, const Val& self, const ScalarArg& rcond) {
  return linalg_pinv::decompose(t, self, rcond, false);
}

namespace {

Val rank_of(Tracer& t, const Val& a, const Tolerance& tolerance, bool hermitian) {
  const SymInts shape = a.shape();
  if (a.is_empty()) return zeros(t, SymInts(shape.begin(), shape.end() - 2), DType::i64);
  const Val sizes = hermitian ? unary(Prim::abs, hermitian_eigen(t, a, "L", false).values)
                              : singular_values(t, a);
  const Spectrum s = with_tolerance(sizes, tolerance);
  const Val counts = convert(gt(s.sizes, s.tolerance), DType::i64);
  return reduce(Prim::reduce_sum, counts, {counts.rank() - 1}, false);
}

constexpr const char* kRank = "torch.linalg.matrix_rank";

}  // namespace

Val linalg_matrix_rank_atol_rtol_float::decompose(Tracer& t, const Val& self, const Number& atol,
                                                  const Number& rtol, bool hermitian) {
  require_matrices(kRank, self, "input");
  return rank_of(t, self, tolerance_of(self, value_of(self, atol), value_of(self, rtol)),
                 hermitian);
}

Val linalg_matrix_rank_atol_rtol_tensor::decompose(Tracer& t, const Val& input,
                                                   const OptionalVal& atol, const OptionalVal& rtol,
                                                   bool hermitian) {
  require_matrices(kRank, input, "input");
  const OptionalVal absolute = value_of(kRank, "atol", atol),
                    relative = value_of(kRank, "rtol", rtol);
  return rank_of(t, input, tolerance_of(input, absolute, relative), hermitian);
}

Val linalg_matrix_rank::decompose(Tracer& t, const Val& self, const ScalarArg& tol,
                                  bool hermitian) {
  return linalg_matrix_rank_atol_rtol_float::decompose(t, self, tol, t.literal(Scalar(0.0)),
                                                       hermitian);
}

Val linalg_matrix_rank_tol_tensor::decompose(Tracer& t, const Val& input, const Val& tol,
                                             bool hermitian) {
  return linalg_matrix_rank_atol_rtol_tensor::decompose(
      t, input, tol, t.constant(Scalar(0.0), real_type(input.dtype())), hermitian);
}

}  // namespace primset::decomps
