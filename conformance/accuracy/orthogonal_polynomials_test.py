"""Orthogonal polynomials against mpmath, with the inputs taken exactly as they are.

On the CPU a recurrence of f32 runs in f64, so its value is the nearest f32 but for double rounding;
one of f64 loses some digits, of the largest value of a lower degree at most.
"""

import zlib

import mpmath
import numpy
import primset
import pytest
from primset import ops

POINTS = 200
HIGHEST = 40  # degree


def chebyshev(kind, n, x):
    """Of the first to fourth kind, t, u, v and w."""
    if kind == "t":
        return mpmath.chebyt(n, x)
    before = mpmath.chebyu(n - 1, x) if n else 0
    return mpmath.chebyu(n, x) + {"u": 0, "v": -before, "w": before}[kind]


def hermite_he(n, x):
    return mpmath.power(2, mpmath.mpf(-n) / 2) * mpmath.hermite(n, x / mpmath.sqrt(2))


# The truth, and where x comes from.
POLYNOMIALS = {
    **{f"chebyshev_polynomial_{k}": (lambda n, x, k=k: chebyshev(k, n, x), -1.1, 1.1) for k in "tuvw"},
    **{f"shifted_chebyshev_polynomial_{k}":
       (lambda n, x, k=k: chebyshev(k, n, 2 * x - 1), -0.05, 1.05) for k in "tuvw"},
    "hermite_polynomial_h": (mpmath.hermite, -4, 4),
    "hermite_polynomial_he": (hermite_he, -4, 4),
    "laguerre_polynomial_l": (lambda n, x: mpmath.laguerre(n, 0, x), -2, 30),
    "legendre_polynomial_p": (mpmath.legendre, -1.1, 1.1),
}


def inputs(name, dtype):
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    _, low, high = POLYNOMIALS[name]
    return rng.uniform(low, high, POINTS).astype(dtype), rng.integers(0, HIGHEST, POINTS)


def computed(name, x, n):
    return numpy.from_dlpack(getattr(ops, f"special_{name}")(primset.from_dlpack(x),
                                                             primset.from_dlpack(n)))


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_f32_is_the_nearest(name):
    x, n = inputs(name, numpy.float32)
    with mpmath.workdps(60):
        for value, degree, got in zip(x, n, computed(name, x, n)):
            truth = POLYNOMIALS[name][0](int(degree), mpmath.mpf(float(value)))
            unit = mpmath.mpf(float(numpy.spacing(numpy.float32(abs(got)))))
            assert abs(mpmath.mpf(float(got)) - truth) <= 0.501 * unit, (
                f"{name} of degree {degree} at {value!r} is {got!r}, truly {mpmath.nstr(truth, 12)}")


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_f64_loses_little(name):
    x, n = inputs(name, numpy.float64)
    with mpmath.workdps(60):
        for value, degree, got in zip(x, n, computed(name, x, n)):
            truth, low, high = POLYNOMIALS[name]
            at = mpmath.mpf(float(value))
            largest = max(abs(truth(k, at)) for k in range(int(degree) + 1))
            error = abs(mpmath.mpf(float(got)) - truth(int(degree), at))
            assert error <= 2e-13 * largest, (
                f"{name} of degree {degree} at {value!r} is {got!r}: {float(error)} off")
