#include "decomps/primitives/random/philox.h"

#include <array>
#include <cstdint>
#include <span>

#include "decomps/primitives/math.h"

namespace primset::decomps::philox {
namespace {

constexpr int64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
constexpr int64_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;  // golden ratio, sqrt(3) - 1
constexpr int kRounds = 10;

Val high_product(const Val& x, const Val& y) {
  return binary(Prim::mul_high, x, y);
}

}  // namespace

Val shifted_right(const Val& x, int64_t n) {
  return binary(Prim::shift_right, x, full_like(x, Scalar(n)));
}
Val shifted_left(const Val& x, int64_t n) {
  return binary(Prim::shift_left, x, full_like(x, Scalar(n)));
}

Val low_word(const Val& x) {
  return convert(x, DType::u32);
}
Val high_word(const Val& x) {
  return convert(shifted_right(x, 32), DType::u32);
}

Val joined_words(const Val& low, const Val& high) {
  return convert(low, DType::u64) | shifted_left(convert(high, DType::u64), 32);
}

Words block(Words c, Val key0, Val key1) {
  const Val m0 = full_like(c[0], Scalar(kMultiplier0)), m1 = full_like(c[0], Scalar(kMultiplier1));
  for (int round = 0; round < kRounds; ++round) {
    c = {high_product(c[2], m1) ^ c[1] ^ key0, c[2] * m1, high_product(c[0], m0) ^ c[3] ^ key1,
         c[0] * m0};
    key0 = key0 + Scalar(kWeyl0);
    key1 = key1 + Scalar(kWeyl1);
  }
  return c;
}

Counters counters_from(Tracer& t, const Val& offset, const SymInt& count) {
  if (t.device().i64) {
    const Val counter = t.iota({count}, 0, DType::i64) + offset;
    return {low_word(counter), high_word(counter)};
  }
  const Val first = broadcast_to(low_word(offset), {count});
  const Val low = convert(t.iota({count}, 0, DType::i32), DType::u32) + first;
  const Val carry = convert(lt(low, first), DType::u32);
  return {low, broadcast_to(high_word(offset), {count}) + carry};
}

Words block(const Val& key, const Counters& counters) {
  const Val zero = full_like(counters.low, Scalar(0));
  return block({counters.low, counters.high, zero, zero}, low_word(key), high_word(key));
}

Words block(const Val& key, const Val& counter) {
  return block(key, Counters{low_word(counter), high_word(counter)});
}

Val random_bits(const Val& low, const Val& high, int n) {
  if (n <= 32) return shifted_right(low, 32 - n);
  return shifted_right(joined_words(low, high), 64 - n);
}

double power_of_two(int n) {
  return n < 0 ? 1 / power_of_two(-n) : static_cast<double>(int64_t{1} << n);
}

Val positive_uniform(const Val& low, const Val& high, DType t) {
  if (t == DType::f64) {
    const Val bits = convert(random_bits(low, high, 53), DType::f64);
    return (bits + Scalar(1.0)) * Scalar(0x1p-53);
  }
  const Val whole = convert(low, t);
  return math::fma(whole, math::number(whole, 0x1p-32), math::number(whole, 0x1p-33));
}

namespace {

// c[0] + c[1] x + ... by Horner's scheme.
Val polynomial(const Val& x, std::span<const double> c) {
  Val sum = math::number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = math::fma(sum, x, math::number(x, c[i]));
  return sum;
}

// log x of a normal f32 x > 0 times `factor`, a power of two, as codegen/kernel/math/log.cpp has it
// without what other numbers take.
Val scaled_log(const Val& x, double factor) {
  std::array<double, 10> log = {-0.5,           0x1.555548p-2, -0x1.000006p-2, 0x1.99a474p-3,
                                -0x1.555c3ep-3, 0x1.233bd8p-3, -0x1.fc2a06p-4, 0x1.e6bdcep-4,
                                -0x1.ddf9a6p-4, 0x1.146ea4p-4};
  for (double& c : log) c *= factor;
  constexpr int64_t kRootHalf = 0x3f3504f3;  // the bits of sqrt(1/2)
  Tracer& t = x.tracer();
  const Val pattern = t.wrap(t.builder().bitcast(x.id(), DType::i32));
  const Val e = shifted_right(pattern - full_like(pattern, kRootHalf), 23);
  const Val mantissa = pattern - shifted_left(e, 23);
  const Val f = t.wrap(t.builder().bitcast(mantissa.id(), DType::f32)) - Scalar(1.0);
  const Val log_mantissa = math::fma(f, math::number(f, factor), f * f * polynomial(f, log));
  constexpr double kLogOf2 = 0.6931471805599453;
  return math::fma(convert(e, DType::f32), math::number(f, kLogOf2 * factor), log_mantissa);
}

// sin x for |x| <= pi/2, relative error 2^-26.6 (a minimax polynomial in x^2, by Remez' algorithm).
Val sine_of_quarter(const Val& x) {
  static constexpr double kSine[] = {-0x1.55554cp-3, 0x1.110ed4p-7, -0x1.9f7p-13, 0x1.5dbdfcp-19};
  const Val square = x * x;
  return math::fma(x * square, polynomial(square, kSine), x);
}

constexpr double kHalfPi = 1.5707963267948966;

// cos(2 pi j / 2^n) in words: the sine of a quarter turn more, folded at the quarters to both sides
// of 0, where the word's two highest bits differ beyond them. Exact up to the angle.
Val cosine_in_words(const Val& j, int n) {
  const Val turned = shifted_left(j, 32 - n) + full_like(j, int64_t{1} << 30);
  const Val turn = j.tracer().wrap(j.tracer().builder().bitcast(turned.id(), DType::i32));
  const Val beyond = lt(turn ^ shifted_left(turn, 1), full_like(turn, 0));
  const Val folded = where(beyond, full_like(turn, INT32_MIN) - turn, turn);
  return sine_of_quarter(convert(folded, DType::f32) * Scalar(kHalfPi * 0x1p-30));
}

// The nearest quarter of the circle is taken off in integers, so that the error is a few ulp near
// the zeros too.
Val cosine_by_quarters(const Val& j, int n, DType t) {
  const Val half = full_like(j, Scalar(int64_t{1} << (n - 3)));
  const Val quarter = shifted_right(j + half, n - 2);  // 0 to 4
  const DType signed_type = bits(j.dtype()) == 64 ? DType::i64 : DType::i32;
  const Val rest = convert(j, signed_type) - convert(shifted_left(quarter, n - 2), signed_type);
  const Val angle = convert(rest, t) * Scalar(power_of_two(2 - n) * kHalfPi);
  const Val odd = eq(quarter & full_like(quarter, Scalar(1)), Scalar(1));
  const Val side = where(odd, math::sin(angle), math::cos(angle));
  const Val flipped = eq(quarter, Scalar(1)) | eq(quarter, Scalar(2));
  return where(flipped, -side, side);
}

// -2 log u, of which f32 numbers from 2^-33 to 1 are asked.
Val squared_radius(const Val& u) {
  if (u.dtype() == DType::f64) return math::log(u) * Scalar(-2.0);
  return scaled_log(u, -2.0);
}

}  // namespace

Val cosine_of_turn(const Val& j, int n, DType t) {
  return t == DType::f64 ? cosine_by_quarters(j, n, t) : cosine_in_words(j, n);
}

Val standard_normal(const Words& w, DType type) {
  const Val u = positive_uniform(w[0], w[1], type);
  const Val radius = math::sqrt(squared_radius(u));
  const Val turn = type == DType::f64 ? cosine_of_turn(random_bits(w[2], w[3], 53), 53, type)
                                      : cosine_of_turn(random_bits(w[1], w[2], 24), 24, type);
  return radius * turn;
}

}  // namespace primset::decomps::philox
