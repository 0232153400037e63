// What losses share.
#ifndef PRIMSET_DECOMPS_OPERATORS_LOSS_TERMS_H_
#define PRIMSET_DECOMPS_OPERATORS_LOSS_TERMS_H_

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// at::Reduction
inline constexpr int64_t kNone = 0, kMean = 1, kSum = 2;

// The terms as they are, their mean or their sum, rounded to `type`.
Val reduced_loss(const Val& terms, int64_t reduction, DType type);

// Integers are subtracted and multiplied in their own dtype, as ATen does, and then are f32; other
// numbers are in opmath.
Val in_float(const Val& x);
DType float_type(const Val& x);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_LOSS_TERMS_H_
