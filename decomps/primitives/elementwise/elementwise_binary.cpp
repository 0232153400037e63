#include "decomps/primitives/elementwise_binary.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// What holds the magnitude of each number of the type, and divides faster: a division of magnitudes
// that fit half the width is one of that width.
DType magnitude_type(DType t) {
  return t == DType::i64 ? DType::u64 : t == DType::i32 ? DType::u32 : t;
}

// Euclid's algorithm; numbers of other types may be negative on the way, as the remainder has the
// sign of the dividend.
std::vector<Val> gcd_of_numbers(Tracer& t, const Val& x, const Val& y) {
  const DType type = magnitude_type(x.dtype());
  const auto magnitude = [&](const Val& v) { return convert(unary(Prim::abs, v), type); };
  const auto more = [](const std::vector<Val>& v) { return std::vector<Val>{ne(v[1], Scalar(0))}; };
  const auto step = [](const std::vector<Val>& v) {
    return std::vector<Val>{v[1], binary(Prim::rem, v[0], v[1])};
  };
  const Val last =
      t.prim(Prim::while_loop, {magnitude(x), magnitude(y)}, {},
             {t.scalar_region({type, type}, more), t.scalar_region({type, type}, step)})[0];
  return {unary(Prim::abs, convert(last, x.dtype()))};
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

}  // namespace

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
