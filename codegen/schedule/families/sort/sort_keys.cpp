#include "codegen/schedule/families/sort/sort_keys.h"

#include "primset/float_format.h"

namespace primset::schedule {

using kir::Value;

DType sort_key_bits(DType key) {
  switch (byte_size(key)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

kir::Type SortKeys::word() const {
  return {byte_size(key_) == 8 ? kir::Scalar::i64 : kir::Scalar::i32};
}

Value SortKeys::ordered(Value key) {
  const int bits = static_cast<int>(8 * byte_size(key_));
  const auto constant = [&](uint64_t v) { return b_.constant_bits(word(), v); };
  const Value all = constant(kir::low_bits(bits)), sign = constant(uint64_t{1} << (bits - 1));
  Value x = key;
  if (key_ == DType::boolean) {
    x = b_.and_(key, constant(1));
  } else if (is_signed_integer(key_)) {
    x = b_.xor_(key, sign);
  } else if (is_floating(key_) && float_format(key_).has_sign()) {
    const FloatFormat& format = float_format(key_);
    const Value magnitude = b_.and_(key, constant(format.magnitude_mask()));
    x = b_.select(b_.ieq(key, sign), constant(0), key);
    x = bits == kir::width(word().scalar)
            ? b_.xor_(x, b_.or_(b_.ashr(x, constant(static_cast<uint64_t>(bits - 1))), sign))
            : b_.xor_(x, b_.select(b_.ult(x, sign), sign, all));
    // Where NaN has the pattern of -0, all others have numbers: what is not negative moves down to
    // the place of -0, so that one above is free.
    if (!format.has_negative_zero())
      x = b_.sub(x, b_.select(b_.ult(key, sign), constant(1), constant(0)));
    const uint64_t last = format.greatest() + (format.has_infinity() ? 1 : 0);
    const Value nan = format.has_negative_zero() ? b_.ult(constant(last), magnitude)
                                                 : b_.ieq(key, constant(format.quiet_nan()));
    x = b_.select(nan, all, x);
  }
  return descending_ ? b_.xor_(x, all) : x;
}

Value SortKeys::nan() {
  return b_.constant_bits(word(), kir::low_bits(static_cast<int>(8 * byte_size(key_))));
}

Value SortKeys::last() {
  return b_.constant_bits(word(), kir::low_bits(kir::width(word().scalar)));
}

}  // namespace primset::schedule
