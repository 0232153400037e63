#include "decomps/primitives/random/philox.h"

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
  return convert(low, t) * Scalar(0x1p-32) + Scalar(0x1p-33);
}

namespace {

// c[0] + c[1] x + ... by Horner's scheme.
Val polynomial(const Val& x, std::span<const double> c) {
  Val sum = math::number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = math::fma(sum, x, math::number(x, c[i]));
  return sum;
}

struct Wave {
  Val sine, cosine;
};

// Of an angle up to an eighth of a turn, which wants no reduction: of f32 by the polynomials of
// codegen/kernel/math/trig.cpp, in the same order.
Wave wave_of(const Val& angle) {
  static constexpr double kSine[] = {-0x1.555556p-3, 0x1.111174p-7, -0x1.a05954p-13,
                                     0x1.7c2b64p-19};
  static constexpr double kCosine[] = {0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e80cp-16};
  if (angle.dtype() == DType::f64) return {math::sin(angle), math::cos(angle)};
  const Val square = angle * angle, half = square * Scalar(0.5);
  const Val whole = Scalar(1.0) - half, lost = (Scalar(1.0) - whole) - half;
  return {math::fma(angle * square, polynomial(square, kSine), angle),
          whole + math::fma(square * square, polynomial(square, kCosine), lost)};
}

}  // namespace

// The nearest quarter of the circle is taken off in integers, so that the error is a few ulp near
// the zeros too.
Val cosine_of_turn(const Val& j, int n, DType t) {
  const Val half = full_like(j, Scalar(int64_t{1} << (n - 3)));
  const Val quarter = shifted_right(j + half, n - 2);  // 0 to 4
  const DType signed_type = bits(j.dtype()) == 64 ? DType::i64 : DType::i32;
  const Val rest = convert(j, signed_type) - convert(shifted_left(quarter, n - 2), signed_type);
  constexpr double kHalfPi = 1.5707963267948966;
  const Val angle = convert(rest, t) * Scalar(power_of_two(2 - n)) * Scalar(kHalfPi);
  const Val odd = eq(quarter & full_like(quarter, Scalar(1)), Scalar(1));
  const Wave wave = wave_of(angle);
  const Val side = where(odd, wave.sine, wave.cosine);
  const Val flipped = eq(quarter, Scalar(1)) | eq(quarter, Scalar(2));
  return where(flipped, -side, side);
}

Val standard_normal(const Words& w, DType type) {
  const Val u = positive_uniform(w[0], w[1], type);
  const Val radius = math::sqrt(math::log(u) * Scalar(-2.0));
  const Val turn = type == DType::f64 ? cosine_of_turn(random_bits(w[2], w[3], 53), 53, type)
                                      : cosine_of_turn(random_bits(w[1], w[2], 24), 24, type);
  return radius * turn;
}

}  // namespace primset::decomps::philox
