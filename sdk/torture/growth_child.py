"""Calls and graphs of ever new structure; prints the resident memory at some points.

    growth_child.py KIND COUNT
"""

import sys

import primset
from primset import Graph, ops


def resident_megabytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 1e6


def permute(i, x):
    order, rest = [], list(range(8))
    for k in range(8, 0, -1):
        order.append(rest.pop(i % k))
        i //= k
    return ops.permute(x, order).contiguous()


def graph(i, x):
    return Graph.capture(lambda a: ops.add(a, i + 0.5), x)(x)


def dims(i, x):
    return ops.sum(x, [d for d in range(8) if (i >> d) & 1] or [0], keepdim=bool(i & 256))


KINDS = {"permute": permute, "graph": graph, "dims": dims}


def main():
    call, count = KINDS[sys.argv[1]], int(sys.argv[2])
    x = ops.ones([2, 3, 2, 3, 2, 3, 2, 3] if sys.argv[1] != "graph" else [16])
    for i in range(count):
        call(i, x)
        if i + 1 in (count // 4, count // 2, count):
            print("memory", round(resident_megabytes()), flush=True)
    s = primset.statistics()
    print("plans", s.get("plans_cached", s.get("plans", 0)), flush=True)


if __name__ == "__main__":
    main()
