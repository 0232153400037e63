#include "decomps/primitives/complex.h"

#include "decomps/primitives/elementwise/complex_parts.h"

namespace primset::decomps::prim {

using math::joined;
using math::parts;

#define PRIMSET_COMPLEX_UNARY(f)            \
  Val f::decompose(Tracer&, const Val& z) { \
    return joined(math::f(parts(z)));       \
  }
PRIMSET_COMPLEX_UNARY(complex_sqrt)
PRIMSET_COMPLEX_UNARY(complex_exp)
PRIMSET_COMPLEX_UNARY(complex_log)
PRIMSET_COMPLEX_UNARY(complex_tanh)
PRIMSET_COMPLEX_UNARY(complex_sin)
PRIMSET_COMPLEX_UNARY(complex_cos)
#undef PRIMSET_COMPLEX_UNARY

#define PRIMSET_COMPLEX_BINARY(f)                         \
  Val f::decompose(Tracer&, const Val& a, const Val& b) { \
    return joined(math::f(parts(a), parts(b)));           \
  }
PRIMSET_COMPLEX_BINARY(complex_mul)
PRIMSET_COMPLEX_BINARY(complex_div)
PRIMSET_COMPLEX_BINARY(complex_pow)
#undef PRIMSET_COMPLEX_BINARY

}  // namespace primset::decomps::prim
