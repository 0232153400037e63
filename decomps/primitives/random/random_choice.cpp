// Permutations, and indices drawn by weights.
#include <limits>

#include "decomps/primitives/math.h"
#include "decomps/primitives/random.h"
#include "decomps/primitives/random/philox.h"

namespace primset::decomps::prim {
namespace {

constexpr int64_t kLeastKey = std::numeric_limits<int64_t>::min();

// Uniform in [0, 1).
Val unit_uniforms(Tracer& t, const Val& key, const Val& offset, const SymInts& shape, DType type) {
  return t.prim1(Prim::random_uniform, {key, offset},
                 {{"shape", shape}, {"dtype", type}, {"low", Scalar(0.0)}, {"high", Scalar(1.0)}});
}

// Without replacement: the greatest of p / e for exponential e (the winners of a race).
Val raced(Tracer& t, const Val& key, const Val& offset, const Val& p, const SymInt& samples) {
  const Val u = Scalar(1.0) - unit_uniforms(t, key, offset, p.shape(), p.dtype());
  const Val scores = p / -math::log(u);
  return t.prim(Prim::top_k, {scores},
                {{"k", samples}, {"dim", int64_t{1}}, {"largest", true}, {"sorted", true}})[1];
}

// With replacement: how many of the running sums are not above a uniform share of the total.
Val looked_up(Tracer& t, const Val& key, const Val& offset, const Val& p, const SymInt& samples) {
  const SymInt rows = p.size(0), columns = p.size(1);
  const Val sums = t.wrap(t.builder().scan(Prim::scan_sum, p.id(), 1)[0]);
  const Val total = slice(sums, 1, columns - 1, columns, 1);
  const Val u = unit_uniforms(t, key, offset, {rows, samples}, p.dtype()) * total;
  const Val passed = le(reshape(sums, {rows, 1, columns}), reshape(u, {rows, samples, 1}));
  const Val place = reduce(Prim::reduce_sum, convert(passed, DType::i64), {2}, false);
  // Rounding may leave the share at the total: then the last one that has any probability.
  const Val column = t.iota(p.shape(), 1, DType::i64);
  const Val possible = where(gt(p, Scalar(0.0)), column, full_like(column, Scalar(int64_t{0})));
  const Val last = reduce(Prim::reduce_max, possible, {1}, true);
  return binary(Prim::min, place, broadcast_to(last, place.shape()));
}

// By two words, the less significant first: sorts are stable.
Val sorted_by_words(Tracer& t, const Val& low, const Val& high) {
  const auto moved = [&](const Val& keys, const Val& places) {
    return t.wrap(t.builder().sort({keys.id(), places.id()}, 0, false)[1]);
  };
  const Val first = moved(low, t.iota(low.shape(), 0, DType::i64));
  return moved(t.wrap(t.builder().gather(high.id(), {first.id()}, {0}, true, "place")), first);
}

}  // namespace

// The order of 64 random bits each: those of random_integers, the upper half of its words.
Val random_permutation::decompose(Tracer& t, const Val& key, const Val& offset, SymInt n) {
  if (!t.device().i64) {
    const philox::Words w = philox::block(key, philox::counters_from(t, offset, n));
    return sorted_by_words(t, w[2], w[3]);
  }
  const Val keys = t.prim1(Prim::random_integers, {key, offset},
                           {{"shape", SymInts{n}},
                            {"dtype", DType::i64},
                            {"low", Scalar(kLeastKey)},
                            {"high", Scalar(kLeastKey)}});
  const Val places = t.iota({n}, 0, DType::i64);
  return t.wrap(t.builder().sort({keys.id(), places.id()}, 0, false)[1]);
}

Val multinomial::decompose(Tracer& t, const Val& key, const Val& offset, const Val& weights,
                           SymInt samples, bool replacement) {
  const Val p = opmath(weights);
  return replacement ? looked_up(t, key, offset, p, samples) : raced(t, key, offset, p, samples);
}

}  // namespace primset::decomps::prim
