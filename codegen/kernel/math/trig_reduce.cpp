// x modulo pi/2. Moderate x: Cody and Waite's subtraction of n * pi/2, pi/2 being cut in parts
// whose products with n are exact. Huge x: Payne and Hanek, Radian reduction for trigonometric
// functions, SIGNUM Newsletter 1983: in fixed point, the bits of 2/pi that give multiples of 4
// quadrants left out. That takes integers only; the words of 2/pi are chosen per lane by a tree of
// selects.
#include "codegen/kernel/math/trig_reduce.h"

#include <array>
#include <vector>

namespace primset::kir::math {
namespace {

constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

// pi/2 in parts, and the |x| up to which the products are exact and what is left out is far below
// the result's last place.
struct HalfPi {
  std::array<double, 3> part;
  double tail;  // 0 where three do
  double limit;
};
// 24 bits each: n * part is exact in a fused fma.
constexpr HalfPi kHalfPiFused = {{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50}, 0, 65536.0};
// 15 bits each, for n below 2^9.
constexpr HalfPi kHalfPiUnfused = {
    {0x1.922p+0, -0x1.2afp-18, 0x1.0b48p-34}, -0x1.ee59dap-50, 700.0};
// 33 bits each and what follows, for n below 2^20.
constexpr HalfPi kHalfPiDouble = {
    {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}, 0, 1000000.0};

// The bits of 2/pi, after kLeadingZeros zero bits, in words of the type's width.
constexpr int kLeadingZerosSingle = 32, kLeadingZerosDouble = 48;
constexpr uint64_t kWordsSingle[] = {0x0,        0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                     0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
                                     0xdebbc561, 0xb7246e3a, 0x424dd2e0};
constexpr uint64_t kWordsDouble[] = {0xa2f9,
                                     0x836e4e441529fc27,
                                     0x57d1f534ddc0db62,
                                     0x95993c439041fe51,
                                     0x63abdebbc561b724,
                                     0x6e3a424dd2e00649,
                                     0x2eea09d1921cfe1d,
                                     0xeb1cb129a73ee882,
                                     0x35f52ebb4484e99c,
                                     0x7026b45f7e413991,
                                     0xd639835339f49c84,
                                     0x5f8bbdf9283b1ff8,
                                     0x97ffde05980fef2f,
                                     0x118b5a0a6d1f6d36,
                                     0x7ecf27cb09b74f46,
                                     0x3f669e5fea2d7527,
                                     0xbac7ebe5f17b3d07,
                                     0x39f78a5292ea6bfb,
                                     0x5fb11f8d5d085603,
                                     0x3046fc7b6babf0cf};

const HalfPi& parts(const Arith& a) {
  if (a.wide()) return kHalfPiDouble;
  return a.fused ? kHalfPiFused : kHalfPiUnfused;
}

Angle cody_waite(const Arith& a, Value x) {
  Builder& b = a.b;
  const HalfPi& p = parts(a);
  auto [n, quadrant] = a.round_scaled(x, a.c(kTwoOverPi), 0);
  Value first = a.nmad(n, a.c(p.part[0]), x);  // exact
  if (!a.wide() && a.fused) {
    // One rounding each: half a unit of the rest's last place, which the bounds have room for.
    Value second = a.nmad(n, a.c(p.part[1]), first);
    return {quadrant, a.nmad(n, a.c(p.part[2]), second), {}};
  }
  Pair second = a.two_sum(first, b.fmul(n, a.c(-p.part[1])));
  Value low = b.fadd(second.lo, b.fmul(n, a.c(-p.part[2])));
  if (p.tail != 0) low = b.fadd(low, b.fmul(n, a.c(-p.tail)));
  Pair r = a.two_sum(second.hi, low);
  return {quadrant, r.hi, r.lo};
}

// --- Payne and Hanek -----------------------------------------------------------------------------

// Three consecutive words of the bit string that begins `start` bits into 2/pi's table.
std::array<Value, 3> window(const Arith& a, Value start) {
  Builder& b = a.b;
  const int width = a.wide() ? 64 : 32, log_width = a.wide() ? 6 : 5, levels = a.wide() ? 4 : 3;
  std::vector<Value> words;
  for (uint64_t w : a.wide() ? std::span<const uint64_t>(kWordsDouble) : kWordsSingle) {
    words.push_back(b.constant_bits(a.int_type(), w));
  }
  Value index = b.lshr(start, a.i(log_width));
  for (int level = levels - 1; level >= 0; --level) {
    const size_t step = size_t{1} << level;
    Value set = b.ine(b.and_(index, a.i(static_cast<int64_t>(step))), a.i(0));
    const size_t keep = 4 + step - 1;
    for (size_t i = 0; i < keep; ++i) {
      words[i] = b.select(set, i + step < words.size() ? words[i + step] : a.i(0), words[i]);
    }
    words.resize(keep);
  }
  Value shift = b.and_(start, a.i(width - 1));
  Value back = b.sub(a.i(width - 1), shift);
  std::array<Value, 3> v;
  for (size_t i = 0; i < 3; ++i) {
    // In two steps, since a shift by the whole width is not allowed.
    v[i] = b.or_(b.shl(words[i], shift), b.lshr(b.lshr(words[i + 1], a.i(1)), back));
  }
  return v;
}

// |x| * 2/pi modulo 4 as a fixed-point number of two words: two bits of quadrant, then fraction.
std::array<Value, 2> product(const Arith& a, Value x_bits) {
  Builder& b = a.b;
  const int mantissa_bits = a.mantissa_bits();
  Value exponent = b.and_(b.lshr(x_bits, a.i(mantissa_bits)), a.i(2 * a.bias() + 1));
  Value fraction = b.and_(x_bits, a.i((int64_t{1} << mantissa_bits) - 1));
  Value m = b.or_(fraction, a.i(int64_t{1} << mantissa_bits));
  // x = m 2^e. Bits of 2/pi above place e - 2 make multiples of 4.
  const int zeros = a.wide() ? kLeadingZerosDouble : kLeadingZerosSingle;
  Value start = b.add(exponent, a.i(zeros - 2 - a.bias() - mantissa_bits));
  auto v = window(a, start);
  Value low = b.add(b.mul(m, v[1]), b.mul_hi_u(m, v[2]));
  Value carry = b.zext(b.ult(low, b.mul(m, v[1])), a.int_scalar());
  Value high = b.add(b.add(b.mul(m, v[0]), b.mul_hi_u(m, v[1])), carry);
  return {high, low};
}

// The fraction (two words, below 2^(width-1) in the first) times pi/2 * 2^-width, as a pair.
Pair to_radians(const Arith& a, Value high, Value low) {
  Builder& b = a.b;
  const int spare = a.wide() ? 11 : 8;  // bits of a word beyond the mantissa
  const double unit = a.wide() ? 0x1p-64 : 0x1p-32;
  const Scalar to = a.type.scalar;
  Value top = b.shl(b.lshr(high, a.i(spare)), a.i(spare));
  Value f_top = b.fmul(b.uitofp(top, to), a.c(unit));
  Value f_rest = b.fmul(b.sitofp(b.sub(high, top), to), a.c(unit));
  // The lowest bit is given up, so that a signed conversion does.
  Value f_low = b.fmul(b.sitofp(b.lshr(low, a.i(1)), to), a.c(2 * unit * unit));
  Pair f = a.fast_two_sum(f_top, b.fadd(f_rest, f_low));
  const double pi2_high = a.wide() ? 0x1.921fb54442d18p+0 : 0x1.921fb6p+0;
  const double pi2_low = a.wide() ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25;
  Pair p = a.two_prod(f.hi, a.c(pi2_high));
  Value rest = b.fadd(b.fmul(f.hi, a.c(pi2_low)), b.fmul(f.lo, a.c(pi2_high)));
  return a.fast_two_sum(p.hi, b.fadd(p.lo, rest));
}

Angle payne_hanek(const Arith& a, Value x) {
  Builder& b = a.b;
  const int width = a.wide() ? 64 : 32;
  auto [high, low] = product(a, a.bits(b.fabs(x)));
  // The nearest quadrant, and the signed rest as sign and magnitude.
  Value quadrant = b.lshr(b.add(high, a.i(int64_t{1} << (width - 3))), a.i(width - 2));
  Value rest = b.or_(b.shl(high, a.i(2)), b.lshr(low, a.i(width - 2)));
  Value rest_low = b.shl(low, a.i(2));
  Value negative = b.slt(rest, a.i(0));
  Value flip = b.ashr(rest, a.i(width - 1));
  Pair r = to_radians(a, b.xor_(rest, flip), b.xor_(rest_low, flip));
  // Complementing instead of negating is off by one in the last of 2*width places: nothing.
  Value minus = b.xor_(negative, b.flt(x, a.c(0.0)));
  quadrant = b.select(b.flt(x, a.c(0.0)), b.sub(a.i(0), quadrant), quadrant);
  Value high_r = b.select(minus, b.fneg(r.hi), r.hi), low_r = b.select(minus, b.fneg(r.lo), r.lo);
  Value invalid = b.or_(b.feq(b.fabs(x), a.infinity()), a.is_nan(x));
  return {quadrant, b.select(invalid, a.nan(), high_r), low_r};
}

}  // namespace

Angle reduce_angle(const Arith& a, Value x) {
  Builder& b = a.b;
  Angle near = cody_waite(a, x);
  Value moderate = b.fle(b.fabs(x), a.c(parts(a).limit));
  auto fields = [](const Angle& angle) {
    return angle.low.valid() ? Builder::Values{angle.quadrant, angle.high, angle.low}
                             : Builder::Values{angle.quadrant, angle.high};
  };
  auto r = b.if_else(
      b.all(moderate), [&] { return fields(near); },
      [&] {
        Angle far = payne_hanek(a, x);
        if (!near.low.valid()) far.low = {};
        Builder::Values v = fields(near), w = fields(far);
        for (size_t i = 0; i < v.size(); ++i) v[i] = b.select(moderate, v[i], w[i]);
        return v;
      });
  return {r[0], r[1], r.size() > 2 ? r[2] : Value{}};
}

}  // namespace primset::kir::math
