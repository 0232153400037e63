"""Graph capture: traced once, run with other values and sizes, eager's bits."""

import gc
import weakref

import primset
import pytest
from primset import Graph, ops


def arange(*shape):
    n = 1
    for s in shape:
        n *= s
    return ops.arange(n, dtype=primset.float32).reshape(list(shape)) / 7


def test_a_graph_gives_eagers_bits_for_other_values_and_sizes():
    def f(x, y):
        z = ops.relu(x @ y.T) + 1.5
        return ops.softmax(z, -1), z.sum([0])

    graph = Graph.capture(f, arange(3, 4), arange(5, 4))
    for sizes in ((3, 4), (5, 4)), ((8, 6), (2, 6)):
        x, y = arange(*sizes[0]), arange(*sizes[1])
        results = graph(x, y)
        assert isinstance(results, tuple)
        for got, expected in zip(results, f(x, y), strict=True):
            assert got.shape == expected.shape
            assert got.tolist() == expected.tolist()


def test_pointwise_calls_become_one_kernel():
    def f(x):
        return ops.tanh(ops.exp(-x) * 2 + 1).sqrt()

    x = arange(4, 5)
    graph = Graph.capture(f, x)
    primset.reset_statistics()
    graph(x)
    assert primset.statistics()["launches"] == 1


def test_writing_inside_a_graph_reaches_the_input():
    def f(x):
        x[1:].add_(10)
        return x * 2

    graph = Graph.capture(f, arange(3))
    x = ops.zeros([3])
    (y,) = graph(x)
    assert x.tolist() == [0, 10, 10]
    assert y.tolist() == [0, 20, 20]


def test_random_numbers_differ_each_run_and_follow_the_seed():
    graph = Graph.capture(lambda x: ops.dropout(x, 0.5, True), ops.ones([64]))
    primset.manual_seed(5)
    first, second = (graph(ops.ones([64]))[0].tolist() for _ in range(2))
    assert first != second
    assert set(first) == {0, 2}
    primset.manual_seed(5)
    assert graph(ops.ones([64]))[0].tolist() == first


def test_its_text_shows_the_graph_and_its_kernels():
    text = str(Graph.capture(lambda x: x * 2 + 1, arange(4)))
    assert "mul" in text and "return" in text and "kernel" in text


def test_wrong_inputs_and_errors_inside():
    graph = Graph.capture(lambda x: x + 1, arange(2))
    with pytest.raises(primset.TypeError, match="expected tensors.*int"):
        graph(1)
    with pytest.raises(primset.RuntimeError, match="shapes cannot be multiplied"):
        Graph.capture(lambda x, y: ops.mm(x, y), arange(2, 3), arange(2, 3))

    def wrong(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Graph.capture(wrong, arange(2))
    assert graph(arange(2))[0].tolist() == ops.add(arange(2), 1).tolist()


def test_a_graph_in_a_cycle_is_collected():
    class Model:
        def __init__(self):
            self.weight = arange(3)
            self.graph = Graph.capture(lambda x: x * self.weight, arange(3))

    model = Model()
    watch = weakref.ref(model)
    assert model.graph(arange(3))[0].tolist() == ops.mul(arange(3), arange(3)).tolist()
    del model
    gc.collect()
    assert watch() is None
