"""Special functions against mpmath, with the inputs taken exactly as they are.

The bound counts units in the last place of the true value. Where a function passes through zero the
unit is that of a number of size `floor`: no sum of larger terms can be exact there.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy
import primset
import pytest
from primset import ops

POINTS = 120
DTYPES = {"f32": numpy.float32, "f64": numpy.float64}


@dataclass(frozen=True)
class Function:
    truth: Callable
    low: float
    high: float
    ulps: float  # how far it may be off, in both dtypes
    floor: float = 0.0  # below it errors are absolute


def gamma_of_order(p):
    """The logarithm of the multivariate gamma function."""
    return lambda x: (p * (p - 1) / mpmath.mpf(4) * mpmath.log(mpmath.pi)
                      + sum(mpmath.loggamma(x - mpmath.mpf(i) / 2) for i in range(p)))


FUNCTIONS = {
    "exp": Function(mpmath.exp, -80, 80, 1),
    "exp2": Function(lambda x: mpmath.power(2, x), -120, 120, 1),
    "expm1": Function(mpmath.expm1, -20, 20, 2),
    "log": Function(mpmath.log, 1e-6, 1e6, 1),
    "log1p": Function(mpmath.log1p, -0.999, 50, 2),
    "log2": Function(lambda x: mpmath.log(x, 2), 1e-6, 1e6, 1),
    "log10": Function(mpmath.log10, 1e-6, 1e6, 1),
    "sin": Function(mpmath.sin, -1000, 1000, 2, 0.1),
    "cos": Function(mpmath.cos, -1000, 1000, 2, 0.1),
    "tan": Function(mpmath.tan, -100, 100, 3, 0.1),
    "asin": Function(mpmath.asin, -1, 1, 1),
    "acos": Function(mpmath.acos, -1, 1, 1),
    "atan": Function(mpmath.atan, -30, 30, 1),
    "sinh": Function(mpmath.sinh, -50, 50, 2),
    "cosh": Function(mpmath.cosh, -50, 50, 2),
    "tanh": Function(mpmath.tanh, -8, 8, 1),
    "asinh": Function(mpmath.asinh, -50, 50, 2),
    "acosh": Function(mpmath.acosh, 1, 50, 1),
    "atanh": Function(mpmath.atanh, -0.999, 0.999, 2),
    "erf": Function(mpmath.erf, -4, 4, 1),
    "erfc": Function(mpmath.erfc, -4, 8, 6),
    "erfinv": Function(mpmath.erfinv, -0.999, 0.999, 6),
    "lgamma": Function(lambda x: mpmath.log(abs(mpmath.gamma(x))), -9.5, 60, 2, 4.0),
    "digamma": Function(mpmath.digamma, -9.5, 60, 5, 4.0),
    "special_erfcx": Function(lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -4, 20, 6),
    "special_entr": Function(lambda x: -x * mpmath.log(x), 1e-3, 20, 2),
    "special_i0": Function(lambda x: mpmath.besseli(0, x), -20, 20, 5),
    "special_i0e": Function(lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), -50, 50, 7),
    "special_i1": Function(lambda x: mpmath.besseli(1, x), -20, 20, 14),
    "special_i1e": Function(lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), -50, 50, 7),
    "special_ndtr": Function(mpmath.ncdf, -5, 8, 5),
    "special_ndtri": Function(lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), 1e-3, 0.999,
                              4, 0.1),
    "special_log_ndtr": Function(lambda x: mpmath.log(mpmath.ncdf(x)), -20, 3, 7),
    "special_bessel_j0": Function(lambda x: mpmath.besselj(0, x), -40, 40, 3, 1.0),
    "special_bessel_j1": Function(lambda x: mpmath.besselj(1, x), -40, 40, 2, 1.0),
    "special_bessel_y0": Function(lambda x: mpmath.bessely(0, x), 0.1, 40, 4, 1.0),
    "special_bessel_y1": Function(lambda x: mpmath.bessely(1, x), 0.1, 40, 3, 1.0),
    "special_modified_bessel_k0": Function(lambda x: mpmath.besselk(0, x), 0.1, 40, 9),
    "special_modified_bessel_k1": Function(lambda x: mpmath.besselk(1, x), 0.1, 40, 6),
    "special_spherical_bessel_j0": Function(mpmath.sinc, -40, 40, 2, 0.1),
    "special_airy_ai": Function(mpmath.airyai, -10, 10, 4, 1.0),
    "special_multigammaln": Function(gamma_of_order(3), 2, 30, 2, 4.0),
}
EXTRA_ARGUMENTS = {"special_multigammaln": (3,)}

# Where a formula of the textbook loses everything: next to poles, zeros and ends of ranges.
HARD = {
    "digamma": [-0.9999987, -1.0000013, -6.9999976, -0.5, 1e-6, -1e-6, 1.4616321, -7.5],
    "lgamma": [1.0000001, 2.0000002, -0.9999987, -2.4570247, 1e-6],
    "log1p": [1e-9, -1e-9], "expm1": [1e-9, -1e-9], "asinh": [1e-9, -1e-5], "atanh": [1e-9],
    "sinh": [1e-9], "tanh": [1e-9, 1e-4], "erf": [1e-9], "sin": [3.1415927, 1e5], "asin": [1e-9],
    "acosh": [1.0000001], "special_spherical_bessel_j0": [1e-9, 3.1415927],
}


def inputs(name, function, dtype):
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    x = rng.uniform(function.low, function.high, POINTS)
    near = x * 10.0 ** rng.uniform(-6, 0, POINTS)  # small ones are as many as large ones
    x = numpy.concatenate([x, near[(near >= function.low) & (near <= function.high)],
                           HARD.get(name, [])])
    return x.astype(dtype)


def errors_in_ulps(computed, truth, dtype, floor):
    info = numpy.finfo(dtype)
    size = max(abs(truth), mpmath.mpf(floor), mpmath.mpf(float(info.tiny)))
    unit = mpmath.power(2, mpmath.floor(mpmath.log(size, 2))) * mpmath.mpf(float(info.eps))
    return float(abs(mpmath.mpf(float(computed)) - truth) / unit)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_mpmath(name, dtype):
    function = FUNCTIONS[name]
    x = inputs(name, function, DTYPES[dtype])
    got = numpy.from_dlpack(getattr(ops, name)(primset.from_dlpack(x),
                                               *EXTRA_ARGUMENTS.get(name, ())))
    assert got.dtype == x.dtype
    worst, where = 0.0, None
    with mpmath.workdps(40):
        for value, computed in zip(x, got):
            truth = mpmath.re(function.truth(mpmath.mpf(float(value))))
            error = errors_in_ulps(computed, truth, x.dtype, function.floor)
            if not error <= worst:
                worst, where = error, (float(value), float(computed), mpmath.nstr(truth, 17))
    assert worst <= function.ulps, (
        f"{name}({where[0]!r}) gives {where[1]!r}, the truth is {where[2]}: {worst:.1f} units in the "
        f"last place, where {function.ulps} are allowed")
