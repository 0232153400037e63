// Uniform, normal and integer numbers of Philox counters, one a number, and dropout.
#include "decomps/primitives/random.h"

#include "decomps/primitives/random/philox.h"

namespace primset::decomps::prim {
namespace {

using philox::Words;

// The words of the counters offset, offset + 1, ... as vectors.
Words words_of(Tracer& t, const Val& key, const Val& offset, const SymInt& count) {
  return philox::block(key, t.iota({count}, 0, DType::i64) + offset);
}

int significand_bits(DType t) {
  return float_format(t).mantissa_bits + 1;
}

// In [0, 1), in the compute dtype of t: all of it is exact.
Val unit_uniform(const Words& w, DType t) {
  const int n = significand_bits(t);
  return convert(philox::random_bits(w[0], w[1], n), opmath_type(t)) *
         Scalar(philox::power_of_two(-n));
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

Val random_normal::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape,
                             DType dtype, const ScalarArg& mean, const ScalarArg& std) {
  const DType type = opmath_type(dtype);
  const Words w = words_of(t, key, offset, prims::product(shape));
  const Val y = philox::standard_normal(w, type) * t.scalar(std, type) + t.scalar(mean, type);
  return reshape(convert(y, dtype), shape);
}

namespace {

// floor(x r / 2^128) of 128 random bits x: each integer below r has a probability within r / 2^128
// of 1 / r, which no sample can tell from it. An r of 0 stands for 2^64.
Val scaled_bits(const Words& w, const Val& r) {
  const Val low = philox::joined_words(w[0], w[1]), high = philox::joined_words(w[2], w[3]);
  const Val middle = high * r, sum = middle + binary(Prim::mul_high, low, r);
  const Val carry = convert(lt(sum, middle), DType::u64);
  return where(eq(r, Scalar(0)), high, binary(Prim::mul_high, high, r) + carry);
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
