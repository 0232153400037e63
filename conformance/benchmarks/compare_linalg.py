#!/usr/bin/env python3
"""Holds factorizations and Fourier transforms against PyTorch on the CPU: results, then speed.

    conformance/benchmarks/compare_linalg.py                        all cases
    conformance/benchmarks/compare_linalg.py --only eigh --only fft
    conformance/benchmarks/compare_linalg.py --dtype c64 --quick    another dtype; a first look

Needs PyTorch and Primset's Python module (the build folder's `python`). Both sides get the same
numbers; the two take turns, and the median of the ratios of neighbouring measurements is given
with the least and the greatest one. Above 1 Primset is faster. Exit code 1: a result is wrong.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
ORDERS = ((64, 64), (256, 256), (1024, 1024), (1000, 16, 16))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a measurement, at least")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--only", action="append", default=[], help="cases whose name has this")
    parser.add_argument("--quick", action="store_true", help="3 repeats of one call each")
    return parser.parse_args()


def matrix_cases(torch, dtype):
    """Name, overload, arguments, and a check of (arguments, results)."""

    def near(a, b, scale=1.0):
        eps = torch.finfo(dtype).eps
        size = float(torch.linalg.matrix_norm(b).max())
        return float(torch.linalg.matrix_norm(a - b).max()) <= 100 * scale * b.shape[-1] * eps * size

    def eig(args, r):
        v = r[1]
        return near(args[0].to(v.dtype) @ v, v * r[0].unsqueeze(-2), 10)

    checks = {
        "linalg_lu_factor": lambda a, r: near(
            (lambda p, lower, upper: p @ lower @ upper)(*torch.lu_unpack(*r)), a[0]
        ),
        "linalg_cholesky": lambda a, r: near(r[0] @ r[0].mH, a[0]),
        "linalg_solve": lambda a, r: near(a[0] @ r[0], a[1], float(torch.linalg.cond(a[0]).max())),
        "linalg_qr": lambda a, r: near(r[0] @ r[1], a[0]),
        "linalg_svd": lambda a, r: near(r[0] * r[1].unsqueeze(-2).to(dtype) @ r[2], a[0]),
        "linalg_svdvals": lambda a, r: near(
            r[0].unsqueeze(-1), torch.linalg.svdvals(a[0]).unsqueeze(-1)
        ),
        "linalg_eigh": lambda a, r: near(a[0] @ r[1], r[1] * r[0].unsqueeze(-2)),
        "linalg_eig": eig,
        "linalg_ldl_factor": lambda a, r: near(
            a[0] @ torch.linalg.ldl_solve(*r, a[0]), a[0], float(torch.linalg.cond(a[0]).max())
        ),
        "linalg_lstsq": lambda a, r: near(
            a[0].mH @ (a[0] @ r[0]), a[0].mH @ a[1], float(torch.linalg.cond(a[0]).max())
        ),
    }
    symmetric = ("linalg_eigh", "linalg_ldl_factor")
    for overload, check in checks.items():
        for shape in ORDERS:
            a = torch.randn(shape, dtype=dtype)
            if overload in symmetric:
                a = a + a.mH
            if overload == "linalg_cholesky":
                a = a @ a.mH + shape[-1] * torch.eye(shape[-1], dtype=dtype)
            args = [a]
            if overload in ("linalg_solve", "linalg_lstsq"):
                args.append(torch.randn(*shape[:-1], 8, dtype=dtype))
            named = {"full_matrices": False} if overload == "linalg_svd" else {}
            yield overload.removeprefix("linalg_"), overload, args, named, check


def transform_cases(torch, dtype):
    sizes = ((1 << 10,), (1 << 16,), (1 << 22,), (1009,), (10007,), (512, 512), (1024, 1024))

    def same(args, r):
        want = torch.fft.fftn(args[0].to(torch.complex128))
        off = float((r[0] - want).abs().max())
        return off <= 100 * torch.finfo(dtype).eps * float(want.abs().max())

    complex_type = torch.complex64 if dtype in (torch.float32, torch.complex64) else torch.complex128
    for shape in sizes:
        yield "fft", "fft_fftn", [torch.randn(shape, dtype=complex_type)], {}, same


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


def timed(call, seconds):
    """Seconds a call, of at least one and as many as fill the time."""
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        spent = time.perf_counter() - start
        if spent >= seconds:
            return spent / count


def compared(torch, primset, case, options):
    name, overload, args, named, check = case
    ours = [primset.from_dlpack(x) for x in args]
    call = getattr(torch.ops.aten, overload)

    def theirs_once():
        return call(*args, **named)

    def ours_once():
        return primset.invoke(overload, *ours, **named)

    theirs_once()
    results = [torch.from_dlpack(x) for x in listed(ours_once())]
    right = check(args, results)
    seconds = 0 if options.quick else options.seconds
    pairs = [
        (timed(ours_once, seconds), timed(theirs_once, seconds))
        for _ in range(3 if options.quick else options.repeats)
    ]
    ratios = sorted(b / a for a, b in pairs)
    mine, other = (1e3 * statistics.median(p[i] for p in pairs) for i in (0, 1))
    size = "x".join(map(str, args[0].shape))
    print(
        f"| {name} | {size} | {mine:.3f} | {other:.3f} | **{statistics.median(ratios):.2f}** "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f}) |{'' if right else ' WRONG'}",
        flush=True,
    )
    return right


def main():
    options = parse_arguments()
    os.environ["PRIMSET_CPU_THREADS"] = str(options.threads)
    sys.path.insert(0, str(options.build / "python"))
    import primset
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    dtype = getattr(torch, DTYPES[options.dtype])
    print(f"PyTorch {torch.__version__}, {options.threads} threads, {options.dtype}\n")
    print("| operator | sizes | Primset ms | PyTorch ms | PyTorch / Primset |\n|---|---|---|---|---|")
    right = True
    for make in (matrix_cases, transform_cases):
        for case in make(torch, dtype):
            if not options.only or any(text in case[0] for text in options.only):
                right &= compared(torch, primset, case, options)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
