// Uniform, normal and integer numbers of Philox counters, one a number, and dropout.
#include <optional>

#include "decomps/primitives/random.h"

#include "decomps/primitives/random/philox.h"

namespace primset::decomps::prim {
namespace {

using philox::Words;

// The words of the counters offset, offset + 1, ... as vectors.
Words words_of(Tracer& t, const Val& key, const Val& offset, const SymInt& count) {
  return philox::block(key, philox::counters_from(t, offset, count));
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

// The same for an r of one word, in words, of which a product takes a quarter of the time.
Val scaled_words(const Words& w, const Val& r) {
  Val above = binary(Prim::mul_high, w[0], r);
  for (const Val& word : {w[1], w[2], w[3]}) {
    const Val sum = word * r + above;
    above = binary(Prim::mul_high, word, r) + convert(lt(sum, above), DType::u32);
  }
  return above;
}

// The number where it is no run-time one.
std::optional<SymInt> integer_of(Tracer& t, const ScalarArg& x) {
  if (x.constant) return SymInt(x.constant->to_int());
  const prims::NodeId producer = t.builder().graph().producer(x.value.id());
  if (producer == prims::Graph::kNoNode) return std::nullopt;
  const prims::Node& n = t.builder().graph().node(producer);
  if (n.prim != Prim::constant) return std::nullopt;
  const auto* size = std::get_if<SymInt>(&n.find_attr("value").value);
  return size ? std::optional(*size) : std::nullopt;
}

// Bounds of numbers that fit i32, less than 2^32 of them.
struct Bounds32 {
  SymInt from, count;
};
std::optional<Bounds32> bounds32(Tracer& t, const ScalarArg& low, const ScalarArg& high) {
  const auto from = integer_of(t, low), to = integer_of(t, high);
  constexpr int64_t kHalf = int64_t{1} << 31;
  if (!from || !to || *from < SymInt(-kHalf) || *to > SymInt(kHalf)) return std::nullopt;
  // 2^63 and more wrap around; differences from them would overflow.
  if (*to < SymInt(-kHalf)) return std::nullopt;
  const SymInt count = *to - *from;
  if (count < SymInt(1) || count == SymInt(2 * kHalf)) return std::nullopt;
  return Bounds32{*from, count};
}

// nullopt: the bounds want 64-bit integers.
std::optional<Val> integers_in_words(Tracer& t, const Words& w, const ScalarArg& low,
                                     const ScalarArg& high) {
  const auto bounds = bounds32(t, low, high);
  if (!bounds) return std::nullopt;
  const Val above = scaled_words(w, full_like(w[0], bounds->count));
  return convert(above + full_like(above, bounds->from), DType::i32);
}

}  // namespace

Val random_integers::decompose(Tracer& t, const Val& key, const Val& offset, const SymInts& shape,
                               DType dtype, const ScalarArg& low, const ScalarArg& high) {
  const Words w = words_of(t, key, offset, prims::product(shape));
  if (const auto y = integers_in_words(t, w, low, high)) return reshape(convert(*y, dtype), shape);
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
