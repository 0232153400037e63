"""Makes calls in which one allocation fails; its parent watches (allocations.py).

    allocations_child.py TRACE SECONDS SEED CALL N

Starts with the N-th allocation of the call named CALL, or of the first where that is "". A call
returns what it always returns or raises an out-of-memory error; the same call without a failure is
right afterwards. TRACE is a file that says what is being tried, for when this process does not live
to say. Prints WRONG lines, and at the end what was done.
"""

import ctypes
import random
import sys
import time

import primset
from primset import Graph, ops

try:
    import numpy
except ImportError:
    numpy = None

failing = ctypes.CDLL(None)
failing.primset_fail_allocation.argtypes = [ctypes.c_long]
failing.primset_end_failures.restype = ctypes.c_long


def bits(value):
    if isinstance(value, (tuple, list)):
        return [bits(v) for v in value]
    return value.contiguous().tolist() if isinstance(value, primset.Tensor) else value


def tables_by_name(x):
    """Calls that differ in the operator alone."""
    unary = [
        "exp",
        "log",
        "sin",
        "tanh",
        "sqrt",
        "abs",
        "erf",
        "gelu",
        "sigmoid",
        "round",
        "isnan",
        "relu",
        "sum",
        "mean",
        "prod",
        "amax",
        "std",
        "any",
        "norm",
        "clone",
    ]
    binary = ["add", "sub", "mul", "div", "maximum", "pow", "atan2", "fmod", "eq", "lt"]
    with_dim = ["argmax", "cumsum", "cumprod", "softmax", "log_softmax", "logsumexp"]
    calls = {name: lambda f=name: getattr(ops, f)(x) for name in unary}
    calls.update({name: lambda f=name: getattr(ops, f)(x, x + 1) for name in binary})
    calls.update({name: lambda f=name: getattr(ops, f)(x, 1) for name in with_dim})
    return calls


def calls_of_families(x):
    """Products, sorts, views, indices, and what makes tensors."""
    i, first = ops.arange(0, 6, 2), ops.zeros([1, 10], dtype=primset.int64)
    image = ops.reshape(ops.arange(0, 128, dtype=primset.float32), [1, 2, 8, 8])
    kernel, mask, square = ops.ones([3, 2, 3, 3]), x > 3, x[:, :6]
    return {
        "sum dim": lambda: ops.sum(x, [1], keepdim=True),
        "layer_norm": lambda: ops.layer_norm(x, [10]),
        "sort": lambda: ops.sort(x, 1),
        "topk": lambda: ops.topk(x, 3),
        "mm": lambda: ops.mm(x, ops.t(x)),
        "addmm": lambda: ops.addmm(square, square, square),
        "bmm": lambda: ops.bmm(image[0], image[0]),
        "conv2d": lambda: ops.conv2d(image, kernel),
        "lerp": lambda: ops.lerp(x, -x, 0.5),
        "where": lambda: ops.where(mask, x, -x),
        "cat": lambda: ops.cat([x, x]),
        "stack": lambda: ops.stack([x, x]),
        "split": lambda: ops.split(x, 2),
        "index_select": lambda: ops.index_select(x, 0, i),
        "gather": lambda: ops.gather(x, 0, first),
        "index_add": lambda: ops.index_add(x, 0, i, x[:3]),
        "scatter": lambda: ops.scatter(x, 0, first, x),
        "nonzero": lambda: ops.nonzero(mask),
        "masked_select": lambda: ops.masked_select(x, mask),
        "triu": lambda: ops.triu(square),
        "tril": lambda: ops.tril(square),
        "flip": lambda: ops.flip(x, [0]),
        "permute": lambda: ops.permute(x, [1, 0]),
        "view": lambda: x[1:4, 2:],
        "arange": lambda: ops.arange(0, 9),
        "full": lambda: ops.full([3], 2.5),
        "rand": lambda: (primset.manual_seed(3), ops.rand([5]))[1],
        "to bf16": lambda: x.to(primset.bfloat16),
        "in place": lambda: (lambda y: ops.add_(y, 1))(ops.ones([3])),
    }


def warm_calls():
    """Of every family, graphs and exchanges, with plans that are there already."""
    x = ops.reshape(ops.arange(1, 61, dtype=primset.float32) / 8, [6, 10])
    graph = Graph.capture(lambda a: ops.softmax(ops.mm(a, ops.t(a)) * 0.5, 1), x)
    calls = {
        **tables_by_name(x),
        **calls_of_families(x),
        "item": lambda: ops.sum(x).item(),
        "tensor": lambda: primset.tensor([[1.0, 2.0], [3.0, 4.0]]),
        "launch": lambda: graph(x),
        "launch other sizes": lambda: graph(x[:3]),
        "error": lambda: refused(lambda: ops.mm(x, x)),
        "devices": devices,
        "describe": lambda: primset.describe("add.Tensor")["schema"],
        "dlpack": lambda: primset.from_dlpack(x),
    }
    if numpy:
        calls["to numpy"] = lambda: numpy.asarray(x).tolist()
        calls["from numpy"] = lambda: primset.tensor(numpy.ones([3, 2], numpy.float32))
    return calls


def devices():
    """A device that could not be asked is listed with its error."""
    text = str(primset.devices())
    if "memory" in text:
        raise MemoryError(text)
    return text


def refused(call):
    try:
        call()
    except primset.Error as e:
        if "memory" in str(e):
            raise
        return str(e)
    return "accepted"


def cold_calls():
    """Each with a plan and kernels of its own: the constant is compiled in. (name, call, expected)."""
    x = ops.arange(0, 12, dtype=primset.float32)
    g = ops.reshape(x, [3, 4])
    v = [float(n) for n in range(12)]
    rows = [v[0:4], v[4:8], v[8:12]]
    columns = [sum(r[k] for r in rows) for k in range(4)]
    return {
        "capture add": (
            lambda c: Graph.capture(lambda a: ops.add(ops.mul(a, 2), c), x)(x)[0],
            lambda c: [a * 2 + c for a in v],
        ),
        "capture sum": (
            lambda c: Graph.capture(lambda a: ops.sum(ops.add(a, c), [0]), g)(g)[0],
            lambda c: [s + 3 * c for s in columns],
        ),
        "capture mm": (
            lambda c: Graph.capture(lambda a: ops.mm(ops.add(a, c), ops.t(a)), g)(g)[0],
            lambda c: [
                [sum((a + c) * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows
            ],
        ),
        "capture cumsum": (
            lambda c: Graph.capture(lambda a: ops.cumsum(ops.add(a, c), 0), x)(x)[0],
            lambda c: [sum(v[: n + 1]) + (n + 1) * c for n in range(12)],
        ),
        "capture sort": (
            lambda c: Graph.capture(lambda a: ops.sort(ops.add(ops.neg(a), c), 0)[0], x)(x)[0],
            lambda c: sorted(c - a for a in v),
        ),
        "capture gather": (
            lambda c: Graph.capture(
                lambda a: ops.index_select(ops.add(a, c), 0, ops.arange(0, 12, 5)), x
            )(x)[0],
            lambda c: [v[0] + c, v[5] + c, v[10] + c],
        ),
    }


class Tries:
    def __init__(self, trace, seconds, seed):
        self.trace, self.end = trace, time.monotonic() + seconds
        self.random = random.Random(seed)
        self.delivered = self.errors = self.calls = 0
        self.constant = 1000.0 + 64 * self.random.randrange(100)

    def over(self):
        return time.monotonic() >= self.end

    def one(self, name, n, call, expected):
        """Whether the N-th allocation was reached, and the count of all."""
        self.trace.seek(0)
        self.trace.write(f"{n} {name}\n")
        self.trace.truncate()
        self.trace.flush()
        result = error = None
        failing.primset_fail_allocation(n)
        try:
            result = call()
        except BaseException as e:  # noqa: BLE001
            error = e
        count, delivered = failing.primset_end_failures(), failing.primset_failures_delivered()
        self.delivered += delivered
        if error is not None and not (delivered and says_memory(error)):
            wrong(name, n, f"raised {type(error).__name__}: {str(error)[:300]}")
        if error is None and n and result != expected:
            wrong(name, n, f"came to {str(result)[:100]}, not {str(expected)[:100]}")
        self.errors += error is not None
        return count

    def warm(self, name, call, first):
        def read():
            return bits(call())

        expected = [read(), read()][-1]
        n = first
        while not self.over():
            if self.one(name, n, read, expected) < n:
                break
            if read() != expected:
                wrong(name, n, "is wrong in the call after it")
            n += 1
        self.calls += 1

    def cold(self, name, call, expected):
        self.constant += 1
        count = self.one(name, 0, lambda: bits(call(self.constant)), None)
        for n in self.random.sample(range(1, count + 1), count):
            self.constant += 1
            c = self.constant
            self.one(name, n, lambda: bits(call(c)), expected(c))
            if bits(call(c)) != expected(c):
                wrong(name, n, "is wrong in the call after it")
            if self.over() or self.share_over():
                break
        self.calls += 1

    def share_over(self):
        return time.monotonic() >= self.share


def says_memory(error):
    return isinstance(error, MemoryError) or "memory" in str(error) or "alloc" in str(error)


def wrong(name, n, what):
    print(f"WRONG allocation {n} of '{name}': {what}", flush=True)


def main():
    path, seconds, seed, first, n = (
        sys.argv[1],
        float(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
        int(sys.argv[5]),
    )
    with open(path, "w+") as trace:
        tries = Tries(trace, seconds, seed)
        warm, cold = warm_calls(), cold_calls()
        names = list(warm)
        if first in cold:
            names = []
        elif first:
            names = names[names.index(first) :]
        for name in names:
            tries.warm(name, warm[name], n if name == first else 1)
        left = list(cold.items())[list(cold).index(first) if first in cold else 0 :]
        for k, (name, (call, expected)) in enumerate(left):
            tries.share = time.monotonic() + (tries.end - time.monotonic()) / (len(left) - k)
            if failing.primset_llvm_is_known() and not tries.over():
                tries.cold(name, call, expected)
    print("DONE", tries.delivered, tries.errors, tries.calls, flush=True)


if __name__ == "__main__":
    main()
