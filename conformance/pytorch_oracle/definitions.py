"""What functions are by definition, for single elements or along a row: mpmath at 40 digits, and
exact remainders. It decides where PyTorch's own answer is further from it than the function's
tolerance."""

import functools
import math
from fractions import Fraction

import torch

_DIGITS = 40

# Where every value is as good as PyTorch's; where every one that is not finite is.
ANY_VALUE, ANY_INFINITY = object(), object()


def _mp():
    import mpmath

    mpmath.mp.dps = _DIGITS
    return mpmath.mp


def _remainder(a, b):
    r = math.fmod(a, b)
    return r + b if r and (r < 0) != (b < 0) else r


def _hermite_he(n, x):
    m = _mp()
    return m.power(2, m.mpf(-n) / 2) * m.hermite(n, x / m.sqrt(2))


def _zeta(s, q):
    m = _mp()
    if s <= 1 or q <= 0:
        return None
    return m.zeta(s, q) if s < 1e3 else m.power(q, -s) + m.power(q + 1, -s)


def _chebyshev(kind, n, x):
    """Of the kinds t, u, v and w, which are all made of the second."""
    m = _mp()
    if kind == "t":
        return m.chebyt(n, x)
    before = m.chebyu(n - 1, x) if n else 0
    return m.chebyu(n, x) + {"u": 0, "v": -before, "w": before}[kind]


def _polynomial(value):
    """Of x and an order that is a number. NaN goes through all but the constant one, which arithmetic
    says; PyTorch's recurrences end there with what they have not written."""
    def of(x, n):
        if not math.isfinite(n) or n < 0:
            return None
        return math.nan if n >= 1 and math.isnan(x) else value(int(n), x)

    of.takes_nan = True
    return of


def _besselk(n, scaled, x):
    if x <= 0:
        return None
    return _mp().besselk(n, x) * (_mp().exp(x) if scaled else 1)


def _power(z, n):
    if not z and n.real <= 0:
        of_complex = isinstance(z, complex) or isinstance(n, complex)
        return ANY_INFINITY if of_complex and n.real < 0 else None
    if isinstance(z, complex) or isinstance(n, complex):
        exponent = n * _mp().log(z) if z else _mp().mpc(0)
        # Of the angle doubles have no digit behind the point, and the magnitude overflows.
        if abs(exponent.imag) > 2.0**53 and exponent.real > 710:
            return ANY_INFINITY
    return _mp().power(z, n)


def _lower_gamma(a, x):
    """The share of the gamma function's integral below x, by what is left of the uniform expansion
    where a is great (DLMF 8.12.3): the next term is of the size of 1 / sqrt(a)."""
    m = _mp()
    if a <= 0 or x < 0 or 1e3 < a < 1e18:
        return None
    if not x:
        return m.mpf(0)
    if a < 1e-30:
        return m.mpf(1)
    if a <= 1e3:
        return m.gammainc(a, 0, x, regularized=True) if x < 1e4 else m.mpf(1)
    ratio = m.mpf(x) / a
    far = m.sqrt(a * (ratio - 1 - m.log(ratio)))
    return m.erfc(min(far, 30) * (1 if x < a else -1)) / 2


def _upper_gamma(a, x):
    """The share above x: of the smallest a, as 1 / Gamma(a) is, a times the exponential integral."""
    if 0 < a < 1e-30 and x > 0:
        return a * _mp().e1(x)
    below = _lower_gamma(a, x)
    return None if below is None else 1 - below


def _log_add_exp(total, x):
    """The angle is the one of the greater part, turned by a quarter at most. Of an angle as great as
    floats are there is to be something behind the point."""
    m = _mp()
    low, high = (x, total) if x.real < total.real else (total, x)
    with m.workdps(360):
        return high + m.log(1 + m.exp(m.mpmathify(low) - m.mpmathify(high)))


def _gelu_backward(grad, x, approximate="none"):
    m = _mp()
    return grad * (m.ncdf(x) + x * m.npdf(x)) if approximate == "none" else None


def _gamma_slope(a, x):
    """dx/da of a gamma sample x of shape a whose probability stays the same: from the side where that
    is small, for at the other it is 1 to all digits."""
    m = _mp()
    if a <= 0 or x <= 0:
        return None
    ends, sign = ((0, x), -1) if x < a else ((x, m.inf), 1)
    slope = sign * m.diff(lambda s: m.gammainc(s, *ends, regularized=True), a)
    return slope * m.gamma(a) * m.exp(x) * m.power(x, 1 - a)


def _dirichlet_slope(x, a, total):
    """The same of a beta sample of shapes a and total - a, over 1 - x."""
    m = _mp()
    if not 0 < x < 1 or not 0 < a < total:
        return None
    b = m.mpf(total) - a
    if x * total < a:
        slope = -m.diff(lambda s: m.betainc(s, b, 0, x, regularized=True), a)
    else:
        slope = m.diff(lambda s: m.betainc(b, s, 0, 1 - m.mpf(x), regularized=True), a)
    return slope * m.beta(a, b) * m.power(x, 1 - a) * m.power(1 - m.mpf(x), -b)


def _of(name):
    return lambda *x: getattr(_mp(), name)(*x)


# They have no limit where a complex operand is not finite: every value is as good as PyTorch's, whose
# own codes for one element and for many give different ones.
WITHOUT_LIMIT = {"pow", "float_power", "sigmoid", "silu", "sinc", "addcmul", "addcdiv"}

# What they come to where a part of their complex operand is infinite, from whichever side.
AT_INFINITY = {"reciprocal": 0.0, "rsqrt": 0.0}

# Elementwise functions by ATen's names; None: not defined there.
FUNCTIONS = {
    "sigmoid": lambda z: 1 / (1 + _mp().exp(-z)),
    "silu": lambda z: z / (1 + _mp().exp(-z)),
    "sinc": _of("sincpi"),
    "atan": _of("atan"),
    "atanh": _of("atanh"),
    "asinh": _of("asinh"),
    "acosh": _of("acosh"),
    "addcmul": lambda x, a, b, value=1: x + _mp().mpmathify(value) * a * b,
    "addcdiv": lambda x, a, b, value=1: x + _mp().mpmathify(value) * a / b if b else ANY_INFINITY,
    "reciprocal": lambda z: 1 / z if z else None,
    "rsqrt": lambda z: 1 / _mp().sqrt(z) if z else None,
    "pow": _power,
    "float_power": _power,
    "digamma": _of("digamma"),
    "standard_gamma_grad": _gamma_slope,
    "dirichlet_grad": _dirichlet_slope,
    "special_airy_ai": _of("airyai"),
    "special_bessel_j0": lambda x: _mp().besselj(0, x),
    "special_bessel_j1": lambda x: _mp().besselj(1, x),
    "special_bessel_y0": lambda x: _mp().bessely(0, x) if x > 0 else None,
    "special_bessel_y1": lambda x: _mp().bessely(1, x) if x > 0 else None,
    **{f"special_modified_bessel_k{n}": functools.partial(_besselk, n, False) for n in (0, 1)},
    **{f"special_scaled_modified_bessel_k{n}": functools.partial(_besselk, n, True) for n in (0, 1)},
    "igamma": lambda a, x: _lower_gamma(a, x),
    "igammac": lambda a, x: _upper_gamma(a, x),
    "special_zeta": _zeta,
    "special_hermite_polynomial_h": _polynomial(lambda n, x: _mp().hermite(n, x)),
    "special_hermite_polynomial_he": _polynomial(_hermite_he),
    "special_laguerre_polynomial_l": _polynomial(lambda n, x: _mp().laguerre(n, 0, x)),
    "special_legendre_polynomial_p": _polynomial(lambda n, x: _mp().legendre(n, x)),
    **{f"special_chebyshev_polynomial_{k}": _polynomial(functools.partial(_chebyshev, k))
       for k in "tuvw"},
    **{f"special_shifted_chebyshev_polynomial_{k}":
       _polynomial(lambda n, x, k=k: _chebyshev(k, n, 2 * _mp().mpf(x) - 1)) for k in "tuvw"},
    "cosh": _of("cosh"),
    "sinh": _of("sinh"),
    "log1p": _of("log1p"),
    "logaddexp": _log_add_exp,
    "floor_divide": lambda a, b: float(Fraction(a) // Fraction(b)) if b else None,
    "remainder": lambda a, b: _remainder(a, b) if b else None,
    "fmod": lambda a, b: math.fmod(a, b) if b else None,
    "gelu_backward": _gelu_backward,
}


# The same of whole numbers, which doubles do not hold.
OF_WHOLE_NUMBERS = {"gcd": math.gcd}


# Of a complex number and a real one, which acts on its parts, infinite ones too.
BY_REAL_NUMBERS = {"mul": lambda part, r: part * r, "div": lambda part, r: part / r}


def knows(function):
    return any(function in known for known in (FUNCTIONS, OF_WHOLE_NUMBERS, BY_REAL_NUMBERS))


def value(function, operands):
    """function at one element's operands, as a double, a complex number of doubles or a whole number;
    ANY_VALUE where it has no limit, None where nothing is known."""
    if function in OF_WHOLE_NUMBERS:
        y = OF_WHOLE_NUMBERS[function](*(int(x) for x in operands))
        return y if y <= max(torch.iinfo(x.dtype).max for x in operands) else None
    if function in BY_REAL_NUMBERS:
        return _value_by_real_number(BY_REAL_NUMBERS[function], *operands)
    operands = [_exact(x) for x in operands]
    known = FUNCTIONS[function]
    if not all(_finite(x) or getattr(known, "takes_nan", False) and x != x for x in operands):
        return _value_beyond(function, operands)
    try:
        y = known(*operands)
    except (ValueError, ZeroDivisionError, ArithmeticError):
        return None
    if y is None or y is ANY_INFINITY:
        return y
    if any(isinstance(x, complex) for x in operands):
        y = _mp().mpc(y)
        return complex(_double(y.real), _double(y.imag))
    return None if isinstance(y, (complex, _mp().mpc)) else _double(y)


def _value_by_real_number(of_part, z, r, *more):
    if more or isinstance(r, torch.Tensor) or isinstance(r, complex) or not r or not _finite(r):
        return None
    z = _exact(z)
    return complex(of_part(z.real, r), of_part(z.imag, r)) if isinstance(z, complex) else None


def _value_beyond(function, operands):
    """The same of operands of which one has an infinite or NaN part."""
    if not any(isinstance(x, complex) for x in operands):
        return None
    if function in AT_INFINITY and any(_infinite(x) for x in operands):
        return complex(AT_INFINITY[function])
    return ANY_VALUE if function in WITHOUT_LIMIT else None



# What an element makes of the result so far, along a row.
SCANS = {"logcumsumexp": _log_add_exp}


def scanned(function, row):
    """The results along a row, None from an element on that is not finite."""
    m, total, out = _mp(), None, []
    for x in row:
        if not _finite(x):
            break
        x = m.mpmathify(x)
        total = x if total is None else SCANS[function](total, x)
        out.append(complex(total) if isinstance(total, m.mpc) else _double(total))
    return out + [None] * (len(row) - len(out))


# What reductions are asked by.
OPTIONS = {"correction", "unbiased", "p", "ord"}


def _total(row):
    """Without rounding, by parts."""
    return [sum((Fraction(part(x)) for x in row), Fraction(0))
            for part in (lambda x: x.real, lambda x: x.imag)]


def _mean(row, **options):
    return [_number(row, [part / len(row) for part in _total(row)])]


def _sum(row, **options):
    return [_number(row, _total(row))]


def _number(row, parts):
    if any(isinstance(x, complex) for x in row):
        return complex(*map(_double, parts))
    return _double(parts[0])


def _variance(row, correction=None, unbiased=True, **options):
    """And the mean."""
    freedom = len(row) - (float(unbiased) if correction is None else float(correction))
    if freedom <= 0:
        return None
    means = [part / len(row) for part in _total(row)]
    squares = sum(((Fraction(x.real) - means[0])**2 + (Fraction(x.imag) - means[1])**2 for x in row),
                  Fraction(0))
    return squares / Fraction(freedom), _number(row, means)


def _variance_of(root):
    def of(row, **options):
        found = _variance(row, **options)
        if found is None:
            return None
        m, (variance, mean) = _mp(), found
        exact = m.mpf(variance.numerator) / variance.denominator
        return [_double(m.sqrt(exact) if root else exact), mean]
    return of


def _norm(row, p=2, ord=None, **options):
    m, p = _mp(), 2 if p is None else p if ord is None else ord
    if not isinstance(p, (int, float)) or not p or math.isinf(p):
        return None
    if p < 0 and not all(row):
        return [0.0]
    total = m.fsum(m.power(m.hypot(x.real, x.imag), p) for x in row)
    return [_double(m.power(total, m.mpf(1) / p))]


REDUCTIONS = {"sum": _sum, "mean": _mean, "norm": _norm, "native_norm": _norm, "dist": _norm,
              "linalg_vector_norm": _norm, "linalg_norm": _norm,
              **{f"{what}{more}": _variance_of(what == "std") for what in ("var", "std")
                 for more in ("", "_mean")}}


def reduced(function, row, **options):
    """The results of a reduction of a row; None where an element is not finite."""
    return REDUCTIONS[function](row, **options) if row and all(map(_finite, row)) else None


def _exact(x):
    x = x.item() if isinstance(x, torch.Tensor) else x
    return x if isinstance(x, (complex, str)) else float(x)


def _finite(x):
    return isinstance(x, str) or math.isfinite(x.real) and math.isfinite(x.imag)


def _infinite(x):
    return math.isinf(x.real) or math.isinf(x.imag)


def _double(x):
    try:
        return float(x)
    except OverflowError:
        return math.copysign(math.inf, x)
