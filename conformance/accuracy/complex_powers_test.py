"""Complex powers against mpmath, in every operator that computes them.

The angle of a power is the exponent times the base's logarithm: in c64 an angle of a million has one
digit behind the point, so that f32 arithmetic would be right to a hundredth of the result.
"""

import mpmath
import numpy
import primset
import pytest

POWERS = [(2, 1 + 1e6j), (0.375, 3 - 131072.5j), (0.6 + 0.8j, 1e6 + 0.25j),
          (-0.8 - 0.6j, 65537.5 + 2j)]

CALLS = {
    "pow.Tensor_Tensor": lambda a, b: primset.invoke("pow.Tensor_Tensor", a, b),
    "pow.Tensor_Scalar": lambda a, b: primset.invoke("pow.Tensor_Scalar", a, complex(b[0])),
    "pow.Scalar": lambda a, b: primset.invoke("pow.Scalar", complex(a[0]), b),
    "_foreach_pow.List": lambda a, b: primset.invoke("_foreach_pow.List", [a], [b])[0],
    "_foreach_pow.Scalar":
        lambda a, b: primset.invoke("_foreach_pow.Scalar", [a], complex(b[0]))[0],
    "_foreach_pow.ScalarList":
        lambda a, b: primset.invoke("_foreach_pow.ScalarList", [a], [complex(b[0])])[0],
    "_foreach_pow.ScalarAndTensor":
        lambda a, b: primset.invoke("_foreach_pow.ScalarAndTensor", complex(a[0]), [b])[0],
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("base", "exponent"), POWERS)
def test_keeps_the_digits_of_c64(call, base, exponent):
    a = numpy.array([base], numpy.complex64)
    b = numpy.array([exponent], numpy.complex64)
    power = numpy.asarray(CALLS[call](primset.from_dlpack(a), primset.from_dlpack(b)))
    assert power.dtype == numpy.complex64
    with mpmath.workdps(40):
        truth = complex(mpmath.power(complex(a[0]), complex(b[0])))
    assert abs(complex(power[0]) - truth) <= 2e-7 * abs(truth)
