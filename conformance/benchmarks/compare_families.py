#!/usr/bin/env python3
"""Holds families of operators against PyTorch on the CPU: results, then speed.

    conformance/benchmarks/compare_families.py                       the table of docs/benchmarks.md
    conformance/benchmarks/compare_families.py --family pooling --family bags
    conformance/benchmarks/compare_families.py --only eigh --dtype c64
    conformance/benchmarks/compare_families.py --quick --json FILE   a first look; also as JSON

Needs PyTorch and Primset's Python module (the build folder's `python`). Both sides get the same
numbers. Results are checked before anything is timed, of a call that takes the memory of one whose
results were filled with NaN. The two sides take turns, and the median of the ratios of neighbouring
measurements is given with the least and the greatest one, and behind it the ratio of either side's
best, which other work on the machine changes less. Above 1 Primset is faster. Exit code 1: a result
is wrong.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time

from families import MAIN, OTHERS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a measurement, at least")
    parser.add_argument("--dtype", choices=DTYPES, default="f32", help="of the linear algebra")
    parser.add_argument("--family", action="append", default=[], choices=[*MAIN, *OTHERS])
    parser.add_argument("--only", action="append", default=[], help="cases whose name has this")
    parser.add_argument("--quick", action="store_true", help="3 repeats of one call each")
    parser.add_argument("--json", type=pathlib.Path, help="writes the table there, too")
    return parser.parse_args()


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def exchanged(torch, primset, x):
    """An argument as Primset takes it."""
    if isinstance(x, torch.Tensor):
        dense = primset.from_dlpack(x.to_dense())
        return dense.to_sparse_csr() if x.layout == torch.sparse_csr else dense
    if isinstance(x, list) and any(isinstance(y, torch.Tensor) for y in x):
        return [exchanged(torch, primset, y) for y in x]
    return x


def timed(call, seconds):
    """Seconds a call, of at least one and as many as fill the time."""
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        spent = time.perf_counter() - start
        if spent >= seconds:
            return spent / count


def poison(torch, tensors):
    for x in tensors:
        x.fill_(math.nan if x.dtype.is_floating_point else 77)


def both_sides(torch, primset, case):
    """A call of each side, which returns its results."""
    packet, _, name = case.overload.partition(".")
    call = getattr(torch.ops.aten, packet)
    theirs = getattr(call, name or "default")
    ours = [exchanged(torch, primset, x) for x in case.args]
    our_named = {k: exchanged(torch, primset, v) for k, v in case.named.items()}
    return (
        lambda: listed(primset.invoke(case.overload, *ours, **our_named)),
        lambda: listed(theirs(*case.args, **case.named)),
    )


def compared(torch, primset, family, case, options):
    ours, theirs = both_sides(torch, primset, case)
    want = theirs()
    # What is freed is taken again: a result that is not written shows the poison.
    poison(torch, [torch.from_dlpack(x) for x in ours()])
    right = case.is_right(torch, [torch.from_dlpack(x) for x in ours()], want)
    seconds = 0 if options.quick else options.seconds
    pairs = [
        (timed(ours, seconds), timed(theirs, seconds))
        for _ in range(3 if options.quick else options.repeats)
    ]
    ratios = sorted(b / a for a, b in pairs)
    mine, other = (1e3 * statistics.median(p[i] for p in pairs) for i in (0, 1))
    best = min(p[1] for p in pairs) / min(p[0] for p in pairs)
    print(
        f"| {case.name} | {mine:.3f} | {other:.3f} | **{statistics.median(ratios):.2f}** "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f}) | {best:.2f} |{'' if right else ' WRONG'}",
        flush=True,
    )
    return {
        "family": family,
        "case": case.name,
        "overload": case.overload,
        "primset_ms": mine,
        "pytorch_ms": other,
        "ratio": statistics.median(ratios),
        "best_ratio": best,
        "right": right,
    }


def print_means(rows):
    """Geometric means: of each family and of all cases."""
    mean = lambda these: math.exp(statistics.fmean(math.log(r["ratio"]) for r in these))
    print("\n| family | cases | geometric mean | least |\n|---|---|---|---|")
    for family in dict.fromkeys(r["family"] for r in rows):
        these = [r for r in rows if r["family"] == family]
        least = min(r["ratio"] for r in these)
        print(f"| {family} | {len(these)} | {mean(these):.2f} | {least:.2f} |")
    if rows:
        print(f"| all | {len(rows)} | {mean(rows):.2f} | {min(r['ratio'] for r in rows):.2f} |")


def main():
    options = parse_arguments()
    os.environ["PRIMSET_CPU_THREADS"] = str(options.threads)
    sys.path.insert(0, str(options.build / "python"))
    import primset
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    print(f"PyTorch {torch.__version__}, {options.threads} threads\n")
    print("| operator | Primset ms | PyTorch ms | PyTorch / Primset | of the best |")
    print("|---|---|---|---|---|")
    dtype = getattr(torch, DTYPES[options.dtype])
    rows = [
        compared(torch, primset, family, case, options)
        for family in options.family or MAIN
        for case in {**MAIN, **OTHERS}[family](torch, dtype)
        if not options.only or any(text in case.name for text in options.only)
    ]
    print_means(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(r["right"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
