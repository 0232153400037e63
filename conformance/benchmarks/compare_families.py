#!/usr/bin/env python3
"""Holds families of operators against PyTorch on the CPU: results, then speed.

    conformance/benchmarks/compare_families.py                       all cases
    conformance/benchmarks/compare_families.py --only pool --only bag
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a measurement, at least")
    parser.add_argument("--only", action="append", default=[], help="cases whose name has this")
    parser.add_argument("--quick", action="store_true", help="3 repeats of one call each")
    parser.add_argument("--json", type=pathlib.Path, help="writes the table there, too")
    return parser.parse_args()


# A case is its name, the overload and its arguments; behind these how many of the results are
# compared (None: all), and named arguments.


def pooling_cases(torch):
    x = torch.randn(8, 32, 64, 64)
    window = ([3, 3], [2, 2], [1, 1])
    pooled, places = torch.ops.aten.max_pool2d_with_indices(x, *window)
    grad = torch.randn_like(pooled)
    yield "max_pool2d", "max_pool2d_with_indices", [x, *window]
    yield (
        "max_pool2d_backward",
        "max_pool2d_with_indices_backward",
        [grad, x, *window, [1, 1], False, places],
    )
    yield "avg_pool2d", "avg_pool2d", [x, *window]
    yield "avg_pool2d_backward", "avg_pool2d_backward", [grad, x, *window, False, True, None]
    yield "adaptive_avg_pool2d even", "_adaptive_avg_pool2d", [x, [8, 8]]
    yield "adaptive_avg_pool2d uneven", "_adaptive_avg_pool2d", [x, [7, 7]]
    small = torch.randn(8, 32, 7, 7)
    yield "adaptive_avg_pool2d_backward", "_adaptive_avg_pool2d_backward", [small, x]
    yield "adaptive_max_pool2d uneven", "adaptive_max_pool2d", [x, [7, 7]]


def image_cases(torch):
    x = torch.randn(4, 8, 128, 128)
    picture = torch.randint(0, 256, (4, 3, 256, 256), dtype=torch.uint8)
    grid = torch.rand(4, 128, 128, 2) * 2.2 - 1.1
    yield "upsample_bilinear2d", "upsample_bilinear2d", [x, [256, 256], False]
    yield "upsample_bicubic2d", "upsample_bicubic2d", [x, [192, 192], False]
    yield "upsample_nearest2d", "upsample_nearest2d", [x, [256, 256]]
    yield (
        "upsample_bilinear2d_backward",
        "upsample_bilinear2d_backward",
        [torch.randn(4, 8, 256, 256), [256, 256], [4, 8, 128, 128], False],
    )
    yield "antialiased f32", "_upsample_bilinear2d_aa", [x, [60, 60], False]
    yield "antialiased u8", "_upsample_bilinear2d_aa", [picture, [100, 100], False]
    yield "grid_sampler_2d", "grid_sampler_2d", [x, grid, 0, 0, False]
    yield (
        "grid_sampler_2d_backward",
        "grid_sampler_2d_backward",
        [torch.randn(4, 8, 128, 128), x, grid, 0, 0, False, [True, True]],
    )


def normalization_cases(torch):
    x, grad = torch.randn(16, 64, 32, 32), torch.randn(16, 64, 32, 32)
    weight, bias = torch.rand(64) + 0.5, torch.randn(64)
    _, mean, rstd = torch.ops.aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, 1e-5)
    yield (
        "batch_norm",
        "native_batch_norm",
        [x, weight, bias, None, None, True, 0.1, 1e-5],
    )
    yield (
        "batch_norm_backward",
        "native_batch_norm_backward",
        [grad, x, weight, None, None, mean, rstd, True, 1e-5, [True, True, True]],
    )
    group = [16, 64, 1024, 8]
    _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, bias, *group, 1e-5)
    yield "group_norm", "native_group_norm", [x, weight, bias, *group, 1e-5]
    yield (
        "group_norm_backward",
        "native_group_norm_backward",
        [grad, x, mean, rstd, weight, *group, [True, True, True]],
    )
    for columns in (64, 1024):
        shape = (1 << 20) // columns, columns
        x, grad = torch.randn(shape), torch.randn(shape)
        weight, bias = torch.rand(columns) + 0.5, torch.randn(columns)
        _, mean, rstd = torch.ops.aten.native_layer_norm(x, [columns], weight, bias, 1e-5)
        yield f"layer_norm {columns}", "native_layer_norm", [x, [columns], weight, bias, 1e-5]
        yield (
            f"layer_norm_backward {columns}",
            "native_layer_norm_backward",
            [grad, x, [columns], mean, rstd, weight, bias, [True, True, True]],
        )
    v = torch.randn(512, 512)
    yield "weight_norm", "_weight_norm_interface", [v, torch.rand(512, 1), 0]
    yield "var long rows", "var.correction", [torch.randn(8, 1 << 18), [1]]
    yield "var all", "var.correction", [torch.randn(1 << 20)]


def lookup_cases(torch):
    weight = torch.randn(10000, 64)
    indices = torch.randint(0, 10000, (20000,))
    offsets = torch.arange(0, 20000, 20)
    for mode, name in enumerate(("sum", "mean", "max")):
        yield f"embedding_bag {name}", "_embedding_bag", [weight, indices, offsets, False, mode], 1
    grad = torch.randn(20000, 64)
    yield "embedding_backward", "embedding_dense_backward", [grad, indices, 10000, -1, False]
    data, lengths = torch.randn(20000, 64), torch.full((1000,), 20)
    for name in ("sum", "max"):
        named = {"lengths": lengths, "axis": 0, "unsafe": True}
        yield f"segment_reduce {name}", "segment_reduce", [data, name], None, named


def search_cases(torch):
    x = torch.randn(1 << 20)
    whole = torch.randint(0, 1000, (1 << 20,))
    yield "histc", "histc", [x, 100, -3, 3]
    yield "histogram", "histogram.bin_ct", [x.double().float(), 100], None, {"range": [-3.0, 3.0]}
    yield "unique", "_unique2", [whole, True, True, True]
    yield "unique_consecutive", "unique_consecutive", [whole.sort()[0] // 4, True, True]
    yield "median", "median", [x]
    yield "median rows", "median.dim", [x.reshape(1024, 1024), 1], 1
    yield "mode rows", "mode", [whole.reshape(1024, 1024), 1], 1
    yield "cdist", "_cdist_forward", [torch.randn(1000, 64), torch.randn(1000, 64), 2.0, None]
    yield "cdist p=1", "_cdist_forward", [torch.randn(500, 64), torch.randn(500, 64), 1.0, None]


def recurrent_cases(torch):
    sizes = [(2048, 512), (2048, 512), (2048,), (2048,)]
    parameters = [0.05 * torch.randn(size) for size in sizes]
    state = [torch.zeros(1, 32, 512)] * 2
    x = torch.randn(128, 32, 512)
    args = [x, state, parameters, True, 1, 0.0, False, False, False]
    yield "lstm", "lstm.input", args


FAMILIES = (
    pooling_cases,
    image_cases,
    normalization_cases,
    lookup_cases,
    search_cases,
    recurrent_cases,
)


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def exchanged(torch, primset, x):
    """An argument as Primset takes it."""
    if isinstance(x, torch.Tensor):
        return primset.from_dlpack(x)
    if isinstance(x, list) and any(isinstance(y, torch.Tensor) for y in x):
        return [exchanged(torch, primset, y) for y in x]
    return x


def near(torch, got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if not want.dtype.is_floating_point:
        # Rounding of u8 pixels may differ by one.
        apart = (got.long() - want.long()).abs()
        return apart.numel() == 0 or int(apart.max()) <= (want.dtype == torch.uint8)
    size = float(want.abs().max()) if want.numel() else 0.0
    return torch.allclose(got, want, rtol=1e-4, atol=2e-4 * size)


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


def both_sides(torch, primset, overload, args, named):
    """A call of each side, which returns its results."""
    packet, _, name = overload.partition(".")
    call = getattr(torch.ops.aten, packet)
    theirs = getattr(call, name or "default")
    ours = [exchanged(torch, primset, x) for x in args]
    our_named = {k: exchanged(torch, primset, v) for k, v in named.items()}
    return (
        lambda: listed(primset.invoke(overload, *ours, **our_named)),
        lambda: listed(theirs(*args, **named)),
    )


def compared(torch, primset, case, options):
    name, overload, args, count, named = (*case, *(None, {})[len(case) - 3 :])
    ours, theirs = both_sides(torch, primset, overload, args, named)
    want = theirs()
    # What is freed is taken again: a result that is not written shows the poison.
    poison(torch, [torch.from_dlpack(x) for x in ours()])
    got = [torch.from_dlpack(x) for x in ours()]
    right = all(near(torch, a, b) for a, b in list(zip(got, want))[:count])
    seconds = 0 if options.quick else options.seconds
    pairs = [
        (timed(ours, seconds), timed(theirs, seconds))
        for _ in range(3 if options.quick else options.repeats)
    ]
    ratios = sorted(b / a for a, b in pairs)
    mine, other = (1e3 * statistics.median(p[i] for p in pairs) for i in (0, 1))
    best = min(p[1] for p in pairs) / min(p[0] for p in pairs)
    print(
        f"| {name} | {mine:.3f} | {other:.3f} | **{statistics.median(ratios):.2f}** "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f}) | {best:.2f} |{'' if right else ' WRONG'}",
        flush=True,
    )
    return {
        "case": name,
        "overload": overload,
        "primset_ms": mine,
        "pytorch_ms": other,
        "ratio": statistics.median(ratios),
        "best_ratio": best,
        "right": right,
    }


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
    rows = [
        compared(torch, primset, case, options)
        for make in FAMILIES
        for case in make(torch)
        if not options.only or any(text in case[0] for text in options.only)
    ]
    if rows:
        mean = math.exp(statistics.fmean(math.log(r["ratio"]) for r in rows))
        print(f"\nGeometric mean {mean:.2f}, least {min(r['ratio'] for r in rows):.2f}.")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(r["right"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
