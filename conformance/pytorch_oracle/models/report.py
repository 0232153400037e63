"""What came out of a comparison, as a table and as JSON."""

import dataclasses
import json

from ..files import replace

_COLUMNS = ("model", "calls", "overloads", "agree", "worst", "drift", "loss", "gradients",
            "to double", "PyTorch's", "PyTorch ms", "Primset ms", "times as fast")
LEGEND = """agree: calls that agree with PyTorch's by themselves; worst: the largest error in them, in
tolerances. On its own tensors, relative to norms: drift, the largest difference of a call's result;
loss and gradients, that of the loss and of the worst gradient; to double, the worst gradient's from
what it is in double, and the same of PyTorch's. ms: in the calls of one run."""


def table(device, comparisons):
    rows = [_COLUMNS, *(_row(name, c) for name, c in comparisons.items())]
    widths = [max(len(r[i]) for r in rows) for i in range(len(_COLUMNS))]
    lines = ["  ".join([r[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(r[1:], widths[1:]))])
             for r in rows]
    return "\n".join([f"Primset on {device}, PyTorch on the CPU", *lines, LEGEND])


def _row(name, c):
    ends = ["-"] * 4
    if c.outputs:
        loss, *gradients = c.outputs.values()
        worst = (max(getattr(g, n) for g in gradients)
                 for n in ("from_torch", "from_double", "torch_from_double"))
        ends = [f"{x:.1e}" for x in (loss.from_torch, *worst)]
    times = ["-"] * 3
    if c.primset_seconds:
        times = [f"{c.torch_seconds * 1e3:.1f}", f"{c.primset_seconds * 1e3:.1f}",
                 f"{c.torch_seconds / c.primset_seconds:.2f}"]
    return (name, str(c.calls), str(c.overloads), f"{c.agreeing}/{c.calls}", f"{c.worst:.2f}",
            f"{c.drift:.1e}", *ends, *times)


def details(comparisons):
    lines = []
    for name, c in comparisons.items():
        lines += [f"{name}: {p}" for p in c.problems]
        lines += [f"{name}: known: {e}" for e in c.explained]
        if c.drift:
            lines.append(f"{name}: the largest drift is that of {c.drift_at}")
    return lines


def write(path, device, comparisons):
    path.parent.mkdir(parents=True, exist_ok=True)
    models = {name: dataclasses.asdict(c) for name, c in comparisons.items()}
    replace(path, json.dumps({"device": device, "models": models}, indent=1) + "\n")
