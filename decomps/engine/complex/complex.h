// Complex arithmetic on traced values. Elementwise core primitives are real: complex arithmetic is
// lowered to pairs of reals, or to a complex_* primitive where that is not enough.
#ifndef PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_H_
#define PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_H_

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// Operands of one complex dtype and one shape.
Val complex_unary(Prim p, const Val& z);
Val complex_binary(Prim p, const Val& a, const Val& b);
Val complex_reduce(Prim p, const Val& z, const std::vector<int64_t>& dims);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_COMPLEX_COMPLEX_H_
