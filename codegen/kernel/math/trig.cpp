// sin, cos, tan, atan and atan2.
#include "codegen/kernel/math/math.h"
#include "codegen/kernel/math/trig_reduce.h"

namespace primset::kir::math {
namespace {

// (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4 in r^2 on |r| <= 0.786; relative errors of sin
// 2^-32.5 and 2^-63.2, of cos 2^-33 and 2^-63.9.
constexpr double kSinSingle[] = {-0x1.555556p-3, 0x1.111174p-7, -0x1.a05954p-13, 0x1.7c2b64p-19};
constexpr double kSinDouble[] = {
    -0x1.5555555555555p-3,  0x1.1111111111069p-7,  -0x1.a01a019ffe533p-13, 0x1.71de3a33a81a1p-19,
    -0x1.ae642c5682f2cp-26, 0x1.6109c14002d41p-33, -0x1.9fff9ed9c37fap-41};
constexpr double kCosSingle[] = {0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e80cp-16};
constexpr double kCosDouble[] = {0x1.555555555554bp-5,  -0x1.6c16c16c1500ap-10,
                                 0x1.a01a019c8d526p-16, -0x1.27e4f7efd6e41p-22,
                                 0x1.1ee9da68be012p-29, -0x1.8fa5b1f1816c2p-37};

// (tan r - r) / r^3 in r^2 on |r| <= 0.786; relative error of tan 2^-29.5 and 2^-56.2.
constexpr double kTanSingle[] = {0x1.555560p-2, 0x1.110d9cp-3,  0x1.bada58p-5, 0x1.5cb906p-6,
                                 0x1.62fac2p-7, 0x1.7a3b88p-14, 0x1.1eda96p-8};
constexpr double kTanDouble[] = {
    0x1.55555555554efp-2,   0x1.11111111185f4p-3,  0x1.ba1ba1b446670p-5,   0x1.664f49af53dfap-6,
    0x1.226e1198bfd9ap-7,   0x1.d6d94eee65968p-9,  0x1.7d5a12e67e3cdp-10,  0x1.38055b19e0eefp-11,
    0x1.d1f16ec451867p-13,  0x1.1f2f44a008a94p-13, -0x1.c485363c712c9p-16, 0x1.7974a52c7dcd0p-14,
    -0x1.7ae772133ed07p-15, 0x1.5f35c1c6cd94ep-16};

// (atan t - t) / t^3 in t^2 on |t| <= 1; relative error of atan 2^-28.5 and 2^-57.6.
constexpr double kAtanSingle[] = {-0x1.55553ep-2, 0x1.9991e4p-3,  -0x1.242088p-3,
                                  0x1.c08c8cp-4,  -0x1.580a82p-4, 0x1.da31ecp-5,
                                  -0x1.fd951ep-6, 0x1.644672p-7,  -0x1.d3a742p-10};
constexpr double kAtanDouble[] = {
    -0x1.5555555555525p-2, 0x1.99999999954a1p-3,  -0x1.249249237be47p-3,  0x1.c71c717f13a39p-4,
    -0x1.745d11a225a31p-4, 0x1.3b13660f8c679p-4,  -0x1.110e4cd5165d9p-4,  0x1.e1bb73c6265d0p-5,
    -0x1.ae5d930544b7ap-5, 0x1.82d7e1eb246e2p-5,  -0x1.599c3a0d7263fp-5,  0x1.2c1e759399b04p-5,
    -0x1.e9c742e45e81ap-6, 0x1.67fdcc6b385aap-6,  -0x1.c717d2c8f8965p-7,  0x1.d70d1fdafdc73p-8,
    -0x1.7986138e2c2a1p-9, 0x1.b2f9846a13587p-11, -0x1.3e54064ba03dfp-13, 0x1.ba7d6743527e9p-17};

// sin(r + low) = r + (r^3 S(r^2) + low), where low is too small for its cosine to count.
Value sin_polynomial(const Arith& a, Value r, Value low, Value r2) {
  Builder& b = a.b;
  Value s = a.single ? a.poly(r2, kSinSingle) : a.poly(r2, kSinDouble);
  Value cube = b.fmul(r, r2);
  return low.valid() ? b.fadd(r, a.mad(cube, s, low)) : a.mad(cube, s, r);
}

// cos(r + low) = 1 - r^2/2 + (r^4 C(r^2) - r low); the first difference is made exact by its error.
Value cos_polynomial(const Arith& a, Value r, Value low, Value r2) {
  Builder& b = a.b;
  Value c = a.single ? a.poly(r2, kCosSingle) : a.poly(r2, kCosDouble);
  Value half = b.fmul(r2, a.c(0.5));
  Value w = b.fsub(a.c(1.0), half);
  Value error = b.fsub(b.fsub(a.c(1.0), w), half);
  if (low.valid()) error = b.fsub(error, b.fmul(r, low));
  return b.fadd(w, a.mad(b.fmul(r2, r2), c, error));
}

// sin(x + turns * pi/2).
Value sine(const Arith& a, Value x, int turns) {
  Builder& b = a.b;
  Angle angle = reduce_angle(a, x);
  Value r = angle.high, r2 = b.fmul(r, r);
  Value q = b.add(angle.quadrant, a.i(turns));
  Value odd = b.ine(b.and_(q, a.i(1)), a.i(0));
  Value v = b.select(odd, cos_polynomial(a, r, angle.low, r2), sin_polynomial(a, r, angle.low, r2));
  const int width = a.wide() ? 64 : 32;
  Value sign = b.shl(b.lshr(q, a.i(1)), a.i(width - 1));
  return a.from_bits(b.xor_(a.bits(v), sign));
}

}  // namespace

Value sin(Builder& b, Value x) {
  return in_working_type(
      b, Widen::unless_fused,
      [](const Arith& a, Value v) {
        // The sum would lose the sign of zero.
        return a.b.select(a.b.feq(v, a.c(0.0)), v, sine(a, v, 0));
      },
      x);
}

Value cos(Builder& b, Value x) {
  return in_working_type(
      b, Widen::unless_fused, [](const Arith& a, Value v) { return sine(a, v, 1); }, x);
}

// tan of the rest, or minus its reciprocal in odd quadrants.
Value tan(Builder& b, Value x) {
  return in_working_type(
      b, Widen::unless_fused,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Angle angle = reduce_angle(a, v);
        Value r = angle.high, r2 = bb.fmul(r, r);
        Value p = a.single ? a.poly(r2, kTanSingle) : a.poly(r2, kTanDouble);
        Value cube = bb.fmul(r, r2), t = a.mad(cube, p, r);
        if (angle.low.valid()) {
          // d tan / dr = 1 + tan^2, to first order.
          Value low = bb.fmul(angle.low, bb.fadd(a.c(1.0), r2));
          t = bb.fadd(r, a.mad(cube, p, low));
        }
        Value odd = bb.ine(bb.and_(angle.quadrant, a.i(1)), a.i(0));
        Value q = bb.select(odd, a.div(a.c(-1.0), t), t);
        return bb.select(bb.feq(v, a.c(0.0)), v, q);
      },
      x);
}

namespace {

// atan t for t from 0 to 1.
Value atan_polynomial(const Arith& a, Value t) {
  Value t2 = a.b.fmul(t, t);
  Value p = a.single ? a.poly(t2, kAtanSingle) : a.poly(t2, kAtanDouble);
  return a.mad(a.b.fmul(t, t2), p, t);
}

// pi/2 in two parts.
Pair half_pi(const Arith& a) {
  if (a.wide()) return {a.c(0x1.921fb54442d18p+0), a.c(0x1.1a62633145c07p-54)};
  return {a.c(0x1.921fb6p+0), a.c(-0x1.777a5cp-25)};
}

// Of two magnitudes, the lesser over the greater: of zeros 0, of infinities 1. NaN beside anything
// gives NaN.
Value tangent_of(const Arith& a, Value least, Value most) {
  Builder& b = a.b;
  const auto any = [&] {
    const auto both = [&](Value v) { return b.and_(b.feq(least, v), b.feq(most, v)); };
    Value t = div(b, least, most);
    return b.select(both(a.c(0.0)), a.c(0.0), b.select(both(a.infinity()), a.c(1.0), t));
  };
  if (!a.has_quick_reciprocal()) return any();
  return fix_rare(b, b.not_(a.in_middle(most)), a.div(least, most), any);
}

}  // namespace

// atan |x| = pi/2 - atan 1/|x| past 1.
Value atan(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Value z = bb.fabs(v), big = bb.flt(a.c(1.0), z);
        Value p = atan_polynomial(a, bb.select(big, div(bb, a.c(1.0), z), z));
        Pair right = half_pi(a);
        Value turned = bb.fadd(right.hi, bb.fsub(right.lo, p));
        return a.with_sign(bb.select(big, turned, p), v);
      },
      x);
}

// The angle of the lesser over the greater, then turned into its octant: base +- angle.
Value atan2(Builder& b, Value y, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value vy, Value vx) {
        Builder& bb = a.b;
        Value ay = bb.fabs(vy), ax = bb.fabs(vx);
        Value steep = bb.flt(ax, ay);
        Value least = bb.select(steep, ax, ay), most = bb.select(steep, ay, ax);
        Value angle = atan_polynomial(a, tangent_of(a, least, most));
        Value left = bb.slt(a.bits(vx), a.i(0));  // -0 counts
        Pair right_angle = half_pi(a);
        Value quarters = bb.select(steep, a.c(1.0), bb.select(left, a.c(2.0), a.c(0.0)));
        Value turned = bb.select(bb.xor_(steep, left), bb.fneg(angle), angle);
        Value r = a.mad(quarters, right_angle.hi, a.mad(quarters, right_angle.lo, turned));
        return a.with_sign(r, vy);
      },
      y, x);
}

}  // namespace primset::kir::math
