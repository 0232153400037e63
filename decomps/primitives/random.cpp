// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC
// 2011). The 64 bits of the counter are its two low words, the other two are 0; the key is the
// seed's two words. Numbers of more than 32 bits take the low word first.
#include "decomps/primitives/random.h"

#include <array>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using Words = std::array<Val, 4>;

constexpr int64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
constexpr int64_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;  // golden ratio, sqrt(3) - 1
constexpr int kRounds = 10;

Val shifted_right(const Val& x, int64_t n) {
  return binary(Prim::shift_right, x, full_like(x, Scalar(n)));
}
Val shifted_left(const Val& x, int64_t n) {
  return binary(Prim::shift_left, x, full_like(x, Scalar(n)));
}
Val high_product(const Val& x, const Val& y) {
  return binary(Prim::mul_high, x, y);
}

Val low_word(const Val& x) {
  return convert(x, DType::u32);
}
Val high_word(const Val& x) {
  return convert(shifted_right(x, 32), DType::u32);
}

Words philox(Words c, Val key0, Val key1) {
  const Val m0 = full_like(c[0], Scalar(kMultiplier0)), m1 = full_like(c[0], Scalar(kMultiplier1));
  for (int round = 0; round < kRounds; ++round) {
    c = {high_product(c[2], m1) ^ c[1] ^ key0, c[2] * m1, high_product(c[0], m0) ^ c[3] ^ key1,
         c[0] * m0};
    key0 = key0 + Scalar(kWeyl0);
    key1 = key1 + Scalar(kWeyl1);
  }
  return c;
}

// The words of the counters offset, offset + 1, ... as vectors.
Words words_of(Tracer& t, const Val& key, const Val& offset, const SymInt& count) {
  const Val counter = t.iota({count}, 0, DType::i64) + offset;
  const Val zero = t.constant(Scalar(0), DType::u32, {count});
  return philox({low_word(counter), high_word(counter), zero, zero}, low_word(key), high_word(key));
}

Val joined_words(const Val& low, const Val& high) {
  return convert(low, DType::u64) | shifted_left(convert(high, DType::u64), 32);
}

int significand_bits(DType t) {
  return float_format(t).mantissa_bits + 1;
}

// The n highest bits of one word, or of two for more than 32, as an integer.
Val random_bits(const Val& low, const Val& high, int n) {
  if (n <= 32) return shifted_right(low, 32 - n);
  return shifted_right(joined_words(low, high), 64 - n);
}

double power_of_two(int n) {
  return n < 0 ? 1 / power_of_two(-n) : static_cast<double>(int64_t{1} << n);
}

// In [0, 1), in the compute dtype of t: all of it is exact.
Val unit_uniform(const Words& w, DType t) {
  const int n = significand_bits(t);
  return convert(random_bits(w[0], w[1], n), opmath_type(t)) * Scalar(power_of_two(-n));
}

}  // namespace

Val philox_bits::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape) {
  const SymInt count = prims::product(shape);
  std::vector<Val> columns;
  for (const Val& w : words_of(t, key, offset, count)) columns.push_back(reshape(w, {count, 1}));
  SymInts whole = shape;
  whole.push_back(4);
  return reshape(concatenate(columns, 1), whole);
}

Val random_uniform::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape,
                              DType dtype, const ScalarArg& low, const ScalarArg& high) {
  const Val u = unit_uniform(words_of(t, key, offset, prims::product(shape)), dtype);
  const Val from = t.scalar(low, u.dtype()), to = t.scalar(high, u.dtype());
  const Val y = convert(u * (to - from) + from, dtype);
  const Val start = convert(from, dtype), end = convert(to, dtype);
  return reshape(where(ge(y, end), start, y), shape);
}

namespace {

// cos(2 pi j / 2^n). The nearest quarter of the circle is taken off in integers, so that the error
// is a few ulp near the zeros too.
Val cosine_of_turn(const Val& j, int n, DType t) {
  const Val half = full_like(j, Scalar(int64_t{1} << (n - 3)));
  const Val quarter = shifted_right(j + half, n - 2);  // 0 to 4
  const DType signed_type = bits(j.dtype()) == 64 ? DType::i64 : DType::i32;
  const Val rest = convert(j, signed_type) - convert(shifted_left(quarter, n - 2), signed_type);
  constexpr double kHalfPi = 1.5707963267948966;
  const Val angle = convert(rest, t) * Scalar(power_of_two(2 - n)) * Scalar(kHalfPi);
  const Val odd = eq(quarter & full_like(quarter, Scalar(1)), Scalar(1));
  const Val side = where(odd, math::sin(angle), math::cos(angle));
  const Val flipped = eq(quarter, Scalar(1)) | eq(quarter, Scalar(2));
  return where(flipped, -side, side);
}

// A uniform number in (0, 1] of all bits of its words, so that the tails reach out far.
Val positive_uniform(const Words& w, DType t) {
  if (t == DType::f64) {
    const Val bits = convert(random_bits(w[0], w[1], 53), DType::f64);
    return (bits + Scalar(1.0)) * Scalar(0x1p-53);
  }
  return convert(w[0], t) * Scalar(0x1p-32) + Scalar(0x1p-33);
}

}  // namespace

// Box and Muller (1958): sqrt(-2 log u) cos(2 pi v), one number a counter.
Val random_normal::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape,
                             DType dtype, const ScalarArg& mean, const ScalarArg& std) {
  const DType type = opmath_type(dtype);
  const Words w = words_of(t, key, offset, prims::product(shape));
  const Val radius = math::sqrt(math::log(positive_uniform(w, type)) * Scalar(-2.0));
  const Val turn = type == DType::f64 ? cosine_of_turn(random_bits(w[2], w[3], 53), 53, type)
                                      : cosine_of_turn(random_bits(w[1], w[2], 24), 24, type);
  const Val y = radius * turn * t.scalar(std, type) + t.scalar(mean, type);
  return reshape(convert(y, dtype), shape);
}

namespace {

// floor(x r / 2^128) of 128 random bits x: each integer below r has a probability within r / 2^128
// of 1 / r, which no sample can tell from it. An r of 0 stands for 2^64.
Val scaled_bits(const Words& w, const Val& r) {
  const Val low = joined_words(w[0], w[1]), high = joined_words(w[2], w[3]);
  const Val middle = high * r, sum = middle + high_product(low, r);
  const Val carry = convert(lt(sum, middle), DType::u64);
  return where(eq(r, Scalar(0)), high, high_product(high, r) + carry);
}

Val as_unsigned(const Val& x) {
  return convert(x, DType::u64);
}

}  // namespace

Val random_integers::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape,
                               DType dtype, const ScalarArg& low, const ScalarArg& high) {
  const Words w = words_of(t, key, offset, prims::product(shape));
  const Val from = as_unsigned(t.scalar(low, DType::i64)),
            to = as_unsigned(t.scalar(high, DType::i64));
  const Val r = broadcast_to(to - from, w[0].shape());
  const Val y = convert(scaled_bits(w, r) + from, DType::i64);
  return reshape(convert(y, dtype), shape);
}

namespace {

// 1 - p; of a literal p subtracted before it is rounded.
Val kept_share(Tracer& t, const ScalarArg& p, DType dtype) {
  if (p.constant) return t.constant(Scalar(1 - p.constant->to_double()), dtype);
  return Scalar(1.0) - t.scalar(p, dtype);
}

}  // namespace

std::tuple<Val, Val> dropout::decompose(Tracer& t, const Val& key, const Val& offset, const Val& x,
                                        const ScalarArg& p) {
  const Val wide = opmath(x);
  const Val u = unit_uniform(words_of(t, key, offset, x.numel()), DType::f32);
  const Val kept = kept_share(t, p, wide.dtype());
  const Val mask = reshape(lt(u, convert(kept, DType::f32)), x.shape());
  const Val y = where(mask, wide / kept, full_like(wide, Scalar(0.0)));
  return {convert(y, x.dtype()), mask};
}

}  // namespace primset::decomps::prim
