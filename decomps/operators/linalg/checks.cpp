#include "decomps/operators/linalg/checks.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

void require_floating_or_complex(std::string_view op, const Val& x) {
  require(is_floating(x.dtype()) || is_complex(x.dtype()), ErrorCode::runtime,
          fmt::format("{}: Expected a floating point or complex tensor as input. Got {}", op,
                      aten_name(x.dtype())));
}

void require_matrices(std::string_view op, const Val& a, std::string_view argument) {
  require(a.rank() >= 2, ErrorCode::runtime,
          fmt::format("{}: The input tensor {} must have at least 2 dimensions.", op, argument));
}

void require_square(std::string_view op, const Val& a, std::string_view argument) {
  require_matrices(op, a, argument);
  require(a.size(-1) == a.size(-2), ErrorCode::runtime,
          fmt::format("{}: {} must be batches of square matrices, but they are {} by {} matrices",
                      op, argument, a.size(-2).hint(), a.size(-1).hint()));
}

void require_factorable_dtype(std::string_view kernel, const Val& a) {
  const DType t = a.dtype();
  const bool known = t == DType::f32 || t == DType::f64 || t == DType::c64 || t == DType::c128;
  if (!known) not_implemented_for(kernel, t);
}

void require_full_precision(std::string_view op, const Val& a) {
  require_floating_or_complex(op, a);
  require(bits(real_type(a.dtype())) >= 32, ErrorCode::runtime,
          fmt::format("{}: Low precision dtypes not supported. Got {}", op, aten_name(a.dtype())));
}

void require_one_dtype(std::string_view op, std::string_view a_name, const Val& a,
                       std::string_view b_name, const Val& b) {
  require(
      a.dtype() == b.dtype(), ErrorCode::runtime,
      fmt::format("{}Expected {} and {} to have the same dtype, but found {} of type {} and {} "
                  "of type {} instead",
                  op, a_name, b_name, a_name, aten_name(a.dtype()), b_name, aten_name(b.dtype())));
}

namespace {

struct Failure {
  std::string_view api;  // a part of its name; the first that fits
  ErrorCode code;
  std::string_view message;
};

constexpr Failure kFailures[] = {
    {"inv", ErrorCode::linalg,
     "The diagonal element {value} is zero, the inversion could not be completed because the input "
     "matrix is singular."},
    {"solve", ErrorCode::linalg, "The solver failed because the input matrix is singular."},
    {"cholesky", ErrorCode::linalg,
     "The factorization could not be completed because the input is not positive-definite (the "
     "leading minor of order {value} is not positive-definite)."},
    {"svd", ErrorCode::linalg,
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated singular values (error code: {value})."},
    {"eig", ErrorCode::linalg,
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated eigenvalues (error code: {value})."},
    {"syevd", ErrorCode::linalg,
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
     "repeated eigenvalues (error code: {value})."},
    {"lstsq", ErrorCode::linalg,
     "The least squares solution could not be computed because the input matrix does not have full "
     "rank (error code: {value})."},
    {"lu_factor", ErrorCode::runtime,
     "U[{value},{value}] is zero and using it on lu_solve would result in a division by zero. If "
     "you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
     "linalg.lu_factor_ex(A, pivot)"},
    {"", ErrorCode::runtime, "Unknown error code: {value}."},
};

const Failure& failure_of(std::string_view api) {
  const Failure* f = kFailures;
  while (api.find(f->api) == std::string_view::npos) ++f;
  return *f;
}

}  // namespace

void check_info(std::string_view api, const Val& info, bool is_matrix) {
  const Failure& f = failure_of(api);
  check(eq(info, Scalar(0)), info, f.code,
        fmt::format("{}: {}{}", api, is_matrix ? "" : "(Batch element) ", f.message));
}

void _linalg_check_errors::decompose(Tracer& /*t*/, const Val& info, const std::string& api_name,
                                     bool is_matrix) {
  require(
      info.dtype() == DType::i32, ErrorCode::runtime,
      fmt::format("{}: info must be of dtype int, but got {}", api_name, cpp_name(info.dtype())));
  check_info(api_name, info, is_matrix);
}

}  // namespace primset::decomps
