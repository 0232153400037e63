// The math library: transcendental functions and exact helpers written in kernel IR, the same on
// every target. x is f32 or f64 with any number of lanes. Main paths are branch-free; rare inputs
// (huge arguments, denormals) take a masked slow path behind `if any(mask)`.
//
// Bounds hold for every input of the type, denormals, NaN, infinities and signed zeros included;
// IEEE 754-2019 section 9.2.1 and C23 annex F give the special values. The source of each formula
// stands beside it in this folder (exp.cpp, log.cpp, trig.cpp, ...).
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_MATH_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_MATH_H_

#include <array>

#include "codegen/kernel/ir/builder.h"
#include "primset/float_format.h"

namespace primset::kir::math {

// Bounds in ULP, and beside them the worst error found, with a fused fma and without one. f32:
// native code on every value, but one in 64 where a function is constant, linear, out of its domain
// or has an argument above 2^20 to reduce; pow and atan2 on 30 million pairs. f64: 10 million
// random values.
//
//                                              bound     worst, fused   worst, not fused
//                                             f32 f64      f32   f64        f32   f64
Value exp(Builder& b, Value x);             //  1   1      0.90  0.86       0.90  0.86; with FExp2 3
Value exp2(Builder& b, Value x);            //  1   1      0.88  0.79       0.55  0.82
Value expm1(Builder& b, Value x);           //  2   2      1.53  1.59       1.75  1.45
Value log(Builder& b, Value x);             //  1   1      0.89  0.88       0.90  0.93
Value log2(Builder& b, Value x);            //  2   2      1.06  1.09       1.16  1.24
Value log10(Builder& b, Value x);           //  2   2      1.02  0.95       1.14  1.02
Value log1p(Builder& b, Value x);           //  2   2      1.48  1.42       1.50  1.39
Value sin(Builder& b, Value x);             //  2   1      1.49  0.82       0.51  0.84
Value cos(Builder& b, Value x);             //  2   1      1.49  0.82       0.51  0.89
Value tan(Builder& b, Value x);             //  3   2      2.91  1.71       0.53  1.73
Value atan(Builder& b, Value x);            //  2   2      1.37  1.48       1.50  1.65
Value atan2(Builder& b, Value y, Value x);  //  2   2      1.49  1.53       1.51  1.67
Value tanh(Builder& b, Value x);            //  2   2      1.51  1.42       1.43  1.43
Value erf(Builder& b, Value x);             //  2   2      1.16  1.16       1.48  1.31
Value erfc(Builder& b, Value x);            //  6   4      5.15  3.16       5.40  3.24
Value normal_cdf(Builder& b, Value x);      //  6   4
Value pow(Builder& b, Value x, Value y);    //  2   2      0.91  1.17       0.55  1.08
// Without a fused fma, but with f64, several f32 functions compute in f64. Without either, the
// bounds hold too, on samples of 8 million values.

// For results that are rounded to f16 or bf16: within 2^-15 of the logarithm of an f32 x.
Value log_of_half(Builder& b, Value x);
Value log2_of_half(Builder& b, Value x);
Value log10_of_half(Builder& b, Value x);

// x*y + z rounded once: the instruction where the target has it, else exact in software.
Value fma(Builder& b, Value x, Value y, Value z);
// Correctly rounded x/y and sqrt(x), corrected in software where the target's are not.
Value div(Builder& b, Value x, Value y);
Value sqrt(Builder& b, Value x);
// C's fmod, exact for every pair of finite operands.
Value fmod(Builder& b, Value x, Value y);

// Minimum and maximum in which NaN wins, and -0 < +0 is not told apart (ATen's rule).
Value min_nan(Builder& b, Value x, Value y);
Value max_nan(Builder& b, Value x, Value y);

// Storage conversions, exact or rounded to nearest even, denormals and NaN payload quieting as the
// hardware's; h is the i16 bit pattern.
Value f16_bits_to_f32(Builder& b, Value h);
Value f32_to_f16_bits(Builder& b, Value x);
Value bf16_bits_to_f32(Builder& b, Value h);
Value f32_to_bf16_bits(Builder& b, Value x);
// The same for any 8-bit format; the pattern is an i8.
Value f8_bits_to_f32(Builder& b, Value q, const FloatFormat& format);
Value f32_to_f8_bits(Builder& b, Value x, const FloatFormat& format);

// Truncated integer division and remainder that never trap: x/0 = x%0 = 0, MIN/-1 = MIN.
Value safe_div(Builder& b, Value x, Value y, bool is_signed);
Value safe_rem(Builder& b, Value x, Value y, bool is_signed);

// One block of Philox 4x32-10: counter c0..c3 and key k0, k1 (i32 each, any lanes) to four words.
// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
std::array<Value, 4> philox4x32_10(Builder& b, std::array<Value, 4> counter,
                                   std::array<Value, 2> key);

}  // namespace primset::kir::math

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_MATH_H_
