// Special functions in long double, from definitions other than those that decompositions use:
// libm, integrals, asymptotic series, roots found by bisection. Special values are ATen's.
#ifndef PRIMSET_PRIMS_REFERENCE_SPECIAL_FUNCTIONS_H_
#define PRIMSET_PRIMS_REFERENCE_SPECIAL_FUNCTIONS_H_

namespace primset::prims::reference::special {

long double erfinv(long double x);
long double erfcx(long double x);
long double ndtri(long double p);
long double log_ndtr(long double x);

long double lgamma(long double x);
long double digamma(long double x);
long double polygamma(long double n, long double x);
long double zeta(long double x, long double q);

long double bessel_j0(long double x);
long double bessel_j1(long double x);
long double bessel_y0(long double x);
long double bessel_y1(long double x);
// The modified ones of both kinds, times e^-|x| and e^x.
long double bessel_i0e(long double x);
long double bessel_i1e(long double x);
long double bessel_k0e(long double x);
long double bessel_k1e(long double x);
long double spherical_bessel_j0(long double x);
long double airy_ai(long double x);

// Of a whole degree n.
long double chebyshev_t(long double x, long double n);
long double chebyshev_u(long double x, long double n);
long double chebyshev_v(long double x, long double n);
long double chebyshev_w(long double x, long double n);
long double hermite_h(long double x, long double n);
long double hermite_he(long double x, long double n);
long double laguerre_l(long double x, long double n);
long double legendre_p(long double x, long double n);

}  // namespace primset::prims::reference::special

#endif  // PRIMSET_PRIMS_REFERENCE_SPECIAL_FUNCTIONS_H_
