// The strides that ATen gives to results, and queries on strides.
#ifndef PRIMSET_DECOMPS_ENGINE_STRIDES_H_
#define PRIMSET_DECOMPS_ENGINE_STRIDES_H_

#include <optional>
#include <span>

#include "decomps/engine/actual.h"
#include "prims/graph/symint.h"

namespace primset::decomps {

// TensorIterator's output strides for operands that were broadcast to `sizes` (strides 0 where
// broadcast): follows the inputs' permutation, dense.
SymInts elementwise_strides(const SymInts& sizes, std::span<const SymInts> operand_strides);
// The same from operands that are not yet broadcast, with TensorIterator's shortcuts for operands
// that are all contiguous, channels-last, or dense with equal strides.
SymInts elementwise_strides(const SymInts& sizes, std::span<const TensorMeta> operands);
SymInts contiguous_strides(const SymInts& sizes);
SymInts channels_last_strides(const SymInts& sizes);  // of rank 4 or 5
bool is_contiguous(const SymInts& sizes, const SymInts& strides);
bool is_channels_last(const SymInts& sizes, const SymInts& strides);
// No two elements share memory and there are no gaps.
bool is_dense(const SymInts& sizes, const SymInts& strides);
// What empty_like(preserve_format) gives a tensor of these strides.
SymInts preserved_strides(const SymInts& sizes, const SymInts& strides);
// ATen's computeStride: strides of a view in another shape; nullopt when it needs a copy.
std::optional<SymInts> view_strides(const SymInts& sizes, const SymInts& strides,
                                    const SymInts& shape);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_STRIDES_H_
