#!/usr/bin/env python3
"""Checks operators on tensors larger than 4 GiB against NumPy, through `primset run`.

    conformance/check_large_tensors.py --device cuda:0
    conformance/check_large_tensors.py --device vulkan:0 --gib 9

Offsets of 32 bits end at 4 GiB, or at 2^31 or 2^32 elements: bytes show the second kind, floats the
first. Every element is compared. Needs NumPy, four times --gib of memory and twice as much room for
files in --folder. Exit code 1: an element differs; 3: an operator failed.
"""

import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--program", default=ROOT / "build/release/bin/primset")
    parser.add_argument("--gib", type=float, default=4.5, help="of each tensor (default: 4.5)")
    parser.add_argument("--folder", help="for the files (default: that of temporary files)")
    return parser.parse_args()


def numbers(dtype, count):
    """No two neighbours alike, nor any two elements a power of two apart."""
    return np.resize(np.arange(251).astype(dtype), count)


def of_bytes(gib):
    """Name, operator, its arguments, what NumPy says; arrays stand for tensors."""
    x = numbers(np.uint8, int(gib * 2**30))
    yield "bytes, pointwise", "bitwise_not", [x], lambda: ~x
    yield "bytes, reversed", "flip", [x, "0"], lambda: x[::-1]
    at = len(x) - 3
    x[at] = 255
    yield "bytes, where the greatest is", "argmax", [x], lambda: np.int64(at)
    some = np.array([at, 0, 2**31 + 5, 2**32 + 5, 2**31 - 1], np.int64) % len(x)
    yield "bytes, chosen", "index_select", [x, "0", some], lambda: x[some]


def of_floats(gib):
    x = numbers(np.float32, int(gib * 2**28) // 1024 * 1024)
    rows = x.reshape(-1, 1024)
    yield "floats, pointwise", "mul.Scalar", [x, "2"], lambda: x * np.float32(2)
    yield "floats, rows added up", "sum.dim_IntList", [rows, "1"], lambda: rows.sum(1)
    yield "floats, transposed", "transpose_copy.int", [rows, "0", "1"], lambda: rows.T
    yield "floats, running sums of rows", "cumsum", [rows, "1"], lambda: rows.cumsum(1)


def run(arguments, folder, operator, values):
    """The result as an array, and the seconds that the program took, files and all."""
    texts = []
    for i, value in enumerate(values):
        if isinstance(value, np.ndarray):
            path = folder / f"{i}.npy"
            np.save(path, value)
            value = str(path)
        texts.append(value)
    out = folder / "out.npy"
    command = [arguments.program, "run", operator, *texts, "--out", out]
    start = time.perf_counter()
    done = subprocess.run([*command, "--device", arguments.device], stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(3)
    return np.load(out, mmap_mode="r"), time.perf_counter() - start


def differing(got, expected):
    """How many elements differ, and where the first does."""
    if got.shape != np.shape(expected) or got.dtype != np.asarray(expected).dtype:
        return f"{got.dtype}{list(got.shape)} in place of {np.asarray(expected).dtype}" + str(
            list(np.shape(expected))
        )
    wrong = np.flatnonzero(got != expected)
    if len(wrong) == 0:
        return ""
    at = np.unravel_index(wrong[0], got.shape)
    return f"{len(wrong)} differ, first {list(map(int, at))}: {got[at]} in place of {expected[at]}"


def main():
    arguments = parse_arguments()
    failed = 0
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        cases = itertools.chain(of_bytes(arguments.gib), of_floats(arguments.gib))
        for name, operator, values, expected in cases:
            got, seconds = run(arguments, pathlib.Path(folder), operator, values)
            problem = differing(got, expected())
            failed += bool(problem)
            largest = max(v.nbytes for v in values if isinstance(v, np.ndarray)) / 2**30
            print(
                f"{problem or 'equal':<8} {name} ({operator}, {largest:.2f} GiB, {seconds:.1f} s)",
                flush=True,
            )
    print(f"{failed} differ on {arguments.device}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
