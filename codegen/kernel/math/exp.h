// The exponential's pieces, for the functions made of them. Internal to this folder.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_EXP_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_EXP_H_

#include "codegen/kernel/math/arith.h"

namespace primset::kir::math {

// factor * 2^n, with n + 2*bias as an integer. factor is between 0.7 and 1.42.
struct Exponential {
  Value factor, n;
};

// e^(x + correction), correction tiny or invalid (none). |x| is at most the range in which the
// result neither overflows to more than twice infinity's threshold nor vanishes.
Exponential exp_parts(const Arith& a, Value x, Value correction = {});
// The same by the device's power of two, where it has one: 2^-22 worse.
Exponential fast_exp_parts(const Arith& a, Value x, Value correction = {});
// 2^(x + correction) likewise.
Exponential exp2_parts(const Arith& a, Value x, Value correction = {});
// factor * 2^n rounded once.
Value scale(const Arith& a, Exponential e);
// p e^(-k z^2) in f32, rounded as a product of two; k a power of two, k z^2 <= 128, p from 2^-8
// to 2.
Value times_gaussian(const Arith& a, Value p, Value z, double k);

// e^x - 1 for x from -40 (f32: -20) up to the overflow threshold; a tiny x loses its lowest bit.
Value expm1_core(const Arith& a, Value x);

// Bounds past which e^x is infinite or zero.
double exp_high(const Arith& a);
double exp_low(const Arith& a);

}  // namespace primset::kir::math

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_EXP_H_
