// ATen's rule for Scalars that become elements of a tensor: the number must be one that the dtype
// holds. Fractions are cut and floats rounded; what is beyond the range, a NaN for an integer and
// an imaginary part for a real dtype are refused. Negative integers of a magnitude that an unsigned
// dtype holds are its two's complement.
#ifndef PRIMSET_SDK_BASE_NUMBER_FIT_H_
#define PRIMSET_SDK_BASE_NUMBER_FIT_H_

#include "primset/dtype.h"
#include "primset/scalar.h"

namespace primset {

bool fits(const Scalar& number, DType dtype);
// Throws Error{runtime} in ATen's words.
void require_fits(const Scalar& number, DType dtype);

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_NUMBER_FIT_H_
