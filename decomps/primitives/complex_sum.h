// Sums of exponentials of complex numbers and their logarithms: logaddexp, logcumsumexp.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_
#define PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_

#include <span>
#include <vector>

#include "decomps/primitives/elementwise/complex_parts.h"

namespace primset::decomps::prim {

// A sum of exponentials of complex numbers: e^top * scaled, where top is the greatest real part of
// them; and its logarithm, whose angle goes on in whole turns from that of its greater part, as
// ATen's does (aten/src/ATen/native/cpu/LogAddExp.h). Sums lose less than logarithms would, which
// would be rounded at each step.
struct ComplexSum {
  Val top;
  math::Parts scaled, log;

  explicit ComplexSum(std::span<const Val> v) : top(v[0]), scaled{v[1], v[2]}, log{v[3], v[4]} {}
  ComplexSum(const Val& top, const math::Parts& scaled, const math::Parts& log)
      : top(top), scaled(scaled), log(log) {}
  std::vector<Val> values() const { return {top, scaled.re, scaled.im, log.re, log.im}; }
};

// Of one number. e^-inf is 0, whatever the angle.
ComplexSum exponential(const math::Parts& z);
ComplexSum add(const ComplexSum& a, const ComplexSum& b);

}  // namespace primset::decomps::prim

#endif  // PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_
