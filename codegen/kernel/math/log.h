// The logarithm's pieces. Internal to this folder.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_LOG_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_LOG_H_

#include "codegen/kernel/math/arith.h"

namespace primset::kir::math {

// x = 2^exponent * mantissa with mantissa between sqrt(1/2) and sqrt(2); x positive and normal.
struct Split {
  Value exponent;  // integer
  Value mantissa;
};
Split split_exponent(const Arith& a, Value x);

// Lanes that the main path of a logarithm cannot take: not positive, denormal, infinite, NaN.
Value outside_log(const Arith& a, Value x);

}  // namespace primset::kir::math

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_LOG_H_
