// Orthogonal polynomials: Chebyshev's by what they are of angles, the others by their recurrences
// (DLMF 18.5, 18.9).
#include <cmath>

#include "prims/reference/special/functions.h"

namespace primset::prims::reference::special {
namespace {

bool is_odd(long double n) {
  return std::fmod(n, 2.0L) == 1;
}

// cos(n t) at the x >= 0 that is cos(t), or cosh(t) from 1 on; and sin(n t).
long double cosine(long double n, long double x) {
  return x <= 1 ? std::cos(n * std::acos(x)) : std::cosh(n * std::acosh(x));
}
long double sine(long double n, long double x) {
  return x <= 1 ? std::sin(n * std::acos(x)) : std::sinh(n * std::acosh(x));
}

using Polynomial = long double (*)(long double x, long double n);

// Of an x below 0 it is `mirrored` at -x, with a sign if the degree is odd: there the angle has all
// its bits.
long double by_angle(Polynomial p, Polynomial mirrored, long double x, long double n) {
  if (!(n >= 0)) return 0;
  if (n == 0 || std::isnan(x)) return n == 0 ? 1 : x;
  const bool turned = std::signbit(x);
  const long double size = std::fabs(x);
  const long double value = std::isinf(size) ? size : (turned ? mirrored : p)(size, n);
  return turned && is_odd(n) ? -value : value;
}

long double t_of(long double x, long double n) {
  return cosine(n, x);
}
long double u_of(long double x, long double n) {
  return x == 1 ? n + 1 : sine(n + 1, x) / sine(1, x);
}
long double v_of(long double x, long double n) {
  return cosine(n + 0.5L, x) / cosine(0.5L, x);
}
long double w_of(long double x, long double n) {
  return x == 1 ? 2 * n + 1 : sine(n + 0.5L, x) / sine(0.5L, x);
}

// p(k + 1) = next(k, p(k), p(k - 1)), from 1 and `first` on.
template <typename Next>
long double recurrence(long double first, long double n, Next next) {
  long double before = 1, last = first;
  if (!(n >= 1)) return n >= 0 ? before : 0;
  for (long double k = 1; k < n && !std::isnan(last); k += 1) {
    const long double value = next(k, last, before);
    before = last;
    last = value;
  }
  return last;
}

}  // namespace

long double chebyshev_t(long double x, long double n) {
  return by_angle(t_of, t_of, x, n);
}
long double chebyshev_u(long double x, long double n) {
  return by_angle(u_of, u_of, x, n);
}
long double chebyshev_v(long double x, long double n) {
  return by_angle(v_of, w_of, x, n);
}
long double chebyshev_w(long double x, long double n) {
  return by_angle(w_of, v_of, x, n);
}

long double hermite_h(long double x, long double n) {
  return recurrence(2 * x, n, [x](long double k, long double last, long double before) {
    return 2 * (x * last - k * before);
  });
}

long double hermite_he(long double x, long double n) {
  return recurrence(x, n, [x](long double k, long double last, long double before) {
    return x * last - k * before;
  });
}

long double laguerre_l(long double x, long double n) {
  return recurrence(1 - x, n, [x](long double k, long double last, long double before) {
    return ((2 * k + 1 - x) * last - k * before) / (k + 1);
  });
}

long double legendre_p(long double x, long double n) {
  return recurrence(x, n, [x](long double k, long double last, long double before) {
    return ((2 * k + 1) * x * last - k * before) / (k + 1);
  });
}

}  // namespace primset::prims::reference::special
