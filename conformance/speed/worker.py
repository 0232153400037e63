"""Times cases, one JSON line each: of a process of its own, which a crash may end.

    worker.py CASES FIRST DEVICE PEER      CASES: what `run` has pickled; results go to standard output
"""

import json
import math
import pickle
import statistics
import sys
import time

from . import arguments, cases

PAIRS = 7
SECONDS = 0.02  # of one measurement, at least
LONG = 3.0  # seconds a call: what takes longer is timed once


def timed(call, wait, seconds):
    """Seconds a call, of as many as fill the time."""
    wait()
    count, start = 1, time.perf_counter()
    call()
    wait()
    spent = time.perf_counter() - start
    while spent < seconds:
        more = min(10000, max(1, math.ceil((seconds - spent) / (spent / count) * 1.1)))
        start = time.perf_counter()
        for _ in range(more):
            call()
        wait()
        count, spent = more, time.perf_counter() - start
    return spent / count


def tensors_of(torch, x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for y in x for t in tensors_of(torch, y)] if isinstance(x, (list, tuple)) else []


class Sides:
    """Both libraries on their devices."""

    def __init__(self, torch, primset, device, peer):
        self.torch, self.primset, self.device, self.peer = torch, primset, device, peer
        on_gpu = peer.startswith("cuda")
        self.peer_wait = torch.cuda.synchronize if on_gpu else lambda: None
        self.wait = lambda: primset.synchronize(device)

    def exchanged(self, x):
        """An argument as Primset takes it: the same memory where its device can take it."""
        if isinstance(x, self.torch.Tensor):
            return self.primset.from_dlpack(x).to(self.device)
        if isinstance(x, (list, tuple)):
            return [self.exchanged(y) for y in x]
        if isinstance(x, self.torch.dtype):
            return getattr(self.primset, str(x).partition(".")[2])
        return x

    def back(self, x):
        return [self.torch.from_dlpack(t.to("cpu")) for t in flat_results(x)]


def flat_results(x):
    return [t for y in x for t in flat_results(y)] if isinstance(x, (list, tuple)) else [x]


def is_right(torch, ours, theirs, dtype):
    """Whether results agree as far as a look at speed needs it: conformance and the oracle do more."""
    bound = {"bf16": 2e-2, "f16": 4e-3}.get(dtype, 1e-3)
    for a, b in zip(ours, theirs):
        b = b.cpu()
        if a.shape != b.shape:
            return False
        if not b.dtype.is_floating_point and not b.dtype.is_complex:
            continue  # which of equal elements an index names is free
        wide = torch.complex128 if b.dtype.is_complex else torch.float64
        a, b = a.to(wide), b.to(wide)
        scale = b[b.isfinite()].abs().max().item() if b.isfinite().any() else 0.0
        if not torch.allclose(a, b, rtol=bound, atol=bound * scale, equal_nan=True):
            return False
    return True


def measured(sides, template, case, is_free):
    torch = sides.torch
    call = cases.at(template, case)
    request = arguments.Request(case.dtype, case.layout)
    positional, named = arguments.made(torch, template, call, request, sides.peer)
    peer_function = arguments.function(torch, case.overload)
    theirs = lambda: peer_function(*positional, **named)
    mine, my_named = sides.exchanged(positional), {k: sides.exchanged(v) for k, v in named.items()}
    ours = lambda: sides.primset.invoke(case.overload, *mine, **my_named)
    expected = tensors_of(torch, theirs())
    sides.peer_wait()
    start = time.perf_counter()
    found = ours()
    sides.wait()
    first = time.perf_counter() - start
    right = is_free or is_right(torch, sides.back(found), expected, case.dtype)
    moved = sum(t.numel() * t.element_size() for t in tensors_of(torch, positional) + expected)
    del found, expected
    return {"right": right, "first_s": first, "bytes": moved, **in_turns(sides, ours, theirs)}


def in_turns(sides, ours, theirs):
    once = timed(theirs, sides.peer_wait, 0)
    seconds, pairs = (0, 1) if once > LONG else (SECONDS, PAIRS)
    turns = [(timed(ours, sides.wait, seconds), timed(theirs, sides.peer_wait, seconds))
             for _ in range(pairs)]
    return {"primset_s": statistics.median(t[0] for t in turns),
            "pytorch_s": statistics.median(t[1] for t in turns),
            "ratio": statistics.median(b / a for a, b in turns)}


def main():
    path, first, device, peer = sys.argv[1:]
    import primset
    import torch

    with open(path, "rb") as f:
        work = pickle.load(f)
    sides = Sides(torch, primset, device, peer)
    for i, (template, case, is_free) in enumerate(work[int(first):], int(first)):
        print(json.dumps({"begin": i}), flush=True)
        line = {"case": case.id, "overload": case.overload, "family": template.family}
        try:
            line |= measured(sides, template, case, is_free)
        except Exception as e:  # a line of the page says what either side raised
            line["error"] = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:300]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
