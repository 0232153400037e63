// One element of a value inside a kernel under construction, and the kernel IR types it has there.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEM_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEM_H_

#include "codegen/kernel/ir/builder.h"
#include "primset/dtype.h"

namespace primset::schedule {

// The registers of one element, or of one vector of elements. bool is i1; halves are held as the
// f32 of the same value; a complex number is a pair. `im` is valid for complex dtypes only. A value
// of one lane stands for the same number in every lane.
struct Elem {
  kir::Value re, im;
};

// The register type of a dtype's (real) part, and the type it has in memory.
constexpr kir::Scalar register_scalar(DType t) {
  switch (real_type(t)) {
    case DType::boolean:
      return kir::Scalar::i1;
    case DType::u8:
    case DType::i8:
      return kir::Scalar::i8;
    case DType::i16:
    case DType::u16:
      return kir::Scalar::i16;
    case DType::i32:
    case DType::u32:
      return kir::Scalar::i32;
    case DType::i64:
    case DType::u64:
      return kir::Scalar::i64;
    case DType::f64:
      return kir::Scalar::f64;
    default:
      return kir::Scalar::f32;
  }
}

constexpr kir::Scalar memory_scalar(DType t) {
  switch (real_type(t)) {
    case DType::boolean:
    case DType::f8_e5m2:
    case DType::f8_e4m3fn:
      return kir::Scalar::i8;
    case DType::f16:
    case DType::bf16:
      return kir::Scalar::i16;
    default:
      return register_scalar(t);
  }
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_ELEM_H_
