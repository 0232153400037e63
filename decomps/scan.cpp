#include <limits>

#include "decomps/scan.h"

#include <fmt/format.h>

#include "decomps/complex.h"
#include "decomps/engine.h"
#include "decomps/operator_support.h"

namespace primset::decomps {
namespace {

Val complex_products(Tracer& t, const Val& z, int64_t dim) {
  const DType part = real_type(z.dtype());
  std::vector<prims::Region> regions;
  regions.push_back(t.scalar_region({part, part, part, part}, [](const std::vector<Val>& v) {
    return std::vector<Val>{v[0] * v[2] - v[1] * v[3], v[0] * v[3] + v[1] * v[2]};
  }));
  const auto parts =
      t.prim(Prim::scan, {real(z), imag(z), t.constant(1, part), t.constant(0, part)},
             {{"dim", dim}}, std::move(regions));
  return complex(parts[0], parts[1]);
}

// log(exp(x) + exp(y)) of complex numbers, as real and imaginary parts: with the greater real part
// taken out, so that nothing overflows.
std::vector<Val> complex_log_add_exp(const Val& xr, const Val& xi, const Val& yr, const Val& yi) {
  const Val less = lt(xr, yr);
  const Val top = where(less, yr, xr), turn = where(less, yi, xi);
  const Val low = where(less, xr, yr), other = where(less, xi, yi);
  const Val scale = unary(Prim::exp, low - top), angle = other - turn;
  const Val re = scale * unary(Prim::cos, angle), im = scale * unary(Prim::sin, angle);
  const Val log_re = unary(Prim::log1p, re * Scalar(2.0) + re * re + im * im) * Scalar(0.5);
  const Val log_im = binary(Prim::atan2, im, re + Scalar(1.0));
  // Two equal infinities have no difference: what is -inf stays so.
  const Val same =
      eq(low, top) & eq(unary(Prim::abs, top), Scalar(std::numeric_limits<double>::infinity()));
  const Val real_part = where(same, top, top + log_re);
  const Val imaginary = where(same, where(eq(other, turn), turn, log_im), turn + log_im);
  return {real_part, imaginary};
}

Val complex_log_sums(Tracer& t, const Val& z, int64_t dim) {
  const DType part = real_type(z.dtype());
  std::vector<prims::Region> regions;
  regions.push_back(t.scalar_region({part, part, part, part}, [](const std::vector<Val>& v) {
    return complex_log_add_exp(v[0], v[1], v[2], v[3]);
  }));
  const Scalar nothing(-std::numeric_limits<double>::infinity());
  const auto parts =
      t.prim(Prim::scan, {real(z), imag(z), t.constant(nothing, part), t.constant(0, part)},
             {{"dim", dim}}, std::move(regions));
  return complex(parts[0], parts[1]);
}

Val scanned(Prim kind, const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  if (x.rank() == 0) return x;
  if (!is_complex(x.dtype())) return t.prim1(kind, {x}, {{"dim", d}});
  if (kind == Prim::scan_prod) return complex_products(t, x, d);
  if (kind == Prim::scan_log_add_exp) return complex_log_sums(t, x, d);
  return complex(scanned(kind, real(x), d), scanned(kind, imag(x), d));
}

std::tuple<Val, Val> extremes(Prim kind, const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const int64_t d = wrap_dim(dim, x.rank());
  require(!is_complex(x.dtype()), ErrorCode::not_implemented,
          fmt::format("\"{}_cpu\" not implemented for '{}'",
                      kind == Prim::scan_max ? "cummax" : "cummin", aten_name(x.dtype())));
  if (x.rank() == 0) return {x, t.constant(0, DType::i64)};
  const auto out = t.prim(kind, {x}, {{"dim", d}});
  return {out[0], out[1]};
}

}  // namespace

Val cumsum::decompose(Tracer& t, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  return scanned(Prim::scan_sum, accumulated(self, dtype), dim);
}

Val cumprod::decompose(Tracer& t, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  return scanned(Prim::scan_prod, accumulated(self, dtype), dim);
}

std::tuple<Val, Val> cummax::decompose(Tracer& t, const Val& self, int64_t dim) {
  return extremes(Prim::scan_max, self, dim);
}

std::tuple<Val, Val> cummin::decompose(Tracer& t, const Val& self, int64_t dim) {
  return extremes(Prim::scan_min, self, dim);
}

Val logcumsumexp::decompose(Tracer& t, const Val& self, int64_t dim) {
  return scanned(Prim::scan_log_add_exp, self, dim);
}

}  // namespace primset::decomps
