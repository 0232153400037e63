"""Operators whose results are numbers and dtypes, and those that give a tensor other memory."""

import primset
import pytest
import torch
from primset import Graph, ops


def arange(*shape):
    return ops.arange(int(torch.Size(shape).numel()), dtype=primset.float32).reshape(list(shape))


def test_results_are_pythons_numbers_and_primsets_dtypes():
    x = arange(3, 4).t()
    assert ops.numel(x) == 12 and ops.dim(x) == 2
    assert ops.size(x, 0) == 4 and ops.stride(x, -1) == 4
    assert ops.is_contiguous(x) is False and ops.is_floating_point(x) is True
    assert ops.item(arange(1)) == 0.0 and ops.item(ops.ones([1], dtype=primset.bool)) is True
    assert ops.result_type(x, 2.5) is primset.float32
    assert ops.promote_types(primset.int32, primset.float16) is primset.float16
    assert ops.can_cast(primset.float32, primset.int32) is False
    assert ops.equal(x, x) is True and ops.allclose(x, x + 1) is False
    assert ops.is_nonzero(arange(1)) is False and ops.is_same_size(x, arange(4, 3)) is True


@pytest.mark.parametrize("call, error, text", [
    (lambda x: ops.size(x, 2), primset.IndexError, "range of [-2, 1], but got 2"),
    (lambda x: ops.stride(ops.sum(x), 0), primset.IndexError, "tensor has no dimensions"),
    (lambda x: ops.item(x), primset.RuntimeError, "12 elements cannot be converted to Scalar"),
    (lambda x: ops.is_nonzero(x), primset.RuntimeError, "more than one value is ambiguous"),
    (lambda x: ops.allclose(x, x.to(primset.float64)), primset.RuntimeError, "did not match"),
    (lambda x: ops.set_(x, x.to(primset.int64)), primset.RuntimeError, "Could not set tensor of type"),
    (lambda x: x.resize_([2, 6], memory_format=primset.MemoryFormat.channels_last),
     primset.RuntimeError, "required rank 4"),
    (lambda x: x.resize_([-1]), primset.RuntimeError, "negative dimension -1"),
])
def test_errors_are_pytorchs(call, error, text):
    with pytest.raises(error) as e:
        call(arange(3, 4))
    assert text in str(e.value)


def test_a_graph_is_captured_around_a_question_but_not_around_a_value():
    def f(x):
        return x * ops.numel(x) + ops.size(x, 0)

    graph = Graph.capture(f, arange(3, 4))
    assert graph(arange(3, 4))[0].tolist() == f(arange(3, 4)).tolist()
    # Another size is another answer.
    assert graph(arange(2, 5))[0].tolist() == f(arange(2, 5)).tolist()
    for read in (ops.item, ops.is_nonzero, lambda x: ops.equal(x, x)):
        with pytest.raises(primset.NotImplementedError, match="cannot be part of a captured graph"):
            Graph.capture(lambda x, read=read: x + float(read(x)), arange(1))


def test_resizing_keeps_the_memory_and_what_is_in_it():
    x = arange(6)
    storage = x.storage()
    assert x.resize_([2, 2]) is x and x.tolist() == [[0, 1], [2, 3]]
    x.resize_([6])
    assert x.tolist() == [0, 1, 2, 3, 4, 5] and x.storage() == storage
    grown = ops.resize(x, [3, 4])
    assert grown.shape == (3, 4) and grown.tolist()[0] == [0, 1, 2, 3] and x.shape == (6,)
    out = ops.empty([0])
    assert ops.resize(x, [2, 3], out=out) is out and out.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_setting_shares_the_others_memory():
    x, y = arange(3), arange(4) + 10
    x.set_(y)
    x[0] = 7
    assert y.tolist() == [7, 11, 12, 13] and x.is_alias_of(y)
    window = ops.set(x, y.storage(), 1, [2, 2], [1, 1])
    assert window.tolist() == [[11, 12], [12, 13]] and window.is_alias_of(y)
    assert x.set_().tolist() == [] and not x.is_alias_of(y)
