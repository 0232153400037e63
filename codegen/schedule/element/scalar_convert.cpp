// Conversions between dtypes, literals, and the forms elements have in memory.
#include <bit>
#include <cmath>

#include "codegen/kernel/math/math.h"
#include "codegen/schedule/element/scalar_lowering.h"
#include "primset/error.h"

namespace primset::schedule {

using kir::Builder;
using kir::Scalar;
using kir::Type;
using kir::Value;

namespace {

Value zero_like(Builder& b, Value x) {
  return b.constant(b.type(x), 0);
}

Value to_bool(Builder& b, Value x) {
  const Scalar s = b.type(x).scalar;
  if (s == Scalar::i1) return x;
  return kir::is_float(s) ? b.fne(x, zero_like(b, x)) : b.ine(x, zero_like(b, x));
}

// Truncates toward zero. Out of range and NaN give the most negative integer, as x86's cvttss2si
// does, which is what PyTorch's CPU build returns.
Value float_to_int(Builder& b, Value x, Scalar to) {
  const Type t = b.type(x);
  const double limit = to == Scalar::i64 ? 0x1p63 : 0x1p31;
  // In f32, -2^31 - 0.9 is not representable below -2^31; in f64 it truncates into range.
  Value above = (to == Scalar::i32 && t.scalar == Scalar::f64)
                    ? b.flt(b.constant_f(t, -limit - 1.0), x)
                    : b.fle(b.constant_f(t, -limit), x);
  Value fits = b.and_(above, b.flt(x, b.constant_f(t, limit)));
  Value safe = b.select(fits, x, zero_like(b, x));
  Value r = b.fptosi(safe, to);
  const int64_t lowest = to == Scalar::i64 ? INT64_MIN : INT32_MIN;
  return b.select(fits, r, b.constant(b.type(r), lowest));
}

// As x86 code makes it of two conversions to i64, below and above 2^63.
Value float_to_u64(Builder& b, Value x) {
  const Value half = b.constant_f(b.type(x), 0x1p63);
  const Value upper = b.fle(half, x);
  const Value r = float_to_int(b, b.select(upper, b.fsub(x, half), x), Scalar::i64);
  return b.select(upper, b.xor_(r, b.constant(b.type(r), INT64_MIN)), r);
}

// The lowest 32 bits of an f32's integral part, or 0 where i64 does not reach: what is left of an
// i64 in a narrower integer. Every step is exact.
Value low_word_of_float(Builder& b, Value x) {
  const auto number = [&](double v) { return b.constant_f(b.type(x), v); };
  const Value fits = b.and_(b.fle(number(-0x1p63), x), b.flt(x, number(0x1p63)));
  const Value safe = b.select(fits, x, zero_like(b, x));
  const Value above = b.fmul(b.ftrunc(b.fmul(safe, number(0x1p-32))), number(0x1p32));
  const Value word = b.fsub(safe, above);  // in (-2^32, 2^32)
  const Value high = b.ftrunc(b.fmul(word, number(0x1p-16)));
  const Value low = b.fptosi(b.fsub(word, b.fmul(high, number(0x1p16))), Scalar::i32);
  return b.add(b.shl(b.fptosi(high, Scalar::i32), b.constant(b.type(low), 16)), low);
}

// ATen converts to i8 and i16 through int and to u8 through int64_t (c10/util/TypeCast.h).
Value float_to_integer_dtype(Builder& b, Value x, DType to) {
  switch (to) {
    case DType::i64:
      return float_to_int(b, x, Scalar::i64);
    case DType::i32:
      return float_to_int(b, x, Scalar::i32);
    case DType::u64:
      return float_to_u64(b, x);
    case DType::u8:
    case DType::u16:
    case DType::u32:
      return b.int_resize(
          b.target().i64 ? float_to_int(b, x, Scalar::i64) : low_word_of_float(b, x),
          register_scalar(to), false);
    default:
      return b.int_resize(float_to_int(b, x, Scalar::i32), register_scalar(to), true);
  }
}

Value int_to_float(Builder& b, Value x, DType from, Scalar to) {
  if (from == DType::boolean) {
    const Type t{to, b.type(x).lanes};
    return b.select(x, b.constant(t, 1), b.constant(t, 0));
  }
  return is_signed_integer(from) ? b.sitofp(x, to) : b.uitofp(x, to);
}

Value float_to_float(Builder& b, Value x, DType to) {
  const Scalar have = b.type(x).scalar;
  if (to == DType::f64) return have == Scalar::f64 ? x : b.fpext(x, Scalar::f64);
  // f64 -> half rounds twice, through f32, as ATen does.
  if (have == Scalar::f64) x = b.fptrunc(x, Scalar::f32);
  return round_to(b, x, to);
}

Value convert_real(Builder& b, Value x, DType from, DType to) {
  if (from == to) return x;
  if (to == DType::boolean) return to_bool(b, x);
  if (is_floating(from)) {
    return is_floating(to) ? float_to_float(b, x, to) : float_to_integer_dtype(b, x, to);
  }
  if (is_floating(to)) {
    const Scalar wide = to == DType::f64 ? Scalar::f64 : Scalar::f32;
    return round_to(b, int_to_float(b, x, from, wide), to);
  }
  if (from == DType::boolean) return b.zext(x, register_scalar(to));
  return b.int_resize(x, register_scalar(to), is_signed_integer(from));
}

}  // namespace

Value round_to(Builder& b, Value x, DType dtype) {
  const bool narrow = is_floating(dtype) && bits(dtype) < 32;
  return narrow ? from_memory(b, to_memory(b, x, dtype), dtype) : x;
}

Value to_memory(Builder& b, Value x, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return b.zext(x, Scalar::i8);
    case DType::f16:
      return kir::math::f32_to_f16_bits(b, x);
    case DType::bf16:
      return kir::math::f32_to_bf16_bits(b, x);
    default:
      return is_float8(dtype) ? kir::math::f32_to_f8_bits(b, x, float_format(dtype)) : x;
  }
}

Value from_memory(Builder& b, Value x, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return b.ine(x, zero_like(b, x));
    case DType::f16:
      return kir::math::f16_bits_to_f32(b, x);
    case DType::bf16:
      return kir::math::bf16_bits_to_f32(b, x);
    default:
      return is_float8(dtype) ? kir::math::f8_bits_to_f32(b, x, float_format(dtype)) : x;
  }
}

ElementValue literal(Builder& b, const primset::Scalar& v, DType dtype) {
  const Type t{register_scalar(dtype)};
  auto part = [&](double real, int64_t integer) {
    if (dtype == DType::boolean) return b.i1(v.to_bool());
    if (is_integral(dtype)) return b.constant(t, integer);
    if (dtype == DType::f64 || dtype == DType::c128) return b.constant_f(t, real);
    return round_to(b, b.constant_f(t, real), real_type(dtype));
  };
  // A 64-bit integer literal in a floating dtype: double holds it exactly or rounds as ATen does.
  // An infinity, say, has no integer.
  const int64_t integer = v.is_integral() || is_integral(dtype) ? v.to_int() : 0;
  ElementValue e{part(v.is_integral() ? static_cast<double>(integer) : v.to_double(), integer), {}};
  if (is_complex(dtype)) e.im = b.constant_f(t, v.imag());
  return e;
}

ElementValue lower_convert(Builder& b, const ElementValue& x, DType from, DType to) {
  if (from == to) return x;
  if (is_complex(from)) {
    if (to == DType::boolean) return {b.or_(to_bool(b, x.re), to_bool(b, x.im)), {}};
    ElementValue out{convert_real(b, x.re, real_type(from), real_type(to)), {}};
    if (is_complex(to)) out.im = convert_real(b, x.im, real_type(from), real_type(to));
    return out;
  }
  ElementValue out{convert_real(b, x.re, from, real_type(to)), {}};
  if (is_complex(to)) out.im = b.constant(Type{register_scalar(to)}, 0);
  return out;
}

ElementValue convert_integer(Builder& b, Value x, DType to) {
  return lower_convert(b, {x, {}}, b.type(x).scalar == Scalar::i32 ? DType::i32 : DType::i64, to);
}

ElementValue lower_bitcast(Builder& b, const ElementValue& x, DType from, DType to) {
  if (from == to) return x;
  Value bits = to_memory(b, x.re, from);
  return {from_memory(b, b.bitcast(bits, memory_scalar(to)), to), {}};
}

}  // namespace primset::schedule
