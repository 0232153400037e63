#include "decomps/linalg.h"

#include <fmt/format.h>

#include "decomps/engine.h"

namespace primset::decomps {

Val linalg_vector_norm::decompose(Tracer& t, const Val& self, const ScalarArg& ord,
                                  const std::optional<std::vector<int64_t>>& dim, bool keepdim,
                                  const std::optional<DType>& dtype) {
  const std::vector<int64_t> dims =
      wrap_dims(dim.value_or(std::vector<int64_t>{}), self.rank(), true);
  const Val v = dtype ? convert(self, *dtype) : self;
  require(is_floating(v.dtype()) || is_complex(v.dtype()), ErrorCode::runtime,
          fmt::format("linalg.vector_norm: Expected a floating point or complex tensor as input. "
                      "Got {}",
                      aten_name(v.dtype())));
  const Val a = is_complex(v.dtype()) ? unary(Prim::abs, v) : v;
  const Val r =
      t.prim1(Prim::vector_norm, {a}, {{"p", Scalar(ord.known().to_double())}, {"dims", dims}});
  return keepdim ? restore_dims(r, self.shape(), dims) : r;
}

std::tuple<Val, Val> linalg_cholesky_ex::decompose(Tracer& t, const Val& self, bool upper,
                                                   bool check_errors) {
  require(self.rank() >= 2, ErrorCode::runtime,
          "linalg.cholesky: The input tensor A must have at least 2 dimensions.");
  require(
      self.size(-1) == self.size(-2), ErrorCode::runtime,
      fmt::format("linalg.cholesky: A must be batches of square matrices, but they are {} by {} "
                  "matrices",
                  self.size(-2).hint(), self.size(-1).hint()));
  const auto out = t.prim(Prim::cholesky, {self}, {{"upper", upper}});
  if (check_errors)
    check(eq(out[1], Scalar(0)), convert(out[1], DType::i64), ErrorCode::linalg,
          "linalg.cholesky: The factorization could not be completed because the input is not "
          "positive-definite (the leading minor of order {value} is not positive-definite).");
  return {out[0], out[1]};
}

}  // namespace primset::decomps
