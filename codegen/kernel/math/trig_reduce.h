// Argument reduction for the trigonometric functions. Internal to this folder.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_TRIG_REDUCE_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_TRIG_REDUCE_H_

#include "codegen/kernel/math/arith.h"

namespace primset::kir::math {

// x = quadrant * pi/2 + high + low, |high| <= pi/4 and a bit. Only the two lowest bits of the
// quadrant (an integer) matter. low is invalid where high alone will do. NaN for infinite and NaN
// x.
struct Angle {
  Value quadrant, high, low;
};
Angle reduce_angle(const Arith& a, Value x);

}  // namespace primset::kir::math

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_TRIG_REDUCE_H_
