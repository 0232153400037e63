#!/usr/bin/env python3
"""Graphs against torch.compile on the same device: results first, then speed.

    conformance/benchmarks/compare_graphs.py                        CPU, two threads
    conformance/benchmarks/compare_graphs.py --device cuda:0 --peer cuda --build FOLDER
    conformance/benchmarks/compare_graphs.py --device vulkan:0 --peer cuda --mode max-autotune
    conformance/benchmarks/compare_graphs.py --only mlp --dtype bf16 --turns 5
    conformance/benchmarks/compare_graphs.py --size tiny --turns 1  do they all run, and are they right?

A transformer block, an MLP with layer norm and a convolutional block, each forward, and forward and
backward in one graph ("both"); and a step of AdamW. graph_cases.py has them, as calls of ATen's
operators, the backward ones as autograd makes them. Primset captures these calls (Graph.capture),
PyTorch compiles the same ones (torch.compile), and also makes them one by one (eager).

Before anything is timed the graph is run on new inputs, in memory that was filled with NaN, and each
result and each written operand is held against PyTorch in f64: its error may be twice that of
PyTorch's eager calls and a few roundings. Then the three take turns; a ratio is PyTorch's time
over Primset's in the same turn, of which the median stands, with the least and the greatest, and
behind them the ratio of either side's best, which other work on the machine changes less. Above 1
Primset is faster. FOLDER of --build is a build (build/release) or an unpacked bundle. torch.compile
needs a C++ compiler with OpenMP for the CPU: the one that CXX names, g++ or clang++. Exit code 1: a
result is wrong.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import sys
import time

import graph_cases
from compare_transfers import module_folder

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = {"tiny": graph_cases.TINY, "small": graph_cases.SMALL, "large": graph_cases.LARGE}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=ROOT / "build/release", help="a build, or a bundle")
    parser.add_argument("--device", default="cpu", help="Primset's (cpu)")
    parser.add_argument("--peer", default="cpu", help="PyTorch's: cpu or cuda (cpu)")
    parser.add_argument("--mode", default="default", help="torch.compile's (default)")
    parser.add_argument("--threads", type=int, default=2, help="of a CPU, on both sides (2)")
    parser.add_argument("--dtype", action="append", choices=["f32", "bf16"], help="one alone")
    parser.add_argument("--size", choices=SIZES, help="small for a CPU, large for a GPU by itself")
    parser.add_argument("--only", action="append", default=[], help="graphs whose name has this")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a side in a turn, at least")
    parser.add_argument("--without-compile", action="store_true", help="eager alone")
    parser.add_argument("--json", type=pathlib.Path, help="writes the rows there, too")
    options = parser.parse_args()
    options.dtypes = options.dtype or ["f32", "bf16"]
    options.size = options.size or ("small" if options.peer == "cpu" else "large")
    return options


# --- the two libraries as a graph's functions see them -------------------------------------------


class Ours:
    """Primset's operators."""

    def __init__(self, primset):
        self._ops, self._int64 = primset.ops, primset.int64

    def __getattr__(self, name):
        return getattr(self._ops, name)

    def attention(self, q, k, v):
        out, logsumexp, *_ = self._scaled_dot_product_fused_attention_overrideable(q, k, v)
        return out, (out, logsumexp)

    def attention_backward(self, grad, q, k, v, kept):
        none = self.empty([0], dtype=q.dtype, device=q.device)
        numbers = self.empty([0], dtype=self._int64, device=q.device)
        return self._scaled_dot_product_fused_attention_overrideable_backward(
            grad, q, k, v, none, [True, True, True, False], *kept, numbers, numbers, q.shape[2],
            k.shape[2], 0.0, False, numbers, numbers)[:3]


class Theirs:
    """PyTorch's, and the attention that scaled_dot_product_attention takes on the device."""

    def __init__(self, torch, peer, dtype):
        self._aten = torch.ops.aten
        if peer == "cpu":
            self.attention, self.attention_backward = self.of_cpu, self.of_cpu_backward
        elif dtype == "bf16":
            self.attention, self.attention_backward = self.flash, self.flash_backward
        else:
            self.attention, self.attention_backward = self.efficient, self.efficient_backward

    def __getattr__(self, name):
        return getattr(self._aten, name)

    def of_cpu(self, q, k, v):
        kept = self._aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)
        return kept[0], kept

    def of_cpu_backward(self, grad, q, k, v, kept):
        return self._aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grad, q, k, v, *kept, 0.0, False)

    def flash(self, q, k, v):
        kept = self._aten._scaled_dot_product_flash_attention(q, k, v)
        return kept[0], kept

    def flash_backward(self, grad, q, k, v, kept):
        out, logsumexp, q_starts, k_starts, q_most, k_most, seed, offset, _ = kept
        return self._aten._scaled_dot_product_flash_attention_backward(
            grad, q, k, v, out, logsumexp, q_starts, k_starts, q_most, k_most, 0.0, False, seed,
            offset)

    def efficient(self, q, k, v):
        kept = self._aten._scaled_dot_product_efficient_attention(q, k, v, None, True)
        return kept[0], kept

    def efficient_backward(self, grad, q, k, v, kept):
        return self._aten._scaled_dot_product_efficient_attention_backward(
            grad, q, k, v, None, *kept, 0.0, [True, True, True, False])[:3]


class Sides:
    """A case on both libraries: its tensors, and calls that run it."""

    def __init__(self, torch, primset, case, dtype, options):
        self.torch, self.primset, self.case, self.options = torch, primset, case, options
        self.given = given_tensors(torch, case, dtype)
        ours, theirs = Ours(primset), Theirs(torch, options.peer, dtype)
        self.our_tensors = self.to_ours()
        self.graph = primset.Graph.capture(lambda *t: case.run(ours, *t), *self.our_tensors)
        self.eager = lambda *t: case.run(theirs, *t)
        self.compiled = None
        if not options.without_compile:
            torch._dynamo.reset()
            self.compiled = torch.compile(self.eager, mode=options.mode, dynamic=False)

    def to_ours(self):
        return [self.primset.from_dlpack(t.clone()).to(self.options.device) for t in self.given]

    def to_theirs(self, convert=lambda t: t):
        return [convert(t.clone().to(self.options.peer)) for t in self.given]

    def exact(self):
        """What results and written operands come to in f64, on the CPU."""
        run = Theirs(self.torch, "cpu", "f32")
        tensors = [t.double() for t in self.given]
        return self.seen(self.case.run(run, *tensors), tensors)

    def seen(self, results, tensors):
        return [t.detach().cpu().double() for t in
                [*results, *(tensors[i] for i in self.case.written)]]

    def answers(self):
        """What the graph gives in memory full of NaN."""
        for result in self.graph(*self.to_ours()):
            result.fill_(math.nan)
        del result
        tensors = self.to_ours()
        results = self.graph(*tensors)
        both = [*results, *(tensors[i] for i in self.case.written)]
        return [self.torch.from_dlpack(t.to("cpu").contiguous()).double() for t in both]

    def wait_theirs(self):
        if self.options.peer != "cpu":
            self.torch.cuda.synchronize()

    def calls(self):
        """For each side a function that runs it, and one that waits for it."""
        theirs = self.to_theirs()
        found = {"primset": (lambda: self.graph(*self.our_tensors), self.primset.synchronize),
                 "eager": (lambda: self.eager(*theirs), self.wait_theirs)}
        if self.compiled:
            found["compile"] = (lambda: self.compiled(*theirs), self.wait_theirs)
        return found


def given_tensors(torch, case, dtype):
    """The operands on the CPU, the same on each call."""
    torch.manual_seed(1)
    out = []
    for o in case.operands:
        values = torch.randn(o.shape)
        values = (values * values if o.squared else values) * o.scale + o.shift
        out.append(values if dtype == "f32" or o.f32 else values.bfloat16())
    return out


# --- results -------------------------------------------------------------------------------------


def error_of(got, want):
    """The length of the difference, in parts of the length of what is wanted; NaN where one is NaN.

    Not the greatest difference: an element whose relu is 0 in one rounding and not in the other has
    another gradient altogether.
    """
    if got.shape != want.shape:
        return math.inf
    return ((got - want).norm() / (want.norm().item() or 1.0)).item()


def check(sides, dtype):
    """The greatest error of a result, and the complaint about one that is wrong, or nothing."""
    theirs = sides.to_theirs()
    want, got = sides.exact(), sides.answers()
    peer = sides.seen(sides.eager(*theirs), theirs)
    rounding = {"f32": 2.0**-24, "bf16": 2.0**-8}[dtype]
    worst, complaint = 0.0, None
    for i, (a, b, w) in enumerate(zip(got, peer, want, strict=True)):
        error, allowed = error_of(a, w), 2 * error_of(b, w) + 4 * rounding
        worst = max(worst, error)
        if not error <= allowed:
            complaint = f"result {i} is off by {error:.3g}; expected at most {allowed:.3g}"
    if sides.compiled:
        theirs = sides.to_theirs()
        compiled = sides.seen(sides.compiled(*theirs), theirs)
        if any(not error_of(c, w) < 0.5 for c, w in zip(compiled, want, strict=True)):
            complaint = "torch.compile computes something else"
    return worst, complaint


# --- speed ---------------------------------------------------------------------------------------


def seconds_a_call(run, wait, least):
    """The median of as many calls as fill the time, each waited for."""
    times = []
    while sum(times) < least or len(times) < 2:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def take_turns(calls, options):
    for run, wait in calls.values():
        for _ in range(3):
            run()
        wait()
    times = {name: [] for name in calls}
    for turn in range(options.turns):
        order = list(calls.items())
        for name, (run, wait) in order[turn % len(order):] + order[:turn % len(order)]:
            times[name].append(seconds_a_call(run, wait, options.seconds))
            time.sleep(0.02)  # PyTorch's threads fall asleep
    return times


def compare(torch, primset, case, dtype, options):
    sides = Sides(torch, primset, case, dtype, options)
    error, complaint = check(sides, dtype)
    row = {"graph": case.name, "dtype": dtype, "error": error}
    if complaint:
        return {**row, "wrong": complaint}
    primset.reset_statistics()
    sides.graph(*sides.our_tensors)
    primset.synchronize()
    row["launches"] = primset.statistics()["launches"]
    times = take_turns(sides.calls(), options)
    row.update({f"{name}_ms": 1e3 * statistics.median(t) for name, t in times.items()})
    for peer in set(times) - {"primset"}:
        ratios = sorted(p / m for p, m in zip(times[peer], times["primset"]))
        best = min(times[peer]) / min(times["primset"])
        row[peer] = [statistics.median(ratios), ratios[0], ratios[-1], best]
    return row


# --- the report ----------------------------------------------------------------------------------


def mean_of(rows, peer):
    """Of the medians, and of the ratios of the best."""
    ratios = [[row[peer][i] for row in rows if peer in row] for i in (0, 3)]
    return [math.exp(statistics.fmean(map(math.log, r))) for r in ratios if r]


def ratio(row, peer):
    if peer not in row:
        return "–"
    return "**{:.2f}** ({:.2f} to {:.2f}; {:.2f})".format(*row[peer])


def show(row):
    if "wrong" in row:
        return f"| {row['graph']} | {row['dtype']} | WRONG: {row['wrong']} |"
    return (f"| {row['graph']} | {row['dtype']} | {row['primset_ms']:.3f} | {ratio(row, 'compile')} "
            f"| {ratio(row, 'eager')} | {row['launches']} | {row['error']:.1e} |")


def print_means(rows):
    for dtypes in (["f32"], ["bf16"], ["f32", "bf16"]):
        these = [row for row in rows if row["dtype"] in dtypes]
        means = [mean_of(these, peer) for peer in ("compile", "eager")]
        cells = " | ".join("**{:.2f}** ({:.2f})".format(*m) if m else "–" for m in means)
        print(f"| geometric mean | {', '.join(dtypes)} | | {cells} | | |")


def find_compiler():
    """torch.compile takes g++ unless CXX says otherwise."""
    if "CXX" not in os.environ and not shutil.which("g++") and shutil.which("clang++"):
        os.environ["CXX"] = "clang++"


def machine_name(torch, options):
    if options.peer != "cpu":
        return torch.cuda.get_device_name()
    return f"CPU, {options.threads} thread{'s' * (options.threads > 1)}"


def main():
    options = parse_arguments()
    os.environ["PRIMSET_CPU_THREADS"] = str(options.threads)
    find_compiler()
    sys.path.insert(0, str(module_folder(options.build)))
    import primset
    import torch

    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cases = [c for c in graph_cases.all_cases(SIZES[options.size])
             if not options.only or any(text in c.name for text in options.only)]
    if not cases:
        sys.exit(f"compare_graphs.py: --only {' '.join(options.only)} names no graph; expected part of "
                 f"one of {', '.join(c.name for c in graph_cases.all_cases(graph_cases.TINY))}")
    print(f"{machine_name(torch, options)}, PyTorch {torch.__version__} on {options.peer} "
          f"(torch.compile, mode {options.mode}), Primset on {options.device}, size {options.size}, "
          f"{options.turns} turns\n")
    print("| graph | dtype | Primset ms | compile / Primset | eager / Primset | launches | error |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    with torch.no_grad():
        for dtype in options.dtypes:
            for case in cases:
                rows.append(compare(torch, primset, case, dtype, options))
                print(show(rows[-1]), flush=True)
    print_means(rows)
    if options.json:
        facts = {"machine": machine_name(torch, options), "pytorch": torch.__version__,
                 "device": options.device, "peer": options.peer, "mode": options.mode,
                 "size": options.size, "turns": options.turns}
        options.json.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")
    return 1 if any("wrong" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
