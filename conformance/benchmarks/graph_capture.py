"""How long it takes to capture, plan and run large graphs.

    PRIMSET_DEVICE=cpu PYTHONPATH=build/release/python .venv/bin/python \\
        conformance/benchmarks/graph_capture.py --operators 1000,10000,100000

Shapes of graphs: a chain of additions; tanh and sums of rows or columns in turn; one value that
many read; a training step of a transformer, forward and backward by hand. Each is captured once
for its kernels to be compiled, and then again, small graphs several times; the fastest is printed.
`captured` is the time in Graph.capture, `planned` in the first run; `ms/op` is what both take of
the calling thread's own time, whatever else the machine does, by operator. It should not depend on
the graph's length. Results are held against the same operators called one by one where that is quick.
"""

import argparse
import math
import sys
import time

import primset
from primset import Graph, ops


def chain(n):
    def f(x, c):
        for _ in range(n):
            x = ops.add(x, c)
        return x

    return f, [ops.zeros([64]), ops.ones([64])], n


def alternating(n):
    def f(x):
        for i in range(n // 3):
            s = ops.sum(x, [i % 2], keepdim=True)
            x = ops.tanh(ops.sub(x, s))
        return x

    return f, [ops.ones([16, 24]) * 0.1], n // 3 * 3


def fan_out(n):
    def f(x):
        parts = [ops.mul(x, 1 + i / n) for i in range(n // 2)]
        while len(parts) > 1:
            sums = [ops.add(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = sums + parts[2 * len(sums):]
        return parts[0]

    return f, [ops.ones([64]) / n], n


def linear_backward(dy, x, w):
    return ops.matmul(dy, w), ops.matmul(ops.t(dy), x)


def block(x, p):
    """One layer: attention with one head and an MLP, and its gradient for the output's sum."""
    q, k, v = (ops.linear(x, p[i]) for i in range(3))
    scores = ops.matmul(q, ops.t(k)) / math.sqrt(x.shape[1])
    a = ops.softmax(scores, 1)
    y = x + ops.matmul(a, v)
    m, rstd = y.mean([1], keepdim=True), ops.rsqrt(y.var([1], correction=0, keepdim=True) + 1e-5)
    z = (y - m) * rstd
    h = ops.linear(z, p[3])
    g = ops.gelu(h)
    return y + ops.linear(g, p[4]), (q, k, v, a, y, rstd, z, h, g)


def block_backward(d, x, p, saved):
    q, k, v, a, y, rstd, z, h, g = saved
    dg, dw4 = linear_backward(d, g, p[4])
    dh = ops.gelu_backward(dg, h)
    dz, dw3 = linear_backward(dh, z, p[3])
    dy = d + rstd * (dz - dz.mean([1], keepdim=True) - z * (dz * z).mean([1], keepdim=True))
    da, dv = ops.matmul(dy, ops.t(v)), ops.matmul(ops.t(a), dy)
    ds = (da - (da * a).sum([1], keepdim=True)) * a / math.sqrt(x.shape[1])
    dq, dk = ops.matmul(ds, k), ops.matmul(ops.t(ds), q)
    dx = dy
    grads = []
    for i, part in enumerate((dq, dk, dv)):
        through, dw = linear_backward(part, x, p[i])
        dx = dx + through
        grads.append(dw)
    return dx, [*grads, dw3, dw4]


OPERATORS_OF_A_LAYER = 110


def training_step(n):
    layers, width = max(1, n // OPERATORS_OF_A_LAYER), 16
    sizes = [[width, width]] * 3 + [[4 * width, width], [width, 4 * width]]
    primset.manual_seed(1)
    parameters = [ops.randn(s) / 8 for _ in range(layers) for s in sizes]

    def f(x, *parameters):
        saved, p = [], [parameters[i:i + 5] for i in range(0, len(parameters), 5)]
        for i in range(layers):
            inputs = x
            x, kept = block(x, p[i])
            saved.append((inputs, kept))
        d = ops.ones_like(x)
        for i in reversed(range(layers)):
            inputs, kept = saved[i]
            d, grads = block_backward(d, inputs, p[i], kept)
            for w, dw in zip(p[i], grads, strict=True):
                w.sub_(dw, alpha=1e-3)
        return x.sum()

    return f, [ops.randn([8, width]), *parameters], layers * OPERATORS_OF_A_LAYER


def capture_and_run(f, inputs):
    start, start_cpu = time.perf_counter(), time.thread_time()
    graph = Graph.capture(f, *inputs)
    captured = time.perf_counter()
    primset.reset_statistics()
    result = graph(*inputs)
    values = result[0] if isinstance(result, tuple) else result
    values.tolist()
    planned, cpu = time.perf_counter(), time.thread_time() - start_cpu
    launches = primset.statistics()["launches"]
    graph(*inputs)[0].tolist()
    run = time.perf_counter() - planned
    return cpu, captured - start, planned - captured, run, launches, values


def same(a, b):
    flat = [x for v in (a, b) for x in v.reshape([-1]).tolist()]
    half = len(flat) // 2
    return flat[:half] == flat[half:]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--operators", default="1000,10000")
    p.add_argument("--shapes", default="chain,alternating,fan_out,training_step")
    p.add_argument("--compare", type=int, default=20000, help="up to so many operators")
    options = p.parse_args()
    print(f"{'graph':15} {'operators':>9} {'captured':>9} {'planned':>9} {'ms/op':>7} "
          f"{'run':>8} {'launches':>8}")
    bad = 0
    for shape in options.shapes.split(","):
        for n in map(int, options.operators.split(",")):
            f, inputs, operators = globals()[shape](n)
            capture_and_run(f, [x.clone() for x in inputs])
            repeats = 2 if n > 20000 else max(3, min(20, 20000 // n))
            cpu, captured, planned, run, launches, values = min(
                (capture_and_run(f, [x.clone() for x in inputs]) for _ in range(repeats)),
                key=lambda all_of: all_of[0])
            print(f"{shape:15} {operators:9} {captured:8.2f}s {planned:8.2f}s "
                  f"{cpu / operators * 1e3:7.3f} {run:7.3f}s {launches:8}",
                  flush=True)
            if operators <= options.compare and not same(values, f(*[x.clone() for x in inputs])):
                print("  the graph's values are not those of its operators one by one")
                bad += 1
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
