// Numbers to and from the bit patterns of any floating-point format, on the host.
#ifndef PRIMSET_SDK_BASE_FLOAT_BITS_H_
#define PRIMSET_SDK_BASE_FLOAT_BITS_H_

#include <cstdint>

#include "primset/float_format.h"

namespace primset {

double float_from_bits(uint64_t pattern, const FloatFormat& format);

// Rounds to nearest even, to powers of two as ATen does; formats of at most f64's range and
// precision.
uint64_t float_to_bits(double value, const FloatFormat& format);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_FLOAT_BITS_H_
