"""Means and variances against NumPy's f64, of inputs that lose digits: far from 0 and close
together, great, small, infinite; along rows, along columns, and along rows of more than one chunk.

On every device at hand, as f64 is fast on some only.
"""

import numpy
import primset
import pytest
from primset import ops

DEVICES = [d.name for d in primset.devices() if d.name.startswith(("cpu", "vulkan", "cuda"))]
SHAPES = {"rows": ((5, 300), 1), "columns": ((300, 5), 0), "long rows": ((2, 40000), 1),
          "short rows": ((40, 3), 1)}
EPS = 1e-12


def far(rng, shape):
    """Whole steps of f32 beside 100,000."""
    return (1e5 + rng.integers(0, 4, shape) / 128).astype(numpy.float32)


def on(device, x):
    return primset.from_dlpack(numpy.ascontiguousarray(x)).to(device)


def array(tensor):
    return numpy.from_dlpack(tensor.to("cpu"))


def biased(x, axes):
    return x.astype(numpy.float64).var(axis=axes)


def close(got, want, relative=2e-5):
    numpy.testing.assert_allclose(array(got).reshape(want.shape).astype(numpy.float64), want,
                                  rtol=relative)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape, axis", SHAPES.values(), ids=SHAPES)
def test_variances_far_from_zero(device, shape, axis):
    x = far(numpy.random.default_rng(1), shape)
    variance, mean = ops.var_mean(on(device, x), [axis], correction=0)
    close(variance, biased(x, axis))
    close(mean, x.astype(numpy.float64).mean(axis=axis), 1e-7)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("length", [3, 300, 40000])
def test_normalisations_far_from_zero(device, length):
    x = far(numpy.random.default_rng(2), (2, 4, length))
    given = on(device, x)

    def rstd(axes):
        return 1 / numpy.sqrt(biased(x, axes) + EPS)

    close(ops.native_layer_norm(given, [length], None, None, EPS)[2], rstd(2))
    groups = x.reshape(2, 2, 2 * length)
    close(ops.native_group_norm(given, None, None, 2, 4, length, 2, EPS)[2],
          1 / numpy.sqrt(biased(groups, 2) + EPS))
    close(ops.native_batch_norm(given, None, None, None, None, True, 0.1, EPS)[2], rstd((0, 2)))
    close(ops.batch_norm_stats(given, EPS)[1], rstd((0, 2)))
    close(ops.batch_norm_update_stats(given, None, None, 0.1)[1], biased(x, (0, 2)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape, axis", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_deviations_whose_squares_are_beyond_f32(device, shape, axis, scale):
    x = (numpy.random.default_rng(3).standard_normal(shape) * scale).astype(numpy.float32)
    close(ops.std(on(device, x), [axis], correction=1),
          x.astype(numpy.float64).std(axis=axis, ddof=1))


@pytest.mark.parametrize("device", DEVICES)
def test_variances_whose_sums_are_beyond_f32(device):
    x = (numpy.random.default_rng(4).standard_normal((4, 300)) * 1e18).astype(numpy.float32)
    close(ops.var(on(device, x + numpy.float32(1e19)), [1], correction=0),
          biased(x + numpy.float32(1e19), 1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape, axis", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("place", [0, 1, -1])
def test_an_infinity_has_no_variance(device, shape, axis, place):
    x = numpy.ones(shape, numpy.float32)
    x[place, place] = numpy.inf
    line = place if axis == 1 else place
    for operator in (ops.var, ops.std):
        got = array(operator(on(device, x), [axis], correction=0))
        assert numpy.isnan(got[line])
        assert numpy.isnan(got).sum() == 1
