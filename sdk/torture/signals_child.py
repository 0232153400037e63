"""The same calls again and again, whose results must have the same bits each time.

    signals_child.py SECONDS

Run under storm.c, so that a signal arrives in the middle of anything.
"""

import sys
import time

import primset
from primset import ops


def calls():
    """Long enough that signals hit them, of every kind of code that computes: library and generated."""
    primset.manual_seed(7)
    a, b = ops.randn([700, 700]), ops.randn([700, 700])
    h = a.to(primset.bfloat16)
    batch = ops.randn([24, 60, 70])
    image, kernel = ops.randn([2, 8, 40, 40]), ops.randn([16, 8, 3, 3])
    many = ops.randn([100, 1000])
    return {
        "mm f32": lambda: ops.mm(a, b),
        "mm odd": lambda: ops.mm(a[:333, :259], b[:259, :411]),
        "mm transposed": lambda: ops.mm(ops.t(a), b),
        "addmm": lambda: ops.addmm(a, a, b),
        "mm bf16": lambda: ops.mm(h, h),
        "bmm": lambda: ops.bmm(batch, ops.transpose(batch, 1, 2)),
        "linear": lambda: ops.linear(a, b),
        "convolution": lambda: ops.conv2d(image, kernel),
        "softmax": lambda: ops.softmax(many, 1),
        "sum": lambda: ops.sum(many),
        "cumsum": lambda: ops.cumsum(many, 1),
        "sort": lambda: ops.sort(many, 1)[0],
        "exp": lambda: ops.exp(many),
        "index": lambda: ops.index_select(many, 0, ops.arange(0, 100, 3)),
        "mm f64": lambda: ops.mm(a[:200, :200].to(primset.float64), b[:200, :200].to(primset.float64)),
    }


def bits(tensor):
    return tensor.contiguous().reshape([-1]).tolist()


def main():
    end = time.monotonic() + float(sys.argv[1])
    table = calls()
    first, tries = {}, 0
    while tries < 2 * len(table) or time.monotonic() < end:
        for name, call in table.items():
            values = repr(bits(call()))
            tries += 1
            if first.setdefault(name, values) != values:
                print(f"WRONG {name}: not the bits of the first time", flush=True)
    print("DONE", tries, flush=True)


if __name__ == "__main__":
    main()
