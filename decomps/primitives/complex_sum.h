// Sums of exponentials of complex numbers, and the logarithms of all sums along a dim.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_
#define PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_

#include <span>
#include <vector>

#include "decomps/primitives/elementwise/complex_parts.h"

namespace primset::decomps::prim {

// A sum of exponentials of complex numbers: e^top * scaled, where top is the greatest real part of
// them. A sum of one is known by its logarithm, top + i * angle; `many` says that there are more.
// Sums lose less than logarithms would, which would be rounded at each step, and they may be taken
// in any order.
struct ComplexSum {
  Val top;
  math::Parts scaled;
  Val angle, many;

  explicit ComplexSum(std::span<const Val> v)
      : top(v[0]), scaled{v[1], v[2]}, angle(v[3]), many(v[4]) {}
  ComplexSum(const Val& top, const math::Parts& scaled, const Val& angle, const Val& many)
      : top(top), scaled(scaled), angle(angle), many(many) {}
  std::vector<Val> values() const { return {top, scaled.re, scaled.im, angle, many}; }
};

// Of one number. e^-inf is 0, whatever the angle.
ComplexSum exponential(const math::Parts& z);
ComplexSum add(const ComplexSum& a, const ComplexSum& b);

// log(e^a + e^b). The angle goes on in whole turns from that of the greater one, of equal ones b,
// as ATen's does (aten/src/ATen/native/cpu/LogAddExp.h).
math::Parts logarithm_of_sum(const math::Parts& a, const math::Parts& b);

// The logarithms of sums[i] = e^z[0] + ... + e^z[i] along dim, each going on from
// the one before and z[i] as above. All are -inf as long as z is.
math::Parts logarithms_of_prefixes(const ComplexSum& sums, const math::Parts& z, int64_t dim);

}  // namespace primset::decomps::prim

#endif  // PRIMSET_DECOMPS_PRIMITIVES_COMPLEX_SUM_H_
