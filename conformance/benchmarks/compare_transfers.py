#!/usr/bin/env python3
"""Copies between host and device, and from device to device, beside PyTorch's.

    conformance/benchmarks/compare_transfers.py --build build/release --device cuda:0 --peer cuda:0
    conformance/benchmarks/compare_transfers.py ... --second cuda:1 --second-peer cuda:1
    conformance/benchmarks/compare_transfers.py --device vulkan:0 --without-pytorch

Of 4 KiB, 1 MiB and 256 MiB, each way, from pageable and pinned memory, into new memory (`to`) and
into memory that is there (`copy_`), waiting for each copy; from the first device to the second; and
of a transposed and of a converted matrix of 64 MiB. Both sides take turns; a ratio is PyTorch's
median time over Primset's. The values are compared first; no two sources have the same, so that what
memory held before is never right. --json writes the rows too. Exit code 1: a value is wrong.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

SIZES = {"4 KiB": 4 << 10, "1 MiB": 1 << 20, "256 MiB": 256 << 20}


class Ours:
    """Primset, seen as the cases see a side."""

    def __init__(self, build, device, second):
        sys.path.insert(0, str(module_folder(build)))
        import numpy
        import primset

        self.numpy, self.primset, self.sources = numpy, primset, 0
        self.device, self.second = primset.Device(device), second and primset.Device(second)

    def host(self, count, pinned):
        self.sources += 1
        values = self.numpy.arange(count, dtype=self.numpy.float32) + self.sources
        t = self.primset.from_dlpack(values)
        return t.pin_memory(self.device) if pinned else t

    def empty(self, count, device):
        return self.primset.ops.empty([count], dtype=self.primset.float32, device=device)

    def to(self, tensor, device):
        return tensor.to(device)

    def half(self):
        return self.primset.bfloat16

    def values(self, tensor):
        return self.numpy.from_dlpack(tensor.to("cpu").to(self.primset.float32).contiguous())

    def wait(self):
        self.primset.synchronize()


class Theirs:
    def __init__(self, device, second):
        import torch

        self.torch, self.sources = torch, 0
        self.device, self.second = torch.device(device), second and torch.device(second)

    def host(self, count, pinned):
        self.sources += 1
        t = self.torch.arange(count, dtype=self.torch.float32) + self.sources
        return t.pin_memory() if pinned else t

    def empty(self, count, device):
        return self.torch.empty([count], dtype=self.torch.float32, device=device)

    def to(self, tensor, device):
        return tensor.to(device)

    def half(self):
        return self.torch.bfloat16

    def values(self, tensor):
        return tensor.cpu().float().contiguous().numpy()

    def wait(self):
        if self.torch.cuda.is_available():
            for i in range(self.torch.cuda.device_count()):
                self.torch.cuda.synchronize(i)


def module_folder(build):
    build = pathlib.Path(build).resolve()
    return build / "python" if (build / "python").is_dir() else build / "lib" / "python"


def copies(bytes_, with_second):
    """(name, function of a side that makes the copy to time)"""
    count = bytes_ // 4

    def upload(side, pinned):
        host = side.host(count, pinned)
        return lambda: side.to(host, side.device)

    def upload_into(side, pinned):
        host, target = side.host(count, pinned), side.empty(count, side.device)
        return lambda: target.copy_(host)

    def download(side, pinned):
        source = side.to(side.host(count, False), side.device)
        if not pinned:
            return lambda: side.to(source, "cpu")
        target = side.host(count, True)
        return lambda: target.copy_(source)

    def download_into(side, _):
        source, target = side.to(side.host(count, False), side.device), side.host(count, False)
        return lambda: target.copy_(source)

    def across(side, _):
        source = side.to(side.host(count, False), side.device)
        return lambda: side.to(source, side.second)

    yield "to the device, pageable, new", lambda s: upload(s, False)
    yield "to the device, pageable", lambda s: upload_into(s, False)
    yield "to the device, pinned", lambda s: upload_into(s, True)
    yield "to the host, pageable, new", lambda s: download(s, False)
    yield "to the host, pageable", lambda s: download_into(s, False)
    yield "to the host, pinned", lambda s: download(s, True)
    if with_second:
        yield "to the second device", lambda s: across(s, False)


def strided_copies():
    def matrix(side):
        return side.host(16 << 20, False).view([4096, 4096])

    def transposed(side):
        host = matrix(side).t()
        return lambda: side.to(host, side.device)

    def transposed_back(side):
        source = side.to(matrix(side), side.device).t()
        return lambda: side.to(source, "cpu")

    def converted(side):
        host = matrix(side)
        target = side.empty(16 << 20, side.device).view([4096, 4096]).to(side.half())
        return lambda: target.copy_(host)

    yield "to the device, transposed", transposed
    yield "to the host, transposed", transposed_back
    yield "to the device, into bf16", converted


def seconds(side, copy, share):
    """Of one copy, among as many as fit the share of a second."""
    copy()
    side.wait()
    start = time.perf_counter()
    copy()
    side.wait()
    once = time.perf_counter() - start
    times = []
    for _ in range(max(3, min(2000, int(share / max(once, 1e-7))))):
        start = time.perf_counter()
        copy()
        side.wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare(sides, name, size, bytes_, make, turns, share):
    made = [make(side) for side in sides]
    answers = [side.values(copy()) for side, copy in zip(sides, made, strict=True)]
    if any(a.shape != answers[0].shape or (a != answers[0]).any() for a in answers):
        return {"copy": name, "size": size, "error": "the values differ"}
    pairs = list(zip(sides, made, strict=True))
    times = [[seconds(side, copy, share) for side, copy in pairs] for _ in range(turns)]
    row = {"copy": name, "size": size, "bytes": bytes_}
    row["primset_s"] = statistics.median(t[0] for t in times)
    if len(sides) == 2:
        row["pytorch_s"] = statistics.median(t[1] for t in times)
        row["ratio"] = statistics.median(t[1] / t[0] for t in times)
    return row


def show(row):
    if "error" in row:
        return f"{row['copy']:32} {row['size']:>8}  {row['error']}"
    seconds_, rate = row["primset_s"], row["bytes"] / row["primset_s"]
    text = f"{row['copy']:32} {row['size']:>8}  {seconds_ * 1e6:10.1f} us {rate / 1e9:8.2f} GB/s"
    if "ratio" not in row:
        return text
    return f"{text}  PyTorch {row['pytorch_s'] * 1e6:10.1f} us  {row['ratio']:5.2f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default="build/release", help="a build, or an unpacked bundle")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--second", help="another device of the same plugin, or of another one")
    parser.add_argument("--peer", default="cuda:0", help="PyTorch's device")
    parser.add_argument("--second-peer")
    parser.add_argument("--without-pytorch", action="store_true")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.1, help="seconds a side and turn")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    sides = [Ours(options.build, options.device, options.second)]
    if not options.without_pytorch:
        sides.append(Theirs(options.peer, options.second_peer))
    cases = [(n, s, b, make) for s, b in SIZES.items() for n, make in copies(b, bool(options.second))]
    cases += [(name, "64 MiB", 64 << 20, make) for name, make in strided_copies()]
    rows = []
    for name, size, bytes_, make in cases:
        rows.append(compare(sides, name, size, bytes_, make, options.turns, options.share))
        print(show(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
