#include "prims/reference/element.h"

#include <algorithm>
#include <cmath>

#include "prims/reference/float_format.h"

namespace primset::prims::reference {
namespace {

// The error that the operation itself may add to a result that rounds from r to `value`.
long double own_error(const ElementOp& op, long double r, long double value, long double spread) {
  long double step = ulp(value, op.to);
  switch (op.tolerance.kind) {
    case ToleranceKind::ulp:
      return op.tolerance.number * step + distance(r, value);
    case ToleranceKind::absolute:
      return op.tolerance.number + distance(r, value);
    default:
      // Exact operands leave a correctly rounding device no choice; inexact ones may be rounded to
      // either side, here and there by half a step each.
      return spread > 0 || op.order_free ? step : 0;
  }
}

bool may_be_flushed(const ElementOp& op, DType t, long double r) {
  const bool as_f32 = real_type(t) == DType::f32 || t == DType::bf16;  // their exponents
  return op.deviations.flush_f32 && as_f32 && std::fabs(r) < 0x1p-126L;
}

// Does moving `value`, what a finite `r` rounds to, by `error` change whether it is finite?
bool crosses_overflow(long double r, long double value, long double error, DType t) {
  if (error == 0) return false;
  if (!std::isfinite(value)) return std::isfinite(round_to(std::fabs(r) - error, t));
  return !std::isfinite(round_to(std::fabs(value) + error, t));
}

int64_t to_i64(long double v) {
  if (!(v >= -0x1p63L && v < 0x1p63L)) return INT64_MIN;
  return static_cast<int64_t>(v);
}

int64_t to_i32(long double v) {
  if (!(v > -0x1p31L - 1 && v < 0x1p31L)) return INT32_MIN;
  return static_cast<int32_t>(v);
}

// As x86 code makes it of two conversions to i64, below and above 2^63.
int64_t to_u64(long double v) {
  if (!(v >= 0x1p63L)) return to_i64(v);
  return v < 0x1p64L ? static_cast<int64_t>(static_cast<uint64_t>(v)) : 0;
}

// Conversions to a half or an 8-bit float go through f32, as ATen's types do.
long double round_like_aten(long double v, DType t) {
  DType real = real_type(t);
  if (bits(real) < 32) v = round_to(v, DType::f32);
  return round_to(v, real);
}

long double integer_value(int64_t v, DType t) {
  return t == DType::u64 ? static_cast<long double>(static_cast<uint64_t>(v))
                         : static_cast<long double>(v);
}

Element to_integer(const Element& x, DType to) {
  Element out = integer_element(float_to_integer(x.re, to));
  bool inexact = x.error > 0 && (float_to_integer(x.re - x.error, to) != out.integer ||
                                 float_to_integer(x.re + x.error, to) != out.integer);
  return inexact ? undecided_element() : out;
}

Element to_bool(const Element& x) {
  long double modulus = std::hypot(x.re, x.im);
  if (x.error > 0 && !(modulus > x.error)) return undecided_element();
  return integer_element(x.re != 0 || x.im != 0);
}

Element to_floating(const Element& x, DType to) {
  Element out;
  out.re = round_like_aten(x.re, to);
  if (is_complex(to)) out.im = round_like_aten(x.im, to);
  const bool finite = std::isfinite(x.re) && (std::isfinite(x.im) || !is_complex(to));
  if (x.error == 0 || !finite) return out;
  // The device rounds a number up to `error` away; both roundings move it by up to half a step.
  long double step = std::max(ulp(out.re, to), is_complex(to) ? ulp(out.im, to) : 0.0L);
  bool lossless = out.re == x.re && out.im == x.im && step <= x.error * 0x1p-20L;
  out.error = x.error + (lossless ? 0 : step);
  if (crosses_overflow(x.re, out.re, out.error, to)) return undecided_element();
  return out;
}

}  // namespace

ElementOp make_op(const Node& node, DType from, DType to, PermittedDeviations deviations) {
  return {node.prim, from,  to,        compute_dtype(node.prim, to), tolerance(node.prim, to),
          &node,     false, deviations};
}

Element as_operand(const ElementOp& op, Element x) {
  const bool sums =
      op.prim == Prim::add || op.prim == Prim::sub || op.prim == Prim::mul || op.prim == Prim::fma;
  if (!sums || !op.deviations.flush_f32 || x.undecided) return x;
  for (long double part : {x.re, x.im}) {
    if (may_be_flushed(op, op.from, part)) x.error = std::max(x.error, std::fabs(part));
  }
  return x;
}

Element real_element(long double v, long double error) {
  Element e;
  e.re = v;
  e.error = error;
  return e;
}

Element integer_element(int64_t v) {
  Element e;
  e.integer = v;
  return e;
}

Element undecided_element() {
  Element e;
  e.undecided = true;
  return e;
}

bool any_undecided(std::span<const Element> xs) {
  return std::any_of(xs.begin(), xs.end(), [](const Element& x) { return x.undecided; });
}

bool is_nan(const Element& x) {
  return std::isnan(x.re) || std::isnan(x.im);
}

bool less(DType t, const Element& a, const Element& b) {
  if (is_floating(t)) return a.re < b.re;
  if (t == DType::u64) return static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer);
  return a.integer < b.integer;
}

bool equal(const Element& a, const Element& b) {
  return a.re == b.re && a.im == b.im && a.integer == b.integer;
}

bool may_tie_or_cross(const Element& a, const Element& b) {
  if (a.undecided || b.undecided) return true;
  long double bound = a.error + b.error;
  return bound > 0 && std::hypot(a.re - b.re, a.im - b.im) <= bound;
}

long double distance(long double a, long double b) {
  if (std::isfinite(a) && std::isfinite(b)) return std::fabs(a - b);
  bool same = (std::isnan(a) && std::isnan(b)) || a == b;
  return same ? 0 : std::nanl("");
}

Element rounded(const ElementOp& op, long double r, long double spread) {
  if (std::isnan(spread)) return undecided_element();
  Element out = real_element(round_to(r, op.to));
  if (!std::isfinite(r)) return out;
  long double own = own_error(op, std::isfinite(out.re) ? r : out.re, out.re, spread);
  if (may_be_flushed(op, op.to, r)) own += std::fabs(r);
  if (crosses_overflow(r, out.re, spread + own, op.to)) return undecided_element();
  if (std::isfinite(out.re)) out.error = spread + own;
  return out;
}

Element rounded(const ElementOp& op, long double re, long double im, long double spread) {
  Element a = rounded(op, re, spread), b = rounded(op, im, spread);
  if (a.undecided || b.undecided) return undecided_element();
  Element out = a;
  out.im = b.re;
  // Both bounds hold the spread, which is the modulus' already.
  out.error =
      spread + std::hypot(a.error - std::min(spread, a.error), b.error - std::min(spread, b.error));
  if (!std::isfinite(out.re) || !std::isfinite(out.im)) out.error = 0;
  return out;
}

int64_t float_to_integer(long double v, DType to) {
  switch (to) {
    case DType::boolean:
      return v != 0;  // NaN is true
    case DType::i64:
      return to_i64(v);
    case DType::u64:
      return to_u64(v);
    case DType::u8:
    case DType::u32:
      return wrap(to_i64(v), to);
    default:
      return wrap(to_i32(v), to);
  }
}

// Any number would be right, but it is one of the dtype.
Element convert_undecided(Element x, DType from, DType to) {
  const auto is_real = [](DType t) { return is_floating(t) || is_complex(t); };
  if (!is_real(from) || !is_real(to)) return x;
  x.re = round_to(x.re, real_type(to));
  x.im = is_complex(to) ? round_to(x.im, real_type(to)) : 0;
  return x;
}

Element convert(const Element& x, DType from, DType to) {
  if (x.undecided) return convert_undecided(x, from, to);
  bool from_integer = is_integral(from) || is_bool(from);
  if (from_integer) {
    if (is_integral(to) || is_bool(to)) return integer_element(wrap(x.integer, to));
    return real_element(round_like_aten(integer_value(x.integer, from), to));
  }
  if (is_bool(to)) return to_bool(x);
  if (is_integral(to)) return to_integer(x, to);
  return to_floating(x, to);
}

}  // namespace primset::prims::reference
