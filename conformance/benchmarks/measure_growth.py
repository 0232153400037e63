#!/usr/bin/env python3
"""Time against size: ten operators from 2^10 to 2^28 elements, beside PyTorch on the same device.

    conformance/benchmarks/measure_growth.py --svg growth.svg               CPU, two threads
    conformance/benchmarks/measure_growth.py --device cuda:0 --peer cuda --build FOLDER --svg growth.svg
    conformance/benchmarks/measure_growth.py --only sort --only cumsum --largest 22

What a call costs should be flat while it is small, and then follow its bytes along the copy rate.
Sizes are powers of 4, up to --largest or to what memory holds. f32; matrices, rows and images grow
in number, so that all operators but sort have work in proportion to their elements:

    softmax       rows of 1024                 transposed    a square matrix
    matmul        [n / 256, 256] x [256, 256]  index_select  rows of 64, in no order
    conv2d        16 channels of 8 x 8, 3 x 3 filters

Results are checked first, of a call that takes memory full of NaN: against PyTorch in f64 up to 2^22
elements, beyond that in f32; numbers that are drawn by their mean, variance and difference. Then the
two take turns; the median of each stands. The copy rate is the best of PyTorch's copy_ at the three
largest sizes. `of a copy` is the time that the least bytes take at that rate, in parts of Primset's;
`steepest` is the most that four times the elements took, from 2^14 on, and at which size. FOLDER of
--build is a build or an unpacked bundle. --json and --svg write rows and picture; growth_plot.py
draws rows again. Exit code 1: a result is wrong.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

from compare_transfers import module_folder
from growth_plot import picture

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SMALLEST, CHECKED_WIDE = 10, 22  # powers of 2


@dataclasses.dataclass
class Operator:
    name: str
    run: Callable  # (ATen's operators, *tensors) -> result
    shapes: Callable  # elements -> shapes of the tensors
    bytes: Callable  # elements -> the least that a call reads and writes
    room: int  # bytes an element that a call and its check need
    bound: float = 1e-5  # of the greatest difference, in parts of the greatest number
    indices: bool = False  # the last tensor has row numbers
    random: bool = False


def all_operators():
    one = lambda n: [[n]]
    convolved = lambda ops, x, w: ops.convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return [
        Operator("add", lambda ops, a, b: ops.add(a, b), lambda n: [[n], [n]], lambda n: 12 * n, 40),
        Operator("sum", lambda ops, x: ops.sum(x), one, lambda n: 4 * n, 24, 1e-4),
        Operator("softmax", lambda ops, x: ops.softmax(x, -1), lambda n: [[n // 1024, 1024]],
                 lambda n: 8 * n, 40),
        Operator("cumsum", lambda ops, x: ops.cumsum(x, 0), one, lambda n: 8 * n, 40, 1e-3),
        Operator("sort", lambda ops, x: ops.sort(x)[0], one, lambda n: 16 * n, 90, 0),
        Operator("transposed", lambda ops, x: ops.contiguous(ops.t(x)),
                 lambda n: [[math.isqrt(n)] * 2], lambda n: 8 * n, 40, 0),
        Operator("index_select", lambda ops, x, i: ops.index_select(x, 0, i),
                 lambda n: [[n // 64, 64], [n // 64]], lambda n: 8 * n + n // 8, 40, 0, indices=True),
        Operator("matmul", lambda ops, a, b: ops.mm(a, b), lambda n: [[n // 256, 256], [256, 256]],
                 lambda n: 8 * n + 4 * 65536, 40, 1e-4),
        Operator("conv2d", convolved, lambda n: [[n // 1024, 16, 8, 8], [16, 16, 3, 3]],
                 lambda n: 8 * n + 4 * 2304, 60, 1e-4),
        Operator("randn", lambda ops, x: ops.randn_like(x), one, lambda n: 4 * n, 40, random=True),
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=ROOT / "build/release", help="a build, or a bundle")
    parser.add_argument("--device", default="cpu", help="Primset's (cpu)")
    parser.add_argument("--peer", default="cpu", help="PyTorch's: cpu or cuda (cpu)")
    parser.add_argument("--threads", type=int, default=2, help="of a CPU, on both sides (2)")
    parser.add_argument("--largest", type=int, default=28, metavar="POWER", help="of 2 (28)")
    parser.add_argument("--only", action="append", default=[], help="one operator; may be repeated")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of a side in a turn, at least")
    parser.add_argument("--json", type=pathlib.Path, help="writes the rows there")
    parser.add_argument("--svg", type=pathlib.Path, help="draws them there")
    return parser.parse_args()


class Ours:
    """Primset's operators."""

    def __init__(self, primset, device):
        self.primset, self.device = primset, primset.Device(device)

    def __getattr__(self, name):
        return getattr(self.primset.ops, name)

    def wait(self):
        self.primset.synchronize()


class Theirs:
    def __init__(self, torch, device):
        self.torch, self.device = torch, device

    def __getattr__(self, name):
        return getattr(self.torch.ops.aten, name)

    def wait(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()


def given(torch, operator, n):
    """The tensors on the CPU, the same on each call."""
    torch.manual_seed(n)
    shapes = operator.shapes(n)
    tensors = [torch.randn(shape) for shape in shapes]
    if operator.indices:
        tensors[-1] = torch.randint(0, shapes[0][0], shapes[-1])
    return tensors


def bytes_there(torch, peer):
    if peer != "cpu":
        return torch.cuda.mem_get_info()[0]
    for entry in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if entry.startswith("MemAvailable:"):
            return int(entry.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


# --- results ------------------------------------------------------------------------------------


def complaint_about(torch, operator, sides, tensors, n):
    """What is wrong with Primset's result; None: nothing."""
    ours, theirs = sides
    on_device = [ours.primset.from_dlpack(t).to(ours.device) for t in tensors]
    ours_run = lambda: operator.run(ours, *on_device)
    ours_run().fill_(math.nan)
    got = torch.from_dlpack(ours_run().to("cpu"))
    if operator.random:
        other = torch.from_dlpack(ours_run().to("cpu"))
        six = 6 / math.sqrt(n)
        if abs(got.mean(dtype=torch.float64).item()) > six:
            return "its mean is not 0"
        if abs((got.double() ** 2).mean().item() - 1) > 2 * six or bool((got == other).all()):
            return "its variance is not 1, or the same numbers come again"
        return None
    wide = n <= 1 << CHECKED_WIDE
    want = operator.run(theirs_on_cpu(torch, theirs), *(widened(t, wide) for t in tensors))
    if got.shape != want.shape:
        return f"its shape is {list(got.shape)}; expected {list(want.shape)}"
    difference = (got - want).abs().max().item()
    greatest = want.abs().max().item() or 1.0
    if not difference <= operator.bound * greatest:
        return f"it differs by {difference / greatest:.3g} of the greatest number"
    return None


def theirs_on_cpu(torch, theirs):
    return theirs if theirs.device == "cpu" else Theirs(torch, "cpu")


def widened(t, wide):
    return t.double() if wide and t.is_floating_point() else t


# --- times ----------------------------------------------------------------------------------------


def seconds_a_call(run, wait, least):
    """The median of as many calls as fill the time, each waited for."""
    times = []
    while not times or sum(times) < least:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def take_turns(calls, options):
    """The median of each side's turns; fewer where a call takes seconds."""
    once = max(seconds_a_call(run, wait, 0) for run, wait in calls for _ in range(2))
    turns = options.turns if once < 1 else min(3, options.turns)
    times = [[] for _ in calls]
    for _ in range(turns):
        for (run, wait), own in zip(calls, times):
            own.append(seconds_a_call(run, wait, options.seconds))
            time.sleep(0.005)  # PyTorch's threads fall asleep
    return [statistics.median(own) for own in times]


def measure(torch, operator, sides, n, options):
    ours, theirs = sides
    tensors = given(torch, operator, n)
    row = {"operator": operator.name, "elements": n, "bytes": operator.bytes(n)}
    complaint = complaint_about(torch, operator, sides, tensors, n)
    if complaint:
        return {**row, "wrong": complaint}
    mine = [ours.primset.from_dlpack(t).to(ours.device) for t in tensors]
    peers = [t.to(options.peer) for t in tensors]
    row["primset_s"], row["pytorch_s"] = take_turns(
        [(lambda: operator.run(ours, *mine), ours.wait),
         (lambda: operator.run(theirs, *peers), theirs.wait)], options)
    return row


def copy_rate(torch, theirs, options):
    """Bytes a second that a copy reads and writes at most."""
    rates = []
    for power in (options.largest - 4, options.largest - 2, options.largest):
        n = 1 << max(power, 20)
        if bytes_there(torch, options.peer) < 16 * n:
            continue
        source = torch.ones(n, device=options.peer)
        target = torch.full_like(source, 2)
        seconds = [seconds_a_call(lambda: target.copy_(source), theirs.wait, 0.1) for _ in range(5)]
        rates.append(8 * n / min(seconds))
    return max(rates)


# --- the report -----------------------------------------------------------------------------------


def steepest(rows):
    """The most that four times the elements took, and the power of 2 that it took it at."""
    steps = [(b["primset_s"] / a["primset_s"], b["elements"].bit_length() - 1)
             for a, b in zip(rows, rows[1:]) if a["elements"] >= 1 << 14]
    return max(steps, default=(math.nan, 0))


def print_table(rows, copy_gb_s):
    print("| operator | 2^10 us | 2^16 us | largest | ms | of a copy | steepest | PyTorch / Primset: "
          "2^10 | 2^16 | largest |\n|---|---|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(r["operator"] for r in rows):
        these = [r for r in rows if r["operator"] == name and "primset_s" in r]
        by_size = {r["elements"]: r for r in these}
        small, middle, last = by_size.get(1 << 10), by_size.get(1 << 16), these[-1]
        cell = lambda r, text: text(r) if r else "–"
        times = [cell(r, lambda r: f"{r['primset_s'] * 1e6:.2f}") for r in (small, middle)]
        ratios = [cell(r, lambda r: f"{r['pytorch_s'] / r['primset_s']:.2f}")
                  for r in (small, middle, last)]
        most, at = steepest(these)
        print(f"| {name} | {' | '.join(times)} | 2^{last['elements'].bit_length() - 1} "
              f"| {last['primset_s'] * 1e3:.1f} "
              f"| {last['bytes'] / last['primset_s'] / 1e9 / copy_gb_s:.2f} "
              f"| {most:.1f} at 2^{at} | {' | '.join(ratios)} |")


def main():
    options = parse_arguments()
    os.environ["PRIMSET_CPU_THREADS"] = str(options.threads)
    sys.path.insert(0, str(module_folder(options.build)))
    import primset
    import torch

    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    sides = Ours(primset, options.device), Theirs(torch, options.peer)
    chosen = all_operators()
    unknown = set(options.only) - {o.name for o in chosen}
    if unknown:
        sys.exit(f"measure_growth.py: no operator '{unknown.pop()}'; expected one of "
                 f"{', '.join(o.name for o in chosen)}")
    rows, copy_gb_s = [], copy_rate(torch, sides[1], options) / 1e9
    for operator in chosen:
        if options.only and operator.name not in options.only:
            continue
        for power in range(SMALLEST, options.largest + 1, 2):
            if bytes_there(torch, options.peer) < operator.room << power:
                print(f"{operator.name}: 2^{power} elements do not fit", file=sys.stderr)
                break
            rows.append(measure(torch, operator, sides, 1 << power, options))
            r = rows[-1]
            what = r.get("wrong") or f"{r['primset_s'] * 1e6:12.2f} us, PyTorch " \
                                     f"{r['pytorch_s'] * 1e6:12.2f}"
            print(f"{operator.name:14} 2^{power} {what}", file=sys.stderr, flush=True)
            if "wrong" in r:
                break
    machine = (torch.cuda.get_device_name() if options.peer != "cpu"
               else f"CPU, {options.threads} thread{'s' * (options.threads > 1)}")
    facts = {"machine": machine, "device": options.device, "pytorch": torch.__version__,
             "copy_gb_s": copy_gb_s, "turns": options.turns}
    print(f"{machine}, PyTorch {torch.__version__} on {options.peer}, Primset on {options.device}; "
          f"copy {copy_gb_s:.1f} GB/s\n")
    right = [r for r in rows if "primset_s" in r]
    print_table(right, copy_gb_s)
    if options.json:
        options.json.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(picture(facts, right))
    return 1 if len(right) < len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
