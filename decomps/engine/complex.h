// Complex values on the tracer's level. Elementwise core primitives are real: arithmetic on complex
// values becomes pairs of reals, or a complex_* primitive where a pair of reals is not enough.
#ifndef PRIMSET_DECOMPS_ENGINE_COMPLEX_H_
#define PRIMSET_DECOMPS_ENGINE_COMPLEX_H_

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// Operands of one complex dtype and one shape.
Val complex_unary(Prim p, const Val& z);
Val complex_binary(Prim p, const Val& a, const Val& b);
Val complex_reduce(Prim p, const Val& z, const std::vector<int64_t>& dims);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_COMPLEX_H_
