#!/usr/bin/env python3
"""Holds memory-bound operators against PyTorch on the CPU: results first, then speed.

    conformance/benchmarks/compare_with_pytorch.py                 the table of docs/benchmarks.md
    conformance/benchmarks/compare_with_pytorch.py --only gelu     one operator
    conformance/benchmarks/compare_with_pytorch.py --device cpu --device opencl:0   both in turns
    conformance/benchmarks/compare_with_pytorch.py --json

Needs PyTorch (2.13.0; ./test makes an environment, .venv) and the program primset_peer_worker
(cmake --build build/release --target benchmarks). Both sides get the same numbers. A result is
written into poisoned memory and compared with PyTorch's in f64 before anything is timed. Then the
two take turns: each pair of medians gives a ratio, so that what else the machine does hits both;
with several devices all of them take turns, and each has a row.
GB/s count what a call has to read and write at least; the plain copy is the faster of the C
library's, split between the threads, and PyTorch's own. Exit code 1: a result is wrong.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS = COLUMNS = 4096


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worker", default=ROOT / "build/release/bin/primset_peer_worker")
    parser.add_argument("--device", action="append", dest="devices",
                        help="Primset's, cpu by itself; PyTorch runs on the CPU; may be repeated")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--seconds", type=float, default=0.25, help="of each measurement")
    parser.add_argument("--only", action="append", help="a case, such as gelu; may be repeated")
    parser.add_argument("--json", action="store_true", help="the numbers as JSON")
    arguments = parser.parse_args()
    arguments.devices = arguments.devices or ["cpu"]
    return arguments


class Worker:
    """Primset's half on one device, a process of its own; see peer_worker.cpp."""

    def __init__(self, program, device, threads):
        self.device = device
        self.process = subprocess.Popen(
            [program, device, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            what = answer or "the worker ended"
            sys.exit(f"compare_with_pytorch.py: '{' '.join(map(str, words))}': {what}")
        return answer

    def time(self, *words):
        nanoseconds, size = self.ask(*words).split()
        return float(nanoseconds), float(size)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def make_cases(torch, folder):
    """name -> (call, call with out=, expected in f64, bound of the difference)."""

    def load(name, *sizes):
        data = bytearray((folder / name).read_bytes())
        return torch.frombuffer(data, dtype=torch.float32).reshape(sizes)

    aten = torch.ops.aten
    x, y = load("x", ROWS, COLUMNS), load("y", ROWS, COLUMNS)
    weight, bias = load("weight", COLUMNS), load("bias", COLUMNS)
    out, number = torch.empty_like(x), torch.empty(())
    mean, rstd = torch.empty(ROWS, 1), torch.empty(ROWS, 1)
    norm = (x, [COLUMNS], weight, bias, 1e-5)

    def exact_norm():
        return torch.layer_norm(x.double(), [COLUMNS], weight.double(), bias.double(), 1e-5)

    # A few roundings of results between 1 and 100; the sum of 2^24 numbers may lose more.
    small, large = 1e-5, 1e-6 * x.double().abs().sum().item()
    return {
        "add": (lambda: x + y, lambda: torch.add(x, y, out=out),
                lambda: x.double() + y.double(), small),
        "mul_scalar": (lambda: x * 1.5, lambda: torch.mul(x, 1.5, out=out),
                       lambda: x.double() * 1.5, small),
        "gelu": (lambda: aten.gelu(x), lambda: aten.gelu.out(x, out=out),
                 lambda: aten.gelu(x.double()), small),
        "exp": (lambda: torch.exp(x), lambda: torch.exp(x, out=out),
                lambda: torch.exp(x.double()), 5e-5),
        "softmax": (lambda: torch._softmax(x, -1, False),
                    lambda: aten._softmax.out(x, -1, False, out=out),
                    lambda: torch._softmax(x.double(), -1, False), 1e-8),
        "layer_norm": (lambda: torch.native_layer_norm(*norm),
                       lambda: aten.native_layer_norm.out(*norm, out0=out, out1=mean, out2=rstd),
                       exact_norm, 1e-4),
        "sum": (lambda: torch.sum(x), lambda: aten.sum.out(x, out=number),
                lambda: torch.sum(x.double()), large),
        "transposed_copy": (lambda: x.t().contiguous(), lambda: out.copy_(x.t()),
                            lambda: x.double().t(), 0.0),
    }


def median_time(work, seconds):
    """Median nanoseconds of a call, after one that does not count."""
    work()
    times = []
    while sum(times) < seconds * 1e9:
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def check(torch, worker, name, with_out, expected, bound, folder):
    """Exits when the result is wrong; NaN counts as wrong."""
    file = folder / "result"
    worker.ask("check_out" if with_out else "check", name, file)
    got = torch.frombuffer(bytearray(file.read_bytes()), dtype=torch.float32)
    difference = (got.double() - expected.reshape(-1)).abs().max().item()
    if not difference <= bound:
        sys.exit(f"compare_with_pytorch.py: {name}{' out=' if with_out else ''} on {worker.device} "
                 f"differs from PyTorch in f64 by {difference:.3g}; expected at most {bound:.3g}")
    return difference


def pairs_of(arguments, ours, theirs):
    """For each of ours, pairs of medians taken in turns; PyTorch's threads get time to fall asleep
    in between."""
    turns = []
    for _ in range(arguments.repeats):
        mine = [work() for work in ours]
        peer = median_time(theirs, arguments.seconds)
        time.sleep(0.01)
        turns.append([(m, peer) for m in mine])
    return list(zip(*turns))


def summarise(pairs, size):
    ratios = sorted(peer / mine for mine, peer in pairs)
    mine = statistics.median(m for m, _ in pairs)
    peer = statistics.median(p for _, p in pairs)
    return {
        "primset_ms": mine / 1e6, "pytorch_ms": peer / 1e6,
        "ratio": statistics.median(ratios), "ratio_low": ratios[0], "ratio_high": ratios[-1],
        "primset_gb_s": size / mine, "pytorch_gb_s": size / peer,
    }


def compare_copy(torch, arguments, worker):
    source = torch.ones(ROWS, COLUMNS)
    target = torch.full_like(source, 2)
    size = 8.0 * ROWS * COLUMNS
    [pairs] = pairs_of(arguments, [lambda: worker.time("copy", arguments.seconds)[0]],
                       lambda: target.copy_(source))
    return {"name": "plain copy", **summarise(pairs, size)}


def compare_case(torch, arguments, workers, name, case, with_out, folder):
    """A row for each worker."""
    call, call_out, exact, bound = case
    differences = [check(torch, w, name, with_out, exact(), bound, folder) for w in workers]
    command = "time_out" if with_out else "time"
    size = workers[0].time(command, name, 0.01)[1]
    ours = [lambda w=w: w.time(command, name, arguments.seconds)[0] for w in workers]
    rows = []
    for w, difference, pairs in zip(workers, differences,
                                    pairs_of(arguments, ours, call_out if with_out else call)):
        row = {"name": name + (" out=" if with_out else ""), "device": w.device}
        rows.append({**row, "difference": difference, **summarise(pairs, size)})
    return rows


def compare_index_put(torch, arguments, worker, size):
    target = torch.zeros(size // 4)
    index, value = (torch.tensor([size // 8]),), torch.tensor([1.0])

    def theirs():
        for _ in range(100):
            target.index_put_(index, value)

    [pairs] = pairs_of(arguments, [lambda: worker.time("index_put", size, arguments.seconds)[0]],
                       theirs)
    return {"bytes": size, **summarise([(m, p / 100) for m, p in pairs], 4)}


def print_report(result):
    copy = result["copy_gb_s"]
    print(f"PyTorch {result['pytorch']}, {result['threads']} threads, {result['repeats']} pairs; "
          f"plain copy {copy:.1f} GB/s\n")
    several = len(result["devices"]) > 1
    print(f"| operator |{' device |' if several else ''} Primset ms | PyTorch ms "
          "| PyTorch / Primset | GB/s | of a copy |")
    print("|---|---|---|---|---|---|" + ("---|" if several else ""))
    for row in result["rows"]:
        where = f" {row['device']} |" if several else ""
        spread = f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}"
        print(f"| {row['name']} |{where} {row['primset_ms']:.2f} | {row['pytorch_ms']:.2f} "
              f"| **{row['ratio']:.2f}** ({spread}) | {row['primset_gb_s']:.1f} "
              f"| {row['primset_gb_s'] / copy:.2f} |")
    for device, (small, large) in result.get("index_put", {}).items():
        print(f"\nindex_put_ of one element{' on ' + device if several else ''}: "
              f"{small['primset_ms'] * 1e3:.2f} us into 1 KiB, "
              f"{large['primset_ms'] * 1e3:.2f} us into 256 MiB "
              f"({large['primset_ms'] / small['primset_ms']:.2f} x); "
              f"PyTorch {small['pytorch_ms'] * 1e3:.2f} and {large['pytorch_ms'] * 1e3:.2f} us")


def main():
    arguments = parse_arguments()
    if not pathlib.Path(arguments.worker).exists():
        sys.exit(f"compare_with_pytorch.py: there is no {arguments.worker}; "
                 "cmake --build build/release --target benchmarks makes it")
    import torch

    torch.set_num_threads(arguments.threads)
    workers = [Worker(arguments.worker, d, arguments.threads) for d in arguments.devices]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        workers[0].ask("inputs", folder)
        cases = make_cases(torch, folder)
        wanted = arguments.only or [*cases, "index_put"]
        for unknown in set(wanted) - set(cases) - {"index_put"}:
            sys.exit(f"compare_with_pytorch.py: no case '{unknown}'; expected one of "
                     f"{', '.join([*cases, 'index_put'])}")
        copy = compare_copy(torch, arguments, workers[0])
        rows = []
        for case in wanted:
            if case in cases:
                for with_out in (False, True):
                    rows += compare_case(
                        torch, arguments, workers, case, cases[case], with_out, folder)
                    for row in rows[-len(workers):]:
                        print(f"{row['name']} {row['device']}: {row['ratio']:.2f}", file=sys.stderr)
        result = {
            "pytorch": torch.__version__, "threads": arguments.threads,
            "repeats": arguments.repeats, "devices": arguments.devices, "rows": rows, "copy": copy,
            "copy_gb_s": max(copy["primset_gb_s"], copy["pytorch_gb_s"]),
        }
        if "index_put" in wanted:
            result["index_put"] = {
                w.device: [compare_index_put(torch, arguments, w, size) for size in (1 << 10, 1 << 28)]
                for w in workers
            }
    for worker in workers:
        worker.close()
    print(json.dumps(result)) if arguments.json else print_report(result)


if __name__ == "__main__":
    main()
