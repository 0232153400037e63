// Gamma, Poisson and binomial numbers: each element has a counter of Philox, and each attempt of
// its loop takes other blocks of it. The loops end after kMostAttempts, which no element with
// sensible parameters comes near; NaN parameters would never end them.
#include <cmath>
#include <functional>
#include <numbers>

#include "decomps/primitives/math.h"
#include "decomps/primitives/random.h"
#include "decomps/primitives/random/philox.h"

namespace primset::decomps::prim {
namespace {

using philox::Words;

constexpr int64_t kMostAttempts = 128;

// What a loop of one element carries: the counter, the key, the attempt, whether it is still open,
// the number found, and the parameters.
enum Carried : size_t { kLow, kHigh, kKey0, kKey1, kAttempt, kOpen, kFound, kParameters };

// The attempt's block of this number.
Words block_of(const std::vector<Val>& v, int64_t number) {
  return philox::block({v[kLow], v[kHigh], v[kAttempt], full_like(v[kLow], Scalar(number))},
                       v[kKey0], v[kKey1]);
}

struct Attempt {
  Val accepted, value;
};
using TryOnce = std::function<Attempt(const std::vector<Val>& carried)>;

// Tries until an attempt is accepted.
Val rejection_loop(Tracer& t, std::vector<Val> carried, const TryOnce& attempt) {
  std::vector<DType> types;
  for (const Val& v : carried) types.push_back(v.dtype());
  const auto more = [](const std::vector<Val>& v) {
    return std::vector<Val>{v[kOpen] & lt(v[kAttempt], Scalar(kMostAttempts))};
  };
  const auto step = [&](const std::vector<Val>& v) {
    const Attempt a = attempt(v);
    std::vector<Val> next = v;
    next[kAttempt] = v[kAttempt] + Scalar(int64_t{1});
    next[kOpen] = ~a.accepted;
    next[kFound] = a.value;
    return next;
  };
  return t.prim(Prim::while_loop, carried, {},
                {t.scalar_region(types, more), t.scalar_region(types, step)})[kFound];
}

using DrawOne = std::function<Val(const std::vector<Val>& carried)>;

// A map over the elements of the parameters, which have one shape and type, and their counters.
Val drawn(Tracer& t, const Val& key, const Val& offset, const std::vector<Val>& parameters,
          const DrawOne& draw) {
  const SymInts shape = parameters[0].shape();
  const DType type = parameters[0].dtype();
  const SymInt count = prims::product(shape);
  const philox::Counters counters = philox::counters_from(t, offset, count);
  const auto spread = [&](const Val& x) { return broadcast_to(x, shape); };
  std::vector<Val> operands = {reshape(counters.low, shape), reshape(counters.high, shape),
                               spread(philox::low_word(key)), spread(philox::high_word(key))};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  std::vector<DType> types(4, DType::u32);
  types.resize(operands.size(), type);
  const auto body = [&](const std::vector<Val>& v) {
    std::vector<Val> carried(v.begin(), v.begin() + 4);
    carried.push_back(full_like(v[0], Scalar(int64_t{0})));
    carried.push_back(t.constant(true, DType::boolean));
    carried.push_back(math::number(v[4], 0));
    carried.insert(carried.end(), v.begin() + 4, v.end());
    return std::vector<Val>{draw(carried)};
  };
  return t.prim(Prim::map, operands, {}, {t.scalar_region(types, body)})[0];
}

Val attempt_uniform(const Words& w, int first, DType type) {
  const auto i = static_cast<size_t>(first);
  return philox::positive_uniform(w[i], w[i + 1], type);
}

// --- gamma ---

// Marsaglia and Tsang, A simple method for generating gamma variables (2000): d (1 + c x)^3 of a
// normal x, accepted by a logarithm. The sum of its terms is written so that they do not cancel
// where d is great. carried: d.
Attempt try_gamma(const std::vector<Val>& v) {
  const Val d = v[kParameters];
  const DType type = d.dtype();
  const Val x = philox::standard_normal(block_of(v, 0), type);
  const Val u = attempt_uniform(block_of(v, 1), 0, type);
  const Val z = x / math::sqrt(d * Scalar(9.0)), w = z + Scalar(1.0);
  const Val rest = math::log1p(z) * Scalar(3.0) - z * (z * (z + Scalar(3.0)) + Scalar(3.0));
  const Val inside = lt(math::log(u), x * x * Scalar(0.5) + d * rest);
  return {gt(w, Scalar(0.0)) & inside, d * w * w * w};
}

// Below a shape of 1 it is the number of shape + 1 times u^(1 / shape).
Val draw_gamma(Tracer& t, const std::vector<Val>& v) {
  const Val alpha = v[kParameters];
  const Val low = lt(alpha, Scalar(1.0));
  std::vector<Val> carried = v;
  carried[kParameters] =
      where(low, alpha + Scalar(1.0), alpha) - math::number(alpha, 1.0) / Scalar(3.0);
  const Val y = rejection_loop(t, carried, try_gamma);
  const Val u = attempt_uniform(block_of(v, 2), 0, alpha.dtype());
  return where(low, y * math::exp(math::log(u) / alpha), y);
}

// --- sequential search ---

// The first k whose probabilities from 0 on add up to u, which counts below 10 expected: `first` is
// that of 0, `ratio` of k + 1 to that of k. carried: u, k, the last probability, their sum, rest.
Val sequential_search(Tracer& t, const Val& u, const Val& first, const std::vector<Val>& rest,
                      const std::function<Val(const Val& k, const Val* rest)>& ratio) {
  constexpr double kMost = 128;
  std::vector<Val> carried = {u, math::number(u, 0), first, first};
  carried.insert(carried.end(), rest.begin(), rest.end());
  const std::vector<DType> types(carried.size(), u.dtype());
  const auto more = [](const std::vector<Val>& v) {
    return std::vector<Val>{gt(v[0], v[3]) & lt(v[1], Scalar(kMost)) & gt(v[2], Scalar(0.0))};
  };
  const auto step = [&](const std::vector<Val>& v) {
    std::vector<Val> next = v;
    next[2] = v[2] * ratio(v[1], &v[4]);
    next[1] = v[1] + Scalar(1.0);
    next[3] = v[3] + next[2];
    return next;
  };
  return t.prim(Prim::while_loop, carried, {},
                {t.scalar_region(types, more), t.scalar_region(types, step)})[1];
}

// log k! less Stirling's (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2. Its error of 3e-4 at 0
// falls with the seventh power of k + 1.
Val stirling_rest(const Val& k) {
  const Val r = math::number(k, 1.0) / (k + Scalar(1.0)), s = r * r;
  return r * (Scalar(1.0 / 12) - s * (Scalar(1.0 / 360) - s * Scalar(1.0 / 1260)));
}

// Hörmann's transformed rejection (The transformed rejection method for generating Poisson random
// variables, 1993; The generation of binomial random variates, 1993): both distributions have the
// hat k = floor((2 a / s + b) u + centre), s = 1/2 - |u|.
struct Hat {
  Val a, b, centre;
};
struct Candidate {
  Val k, s, v;
};
Candidate candidate(const std::vector<Val>& carried, const Hat& hat) {
  const Words w = block_of(carried, 0);
  const DType type = hat.a.dtype();
  const bool wide = type == DType::f64;
  const Val u = attempt_uniform(w, 0, type) - Scalar(0.5);
  const Val s = Scalar(0.5) - math::abs(u);
  const Val k = unary(Prim::floor, (hat.a * Scalar(2.0) / s + hat.b) * u + hat.centre);
  return {k, s, wide ? attempt_uniform(w, 2, type) : attempt_uniform(w, 1, type)};
}

// --- Poisson ---

// carried: the rate. The logarithm of the probability of k is written around k + 1, so that its
// terms do not cancel where the rate is great.
Attempt try_poisson(const std::vector<Val>& carried) {
  const Val rate = carried[kParameters], root = math::sqrt(rate);
  const Val b = root * Scalar(2.53) + Scalar(0.931);
  const Hat hat = {b * Scalar(0.02483) - Scalar(0.059), b, rate + Scalar(0.43)};
  const auto [k, s, v] = candidate(carried, hat);
  const Val inverse = math::number(b, 1.1328) / (b - Scalar(3.4)) + Scalar(1.1239);
  const Val quick =
      ge(s, Scalar(0.07)) & le(v, math::number(b, -3.6224) / (b - Scalar(2.0)) + Scalar(0.9277));
  const Val outside = lt(k, Scalar(0.0)) | (lt(s, Scalar(0.013)) & gt(v, s));
  const Val at = math::max(k, math::number(k, 0)), next = at + Scalar(1.0);
  const Val half_log = (math::log(next) + Scalar(std::log(2 * std::numbers::pi))) * Scalar(0.5);
  const Val log_probability =
      at * math::log1p((rate - next) / next) + (next - rate) - half_log - stirling_rest(at);
  const Val log_hat = math::log(v * inverse / (hat.a / (s * s) + b));
  return {quick | (~outside & le(log_hat, log_probability)), at};
}

Val draw_poisson(Tracer& t, const std::vector<Val>& v) {
  const Val rate = v[kParameters];
  const Val low = lt(rate, Scalar(10.0));
  std::vector<Val> carried = v;
  carried[kOpen] = ~low;
  const Val great = rejection_loop(t, carried, try_poisson);
  // Without a number to find the search ends at once.
  const Val u = where(low, attempt_uniform(block_of(v, 1), 0, rate.dtype()), math::number(rate, 0));
  const Val small =
      sequential_search(t, u, math::exp(-rate), {rate},
                        [](const Val& k, const Val* rest) { return rest[0] / (k + Scalar(1.0)); });
  return where(low, small, great);
}

// --- binomial ---

// carried: n and p <= 1/2.
Attempt try_binomial(const std::vector<Val>& carried) {
  const Val n = carried[kParameters], p = carried[kParameters + 1];
  const Val root = math::sqrt(n * p * (Scalar(1.0) - p));
  const Val b = root * Scalar(2.53) + Scalar(1.15);
  const Hat hat = {b * Scalar(0.0248) + p * Scalar(0.01) - Scalar(0.0873), b, n * p + Scalar(0.5)};
  const auto [k, s, v] = candidate(carried, hat);
  const Val quick = ge(s, Scalar(0.07)) & le(v, Scalar(0.92) - math::number(b, 4.2) / b);
  const Val outside = lt(k, Scalar(0.0)) | gt(k, n);
  const Val at = math::min(math::max(k, math::number(k, 0)), n);
  const Val mode = unary(Prim::floor, (n + Scalar(1.0)) * p), odds = p / (Scalar(1.0) - p);
  const Val alpha = (math::number(b, 5.1) / b + Scalar(2.83)) * root;
  const Val log_hat = math::log(v * alpha / (hat.a / (s * s) + b));
  const Val one_more = n + Scalar(1.0);
  const Val log_probability =
      (mode + Scalar(0.5)) * math::log((mode + Scalar(1.0)) / (odds * (one_more - mode))) +
      one_more * math::log((one_more - mode) / (one_more - at)) +
      (at + Scalar(0.5)) * math::log(odds * (one_more - at) / (at + Scalar(1.0))) +
      stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(at) - stirling_rest(n - at);
  return {~outside & (quick | le(log_hat, log_probability)), at};
}

Val draw_binomial(Tracer& t, const std::vector<Val>& v) {
  const Val n = unary(Prim::floor, v[kParameters]), p = v[kParameters + 1];
  const Val flipped = gt(p, Scalar(0.5)), share = where(flipped, Scalar(1.0) - p, p);
  const Val low = lt(n * share, Scalar(10.0));
  std::vector<Val> carried = v;
  carried[kOpen] = ~low;
  carried[kParameters] = n;
  carried[kParameters + 1] = share;
  const Val great = rejection_loop(t, carried, try_binomial);
  const Val u = where(low, attempt_uniform(block_of(v, 1), 0, n.dtype()), math::number(n, 0));
  const Val first = math::exp(n * math::log1p(-share));
  const Val small = sequential_search(
      t, u, first, {n, share / (Scalar(1.0) - share)},
      [](const Val& k, const Val* rest) { return rest[1] * (rest[0] - k) / (k + Scalar(1.0)); });
  const Val k = where(low, math::min(small, n), great), y = where(flipped, n - k, k);
  const Val none = le(n, Scalar(0.0)) | le(p, Scalar(0.0));
  return where(none, math::number(n, 0), where(ge(p, Scalar(1.0)), n, y));
}

}  // namespace

Val random_gamma::decompose(Tracer& t, const Val& key, const Val& offset, const Val& alpha) {
  const Val y = drawn(t, key, offset, {opmath(alpha)},
                      [&](const std::vector<Val>& v) { return draw_gamma(t, v); });
  return convert(y, alpha.dtype());
}

Val random_poisson::decompose(Tracer& t, const Val& key, const Val& offset, const Val& rate) {
  const Val y = drawn(t, key, offset, {opmath(rate)},
                      [&](const std::vector<Val>& v) { return draw_poisson(t, v); });
  return convert(y, rate.dtype());
}

Val random_binomial::decompose(Tracer& t, const Val& key, const Val& offset, const Val& n,
                               const Val& p) {
  const Val y = drawn(t, key, offset, {opmath(n), opmath(p)},
                      [&](const std::vector<Val>& v) { return draw_binomial(t, v); });
  return convert(y, n.dtype());
}

}  // namespace primset::decomps::prim
