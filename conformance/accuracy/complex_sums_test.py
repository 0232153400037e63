"""Logarithms of sums of exponentials of complex numbers against PyTorch: finite numbers, infinities,
NaN, angles of many turns, and sums whose order of additions is the device's own."""

import itertools

import numpy
import primset
import pytest
import torch
from primset import ops

INF, NAN = float("inf"), float("nan")
REAL = [-INF, INF, 0.0, -2.5, NAN, 700.0, -700.0]
ANGLES = [0.0, 1.0, 2.0, -3.0, 100.0, INF, NAN, -0.0]
TYPES = {torch.complex64: 1e-3, torch.complex128: 1e-7}


def ours(x):
    return primset.from_dlpack(x)


def assert_near(got, want, tolerance):
    """By parts, NaN for NaN: where one part is infinite the other one still counts."""
    for part in ("real", "imag"):
        a, b = getattr(numpy.asarray(got), part), getattr(want.numpy(), part)
        numpy.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_logaddexp_of_every_kind_of_number(dtype):
    numbers = [complex(re, im) for re in REAL for im in ANGLES]
    x, y = (torch.tensor(side, dtype=dtype)
            for side in zip(*itertools.product(numbers, numbers), strict=True))
    assert_near(ops.logaddexp(ours(x), ours(y)), torch.logaddexp(x, y), TYPES[dtype])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("special", ["none", "-inf", "inf", "both", "nan", "whole"])
def test_logcumsumexp_along_rows(dtype, special):
    torch.manual_seed(11)
    spread = torch.tensor([0.3, 3, 50]).repeat_interleave(40)[:, None]
    turns = torch.tensor([1, 3, 100]).repeat(40)[:, None]
    re = torch.randn(120, 37, dtype=torch.float64) * spread
    im = torch.randn(120, 37, dtype=torch.float64) * turns
    if special == "whole":  # ties
        re, im = re.round(), im.round()
    for value, names, share in [(-INF, ("-inf", "both"), 0.3), (INF, ("inf", "both"), 0.1),
                                (NAN, ("nan",), 0.05)]:
        if special in names:
            re[torch.rand(re.shape) < share] = value
    x = torch.complex(re, im).to(dtype)
    assert_near(ops.logcumsumexp(ours(x), 1), torch.logcumsumexp(x, 1), TYPES[dtype])
    assert_near(ops.logcumsumexp(ours(x.t()), 0), torch.logcumsumexp(x.t(), 0), TYPES[dtype])
