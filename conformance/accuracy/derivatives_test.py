"""Backward operators against finite differences of their forward operators, in f64.

Along a random direction d the gradient g of the sum of y * w obeys
    <g, d> = (f(x + h d) - f(x - h d)) / 2h + O(h^2),    f(x) = sum(forward(x) * w).
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy
import primset
import pytest
from primset import ops

STEP, RELATIVE = 1e-6, 2e-8
DIRECTIONS = 3


def smooth(rng, *shape):
    """Away from the whole and half numbers, where the activations have their corners."""
    return rng.integers(-3, 3, shape) + rng.uniform(0.1, 0.4, shape)


def positive(rng, *shape):
    return rng.uniform(0.1, 0.9, shape)


@dataclass(frozen=True)
class Pair:
    """forward(x) -> y and backward(w, x, y) -> the gradient for x."""

    shape: tuple
    forward: Callable
    backward: Callable
    inputs: Callable = smooth


def pointwise(forward, backward, *arguments, inputs=smooth, shape=(4, 5)):
    return Pair(shape, lambda x: forward(x, *arguments),
                lambda w, x, y: backward(w, x, *arguments), inputs)


def of_result(forward, backward, *arguments, inputs=smooth):
    return Pair((4, 5), lambda x: forward(x, *arguments),
                lambda w, x, y: backward(w, y, *arguments), inputs)


def padding(kind, rank, pad):
    return Pair((2, 3, 6, 7, 5)[:rank + 2], lambda x: getattr(ops, f"{kind}_pad{rank}d")(x, pad),
                lambda w, x, y: getattr(ops, f"{kind}_pad{rank}d_backward")(w, x, pad))


def loss(forward, backward, *arguments, inputs=smooth, reduction=1):
    target = primset.from_dlpack(positive(numpy.random.default_rng(7), 4, 5))
    return Pair((4, 5), lambda x: forward(x, target, reduction, *arguments),
                lambda w, x, y: backward(w, x, target, reduction, *arguments), inputs)


def normalized(shape, forward, backward):
    """forward(x) -> y, mean and rstd, which backward gets."""
    return Pair(shape, lambda x: forward(x)[0], lambda w, x, y: backward(w, x, *forward(x)[1:]))


def parameter(size, forward, backward):
    return Pair((size,), lambda p: forward(p)[0], lambda w, p, y: backward(w, *forward(p)[1:], p))


def synchronized_gradient(w, x, mean, rstd):
    sums = ops.batch_norm_backward_reduce(w, x, mean, rstd, FOUR, True, True, True)
    return ops.batch_norm_backward_elemt(w, x, mean, rstd, FOUR, sums[0], sums[1],
                                         primset.tensor([6]))


def constant(*shape, seed=3):
    return primset.from_dlpack(smooth(numpy.random.default_rng(seed), *shape))


LABELS = primset.tensor([0, 2, 1, 4])
INDEX = primset.tensor([2, 0, 2])

PAIRS = {
    "elu": pointwise(
        lambda x: ops.elu(x, 0.7, 1.3, 0.9),
        lambda w, x: ops.elu_backward(w, 0.7, 1.3, 0.9, False, x)),
    "gelu": pointwise(ops.gelu, ops.gelu_backward),
    "gelu, tanh": pointwise(lambda x: ops.gelu(x, approximate="tanh"),
                            lambda w, x: ops.gelu_backward(w, x, approximate="tanh")),
    "hardshrink": pointwise(ops.hardshrink, ops.hardshrink_backward, 0.5),
    "hardsigmoid": pointwise(ops.hardsigmoid, ops.hardsigmoid_backward),
    "hardswish": pointwise(ops.hardswish, ops.hardswish_backward),
    "hardtanh": pointwise(ops.hardtanh, ops.hardtanh_backward, -1.5, 1.0),
    "leaky_relu": pointwise(ops.leaky_relu, lambda w, x, a: ops.leaky_relu_backward(w, x, a, False),
                            0.2),
    "mish": pointwise(ops.mish, ops.mish_backward),
    "silu": pointwise(ops.silu, ops.silu_backward),
    "softplus": pointwise(ops.softplus, ops.softplus_backward, 1.5, 20.0),
    "softshrink": pointwise(ops.softshrink, ops.softshrink_backward, 0.5),
    "threshold": pointwise(lambda x: ops.threshold(x, 0.5, 2.0),
                           lambda w, x: ops.threshold_backward(w, x, 0.5)),
    "log_sigmoid": pointwise(
        ops.log_sigmoid,
        lambda w, x: ops.log_sigmoid_backward(w, x, ops.log_sigmoid_forward(x)[1])),
    "logit": pointwise(ops.logit, ops.logit_backward, inputs=positive),
    "sigmoid": of_result(ops.sigmoid, ops.sigmoid_backward),
    "tanh": of_result(ops.tanh, ops.tanh_backward),
    "softmax": of_result(lambda x: ops.softmax(x, 1),
                         lambda w, y: ops._softmax_backward_data(w, y, 1, primset.float64)),
    "log_softmax": of_result(lambda x: ops.log_softmax(x, 0),
                             lambda w, y: ops._log_softmax_backward_data(w, y, 0, primset.float64)),
    "masked_softmax": of_result(
        lambda x: ops._masked_softmax(x, HIDDEN, 1, None),
        lambda w, y: ops._masked_softmax_backward(w, y, HIDDEN, 1)),
    "glu": pointwise(ops.glu, lambda w, x: ops.glu_backward(w, x, -1), shape=(4, 6)),
    "rrelu": pointwise(
        lambda x: ops.rrelu(x, 0.1, 0.5),
        lambda w, x: ops.rrelu_with_noise_backward(w, x, x, 0.1, 0.5, False, False)),
    "layer_norm": normalized((4, 5), lambda x: ops.native_layer_norm(x, [5], FIVE, FIVE, 0.1),
                             lambda w, x, m, r: ops.native_layer_norm_backward(
                                 w, x, [5], m, r, FIVE, FIVE, [True, True, True])[0]),
    "layer_norm, weight": parameter(
        5, lambda p: ops.native_layer_norm(ROWS, [5], p, FIVE, 0.1),
        lambda w, m, r, p: ops.native_layer_norm_backward(
            w, ROWS, [5], m, r, p, FIVE, [True, True, True])[1]),
    "rms_norm": Pair((4, 5), lambda x: ops._fused_rms_norm(x, [5], FIVE, 0.1)[0],
                     lambda w, x, y: ops._fused_rms_norm_backward(
                         w, x, [5], ops._fused_rms_norm(x, [5], FIVE, 0.1)[1], FIVE,
                         [True, True])[0]),
    "group_norm": normalized(
        (2, 4, 3), lambda x: ops.native_group_norm(x, FOUR, FOUR, 2, 4, 3, 2, 0.1),
        lambda w, x, m, r: ops.native_group_norm_backward(
            w, x, m, r, FOUR, 2, 4, 3, 2, [True, True, True])[0]),
    "group_norm, weight": parameter(
        4, lambda p: ops.native_group_norm(BATCH, p, FOUR, 2, 4, 3, 2, 0.1),
        lambda w, m, r, p: ops.native_group_norm_backward(
            w, BATCH, m, r, p, 2, 4, 3, 2, [True, True, True])[1]),
    "batch_norm": normalized(
        (2, 4, 3), lambda x: ops.native_batch_norm(x, FOUR, FOUR, None, None, True, 0.1, 0.1),
        lambda w, x, m, r: ops.native_batch_norm_backward(
            w, x, FOUR, None, None, m, r, True, 0.1, [True, True, True])[0]),
    "batch_norm, weight": parameter(
        4, lambda p: ops.native_batch_norm(BATCH, p, FOUR, None, None, True, 0.1, 0.1),
        lambda w, m, r, p: ops.native_batch_norm_backward(
            w, BATCH, p, None, None, m, r, True, 0.1, [True, True, True])[1]),
    "batch_norm, inference": Pair(
        (2, 4, 3), lambda x: ops.batch_norm(x, FOUR, None, MEANS, FOUR, False, 0.1, 0.1, False),
        lambda w, x, y: ops.native_batch_norm_backward(
            w, x, FOUR, MEANS, FOUR, None, None, False, 0.1, [True, True, True])[0]),
    "batch_norm, on several devices": normalized(
        (2, 4, 3), lambda x: ops.native_batch_norm(x, FOUR, FOUR, None, None, True, 0.1, 0.1),
        lambda w, x, m, r: synchronized_gradient(w, x, m, r)),
    "weight_norm": Pair((4, 5), lambda v: ops._weight_norm(v, COLUMN),
                        lambda w, v, y: ops._weight_norm_interface_backward(
                            w, v, COLUMN, ops._weight_norm_interface(v, COLUMN)[1], 0)[0]),
    "mse_loss": loss(ops.mse_loss, ops.mse_loss_backward),
    "mse_loss, sum": loss(ops.mse_loss, ops.mse_loss_backward, reduction=2),
    "soft_margin_loss": loss(ops.soft_margin_loss, ops.soft_margin_loss_backward, reduction=0),
    "huber_loss": loss(ops.huber_loss, ops.huber_loss_backward, 0.8),
    "smooth_l1_loss": loss(ops.smooth_l1_loss, ops.smooth_l1_loss_backward, 0.8, reduction=0),
    "binary_cross_entropy": Pair(
        (4, 5), lambda x: ops.binary_cross_entropy(x, BELOW_ONE, None, 1),
        lambda w, x, y: ops.binary_cross_entropy_backward(w, x, BELOW_ONE, None, 1), positive),
    "multi_margin_loss": Pair(
        (4, 5), lambda x: ops.multi_margin_loss(x, LABELS, 1, 0.7, None, 1),
        lambda w, x, y: ops.multi_margin_loss_backward(w, x, LABELS, 1, 0.7, None, 1)),
    "nll_loss": Pair(
        (4, 5), lambda x: ops.nll_loss_forward(x, LABELS, None, 1, 2)[0],
        lambda w, x, y: ops.nll_loss_backward(w, x, LABELS, None, 1, 2,
                                              ops.nll_loss_forward(x, LABELS, None, 1, 2)[1])),
    "embedding": Pair(
        (5, 3), lambda x: ops.embedding(x, LABELS),
        lambda w, x, y: ops.embedding_dense_backward(w, LABELS, 5, -1, False)),
    "index_select": Pair(
        (4, 5), lambda x: ops.index_select(x, 0, INDEX),
        lambda w, x, y: ops.index_select_backward(w, [4, 5], 0, INDEX)),
    "convolution, input": Pair(
        (2, 4, 7, 6), lambda x: ops.convolution(x, FILTER, None, *GEOMETRY),
        lambda w, x, y: ops.convolution_backward(w, x, FILTER, [0], *GEOMETRY,
                                                 [True, False, False])[0]),
    "convolution, weight": Pair(
        (6, 2, 3, 2), lambda f: ops.convolution(IMAGE, f, None, *GEOMETRY),
        lambda w, f, y: ops.convolution_backward(w, IMAGE, f, [0], *GEOMETRY,
                                                 [False, True, False])[1]),
    "linear": Pair(
        (4, 5), lambda x: ops.linear(x, MATRIX),
        lambda w, x, y: ops.linear_backward(x, w, MATRIX, [True, False, False])[0]),
    "matmul, self": Pair(
        (4, 5), lambda x: ops.matmul(x, MATRIX.t()),
        lambda w, x, y: ops.matmul_backward(w, x, MATRIX.t(), [True, False])[0]),
    "diagonal": Pair((4, 5), lambda x: ops.diagonal(x, 1),
                     lambda w, x, y: ops.diagonal_backward(w, [4, 5], 1, 0, 1)),
    "select": Pair((4, 5), lambda x: ops.select(x, 1, 3),
                   lambda w, x, y: ops.select_backward(w, [4, 5], 1, 3)),
    "slice": Pair((4, 5), lambda x: ops.slice(x, 1, 0, 5, 2),
                  lambda w, x, y: ops.slice_backward(w, [4, 5], 1, 0, 5, 2)),
    "unfold": Pair((4, 5), lambda x: ops.unfold(x, 1, 3, 1),
                   lambda w, x, y: ops.unfold_backward(w, [4, 5], 1, 3, 1)),
    **{f"{kind}_pad{rank}d": padding(kind, rank, [2, 1] * rank)
       for kind in ("reflection", "replication") for rank in (1, 2, 3)},
}
BELOW_ONE = primset.from_dlpack(positive(numpy.random.default_rng(5), 4, 5))
HIDDEN = primset.from_dlpack(numpy.random.default_rng(9).random((4, 5)) < 0.3)
FOUR, FIVE, COLUMN = (primset.from_dlpack(positive(numpy.random.default_rng(n), *s))
                      for n, s in ((11, (4,)), (12, (5,)), (13, (4, 1))))
ROWS, BATCH, MEANS = constant(4, 5), constant(2, 4, 3, seed=4), constant(4)
MATRIX = constant(3, 5)
FILTER, IMAGE = constant(6, 2, 3, 2), constant(2, 4, 7, 6)
GEOMETRY = ([2, 1], [1, 1], [1, 2], False, [0, 0], 2)  # stride, padding, dilation, groups of 2


def value(pair, x, w):
    return float((numpy.from_dlpack(pair.forward(primset.from_dlpack(x))) * w).sum())


@pytest.mark.parametrize("name", PAIRS)
def test_agrees_with_finite_differences(name):
    pair = PAIRS[name]
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    x = pair.inputs(rng, *pair.shape)
    y = pair.forward(primset.from_dlpack(x))
    w = rng.standard_normal(y.shape)
    gradient = numpy.from_dlpack(pair.backward(primset.from_dlpack(w), primset.from_dlpack(x), y))
    assert gradient.shape == x.shape
    for _ in range(DIRECTIONS):
        d = rng.standard_normal(x.shape)
        expected = (value(pair, x + STEP * d, w) - value(pair, x - STEP * d, w)) / (2 * STEP)
        got = float((gradient * d).sum())
        scale = float((abs(gradient) * abs(d)).sum()) + 1e-3
        assert abs(got - expected) <= RELATIVE * scale, (
            f"{name}: the slope is {expected:.12g}, the gradient says {got:.12g}")
