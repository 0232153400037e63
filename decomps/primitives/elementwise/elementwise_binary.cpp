#include "decomps/primitives/elementwise_binary.h"

#include <functional>
#include <vector>

#include "decomps/primitives/math.h"
#include "decomps/primitives/special/approximation.h"

namespace primset::decomps::prim {
namespace {

// What holds the magnitude of each number of the type.
DType magnitude_type(DType t) {
  return t == DType::i64 ? DType::u64 : t == DType::i32 ? DType::u32 : t;
}

using Pair = std::vector<Val>;

// Steps of a pair of numbers of one type while the condition holds.
Pair stepped(Tracer& t, const Pair& start, const std::function<Val(const Pair&)>& more,
             const std::function<Pair(const Pair&)>& step) {
  const std::vector<DType> types(2, start[0].dtype());
  const auto goes_on = [&](const Pair& v) { return Pair{more(v)}; };
  return t.prim(Prim::while_loop, start, {},
                {t.scalar_region(types, goes_on), t.scalar_region(types, step)});
}

// Euclid's algorithm on whole numbers below 2^24, in f32: devices divide these in a fraction of an
// integer division's time. The remainder is that of the nearest quotient, or of one beside it where
// the quotient is so great that the reciprocal's rounding shows: with any multiple of y taken from
// x the divisors stay, and the remainder is below y in either case.
Val gcd_of_floats(Tracer& t, const Val& x, const Val& y) {
  const auto more = [](const Pair& v) { return gt(v[1], Scalar(0.0)); };
  const auto step = [&](const Pair& v) {
    // Others may go on where this pair is done.
    const Val one = math::number(v[1], 1.0), divisor = where(more(v), v[1], one);
    const Val quotient = unary(Prim::round_even, v[0] * (one / divisor));
    return Pair{v[1], math::abs(math::fma(-quotient, v[1], v[0]))};
  };
  return stepped(t, {x, y}, more, step)[0];
}

// Euclid's algorithm on integers until both fit f32.
std::vector<Val> gcd_of_numbers(Tracer& t, const Val& x, const Val& y) {
  constexpr int64_t kEnd = int64_t{1} << 24;
  const DType type = magnitude_type(x.dtype());
  const auto magnitude = [&](const Val& v) { return convert(unary(Prim::abs, v), type); };
  const auto rest = [&](const Pair& v) {
    const auto number = [](const Val& n) {
      return math::abs(convert(bits(n.dtype()) == 64 ? convert(n, DType::u32) : n, DType::f32));
    };
    return convert(convert(gcd_of_floats(t, number(v[0]), number(v[1])), DType::i32), type);
  };
  Pair v = {magnitude(x), magnitude(y)};
  if (bits(type) < 24) return {rest(v)};
  const auto more = [](const Pair& v) {
    const Val great = ge(v[0] | v[1], full_like(v[0], Scalar(kEnd)));
    return great & ne(v[1], Scalar(0));
  };
  v = stepped(t, v, more, [](const Pair& v) { return Pair{v[1], binary(Prim::rem, v[0], v[1])}; });
  return {unary(Prim::abs, convert(where(eq(v[1], Scalar(0)), v[0], rest(v)), x.dtype()))};
}

}  // namespace

namespace {

// The neighbour of x in the direction of y, by the bits as a number in sign and magnitude.
Val next_towards(const Val& x, const Val& y) {
  Tracer& t = x.tracer();
  const bool wide = x.dtype() == DType::f64, half = is_half(x.dtype());
  const DType bits = wide ? DType::i64 : half ? DType::i16 : DType::i32;
  const auto as = [&](const Val& v, DType to) { return t.wrap(t.builder().bitcast(v.id(), to)); };
  const Val b = as(x, bits), one = full_like(b, 1);
  const Val away = eq(lt(x, y), gt(x, Scalar(0.0)));  // from 0
  const Val moved = as(where(away, b + one, b - one), x.dtype());
  const Val least = math::copysign(as(one, x.dtype()), y);
  const Val stepped = where(eq(x, Scalar(0.0)), least, moved);
  const Val lost = math::is_unordered(x) | math::is_unordered(y);
  return where(lost, full_like(x, Scalar(math::kNan)), where(eq(x, y), y, stepped));
}

// How far one product with a power of two goes: to the greatest power, and down to the least normal
// one, or where more is to come so far that a result that is not lost altogether has lost no bit
// yet (as musl's scalbn).
struct PowerRange {
  int64_t greatest, least, part;
  int mantissa;
};

PowerRange power_range(DType t) {
  if (t == DType::f64) return {1023, -1022, 53 - 1022, 52};
  return {127, -126, 24 - 126, 23};
}

// 2^n of an n in the range of normal numbers, made of its bits.
Val normal_power(const Val& n, DType type, const PowerRange& range) {
  Tracer& t = n.tracer();
  const Val field = n + full_like(n, range.greatest);
  const Val bits = convert(field, type == DType::f64 ? DType::i64 : DType::i32);
  const Val pattern = binary(Prim::shift_left, bits, full_like(bits, range.mantissa));
  return t.wrap(t.builder().bitcast(pattern.id(), type));
}

// Three products take any number of the type to any other.
Val scaled_by_power(const Val& x, const Val& n) {
  const PowerRange range = power_range(x.dtype());
  const auto bound = [&](const Val& v, int64_t least, int64_t greatest) {
    return math::max(math::min(v, full_like(v, greatest)), full_like(v, least));
  };
  Val y = x, rest = bound(n, 3 * range.part, 3 * range.greatest);
  for (const bool last : {false, false, true}) {
    const Val part =
        last ? bound(rest, range.least, range.greatest)
             : where(lt(rest, full_like(rest, range.least)), full_like(rest, range.part),
                     math::min(rest, full_like(rest, range.greatest)));
    y = y * normal_power(part, x.dtype(), range);
    rest = rest - part;
  }
  return y;
}

// As ATen has it, for quotients of any size: the remainder is taken off first.
Val floor_quotient(const Val& x, const Val& y) {
  const Val r = binary(Prim::rem, x, y), ratio = x / y;
  const Val crosses = ne(r, Scalar(0.0)) & ne(lt(r, Scalar(0.0)), lt(y, Scalar(0.0)));
  const Val q = (x - r) / y, down = where(crosses, q - Scalar(1.0), q);
  const Val whole = unary(Prim::floor, down);
  const Val near = where(gt(down - whole, Scalar(0.5)), whole + Scalar(1.0), whole);
  const Val signed_zero = math::copysign(math::number(x, 0.0), ratio);
  return where(eq(y, Scalar(0.0)), ratio, where(eq(down, Scalar(0.0)), signed_zero, near));
}

// The quotient's own floor, of quotients that keep two bits of their fraction: what is left of x
// shows whether it was rounded up to the next whole number. An infinite y leaves NaN.
Val floor_of_quotient(const Val& x, const Val& y) {
  const Val ratio = x / y, whole = unary(Prim::floor, ratio), rest = math::fma(-whole, y, x);
  const Val crosses = ne(rest, Scalar(0.0)) & ne(lt(rest, Scalar(0.0)), lt(y, Scalar(0.0)));
  const Val near = where(crosses, whole - Scalar(1.0), whole);
  const double limit = x.dtype() == DType::f64 ? 0x1p51 : 0x1p22;
  const Val rare = ~(lt(math::abs(ratio), Scalar(limit)) & eq(rest, rest));
  const auto any = [](const Val& v, const math::Numbers& rest) {
    return floor_quotient(v, rest[0]);
  };
  return where(rare, math::seldom(rare, x, {y}, any), near);
}

// Truncated toward zero, and one less where something is left of another sign than y's.
Val floor_of_integers(const Val& x, const Val& y) {
  const Val r = binary(Prim::rem, x, y), q = x / y;
  const Val crosses = ne(r, Scalar(0)) & ne(lt(r, Scalar(0)), lt(y, Scalar(0)));
  return where(crosses, q - full_like(q, 1), q);
}

}  // namespace

Val floor_div::decompose(Tracer&, const Val& x, const Val& y) {
  if (!is_floating(x.dtype())) return floor_of_integers(x, y);
  return convert(floor_of_quotient(opmath(x), opmath(y)), x.dtype());
}

Val nextafter::decompose(Tracer&, const Val& x, const Val& y) {
  return next_towards(x, y);
}

Val ldexp::decompose(Tracer&, const Val& x, const Val& n) {
  return convert(scaled_by_power(opmath(x), n), x.dtype());
}

Val copysign::decompose(Tracer&, const Val& x, const Val& y) {
  return math::copysign(x, y);
}

Val hypot::decompose(Tracer&, const Val& x, const Val& y) {
  return convert(math::hypot(opmath(x), opmath(y)), x.dtype());
}

Val gcd::decompose(Tracer& t, const Val& x, const Val& y) {
  const auto body = [&](const std::vector<Val>& v) { return gcd_of_numbers(t, v[0], v[1]); };
  return t.prim(Prim::map, {x, y}, {}, {t.scalar_region({x.dtype(), y.dtype()}, body)})[0];
}

}  // namespace primset::decomps::prim
