// One element of a value inside a kernel under construction, and the kernel IR types it has there.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_VALUE_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_VALUE_H_

#include "codegen/kernel/ir/builder.h"
#include "primset/dtype.h"

namespace primset::schedule {

// The registers of one element, or of one vector of elements. bool is i1; f16 and bf16 are the f32
// of the same value; a complex number is a pair, and `im` is valid for complex dtypes only. A value
// of one lane is the same in every lane.
struct ElementValue {
  kir::Value re, im;
};

// The narrowest integer type of at least that many bits.
constexpr kir::Scalar integer_of_bits(int bits) {
  return bits <= 8    ? kir::Scalar::i8
         : bits <= 16 ? kir::Scalar::i16
         : bits <= 32 ? kir::Scalar::i32
                      : kir::Scalar::i64;
}

// The kernel IR type of a dtype's (real) part in registers, and in memory.
constexpr kir::Scalar register_scalar(DType t) {
  t = real_type(t);
  if (is_bool(t)) return kir::Scalar::i1;
  if (is_floating(t)) return bits(t) == 64 ? kir::Scalar::f64 : kir::Scalar::f32;
  return integer_of_bits(bits(t));
}

constexpr kir::Scalar memory_scalar(DType t) {
  t = real_type(t);
  const bool narrow = is_floating(t) && bits(t) < 32;
  return narrow || is_bool(t) ? integer_of_bits(bits(t)) : register_scalar(t);
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEMENT_VALUE_H_
