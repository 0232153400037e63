// Number formats: rounding, spacing and bit patterns of the floating dtypes, ranges of the
// integers.
#ifndef PRIMSET_PRIMS_REFERENCE_FLOAT_FORMAT_H_
#define PRIMSET_PRIMS_REFERENCE_FLOAT_FORMAT_H_

#include <cstdint>

#include "primset/dtype.h"

namespace primset::prims::reference {

// What follows from a dtype's FloatFormat.
struct Format {
  int precision;     // bits of the significand, the leading one included
  int min_exponent;  // of the smallest normal number, 2^min_exponent
  int max_exponent;  // of the largest binade
  long double max_finite;
  bool has_infinity;
};

// Of a floating dtype, or of the parts of a complex one.
const Format& format(DType t);

// To nearest, ties to even, denormals as IEEE 754 has them; what is beyond the range becomes what
// the format says. Where there is no -0 it becomes 0.
long double round_to(long double v, DType t);
// Distance between the representable numbers around v; that of the largest binade for infinities.
long double ulp(long double v, DType t);
// 2^-precision: the relative error of one rounding.
long double unit_roundoff(DType t);

// The bit pattern of a representable number, and back. Floating dtypes.
uint64_t encode(long double v, DType t);
long double decode(uint64_t bits, DType t);

inline bool computes_integers(DType t) {
  return is_integral(t) || is_bool(t);
}
// The low bits of v as a number of an integer dtype (u64 as its bit pattern); for bool v != 0.
int64_t wrap(int64_t v, DType t);
int64_t min_integer(DType t);
int64_t max_integer(DType t);  // u64: all bits set

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_FLOAT_FORMAT_H_
