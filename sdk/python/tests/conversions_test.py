"""Conversions of the narrow floats, against PyTorch's: every pattern, and numbers around each."""

import primset
import pytest
import torch

DTYPES = [v for v in vars(primset).values() if isinstance(v, primset.dtype)]
NARROW = [d.name for d in DTYPES if d.is_floating_point and d.itemsize <= 2]
SOURCES = ["float32", "float64", "bfloat16", "int32"]


def patterns(dtype):
    """Every number of a dtype, and its NaNs."""
    wide = torch.uint8 if dtype.itemsize == 1 else torch.uint16
    return torch.arange(1 << 8 * dtype.itemsize, dtype=torch.int32).to(wide).view(dtype)


def same_bits(ours, theirs):
    """One NaN is as good as another."""
    got = torch.from_dlpack(ours)
    assert got.dtype == theirs.dtype
    integer = {1: torch.uint8, 2: torch.uint16, 4: torch.int32, 8: torch.int64}[got.itemsize]
    equal = got.view(integer) == theirs.view(integer)
    return bool((equal | (torch.isnan(got.float()) & torch.isnan(theirs.float()))).all())


def test_the_narrow_floats_are_known():
    assert {"float16", "bfloat16", "float8_e4m3fnuz", "float8_e5m2fnuz"} <= set(NARROW)


@pytest.mark.parametrize("dtype", NARROW)
def test_every_pattern_widens(dtype):
    theirs = patterns(getattr(torch, dtype))
    ours = primset.from_dlpack(theirs)
    for wide in ("float32", "float64"):
        assert same_bits(ours.to(getattr(primset, wide)), theirs.to(getattr(torch, wide)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", NARROW)
def test_numbers_round_to_nearest_even(dtype, source):
    exact = patterns(getattr(torch, dtype)).float()
    # The upper half of an f32 takes every exponent; a bit more or less crosses what is halfway.
    halves = torch.arange(1 << 16, dtype=torch.int32) << 16
    near = torch.cat([halves - 1, halves, halves + 1]).view(torch.float32)
    numbers = torch.cat([exact, near])
    if source == "int32":
        numbers = numbers.nan_to_num(0, 0, 0).clamp(-100000, 100000)
    theirs = numbers.to(getattr(torch, source))
    ours = primset.from_dlpack(theirs)
    narrow = getattr(primset, dtype)
    assert same_bits(ours.to(narrow), theirs.to(getattr(torch, dtype)))
