// Decompositions of derived elementwise primitives into core ones. Each meets the primitive's own
// error bound; operands of half precision arrive as f32 where the primitive computes so.
#include <limits>

#include "decomps/prim_elementwise_binary.h"
#include "decomps/prim_elementwise_unary.h"

namespace primset::decomps::prim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0.6931471805599453;

Val abs_of(const Val& x) { return unary(Prim::abs, x); }
Val with_sign(const Val& x, const Val& sign) { return binary(Prim::copysign, x, sign); }

DType bits_type(DType t) {
  switch (bits(t)) {
    case 16: return DType::i16;
    case 64: return DType::i64;
    default: return DType::i32;
  }
}

int64_t sign_mask(DType t) {
  switch (bits(t)) {
    case 16: return INT16_MIN;
    case 64: return INT64_MIN;
    default: return INT32_MIN;
  }
}

}  // namespace

Val copysign::decompose(Tracer& t, const Val& x, const Val& y) {
  const DType b = bits_type(x.dtype());
  const int64_t sign = sign_mask(b);
  const Val magnitude = t.prim1(Prim::bitcast, {x}, {{"dtype", b}}) & t.constant(~sign, b, x.shape());
  const Val sign_of_y = t.prim1(Prim::bitcast, {y}, {{"dtype", b}}) & t.constant(sign, b, x.shape());
  return t.prim1(Prim::bitcast, {magnitude | sign_of_y}, {{"dtype", x.dtype()}});
}

Val hypot::decompose(Tracer& t, const Val& x, const Val& y) {
  const Val a = abs_of(x), b = abs_of(y);
  const Val high = binary(Prim::max, a, b), low = binary(Prim::min, a, b);
  const Val ratio = low / where(eq(high, 0.0), full_like(high, 1.0), high);
  const Val length = high * unary(Prim::sqrt, ratio * ratio + 1.0);
  return where(eq(a, kInf) | eq(b, kInf), full_like(x, kInf), length);
}

// Euclid's algorithm, element by element. Remainders keep the dividend's sign, so that the most
// negative integer needs no special case; the sign goes at the end.
Val gcd::decompose(Tracer& t, const Val& x, const Val& y) {
  const DType d = x.dtype();
  prims::Region body = t.scalar_region({d, d}, [&](const std::vector<Val>& v) {
    std::vector<prims::Region> regions;
    regions.push_back(t.scalar_region({d, d}, [](const std::vector<Val>& c) {
      return std::vector<Val>{ne(c[1], Scalar(0))};
    }));
    regions.push_back(t.scalar_region({d, d}, [](const std::vector<Val>& c) {
      return std::vector<Val>{c[1], binary(Prim::rem, c[0], c[1])};
    }));
    const Val found = t.prim(Prim::while_loop, v, {}, std::move(regions))[0];
    return std::vector<Val>{abs_of(found)};
  });
  std::vector<prims::Region> regions;
  regions.push_back(std::move(body));
  return t.prim(Prim::map, {x, y}, {}, std::move(regions))[0];
}

Val sinh::decompose(Tracer& t, const Val& x) {
  const Val a = abs_of(x);
  const Val grown = unary(Prim::expm1, a), half = unary(Prim::exp, a * 0.5);
  const Val small = (grown + grown / (grown + 1.0)) * 0.5;
  return with_sign(where(lt(a, 20.0), small, half * 0.5 * half), x);
}

Val cosh::decompose(Tracer& t, const Val& x) {
  const Val a = abs_of(x);
  const Val grown = unary(Prim::exp, a), half = unary(Prim::exp, a * 0.5);
  return where(lt(a, 20.0), grown * 0.5 + 0.5 / grown, half * 0.5 * half);
}

Val asin::decompose(Tracer& t, const Val& x) {
  return binary(Prim::atan2, x, unary(Prim::sqrt, (1.0 - x) * (x + 1.0)));
}

Val acos::decompose(Tracer& t, const Val& x) {
  return binary(Prim::atan2, unary(Prim::sqrt, 1.0 - x), unary(Prim::sqrt, x + 1.0)) * 2.0;
}

Val asinh::decompose(Tracer& t, const Val& x) {
  const Val a = abs_of(x);
  const Val large = unary(Prim::log, a) + kLn2;
  const Val square = a * a;
  const Val small = unary(Prim::log1p, a + square / (unary(Prim::sqrt, square + 1.0) + 1.0));
  return with_sign(where(gt(a, 1073741824.0), large, small), x);
}

Val acosh::decompose(Tracer& t, const Val& x) {
  const Val over = x - 1.0;
  const Val large = unary(Prim::log, x) + kLn2;
  const Val small = unary(Prim::log1p, over + unary(Prim::sqrt, over * 2.0 + over * over));
  return where(lt(x, 1.0), full_like(x, kNan), where(gt(x, 1073741824.0), large, small));
}

}  // namespace primset::decomps::prim
