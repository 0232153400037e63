#include "codegen/schedule/element/scalar_lowering.h"

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "codegen/kernel/math/math.h"
#include "prims/graph/traits.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Builder;
using kir::Type;
using kir::Value;
using prims::Prim;
namespace math = kir::math;

namespace {

[[noreturn]] void refuse(Prim p, DType t) {
  throw Error(ErrorCode::internal, "primitive " + std::string(info(p).name) +
                                       " has no lowering for dtype " + std::string(name(t)));
}

// --- floating point ------------------------------------------------------------------------------

Value sign_float(Builder& b, Value x) {
  const Type t = b.type(x);
  Value zero = b.constant(t, 0);
  Value negative = b.select(b.flt(x, zero), b.constant(t, -1), zero);
  return b.select(b.flt(zero, x), b.constant(t, 1), negative);
}

Value unary_float(Builder& b, Prim p, Value x) {
  switch (p) {
    case Prim::neg:
      return b.fneg(x);
    case Prim::abs:
      return b.fabs(x);
    case Prim::sign:
      return sign_float(b, x);
    case Prim::floor:
      return b.ffloor(x);
    case Prim::ceil:
      return b.fceil(x);
    case Prim::trunc:
      return b.ftrunc(x);
    case Prim::round_even:
      return b.frint(x);
    case Prim::sqrt:
      return math::sqrt(b, x);
    case Prim::exp:
      return math::exp(b, x);
    case Prim::expm1:
      return math::expm1(b, x);
    case Prim::log:
      return math::log(b, x);
    case Prim::log1p:
      return math::log1p(b, x);
    case Prim::sin:
      return math::sin(b, x);
    case Prim::cos:
      return math::cos(b, x);
    case Prim::tan:
      return math::tan(b, x);
    case Prim::atan:
      return math::atan(b, x);
    case Prim::tanh:
      return math::tanh(b, x);
    case Prim::erf:
      return math::erf(b, x);
    case Prim::erfc:
      return math::erfc(b, x);
    case Prim::normal_cdf:
      return math::normal_cdf(b, x);
    case Prim::exp2:
      return math::exp2(b, x);
    case Prim::log2:
      return math::log2(b, x);
    case Prim::log10:
      return math::log10(b, x);
    default:
      refuse(p, DType::f32);
  }
}

// Of a value that is rounded to f16 or bf16.
Value unary_half(Builder& b, Prim p, Value x) {
  switch (p) {
    case Prim::log:
      return math::log_of_half(b, x);
    case Prim::log2:
      return math::log2_of_half(b, x);
    case Prim::log10:
      return math::log10_of_half(b, x);
    default:
      return unary_float(b, p, x);
  }
}

Value binary_float(Builder& b, Prim p, Value x, Value y) {
  switch (p) {
    case Prim::add:
      return b.fadd(x, y);
    case Prim::sub:
      return b.fsub(x, y);
    case Prim::mul:
      return b.fmul(x, y);
    case Prim::div:
      return math::div(b, x, y);
    case Prim::rem:
      return math::fmod(b, x, y);
    case Prim::pow:
      return math::pow(b, x, y);
    case Prim::atan2:
      return math::atan2(b, x, y);
    case Prim::min:
      return math::min_nan(b, x, y);
    case Prim::max:
      return math::max_nan(b, x, y);
    case Prim::eq:
      return b.feq(x, y);
    case Prim::lt:
      return b.flt(x, y);
    case Prim::le:
      return b.fle(x, y);
    default:
      refuse(p, DType::f32);
  }
}

// --- integers ------------------------------------------------------------------------------------

Value select_min(Builder& b, Value x, Value y, bool sign, bool maximum) {
  Value less = sign ? b.slt(x, y) : b.ult(x, y);
  return maximum ? b.select(less, y, x) : b.select(less, x, y);
}

// x^n by repeated squaring; wraps. A negative exponent gives ATen's integer answers: 1 for x = 1,
// +-1 for x = -1, else 0.
Value pow_int(Builder& b, Value x, Value n, bool sign) {
  const Type t{b.type(x).scalar, std::max(b.type(x).lanes, b.type(n).lanes)};
  if (b.type(x).lanes < t.lanes) x = b.splat(x, t.lanes);
  if (b.type(n).lanes < t.lanes) n = b.splat(n, t.lanes);
  Value one = b.constant(t, 1), zero = b.constant(t, 0);
  auto loop = b.while_loop(
      {one, x, n}, [&](auto v) { return b.any(b.ine(v[2], zero)); },
      [&](auto v) {
        Value odd = b.ine(b.and_(v[2], one), zero);
        return Builder::Values{b.select(odd, b.mul(v[0], v[1]), v[0]), b.mul(v[1], v[1]),
                               b.lshr(v[2], one)};
      });
  if (!sign) return loop[0];
  Value minus_one = b.constant(t, -1);
  Value odd = b.ine(b.and_(n, one), zero);
  Value of_minus_one = b.select(odd, minus_one, one);
  Value inverse = b.select(b.ieq(x, one), one, b.select(b.ieq(x, minus_one), of_minus_one, zero));
  return b.select(b.slt(n, zero), inverse, loop[0]);
}

// Shift amounts outside [0, width) give 0, or the sign for an arithmetic right shift.
Value shift(Builder& b, Prim p, Value x, Value n, bool sign) {
  const Type t = b.type(n);
  const int width = kir::width(t.scalar);
  Value in_range = b.ult(n, b.constant(t, width));
  Value safe = b.select(in_range, n, b.constant(t, 0));
  Value zero = b.constant(b.type(x), 0);
  if (p == Prim::shift_left) return b.select(in_range, b.shl(x, safe), zero);
  if (!sign) return b.select(in_range, b.lshr(x, safe), zero);
  return b.ashr(x, b.select(in_range, n, b.constant(t, width - 1)));
}

Value unary_int(Builder& b, Prim p, Value x, bool sign) {
  const Type t = b.type(x);
  Value zero = b.constant(t, 0);
  switch (p) {
    case Prim::neg:
      return b.sub(zero, x);
    case Prim::abs:
      return sign ? b.select(b.slt(x, zero), b.sub(zero, x), x) : x;
    case Prim::sign: {
      Value positive = b.select(b.ieq(x, zero), zero, b.constant(t, 1));
      return sign ? b.select(b.slt(x, zero), b.constant(t, -1), positive) : positive;
    }
    case Prim::bit_not:
      return b.not_(x);
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::round_even:
      return x;
    default:
      refuse(p, DType::i64);
  }
}

Value binary_int(Builder& b, Prim p, Value x, Value y, bool sign) {
  switch (p) {
    case Prim::add:
      return b.add(x, y);
    case Prim::sub:
      return b.sub(x, y);
    case Prim::mul:
      return b.mul(x, y);
    case Prim::mul_high:
      return sign ? b.mul_hi_s(x, y) : b.mul_hi_u(x, y);
    case Prim::div:
      return math::safe_div(b, x, y, sign);
    case Prim::rem:
      return math::safe_rem(b, x, y, sign);
    case Prim::pow:
      return pow_int(b, x, y, sign);
    case Prim::min:
      return select_min(b, x, y, sign, false);
    case Prim::max:
      return select_min(b, x, y, sign, true);
    case Prim::bit_and:
      return b.and_(x, y);
    case Prim::bit_or:
      return b.or_(x, y);
    case Prim::bit_xor:
      return b.xor_(x, y);
    case Prim::shift_left:
    case Prim::shift_right:
      return shift(b, p, x, y, sign);
    case Prim::eq:
      return b.ieq(x, y);
    case Prim::lt:
      return sign ? b.slt(x, y) : b.ult(x, y);
    case Prim::le:
      return sign ? b.sle(x, y) : b.ule(x, y);
    default:
      refuse(p, DType::i64);
  }
}

// --- bool: i1, where add is or, mul is and -------------------------------------------------------

Value binary_bool(Builder& b, Prim p, Value x, Value y) {
  switch (p) {
    case Prim::add:
    case Prim::max:
    case Prim::bit_or:
      return b.or_(x, y);
    case Prim::mul:
    case Prim::min:
    case Prim::bit_and:
      return b.and_(x, y);
    case Prim::bit_xor:
      return b.xor_(x, y);
    case Prim::eq:
      return b.not_(b.xor_(x, y));
    case Prim::lt:
      return b.and_(b.not_(x), y);
    case Prim::le:
      return b.or_(b.not_(x), y);
    default:
      refuse(p, DType::boolean);
  }
}

ElementValue select_elem(Builder& b, const ElementValue& p, const ElementValue& x,
                         const ElementValue& y) {
  ElementValue out{b.select(p.re, x.re, y.re), {}};
  if (x.im.valid()) out.im = b.select(p.re, x.im, y.im);
  return out;
}

// Splats uniform operands where others are vectors.
void match_lanes(Builder& b, std::span<Value> values) {
  uint16_t lanes = 1;
  for (Value v : values) lanes = std::max(lanes, b.type(v).lanes);
  for (Value& v : values) {
    if (b.type(v).lanes < lanes) v = b.splat(v, lanes);
  }
}

}  // namespace

// By number of operands and kind of dtype. A half type is computed as f32 and rounded once, at the
// end.
ElementValue lower_elementwise(Builder& b, Prim p, DType from, DType to,
                               std::span<const ElementValue> in) {
  switch (p) {
    case Prim::select:
      return select_elem(b, in[0], in[1], in[2]);
    case Prim::complex:
      return {in[0].re, in[1].re};
    case Prim::real:
      return {in[0].re, {}};
    case Prim::imag:
      return {in[0].im, {}};
    default:
      break;
  }
  if (is_complex(from)) refuse(p, from);
  std::array<Value, 3> v{};
  for (size_t i = 0; i < in.size(); ++i) v[i] = in[i].re;
  match_lanes(b, std::span(v.data(), in.size()));
  Value r;
  if (p == Prim::fma) {
    if (is_floating(from))
      r = math::fma(b, v[0], v[1], v[2]);
    else
      r = b.add(b.mul(v[0], v[1]), v[2]);
  } else if (in.size() == 1) {
    if (is_floating(from))
      r = is_half(from) ? unary_half(b, p, v[0]) : unary_float(b, p, v[0]);
    else if (from == DType::boolean)
      r = p == Prim::bit_not ? b.not_(v[0]) : v[0];
    else
      r = unary_int(b, p, v[0], is_signed_integer(from));
  } else {
    if (is_floating(from))
      r = binary_float(b, p, v[0], v[1]);
    else if (from == DType::boolean)
      r = binary_bool(b, p, v[0], v[1]);
    else
      r = binary_int(b, p, v[0], v[1], is_signed_integer(from));
  }
  if (is_half(from) && !is_exact(p)) r = round_to(b, r, to);
  return {r, {}};
}

ElementValue lower_combine(Builder& b, Prim p, DType dtype, const ElementValue& x,
                           const ElementValue& y) {
  const std::optional<Prim> combiner = prims::combiner_prim(p);
  if (!combiner) refuse(p, dtype);
  if (is_complex(dtype) && combiner == Prim::add) return {b.fadd(x.re, y.re), b.fadd(x.im, y.im)};
  if (is_complex(dtype) && combiner == Prim::mul)
    return {b.fsub(b.fmul(x.re, y.re), b.fmul(x.im, y.im)),
            b.fadd(b.fmul(x.re, y.im), b.fmul(x.im, y.re))};
  const std::array<ElementValue, 2> in{x, y};
  return lower_elementwise(b, *combiner, dtype, dtype, in);
}

namespace {

// The largest value of a dtype, or the smallest.
primset::Scalar bound(DType dtype, bool greatest) {
  if (dtype == DType::boolean) return primset::Scalar(greatest);
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return primset::Scalar(greatest ? infinity : -infinity);
  }
  const int width = bits(dtype);
  if (is_signed_integer(dtype))
    return primset::Scalar((greatest ? INT64_MAX : INT64_MIN) >> (64 - width));
  const int64_t all_ones = width == 64 ? -1 : (int64_t{1} << width) - 1;
  return primset::Scalar(greatest ? all_ones : 0);
}

}  // namespace

primset::Scalar combine_identity(Prim p, DType dtype) {
  const auto number = [&](int64_t v) {
    return dtype == DType::boolean ? primset::Scalar(v != 0) : primset::Scalar(v);
  };
  switch (prims::traits(p).combiner) {
    case prims::Combiner::add:
    case prims::Combiner::bit_or:
    case prims::Combiner::bit_xor:
      return number(0);
    case prims::Combiner::mul:
      return number(1);
    case prims::Combiner::bit_and:
      return number(-1);
    case prims::Combiner::min:
      return bound(dtype, true);
    case prims::Combiner::max:
      return bound(dtype, false);
    case prims::Combiner::none:
    case prims::Combiner::region:
      break;
  }
  refuse(p, dtype);
}

}  // namespace primset::schedule
