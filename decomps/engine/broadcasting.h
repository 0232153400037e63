// ATen's implicit broadcasting.
#ifndef PRIMSET_DECOMPS_ENGINE_BROADCASTING_H_
#define PRIMSET_DECOMPS_ENGINE_BROADCASTING_H_

#include <span>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// The common shape, or Error{runtime} in ATen's words.
SymInts broadcast_shapes(std::span<const SymInts> shapes);
Val broadcast_to(const Val& x, const SymInts& shape);
Val expand_dims_to(const Val& x, int64_t rank);  // leading dims of size 1

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_BROADCASTING_H_
