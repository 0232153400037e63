// Alabi, Blanchard, Gordon and Steinbach, "Fast k-selection algorithms for graphics processing
// units" (2012): numbers become integers of the same order, of which the wanted one is found two
// bits at a time, the highest first. Each round counts how many keys are below the three
// candidates that go on with another digit: the greatest one with fewer than k below it is kept.
// That is a reduction a round, where a sort moves every element each time.
//
// In a row with no more elements than candidates are compared, every element is compared with every
// other instead: that is as much work, and two reductions.
#include "decomps/primitives/sort/radix_select.h"

#include <array>
#include <limits>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

constexpr int kDigitBits = 2;

struct Keys {
  Val keys;       // signed integers
  int bits;       // that differ between keys
  int64_t least;  // the least key there may be
};

Val bitcast(const Val& x, DType to) {
  return x.tracer().wrap(x.tracer().builder().bitcast(x.id(), to));
}

int64_t least_of(int width) {
  return std::numeric_limits<int64_t>::min() >> (64 - width);
}

DType signed_integer(int width) {
  return width == 64 ? DType::i64 : width == 32 ? DType::i32 : width == 16 ? DType::i16 : DType::i8;
}

// The bits of a negative number fall as the number rises, so they are flipped, all but the sign.
// Both zeros have key 0, and every NaN has the greatest.
Val key_of_float(const Val& x, DType type) {
  const int width = bits(type);
  const Val pattern = bitcast(where(eq(x, Scalar(0.0)), full_like(x, 0.0), x), type);
  const Val greatest = full_like(pattern, ~least_of(width));
  const Val key = where(lt(pattern, Scalar(0)), pattern ^ greatest, pattern);
  return where(is_nan(x), greatest, key);
}

Keys select_keys(const Val& x) {
  if (is_bool(x.dtype())) return {convert(x, DType::i8), kDigitBits, 0};
  const int width = bits(x.dtype());
  const DType type = signed_integer(width);
  const int64_t least = least_of(width);
  if (is_floating(x.dtype())) return {key_of_float(x, type), width, least};
  if (!is_unsigned_integer(x.dtype())) return {x, width, least};
  const Val pattern = bitcast(x, type);
  return {pattern ^ full_like(pattern, least), width, least};
}

// `digit` behind a prefix whose lower bits are 0; the sum wraps as the dtype does.
Val candidate(const Val& prefix, int64_t digit, int shift) {
  const int width = bits(prefix.dtype());
  const uint64_t step = static_cast<uint64_t>(digit) << shift;
  const int64_t wrapped = static_cast<int64_t>(step << (64 - width)) >> (64 - width);
  return prefix + full_like(prefix, wrapped);
}

// One value a row, repeated along it.
Val repeated_along(const Val& rows, const Val& like, int64_t dim) {
  return broadcast_to(unsqueeze(rows, dim), like.shape());
}

Val with_next_digit(const Val& keys, const Val& prefix, const Val& k, int64_t dim, int shift) {
  constexpr int64_t kDigits = int64_t{1} << kDigitBits;
  Val chosen = prefix;
  for (int64_t digit = 1; digit < kDigits; ++digit) {
    const Val next = candidate(prefix, digit, shift);
    const Val below = convert(lt(keys, repeated_along(next, keys, dim)), k.dtype());
    chosen = where(lt(reduce(Prim::reduce_sum, below, {dim}, false), k), next, chosen);
  }
  return chosen;
}

// The key of which fewer than k are smaller, and k or more not greater.
Val chosen_by_comparisons(const Val& keys, const Val& k, int64_t dim) {
  const Val candidates = unsqueeze(keys, dim + 1), others = unsqueeze(keys, dim);
  const auto count = [&](const Val& holds) {
    return reduce(Prim::reduce_sum, convert(holds, k.dtype()), {dim + 1}, false);
  };
  const Val rank = repeated_along(k, keys, dim);
  return lt(count(lt(others, candidates)), rank) & ge(count(le(others, candidates)), rank);
}

Val chosen_by_digits(const Keys& of, const Val& k, int64_t dim) {
  Val found = k.tracer().constant(of.least, of.keys.dtype(), k.shape());
  for (int shift = of.bits - kDigitBits; shift >= 0; shift -= kDigitBits)
    found = with_next_digit(of.keys, found, k, dim, shift);
  return eq(of.keys, repeated_along(found, of.keys, dim));
}

bool is_short(const Keys& of, int64_t dim) {
  const int64_t compared = of.bits / kDigitBits * ((int64_t{1} << kDigitBits) - 1);
  return of.keys.size(dim) <= SymInt(compared);
}

}  // namespace

std::tuple<Val, Val> radix_select(const Val& x, const Val& k, int64_t dim) {
  Tracer& t = x.tracer();
  const Keys of = select_keys(x);
  const bool narrow = x.size(dim) <= SymInt(std::numeric_limits<int32_t>::max());
  const Val rank = narrow ? convert(k, DType::i32) : k;
  const Val chosen = is_short(of, dim) ? chosen_by_comparisons(of.keys, rank, dim)
                                       : chosen_by_digits(of, rank, dim);
  const Val index = t.wrap(t.builder().arg_reduce(Prim::argmax, chosen.id(), dim));
  const Val value = t.prim1(Prim::gather_along_dim, {x, unsqueeze(index, dim)}, {{"dim", dim}});
  return {squeeze(value, dim), index};
}

}  // namespace primset::decomps::prim
