#include "decomps/prim_scan.h"

#include "decomps/prim_complex_parts.h"
#include "decomps/prim_math.h"

namespace primset::decomps::prim {
namespace {

// log(e^a + e^b), shifted by the greater one; equal infinities have the difference 0.
Val log_add_exp(const Val& a, const Val& b) {
  const Val high = math::max(a, b), low = math::min(a, b);
  const Val apart = where(eq(a, b), math::number(a, 0.0), low - high);
  return high + math::log1p(math::exp(apart));
}

// log(1 + z): of a small z by the excess of |1 + z|^2 over 1, which keeps the precision of z.
math::Parts complex_log1p(const math::Parts& z) {
  const math::Parts sum{z.re + Scalar(1.0), z.im};
  const Val excess = z.re * (z.re + Scalar(2.0)) + z.im * z.im;
  const Val near = math::log1p(excess) * Scalar(0.5);
  const Val small = lt(math::abs(z.re), Scalar(0.25)) & lt(math::abs(z.im), Scalar(0.25));
  return {where(small, near, math::log_abs(sum)), math::atan2(z.im, sum.re)};
}

// ATen's rules (aten/src/ATen/native/cpu/LogAddExp.h): shifted by the number with the greater real
// part; two numbers with the real part -inf give -inf without an angle, which means nothing there;
// NaN in a part is NaN in both.
std::vector<Val> complex_log_add_exp(const math::Parts& a, const math::Parts& b) {
  const Val less = lt(a.re, b.re);
  const math::Parts low{where(less, a.re, b.re), where(less, a.im, b.im)};
  const math::Parts high{where(less, b.re, a.re), where(less, b.im, a.im)};
  const math::Parts ratio = math::complex_exp({low.re - high.re, low.im - high.im});
  const math::Parts grown = complex_log1p(ratio);
  const Val vanished = eq(a.re, b.re) & eq(a.re, Scalar(-math::kInfinity));
  // Of two numbers at +inf the sum of the exponentials is taken as it is.
  const math::Parts ea = math::complex_exp(a), eb = math::complex_exp(b);
  const math::Parts far = math::complex_log({ea.re + eb.re, ea.im + eb.im});
  const Val unbounded = eq(a.re, b.re) & eq(a.re, Scalar(math::kInfinity));
  const Val lost = math::is_unordered(a.re) | math::is_unordered(a.im) | math::is_unordered(b.re) |
                   math::is_unordered(b.im);
  const auto part = [&](const Val& h, const Val& g, const Val& f, const Val& none) {
    const Val usual = where(vanished, none, where(unbounded, f, h + g));
    return where(lost, math::number(h, math::kNan), usual);
  };
  return {part(high.re, grown.re, far.re, a.re),
          part(high.im, grown.im, far.im, math::number(a.im, 0.0))};
}

Val scan_complex(Tracer& t, const Val& x, int64_t dim) {
  const Val re = real(x), im = imag(x);
  const DType type = re.dtype();
  const auto combine = [](const std::vector<Val>& v) {
    return complex_log_add_exp({v[0], v[1]}, {v[2], v[3]});
  };
  const auto parts = t.prim(
      Prim::scan,
      {re, im, t.constant(Scalar(-math::kInfinity), type), t.constant(Scalar(0.0), type)},
      // The angle grows by whole turns, by other ones in another order.
      {{"dim", dim}, {"ordered", true}}, {t.scalar_region({type, type, type, type}, combine)});
  return complex(parts[0], parts[1]);
}

}  // namespace

Val scan_log_add_exp::decompose(Tracer& t, const Val& x, int64_t dim) {
  if (is_complex(x.dtype())) return scan_complex(t, x, dim);
  const Val wide = opmath(x);
  const DType type = wide.dtype();
  const auto combine = [](const std::vector<Val>& v) {
    return std::vector<Val>{log_add_exp(v[0], v[1])};
  };
  const Val sums =
      t.prim(Prim::scan, {wide, t.constant(Scalar(-math::kInfinity), type)},
             {{"dim", dim}, {"ordered", false}}, {t.scalar_region({type, type}, combine)})[0];
  return convert(sums, x.dtype());
}

}  // namespace primset::decomps::prim
