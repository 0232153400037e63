// Functions of complex numbers over their parts, for regions too: nothing but core primitives.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_ELEMENTWISE_COMPLEX_PARTS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_ELEMENTWISE_COMPLEX_PARTS_H_

#include "decomps/engine/decomposition.h"

namespace primset::decomps::math {

struct Parts {
  Val re, im;
};

inline Parts parts(const Val& z) {
  return {real(z), imag(z)};
}
inline Val joined(const Parts& z) {
  return complex(z.re, z.im);
}

Parts complex_mul(const Parts& a, const Parts& b);
Parts complex_div(const Parts& a, const Parts& b);
Parts complex_sqrt(const Parts& z);
Parts complex_exp(const Parts& z);
Parts complex_log(const Parts& z);
Parts complex_pow(const Parts& a, const Parts& b);
Parts complex_tanh(const Parts& z);
Parts complex_sin(const Parts& z);
Parts complex_cos(const Parts& z);

// log |z|, near modulus 1 too.
Val log_abs(const Parts& z);

}  // namespace primset::decomps::math

#endif  // PRIMSET_DECOMPS_PRIMITIVES_ELEMENTWISE_COMPLEX_PARTS_H_
