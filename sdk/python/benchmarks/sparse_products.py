"""Products of sparse matrices through Primset's module and through PyTorch's CPU, in turns.

    PRIMSET_CPU_THREADS=2 python sdk/python/benchmarks/sparse_products.py [--size 4096] [--rounds 7]

A ratio is PyTorch's time over Primset's: above 1 Primset is faster.
"""

import argparse
import math
import statistics
import time
import warnings

import primset
import torch


def sparse(layout, dense):
    """The same tensor of a sparse layout in both."""
    ours = primset.from_dlpack(dense)
    return getattr(ours, f"to_sparse{layout}")(), getattr(dense, f"to_sparse{layout}")()


def strided(*shape):
    x = torch.rand(shape)
    return primset.from_dlpack(x), x


def milliseconds(f, *args):
    start = time.perf_counter()
    f(*args)
    return (time.perf_counter() - start) * 1e3


def dense_of(x):
    x = x if isinstance(x, torch.Tensor) else torch.from_dlpack(x.to_dense())
    return x.to_dense() if x.layout != torch.strided else x


def compare(label, ours, theirs, pairs, rounds):
    mine, other = zip(*pairs)
    a, b = dense_of(ours(*mine)), dense_of(theirs(*other))
    assert torch.allclose(a, b, rtol=1e-3, atol=1e-3), label
    runs = [(milliseconds(ours, *mine), milliseconds(theirs, *other)) for _ in range(rounds)]
    a, b = (statistics.median(r[i] for r in runs) for i in (0, 1))
    print(f"{label:36} {a:10.3f} ms {b:10.3f} ms {b / a:8.2f}", flush=True)
    return b / a


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    n, ratios = args.size, []
    print(f"{'':36} {'Primset':>13} {'PyTorch':>13} {'ratio':>8}")
    for density in (0.01, 0.1):
        m = torch.rand(n, n)
        m *= torch.rand(n, n) < density
        of = {"csr": sparse("_csr", m), "coo": sparse("", m)}
        for layout, a in of.items():
            for width in (1, 64, 512):
                label = f"{1 - density:.0%} zeros, {layout} x {n} x {width}"
                ratios.append(compare(label, primset.ops.mm, torch.mm, [a, strided(n, width)],
                                      args.rounds))
                label = f"{1 - density:.0%} zeros, {width} x {n} x {layout}"
                ratios.append(compare(label, primset.ops.mm, torch.mm, [strided(width, n), a],
                                      args.rounds))
            label = f"{1 - density:.0%} zeros, {layout} x {layout}"
            ratios.append(compare(label, primset.ops.mm, torch.mm, [a, a], 3))
        label = f"{1 - density:.0%} zeros, sampled from {n} x 64 x {n}"
        ratios.append(compare(label, primset.ops.sparse_sampled_addmm, torch.sparse.sampled_addmm,
                              [of["csr"], strided(n, 64), strided(64, n)], args.rounds))
        for reduce in ("mean", "amax"):
            label = f"{1 - density:.0%} zeros, csr x {n} x 64, {reduce}"
            ratios.append(compare(
                label, lambda a, b: primset.invoke("_sparse_mm.reduce", a, b, reduce),
                lambda a, b: torch.sparse.mm(a, b, reduce), [of["csr"], strided(n, 64)],
                args.rounds))
    print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}, "
          f"least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
