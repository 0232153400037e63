#!/usr/bin/env python3
"""Holds a GPU's back end against PyTorch on the same GPU, eager and compiled.

    conformance/benchmarks/compare_on_gpu.py --device cuda:0
    conformance/benchmarks/compare_on_gpu.py --device cuda:0 --beside vulkan:0   both, in the same turns
    conformance/benchmarks/compare_on_gpu.py --device cuda:0 --environment PRIMSET_NATIVE=0 \\
      --environment PRIMSET_CUDA_WGMMA=0 --beside vulkan:0 --only 'matmul 4096 bf16'   by mma.sync
    conformance/benchmarks/compare_on_gpu.py ... --beside vulkan:0 --without-pytorch   two of ours alone
    conformance/benchmarks/compare_on_gpu.py --device vulkan:0 --only gelu --only softmax
    conformance/benchmarks/compare_on_gpu.py --device cpu --peer-device cpu --shrink 64   a trial

Needs PyTorch with CUDA and the program `primset`. Each case is first run by Primset on smaller
tensors of PyTorch's random numbers and compared with PyTorch's answer in f64. Then Primset, PyTorch
and torch.compile take turns in an order drawn anew each time (under a limit of power, who follows whom
has a share in the clock), each for a share of the same second; a ratio is PyTorch's time over
Primset's in one turn, its median stands beside the least and the greatest. GB/s count what a call
has to read and write at least; the copy is the fastest of the driver's, PyTorch's and Primset's.
Exit code 1: a result is wrong.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BYTES = {"f32": 4, "bf16": 2, "i64": 8}


@dataclasses.dataclass
class Case:
    name: str
    op: str  # Primset's
    tensors: list  # (dtype, sizes), in the order of the schema
    run: Callable  # PyTorch's, of its module and the tensors
    args: dict = dataclasses.field(default_factory=dict)
    moved: float = 0  # bytes that a call has to read and write at least
    flops: float = 0
    bound: float = 1e-5  # of the error, beside the greatest expected number
    check: list = None  # sizes to check with; else all divided by 16
    below: int = 0  # of integers
    names: tuple = ()  # of the tensors, where other arguments stand between them

    def shapes(self, sizes):
        return ",".join("x".join(map(str, s)) or "scalar" for s in sizes)


def pointwise_cases(scale):
    n = [1 << 28 >> scale]
    each = 4.0 * n[0]
    one, two = [("f32", n)], [("f32", n)] * 2
    return [
        Case("copy", "clone", one, lambda torch, x: x.clone(), moved=2 * each, bound=0),
        Case("add", "add.Tensor", two, lambda torch, x, y: x + y, moved=3 * each),
        Case("mul by a number", "mul.Scalar", one, lambda torch, x: x * 1.5, {"other": 1.5},
             moved=2 * each),
        Case("gelu", "gelu", one, lambda torch, x: torch.nn.functional.gelu(x), moved=2 * each),
        Case("exp", "exp", one, lambda torch, x: torch.exp(x), moved=2 * each),
        Case("sum", "sum", one, lambda torch, x: x.sum(), moved=each, bound=1e-4),
        Case("greatest", "amax", one, lambda torch, x: x.amax(), moved=each, bound=0),
    ]


def row_cases(scale):
    m, n = 16384 >> scale, 8192
    x, each = ("bf16", [m, n]), 2.0 * m * n
    weight = ("bf16", [n])
    # More than 2^25 elements: fewer are read another way than those that are timed.
    small = [4100 >> scale, n]
    return [
        Case("softmax", "softmax.int", [x], lambda torch, x: torch.softmax(x, -1), {"dim": -1},
             moved=2 * each, bound=8e-3, check=[small]),
        Case("layer_norm", "layer_norm", [x, weight, weight],
             lambda torch, x, w, b: torch.nn.functional.layer_norm(x, [n], w, b),
             {"normalized_shape": n}, moved=2 * each, bound=8e-3, check=[small, [n], [n]],
             names=("input", "weight", "bias")),
        Case("rms_norm", "rms_norm", [x, weight],
             lambda torch, x, w: torch.nn.functional.rms_norm(x, [n], w),
             {"normalized_shape": n}, moved=2 * each, bound=8e-3, check=[small, [n]],
             names=("input", "weight")),
    ]


def other_cases(scale):
    side = 16384 >> scale
    rows, width, picks = 1 << 17 >> scale, 1024, 1 << 18 >> scale
    line = 1 << 26 >> scale
    heads = (8, 16, 4096 >> scale, 64)
    return [
        Case("transposed copy", "t_copy", [("f32", [side, side])],
             lambda torch, x: x.t().contiguous(), moved=8.0 * side * side, bound=0),
        Case("embedding", "embedding", [("f32", [rows, width]), ("i64", [picks])],
             lambda torch, w, i: torch.nn.functional.embedding(i, w), below=rows,
             moved=8.0 * picks * width, bound=0, check=[[100, 64], [1000]]),
        Case("cumsum", "cumsum", [("f32", [16384 >> scale, 16384])],
             lambda torch, x: x.cumsum(-1), {"dim": -1},
             moved=8.0 * (16384 >> scale) * 16384, bound=1e-4),
        Case("sort", "sort", [("f32", [line])], lambda torch, x: x.sort(), moved=16.0 * line,
             bound=0),
        Case("attention", "scaled_dot_product_attention", [("bf16", list(heads))] * 3,
             flash_attention,
             {"is_causal": "true"}, flops=2.0 * math.prod(heads) * heads[2], bound=2e-2,
             check=[[2, 3, 128, 64]] * 3),
    ]


def flash_attention(torch, q, k, v):
    """PyTorch's flash kernel, whatever else it might choose."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def matmul_cases(scale):
    out = []
    for n in (1024, 4096, 8192):
        for dtype, bound in (("f32", 1e-5), ("bf16", 8e-3)):
            size = [n >> scale, n >> scale]
            out.append(Case(f"matmul {n} {dtype}", "mm", [(dtype, size)] * 2,
                            lambda torch, a, b: a @ b, flops=2.0 * size[0] ** 3, bound=bound,
                            check=[[256, 256]] * 2))
    return out


def all_cases(scale):
    return pointwise_cases(scale) + row_cases(scale) + other_cases(scale) + matmul_cases(scale)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0", help="Primset's")
    parser.add_argument("--beside", metavar="DEVICE", help="another of Primset's, in the same turns")
    parser.add_argument("--environment", action="append", default=[], metavar="NAME=VALUE",
                        help="a setting of Primset's for --device alone; may be repeated")
    parser.add_argument("--peer-device", default="cuda", help="PyTorch's")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/primset")
    parser.add_argument("--repeats", type=int, default=15, help="turns")
    parser.add_argument("--seconds", type=float, default=0.03, help="of each side in a turn")
    parser.add_argument("--only", action="append", help="a case, such as gelu; may be repeated")
    parser.add_argument("--without-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--without-pytorch", action="store_true",
                        help="take PyTorch for the check alone, and time --device and --beside")
    parser.add_argument("--shrink", type=int, default=0, metavar="BITS",
                        help="halve the tensors so many times")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers here as well")
    arguments = parser.parse_args()
    for setting in arguments.environment:
        if "=" not in setting:
            parser.error(f"--environment {setting}: expected NAME=VALUE")
    if arguments.without_pytorch and not arguments.beside:
        parser.error("--without-pytorch: expected --beside as well, or nothing is compared")
    arguments.environment = dict(setting.split("=", 1) for setting in arguments.environment)
    return arguments


# --- correctness ---------------------------------------------------------------------------------


def save(torch, path, t):
    import numpy

    plain = t.cpu()
    array = (plain.view(torch.int16).numpy().view("V2") if t.dtype == torch.bfloat16
             else plain.numpy())
    numpy.save(path, array)


def load(torch, path, dtype):
    import numpy

    array = numpy.load(path)
    if dtype == torch.bfloat16:
        return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(array)


def dtype_of(torch, name):
    return {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64}[name]


def make(torch, case, sizes, device):
    out = []
    for i, ((dtype, _), size) in enumerate(zip(case.tensors, sizes)):
        torch.manual_seed(i)
        if dtype == "i64":
            out.append(torch.randint(0, min(case.below, sizes[0][0]), size, device=device))
        else:
            out.append(torch.randn(size, device=device, dtype=dtype_of(torch, dtype)))
    return out


def check(torch, arguments, device, case):
    """The greatest error over the greatest expected number; exits when it is beyond the bound."""
    sizes = case.check or [[max(1, n // 16) for n in size] for _, size in case.tensors]
    given = make(torch, case, sizes, "cpu")
    wide = [t.double() if t.is_floating_point() else t for t in given]
    expected = case.run(torch, *wide)
    expected = expected[0] if isinstance(expected, (tuple, list)) else expected
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/in{i}.npy" for i in range(len(given))]
        for path, t in zip(paths, given):
            save(torch, path, t)
        command = [arguments.program, "run", case.op, *([] if case.names else paths)]
        named = {**dict(zip(case.names, paths)), **case.args}
        command += [w for k, v in named.items() for w in ("--arg", f"{k}={v}")]
        command += ["--device", device]
        outs = [f"{folder}/out{i}.npy" for i in range(2 if case.op == "sort" else 1)]
        command += [w for path in outs for w in ("--out", path)]
        own = arguments.environment if device == arguments.device else {}
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own})
        if done.returncode:
            sys.exit(f"compare_on_gpu.py: {' '.join(map(str, command))}: {done.stderr.strip()}")
        got = load(torch, outs[0], given[0].dtype).double().reshape(expected.shape)
    error = ((got - expected).abs().max() / expected.abs().max()).item()
    if not error <= case.bound:
        sys.exit(f"compare_on_gpu.py: {case.name} on {device} differs from PyTorch in f64 by "
                 f"{error:.3g} of the greatest number; expected at most {case.bound:.3g}")
    return error


# --- speed ---------------------------------------------------------------------------------------


class Primset:
    """`primset bench --step`: one repeat for each line."""

    def __init__(self, arguments, device, case, environment):
        dtypes = ",".join(d + (f":{case.below}" if d == "i64" else "") for d, _ in case.tensors)
        command = [arguments.program, "bench", case.op, "--device", device,
                   "--dtypes", dtypes, "--shapes", case.shapes([s for _, s in case.tensors]),
                   "--step", "--repeats", "1", "--seconds", str(arguments.seconds)]
        command += [w for k, v in case.args.items() for w in ("--arg", f"{k}={v}")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, **environment})
        self.first = json.loads(self._line())["first_ms"]

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("compare_on_gpu.py: primset bench ended; its error stands above")
        return line

    def time(self):
        print(file=self.process.stdin, flush=True)
        return float(self._line())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Torch:
    def __init__(self, torch, arguments, run, tensors):
        self.run, self.tensors = run, tensors
        self.wait = torch.cuda.synchronize if arguments.peer_device != "cpu" else lambda: None
        self.calls = 1
        for _ in range(3):
            once = self.time()
        self.calls = max(1, int(arguments.seconds * 1e9 / once))

    def time(self):
        self.wait()
        start = time.perf_counter_ns()
        for _ in range(self.calls):
            self.run(*self.tensors)
        self.wait()
        return (time.perf_counter_ns() - start) / self.calls


def peers(torch, arguments, case):
    tensors = make(torch, case, [s for _, s in case.tensors], arguments.peer_device)
    sides = {"eager": Torch(torch, arguments, lambda *t: case.run(torch, *t), tensors)}
    if not arguments.without_compile:
        torch._dynamo.reset()  # else the ninth case is one too many for it, and runs eagerly
        compiled = torch.compile(lambda *t: case.run(torch, *t), dynamic=False)
        sides["compile"] = Torch(torch, arguments, compiled, tensors)
    return sides


def compare(torch, arguments, case):
    sides = {} if arguments.without_pytorch else peers(torch, arguments, case)
    own = arguments.environment
    sides["primset"] = Primset(arguments, arguments.device, case, own)
    if arguments.beside:
        sides["beside"] = Primset(arguments, arguments.beside, case, {})
    if case.flops and "eager" in sides:
        sides["generated"] = Primset(arguments, arguments.device, case,
                                     {**own, "PRIMSET_NATIVE": "0"})
    times = take_turns(sides, arguments.repeats)
    row = {"name": case.name, "bytes": case.moved, "flops": case.flops}
    row["first_ms"] = sides["primset"].first
    for name, side in sides.items():
        row[name + "_ns"] = statistics.median(times[name])
        if isinstance(side, Primset):
            side.close()
    for peer in ("eager", "compile"):
        if peer in times:
            row[peer] = spread(times[peer], times["primset"])
    if "generated" in times:
        row["generated"] = statistics.median(
            p / m for p, m in zip(times["eager"], times["generated"]))
    if "beside" in times:
        row["beside"] = spread(times["primset"], times["beside"])
        if "eager" in times:
            row["eager_beside"] = spread(times["eager"], times["beside"])
    return row


def take_turns(sides, repeats):
    """Nanoseconds of each side in each turn."""
    times = {name: [] for name in sides}
    order, draw = list(sides.items()), random.Random(0)
    for _ in range(repeats):
        draw.shuffle(order)
        for name, side in order:
            times[name].append(side.time())
    return times


def spread(theirs, ours):
    """Of their time over ours, turn by turn: the median, the least and the greatest."""
    ratios = sorted(p / m for p, m in zip(theirs, ours))
    return [statistics.median(ratios), ratios[0], ratios[-1]]


def ratio(row, peer):
    if peer not in row:
        return "–"
    middle, low, high = row[peer]
    return f"**{middle:.2f}** ({low:.2f} to {high:.2f})"


def print_report(result):
    copy, device, beside = result["copy_gb_s"], result["device"], result["beside"]
    print(f"{result['gpu']}, PyTorch {result['pytorch']}, Primset's {device}, "
          f"{result['repeats']} turns{f'; copy {copy:.0f} GB/s' if copy else ''}\n")
    titles = ["case", "Primset ms", "eager / Primset", "compile / Primset", "GB/s or TFLOP/s",
              "of the copy", "generated kernel alone: eager / Primset"]
    if beside:
        titles += [f"{beside} ms", f"{device} / {beside}", f"eager / {beside}"]
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    for row in result["rows"]:
        rate, share = f"{row['flops'] / row['primset_ns'] / 1e3:.1f} TFLOP/s", "–"
        if row["bytes"]:
            rate = f"{row['bytes'] / row['primset_ns']:.0f}"
            share = f"{row['bytes'] / row['primset_ns'] / copy:.3f}" if copy else "–"
        cells = [row["name"], f"{row['primset_ns'] / 1e6:.3f}", ratio(row, "eager"),
                 ratio(row, "compile"), rate, share,
                 f"{row['generated']:.2f}" if "generated" in row else "–"]
        if beside:
            cells += [f"{row['beside_ns'] / 1e6:.3f}", ratio(row, "beside"),
                      ratio(row, "eager_beside")]
        print(f"| {' | '.join(cells)} |")


def main():
    arguments = parse_arguments()
    import torch

    cases = all_cases(arguments.shrink)
    unknown = set(arguments.only or ()) - {c.name for c in cases}
    if unknown:
        sys.exit(f"compare_on_gpu.py: no case '{unknown.pop()}'; expected one of "
                 f"{', '.join(c.name for c in cases)}")
    torch.backends.cuda.matmul.allow_tf32 = False
    rows, rates = [], [0.0]
    with torch.no_grad():
        for case in cases:
            if arguments.only and case.name not in arguments.only:
                continue
            devices = [arguments.device] + ([arguments.beside] if arguments.beside else [])
            error = max(check(torch, arguments, device, case) for device in devices)
            rows.append({**compare(torch, arguments, case), "error": error})
            print(f"{case.name}: {rows[-1]['primset_ns'] / 1e6:.3f} ms", file=sys.stderr, flush=True)
            if case.name == "copy":
                rates += [case.moved / v for k, v in rows[-1].items() if k.endswith("_ns")]
    gpu = torch.cuda.get_device_name() if arguments.peer_device != "cpu" else "CPU"
    result = {"gpu": gpu, "pytorch": torch.__version__, "device": arguments.device,
              "beside": arguments.beside, "repeats": arguments.repeats,
              "copy_gb_s": max(rates), "rows": rows}
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    print_report(result)


if __name__ == "__main__":
    main()
