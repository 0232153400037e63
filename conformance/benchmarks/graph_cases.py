"""The graphs of compare_graphs.py: functions of tensors that both libraries run alike.

A function gets `ops`, the ATen operators of one library, and its tensors. What trains is written out
as autograd has it: the forward pass, then ATen's own backward operators, all in one graph. Only
attention has another name on each device (compare_graphs.py: `attention`, `attention_backward`).
"""

import dataclasses
import math
from collections.abc import Callable

EPSILON = 1e-5
THREE = [True, True, True]


@dataclasses.dataclass
class Operand:
    """A tensor of normal numbers, or of their squares, times `scale`, plus `shift`."""

    shape: list
    scale: float = 1.0
    shift: float = 0.0
    squared: bool = False
    f32: bool = False  # whatever type the graph's other tensors have


@dataclasses.dataclass
class GraphCase:
    name: str
    run: Callable  # (ops, *tensors) -> results
    operands: list
    # Operands that are written: they are compared too, and start anew before results are.
    written: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Sizes:
    batch: int
    tokens: int
    width: int
    heads: int
    rows: int  # of the MLP
    images: int
    channels: int
    side: int
    layers: int  # whose parameters the optimizer has


SMALL = Sizes(batch=8, tokens=128, width=512, heads=8, rows=1024, images=8, channels=64, side=56,
              layers=1)
LARGE = Sizes(batch=16, tokens=1024, width=1024, heads=16, rows=16384, images=128, channels=64,
              side=56, layers=4)
TINY = Sizes(batch=2, tokens=24, width=64, heads=4, rows=48, images=2, channels=8, side=10, layers=1)


# --- parts ---------------------------------------------------------------------------------------


def linear(ops, x, weight, bias):
    return ops.addmm(bias, x, ops.t(weight))


def linear_backward(ops, grad, x, weight):
    """Gradients by x, weight and bias."""
    return ops.mm(grad, weight), ops.mm(ops.t(grad), x), ops.sum(grad, [0])


def layer_norm(ops, x, weight, bias):
    return ops.native_layer_norm(x, [x.shape[-1]], weight, bias, EPSILON)


def layer_norm_backward(ops, grad, x, mean, rstd, weight, bias):
    return ops.native_layer_norm_backward(grad, x, [x.shape[-1]], mean, rstd, weight, bias, THREE)


# --- a transformer block -------------------------------------------------------------------------


def split_heads(ops, qkv, s):
    """[batch * tokens, 3 * width] -> three of [batch, heads, tokens, width / heads]."""
    parts = ops.view(qkv, [s.batch, s.tokens, 3, s.heads, s.width // s.heads])
    parts = ops.permute(parts, [2, 0, 3, 1, 4])
    return [ops.select(parts, 0, i) for i in range(3)]


def block_forward(ops, s, x, p):
    n1, mean1, rstd1 = layer_norm(ops, x, p["norm1"], p["shift1"])
    q, k, v = split_heads(ops, linear(ops, n1, p["qkv"], p["qkv_bias"]), s)
    attended, kept = ops.attention(q, k, v)
    merged = ops.reshape(ops.transpose(attended, 1, 2), [s.batch * s.tokens, s.width])
    y = ops.add(x, linear(ops, merged, p["proj"], p["proj_bias"]))
    n2, mean2, rstd2 = layer_norm(ops, y, p["norm2"], p["shift2"])
    h = linear(ops, n2, p["up"], p["up_bias"])
    g = ops.gelu(h)
    z = ops.add(y, linear(ops, g, p["down"], p["down_bias"]))
    return z, (n1, mean1, rstd1, (q, k, v), kept, merged, y, n2, mean2, rstd2, h, g)


def block_backward(ops, s, grad, x, p, saved):
    """Gradients by x and by each of p, in p's order."""
    n1, mean1, rstd1, qkv, kept, merged, y, n2, mean2, rstd2, h, g = saved
    dg, d_down, d_down_bias = linear_backward(ops, grad, g, p["down"])
    dh = ops.gelu_backward(dg, h)
    dn2, d_up, d_up_bias = linear_backward(ops, dh, n2, p["up"])
    dy, d_norm2, d_shift2 = layer_norm_backward(ops, dn2, y, mean2, rstd2, p["norm2"], p["shift2"])
    dy = ops.add(grad, dy)
    d_merged, d_proj, d_proj_bias = linear_backward(ops, dy, merged, p["proj"])
    d_heads = ops.view(d_merged, [s.batch, s.tokens, s.heads, s.width // s.heads])
    d_qkv = ops.attention_backward(ops.transpose(d_heads, 1, 2), *qkv, kept)
    d_qkv = ops.permute(ops.stack(d_qkv), [1, 3, 0, 2, 4])
    d_qkv = ops.reshape(d_qkv, [s.batch * s.tokens, 3 * s.width])
    dn1, d_weight, d_bias = linear_backward(ops, d_qkv, n1, p["qkv"])
    dx, d_norm1, d_shift1 = layer_norm_backward(ops, dn1, x, mean1, rstd1, p["norm1"], p["shift1"])
    return (ops.add(dy, dx), d_norm1, d_shift1, d_weight, d_bias, d_proj, d_proj_bias, d_norm2,
            d_shift2, d_up, d_up_bias, d_down, d_down_bias)


def block_parameters(s):
    def matrix(rows, columns):
        return Operand([rows, columns], 1 / math.sqrt(columns))

    def scale(n):
        return Operand([n], 0.1, 1.0)

    def bias(n):
        return Operand([n], 0.1)

    c = s.width
    return {"norm1": scale(c), "shift1": bias(c), "qkv": matrix(3 * c, c), "qkv_bias": bias(3 * c),
            "proj": matrix(c, c), "proj_bias": bias(c), "norm2": scale(c), "shift2": bias(c),
            "up": matrix(4 * c, c), "up_bias": bias(4 * c), "down": matrix(c, 4 * c),
            "down_bias": bias(c)}


def transformer_cases(s):
    parameters = block_parameters(s)

    def forward(ops, x, *p):
        return [block_forward(ops, s, x, dict(zip(parameters, p)))[0]]

    def train(ops, grad, x, *p):
        named = dict(zip(parameters, p))
        z, saved = block_forward(ops, s, x, named)
        return [z, *block_backward(ops, s, grad, x, named, saved)]

    x = Operand([s.batch * s.tokens, s.width])
    given = [x, *parameters.values()]
    return [GraphCase("transformer forward", forward, given),
            GraphCase("transformer both", train, [x, *given])]


# --- an MLP with layer norm ----------------------------------------------------------------------


def mlp_forward(ops, x, p):
    """Linear, norm and relu twice, then linear."""
    saved = []
    for i in (0, 4):
        h = linear(ops, x, p[i], p[i + 1])
        n, mean, rstd = layer_norm(ops, h, p[i + 2], p[i + 3])
        saved.append((x, h, mean, rstd))
        x = ops.relu(n)
    return linear(ops, x, p[8], p[9]), [*saved, x]


def mlp_backward(ops, grad, p, saved):
    *layers, last = saved
    dx, *grads = linear_backward(ops, grad, last, p[8])
    after = last
    for i, (x, h, mean, rstd) in ((4, layers[1]), (0, layers[0])):
        dn = ops.threshold_backward(dx, after, 0)
        dh, d_scale, d_shift = layer_norm_backward(ops, dn, h, mean, rstd, p[i + 2], p[i + 3])
        dx, dw, db = linear_backward(ops, dh, x, p[i])
        grads = [dw, db, d_scale, d_shift, *grads]
        after = x
    return [dx, *grads]


def mlp_cases(s):
    c, hidden = s.width, 4 * s.width
    parameters = []
    for a, b in ((c, hidden), (hidden, hidden)):
        parameters += [Operand([b, a], 1 / math.sqrt(a)), Operand([b], 0.1),
                       Operand([b], 0.1, 1.0), Operand([b], 0.1)]
    parameters += [Operand([c, hidden], 1 / math.sqrt(hidden)), Operand([c], 0.1)]

    def forward(ops, x, *p):
        return [mlp_forward(ops, x, p)[0]]

    def train(ops, grad, x, *p):
        y, saved = mlp_forward(ops, x, p)
        return [y, *mlp_backward(ops, grad, p, saved)]

    x = Operand([s.rows, c])
    return [GraphCase("mlp forward", forward, [x, *parameters]),
            GraphCase("mlp both", train, [x, x, *parameters])]


# --- a convolutional block -----------------------------------------------------------------------


def convolution(ops, x, weight):
    return ops.convolution(x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)


def convolution_backward(ops, grad, x, weight):
    return ops.convolution_backward(grad, x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                                    [True, True, False])[:2]


def residual_forward(ops, x, p):
    """The basic block of a ResNet, its norms by what they have learnt."""

    def norm(h, q):
        return ops.batch_norm(h, *q, False, 0.1, EPSILON, False)

    h = ops.relu(norm(convolution(ops, x, p[0]), p[1:5]))
    return [ops.relu(ops.add(norm(convolution(ops, h, p[5]), p[6:10]), x))]


def residual_both(ops, grad, x, *p):
    """Norms by the batch, which is what they learn from."""

    def norm(h, q):
        return ops._native_batch_norm_legit(h, *q, True, 0.1, EPSILON)

    def norm_backward(d, h, q, mean, inverse):
        return ops.native_batch_norm_backward(d, h, q[0], q[2], q[3], mean, inverse, True, EPSILON,
                                              THREE)

    h1 = convolution(ops, x, p[0])
    n1, mean1, inverse1 = norm(h1, p[1:5])
    r1 = ops.relu(n1)
    h2 = convolution(ops, r1, p[5])
    n2, mean2, inverse2 = norm(h2, p[6:10])
    y = ops.relu(ops.add(n2, x))
    d = ops.threshold_backward(grad, y, 0)
    dh2, d_scale2, d_shift2 = norm_backward(d, h2, p[6:10], mean2, inverse2)
    dr1, dw2 = convolution_backward(ops, dh2, r1, p[5])
    dn1 = ops.threshold_backward(dr1, r1, 0)
    dh1, d_scale1, d_shift1 = norm_backward(dn1, h1, p[1:5], mean1, inverse1)
    dx, dw1 = convolution_backward(ops, dh1, x, p[0])
    return [y, ops.add(dx, d), dw1, d_scale1, d_shift1, dw2, d_scale2, d_shift2]


def convolution_cases(s):
    c = s.channels
    parameters = []
    for _ in range(2):
        parameters += [Operand([c, c, 3, 3], 1 / math.sqrt(9 * c)), Operand([c], 0.1, 1.0),
                       Operand([c], 0.1), Operand([c], 0.1), Operand([c], 1.0, 0.5, squared=True)]
    x = Operand([s.images, c, s.side, s.side])
    return [GraphCase("convolution forward", lambda ops, x, *p: residual_forward(ops, x, p),
                      [x, *parameters]),
            GraphCase("convolution both", residual_both, [x, x, *parameters],
                      written=[5, 6, 10, 11])]


# --- an optimizer step ---------------------------------------------------------------------------

RATE, BETA1, BETA2, DECAY, TINY_NUMBER = 1e-3, 0.9, 0.999, 0.01, 1e-8


def adamw_step(ops, step, *tensors):
    """AdamW as torch.optim computes it where the step is a tensor (capturable=True)."""
    n = len(tensors) // 4
    ops.add_(step, 1)
    size = ops.mul(ops.reciprocal(ops.sub(ops.pow(BETA1, step), 1)), RATE)
    root2 = ops.sqrt(ops.rsub(ops.pow(BETA2, step), 1))
    for i in range(n):
        weight, grad, mean, square = tensors[i::n]
        ops.mul_(weight, 1 - RATE * DECAY)
        ops.lerp_(mean, grad, 1 - BETA1)
        ops.addcmul_(ops.mul_(square, BETA2), grad, grad, value=1 - BETA2)
        denominator = ops.add(ops.div(ops.sqrt(square), ops.mul(root2, size)),
                              ops.mul(ops.reciprocal(size), TINY_NUMBER))
        ops.addcdiv_(weight, mean, denominator)
    return [step]


def optimizer_cases(s):
    shapes = [p.shape for p in block_parameters(s).values()] * s.layers
    weights = [Operand(shape, 0.1) for shape in shapes]
    squares = [Operand(shape, 0.1, 1e-4, squared=True) for shape in shapes]
    operands = [Operand([], 0.0, 9.0, f32=True), *weights, *weights, *weights, *squares]
    n = len(shapes)
    written = [0, *range(1, 1 + n), *range(1 + 2 * n, 1 + 4 * n)]
    return [GraphCase("optimizer step", adamw_step, operands, written)]


def all_cases(sizes):
    return [*transformer_cases(sizes), *mlp_cases(sizes), *convolution_cases(sizes),
            *optimizer_cases(sizes)]
