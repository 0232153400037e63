// Dims and shapes of traced values, and reductions over dims.
#ifndef PRIMSET_DECOMPS_ENGINE_SHAPE_OPS_H_
#define PRIMSET_DECOMPS_ENGINE_SHAPE_OPS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// ATen's dim rules: dims wrap, a rank-0 tensor counts as rank 1; throws Error{index} in ATen's
// words.
int64_t wrap_dim(int64_t dim, int64_t rank);
// dims as a sorted list without duplicates; empty list or none: all dims when all_if_empty.
std::vector<int64_t> wrap_dims(std::span<const int64_t> dims, int64_t rank, bool all_if_empty);
Val reshape(const Val& x, const SymInts& shape);
Val transpose(const Val& x, std::vector<int64_t> permutation);
Val unsqueeze(const Val& x, int64_t dim);
Val squeeze(const Val& x, int64_t dim);
// pre: the bounds are inside x (clamped_slice_bounds clamps as ATen does).
Val slice(const Val& x, int64_t dim, const SymInt& start, const SymInt& end, const SymInt& step);
struct SliceBounds {
  SymInt start, count;
};
SliceBounds clamped_slice_bounds(const SymInt& size, SymInt start, SymInt end, const SymInt& step);
Val select(const Val& x, int64_t dim, const SymInt& index);
Val concatenate(const std::vector<Val>& xs, int64_t dim);

// For complex x a sum is taken by parts, and a product by a complex combiner.
Val reduce(Prim kind, const Val& x, const std::vector<int64_t>& dims, bool keepdim);
Val restore_dims(const Val& reduced, const SymInts& shape, const std::vector<int64_t>& dims);
SymInt count_along(const Val& x, const std::vector<int64_t>& dims);
// A device check: reports an error where p is false. `value` has p's shape or rank 0 and is shown
// in the message.
void check(const Val& p, const Val& value, ErrorCode code, std::string message);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_SHAPE_OPS_H_
