"""Measures two ways to compute the same on a device: what the cost model and the defaults of the
kernel families' parameters (codegen/schedule/tuning) go by.

    conformance/benchmarks/measure_tuning.py --program build/release/bin/primset --device cuda:0 \\
        --out orderings.tsv [--only sort,scan]

Each way is a value of PRIMSET_TUNING, in a process of its own; a row of the table is a case with
the seconds a call of both. Vendors run it on their device, look where the defaults choose the
slower way, and set PRIMSET_TUNING or report the table.
"""

import argparse
import csv
import json
import os
import subprocess
import sys

NEVER = 2**31
# What is compared: the parameter, its values for the first and the second way, and the cases.
COMPARED = {
    "sort": (
        "sort.group_row=0,sort.radix_row",
        {"merge": NEVER, "radix": 0},
        [(dtype, rows, length)
         for dtype in ("f16", "f32", "i64")
         for length in (64, 256, 1024, 2048, 4096, 8192, 16384, 65536, 2**20)
         for rows in (1, max(1, 2**22 // length))],
    ),
    "group_sort": (
        "sort.group_row",
        {"radix": 0, "group": NEVER},
        [(dtype, rows, length)
         for dtype in ("f16", "f32", "i64")
         for length in (8, 64, 256, 1024, 2048, 4096, 8192)
         for rows in (1, max(1, 2**22 // length))],
    ),
    "contraction": (
        "contraction.least_side",
        {"sum": NEVER, "tiles": 1},
        [(dtype, batch, side, side, k)
         for dtype in ("f32", "bf16")
         for side in (4, 8, 16, 24, 32, 64, 128)
         for batch in (1, 256)
         for k in (64, 1024)]
        + [("f32", 1, 1, 4096, 4096), ("f32", 1, 8, 4096, 4096), ("bf16", 1, 16, 4096, 4096)],
    ),
    "reduction": (
        "reduction.thread_row",
        {"group": 1, "thread": NEVER},
        [("f32", rows, length)
         for length in (4, 8, 16, 32, 64, 128, 256, 1024)
         for rows in (64, 2**24 // length)],
    ),
    "reduction_group": (
        "reduction.short_row",
        {"large": 1, "small": NEVER},
        [("f32", rows, length)
         for length in (64, 128, 256, 512, 1024, 2048, 4096)
         for rows in (64, 2**24 // length)],
    ),
    "scan": (
        "scan.thread_row",
        {"group": 1, "thread": NEVER},
        [("f32", rows, length)
         for length in (8, 16, 32, 64, 128, 256, 1024)
         for rows in (64, 2**22 // length)],
    ),
}


def operator_of(what, case):
    """The operator of a case, as `primset bench` takes it."""
    if what == "contraction":
        dtype, batch, m, n, k = case
        return ["bmm", "--dtypes", f"{dtype},{dtype}", "--shapes", f"{batch}x{m}x{k},{batch}x{k}x{n}"]
    dtype, rows, length = case
    sort = ("sort", "dim=1")
    name, argument = {"sort": sort, "group_sort": sort, "scan": ("cumsum", "dim=1")}.get(
        what, ("sum.dim_IntList", "dim=1"))
    return [name, "--dtypes", dtype, "--shapes", f"{rows}x{length}", "--arg", argument]


def seconds(program, device, what, tuning, case):
    """Of a call; None where the device cannot compute it."""
    command = [program, "bench", *operator_of(what, case), "--device", device, "--json",
               "--seconds", "0.05", "--repeats", "7"]
    run = subprocess.run(command, env={**os.environ, "PRIMSET_TUNING": tuning}, text=True,
                         capture_output=True, timeout=300)
    if run.returncode != 0:
        print(run.stderr.strip(), file=sys.stderr)
        return None
    return json.loads(run.stdout)["median_ns"] * 1e-9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", default="-", help="file of the table (default: standard output)")
    parser.add_argument("--only", help="of " + ",".join(COMPARED) + "; several with commas")
    parser.add_argument("--program", default="primset", help="the program primset")
    parser.add_argument("--device", default="cpu", help="cuda:0, ...")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(COMPARED)
    unknown = set(chosen) - set(COMPARED)
    if unknown:
        parser.error(f"--only: {', '.join(unknown)}: expected of {', '.join(COMPARED)}")
    out = sys.stdout if options.out == "-" else open(options.out, "w")
    table = csv.writer(out, delimiter="\t", lineterminator="\n")
    table.writerow(["what", "case", "first", "first_us", "second", "second_us"])
    for what in chosen:
        parameter, ways, cases = COMPARED[what]
        first, second = ways
        print(f"{what}: {len(cases)} cases, {first} and {second}", file=sys.stderr)
        for case in cases:
            x, y = (seconds(options.program, options.device, what, f"{parameter}={value}", case)
                    for value in ways.values())
            if x is None or y is None:
                continue
            table.writerow([what, " ".join(map(str, case)), first, f"{x * 1e6:.2f}", second,
                            f"{y * 1e6:.2f}"])
            out.flush()


if __name__ == "__main__":
    main()
