"""Numbers that a dtype does not hold, and arrays of other libraries where a Tensor is wanted."""

import numpy
import primset
import pytest
import torch
from primset import ops

NUMBERS = [300, -1, -129, -256, 2**40, 2.7, -0.5, 1e10, 1e300, float("nan"), float("inf"), True]
DTYPES = ["int8", "uint8", "int32", "int64", "bool", "float16", "bfloat16", "float32", "float64"]

# What becomes elements of a tensor, in both libraries; t is a vector of two zeros.
FILLS = {
    "full": lambda m, t, v: m.full([2], v, dtype=t.dtype),
    "full_like": lambda m, t, v: m.full_like(t, v),
    "fill_": lambda m, t, v: t.fill_(v),
    "masked_fill": lambda m, t, v: t.masked_fill(m.tensor([True, False]), v),
    "index_fill": lambda m, t, v: t.index_fill(0, m.tensor([0]), v),
    "scatter": lambda m, t, v: t.scatter(0, m.tensor([0]), v),
    "constant_pad_nd": lambda m, t, v: m.constant_pad_nd(t, [1, 0], v),
    "fill_diagonal_": lambda m, t, v: t.expand([2, 2]).clone().fill_diagonal_(v),
    "index_add": lambda m, t, v: t.index_add(0, m.tensor([0]), t[:1], alpha=v),
    "addcmul": lambda m, t, v: m.addcmul(t, t, t, value=v),
}


class OurFunctions:
    tensor = staticmethod(primset.tensor)
    full = staticmethod(ops.full)
    full_like = staticmethod(ops.full_like)
    constant_pad_nd = staticmethod(ops.constant_pad_nd)
    addcmul = staticmethod(ops.addcmul)


def outcome(fill, module, zeros, number):
    try:
        return fill(module, zeros, number).tolist()
    except (RuntimeError, primset.Error) as e:
        return "overflow" if "without overflow" in str(e) else str(e)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FILLS)
def test_numbers_that_do_not_fit_are_refused_where_pytorch_refuses_them(name, dtype):
    if name == "addcmul" and dtype in ("bool", "float16", "bfloat16"):
        pytest.skip("computed in another dtype")
    for number in NUMBERS:
        theirs = outcome(FILLS[name], torch, torch.zeros(2, dtype=getattr(torch, dtype)), number)
        ours = outcome(FILLS[name], OurFunctions, ops.zeros([2], dtype=getattr(primset, dtype)),
                       number)
        assert repr(ours) == repr(theirs), number


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("float16", "bfloat16")])
def test_tensors_of_numbers_that_do_not_fit(dtype):
    for number in NUMBERS:
        def made(module, number=number):
            try:
                return module.tensor([number], dtype=getattr(module, dtype)).tolist()
            except (RuntimeError, primset.Error) as e:
                return str(e)
        assert repr(made(primset)) == repr(made(torch)), number


def test_integers_beyond_63_bits():
    assert primset.tensor([2**63], primset.uint64).to(primset.float64).tolist() == [2.0**63]
    assert primset.tensor([2**63, 1], primset.float32).tolist() == [2.0**63, 1]
    for dtype in (None, primset.int64, primset.int8):
        with pytest.raises(OverflowError, match=r"tensor: 9223372036854775808 is beyond"):
            primset.tensor([2**63], dtype)
    with pytest.raises(OverflowError):
        primset.tensor([2**64], primset.uint64)
    with pytest.raises(TypeError, match="complex numbers"):
        primset.tensor([1j], primset.float32)


@pytest.mark.parametrize("value", [0, 2**63 - 1, 2**63, 2**64 - 2])
def test_integers_beyond_63_bits_come_out_as_they_went_in(value):
    x = primset.from_dlpack(numpy.array([[value]], dtype=numpy.uint64))
    assert x.tolist() == [[value]]
    assert x.item() == int(x) == value
    assert x.__index__() == value
    assert float(x) == float(value)


def test_a_device_that_is_none_of_ours_is_named():
    with pytest.raises(TypeError, match=r"'device' must be Device or str, not torch.device"):
        primset.tensor([1.0], device=torch.device("cpu"))
    assert primset.tensor([1.0], device=str(torch.device("cpu"))).tolist() == [1.0]


def test_arrays_are_indices_and_values():
    x = ops.arange(6, dtype=primset.float32)
    assert x[numpy.array([4, 1])].tolist() == [4, 1]
    assert x[numpy.array([True, False] * 3)].tolist() == [0, 2, 4]
    assert x[torch.tensor([5])].tolist() == [5]
    assert x[numpy.int64(2)].item() == 2
    x[numpy.array([0, 1])] = numpy.array([7.0, 8.0])
    x[2] = torch.tensor(9.0)
    assert x.tolist()[:3] == [7, 8, 9]
    with pytest.raises(IndexError):
        x[2**70]


@pytest.mark.parametrize("array", [numpy.ones((2, 2), numpy.float32), torch.ones(2, 2)],
                         ids=["numpy", "torch"])
def test_arrays_in_a_tensors_place_are_told_what_to_call(array):
    for call in (lambda: ops.relu(array), lambda: ops.add(ops.ones([2, 2]), array),
                 lambda: ops.cat([array])):
        with pytest.raises(primset.TypeError, match=r"primset\.from_dlpack"):
            call()


def test_an_element_that_does_not_fit_is_refused():
    x = ops.zeros([2], dtype=primset.int8)
    for number in (300, float("nan")):
        with pytest.raises(primset.RuntimeError, match="without overflow"):
            x[0] = number
    x[0] = 2.7
    assert x.tolist() == [2, 0]
