// Single numbers in memory: reading and writing one element of any dtype.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_SCALAR_MEMORY_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_SCALAR_MEMORY_H_

#include <primset/dtype.h>
#include <primset/scalar.h>

#include <cstdint>

namespace primset::runtime {

// u64 values above INT64_MAX come as the integer with the same bits.
Scalar load_scalar(DType dtype, const void* from);
// Rounds to nearest even; integers are cut to their width.
void store_scalar(DType dtype, const Scalar& value, void* to);
// The value after rounding to `dtype`.
double round_to(DType dtype, double value);

// The dtype ATen gives a Scalar that becomes a tensor.
DType scalar_dtype(const Scalar& value);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_SCALAR_MEMORY_H_
