// Norms, and what is scaled by them.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/pointwise_binary.h"
#include "decomps/operators/reduction.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

Val norm_of(const Val& x, Scalar p, const Dims& dims, bool keepdim,
            const std::optional<DType>& dtype) {
  const Val v = dtype ? convert(x, *dtype) : x;
  require(is_floating(v.dtype()) || is_complex(v.dtype()), ErrorCode::runtime,
          fmt::format("norm(): input dtype should be either floating point or complex. Got {} "
                      "instead.",
                      aten_name(v.dtype())));
  Tracer& t = x.tracer();
  return t.call1("linalg_vector_norm", {x, t.literal(p), dims, keepdim, dtype});
}

Scalar order_of(const std::optional<ScalarArg>& p) {
  return p ? p->known() : Scalar(2);
}

// All dims but one.
Dims dims_besides(const Val& x, int64_t dim) {
  Dims dims = dims_from(0, x.rank());
  dims.erase(dims.begin() + dim);
  return dims;
}

// The dims that a list names, or all.
Dims named_dims(const Val& x, const std::optional<Dims>& dims) {
  return wrap_dims(dims.value_or(Dims{}), x.rank(), true);
}

Val raised(const Val& magnitude, double order) {
  if (order == 0) return full_like(magnitude, 1.0);
  if (order == 1) return magnitude;
  if (order == 2) return magnitude * magnitude;
  return binary(Prim::pow, magnitude, full_like(magnitude, order));
}

}  // namespace

Val frobenius_norm::decompose(Tracer& t, const Val& self, const Dims& dim, bool keepdim) {
  return norm_of(self, 2, wrap_dims(dim, self.rank(), true), keepdim, std::nullopt);
}

Val norm_of_all::decompose(Tracer& t, const Val& self, const ScalarArg& p) {
  return norm_of(self, p.known(), dims_from(0, self.rank()), false, std::nullopt);
}
Val norm_of_all_to::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& p,
                              DType dtype) {
  return norm_of(self, order_of(p), dims_from(0, self.rank()), false, dtype);
}
Val norm_over::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& p,
                         const Dims& dim, bool keepdim) {
  return norm_of(self, order_of(p), wrap_dims(dim, self.rank(), true), keepdim, std::nullopt);
}
Val norm_over_to::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& p,
                            const Dims& dim, bool keepdim, DType dtype) {
  return norm_of(self, order_of(p), wrap_dims(dim, self.rank(), true), keepdim, dtype);
}

Val native_norm::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& p,
                           const Dims& dim, bool keepdim, const std::optional<DType>& dtype) {
  return norm_of(self, order_of(p), wrap_dims(dim, self.rank(), true), keepdim, dtype);
}

Val norm_except_dim::decompose(Tracer& t, const Val& v, int64_t pow, int64_t dim) {
  if (dim == -1) return norm_of(v, pow, dims_from(0, v.rank()), false, std::nullopt);
  require(v.rank() > 0, ErrorCode::index,
          fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  const int64_t kept = wrap_dim(dim, v.rank());
  require(
      !(v.size(kept) == SymInt(0)), ErrorCode::runtime,
      "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension "
      "size -1 can be any value and is ambiguous");
  const Dims dims = dims_besides(v, kept);
  // Over no dims at all the norm is the magnitude.
  if (dims.empty()) return norm_of(unsqueeze(v, 1), pow, {1}, false, std::nullopt);
  return norm_of(v, pow, dims, true, std::nullopt);
}

Val linalg__powsum::decompose(Tracer& t, const Val& self, const ScalarArg& ord,
                              const std::optional<Dims>& dim, bool keepdim,
                              const std::optional<DType>& dtype) {
  const Scalar order = ord.known();
  require(order.kind() != Scalar::Kind::complex, ErrorCode::runtime,
          "linalg__powsum: ord is complex, expected a real number");
  const DType type = dtype.value_or(self.dtype());
  if (is_exact(type)) not_implemented_for("powsum_cpu", type);
  const Val magnitude = opmath(t.call1("abs", {convert(self, type)}));
  const Val sum = reduce(Prim::reduce_sum, raised(magnitude, order.to_double()),
                         named_dims(self, dim), keepdim);
  return convert(sum, real_type(type));
}

Val dist::decompose(Tracer& t, const Val& self, const Val& other, const ScalarArg& p) {
  const Val apart = t.call1("sub.Tensor", {self, other});
  return norm_of(apart, p.known(), dims_from(0, apart.rank()), false, std::nullopt);
}

// Slices along dim whose norm is greater than maxnorm are scaled down to it. The factor is rounded
// to the tensor's dtype, as ATen has it.
Val renorm::decompose(Tracer& t, const Val& self, const ScalarArg& p, int64_t dim,
                      const ScalarArg& maxnorm) {
  const Scalar order = p.known();
  require(order.kind() != Scalar::Kind::complex, ErrorCode::runtime,
          "renorm: p must be real-valued");
  require(order.to_double() > 0, ErrorCode::runtime, "renorm: non-positive-norm not supported");
  require(maxnorm.kind != Scalar::Kind::complex, ErrorCode::runtime,
          "renorm: maxnorm must be real-valued");
  require(self.rank() > 1, ErrorCode::runtime,
          fmt::format("renorm: input needs at least 2 dimensions, got {} dimensions", self.rank()));
  require_not_negative(t, maxnorm, "renorm: expected maxnorm to be >= 0");
  const Dims dims = dims_besides(self, wrap_dim(dim, self.rank()));
  const DType real = real_type(self.dtype()), type = opmath_type(real);
  const DType norm_type = is_complex(self.dtype()) ? self.dtype() : type;
  const Val norm = norm_of(self, order, dims, true, norm_type), most = t.scalar(maxnorm, type);
  const Val factor = where(gt(norm, most), most / (norm + Scalar(1e-7)), full_like(norm, 1.0));
  return t.call1("mul.Tensor", {self, convert(factor, real)});
}

}  // namespace primset::decomps
