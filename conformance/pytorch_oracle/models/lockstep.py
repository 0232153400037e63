"""Plays a tape in PyTorch and in Primset, call by call, and compares.

Every call is compared twice. By itself, on copies of PyTorch's tensors, it is held to all that the
oracle looks at, within the oracle's tolerances. In its place, where Primset's call gets what its own
earlier calls made, errors add up as in a real run: there the difference is only measured, and the
outputs of the run, its loss and gradients, are to be within LIMIT of PyTorch's. Where a model is so
deep that PyTorch's own are further than that from what they are in double, those of Primset may be as
far, as the oracle's second opinion has it: the last bit decides which ReLUs turn, and in which layer.
"""

import math
import statistics
from dataclasses import dataclass, field

import primset
import torch

from .. import causes, replay
from ..calls import SPARSE_LAYOUTS
from ..calls import sparse_parts as torch_parts
from ..compare import FAR, flatten
from ..expectations import comparator
from ..primset_side import to_torch
from .players import PrimsetPlayer, TorchPlayer
from .tape import record

LIMIT = 1e-4  # of the norm of an output's difference, relative to the output's norm
PAIRS = 3  # of timed runs


@dataclass
class Difference:
    """Of an output, relative to its norm."""

    from_torch: float
    from_double: float
    torch_from_double: float


@dataclass
class Comparison:
    calls: int
    overloads: int
    agreeing: int = 0  # calls by themselves
    worst: float = 0.0  # error over tolerance in those
    drift: float = 0.0  # the largest relative difference of a result in the run
    drift_at: str = ""
    outputs: dict = field(default_factory=dict)  # name -> Difference
    problems: list = field(default_factory=list)
    explained: list = field(default_factory=list)  # differences whose cause the oracle knows
    torch_seconds: float = 0.0
    primset_seconds: float = 0.0

    @property
    def agrees(self):
        return not self.problems


def compare(run, name):
    """On the device of the scope. `run` returns its outputs by name; `run.double()` is it in double."""
    in_double = run.double()()
    tape = record(run)
    c = Comparison(len(tape.steps), tape.count_overloads())
    theirs, ours = TorchPlayer(tape), PrimsetPlayer(tape)
    for i, step in enumerate(tape.steps):
        _compare_alone(c, theirs.call(step, name), f"call {i}")
        expected = theirs.play(step)
        if ours:
            ours = _play(c, ours, step, expected, i)
    if ours:
        _compare_outputs(c, tape, theirs, ours, in_double)
        _time(c, tape)
    return c


def _compare_alone(c, call, where):
    line = replay.record(call)
    c.worst = max(c.worst, line.get("worst", 0.0))
    if line["outcome"] == "agree":
        c.agreeing += 1
        return
    details = "; ".join(line.get("details") or line.get("errors") or [])
    text = f"{where}, {line['call'][:200]}: {line['outcome']}: {details}"
    cause = causes.cause_of(line)
    if cause:
        c.explained.append(f"{text} ({cause})")
    else:
        c.problems.append(text)


def _play(c, ours, step, expected, i):
    """The player; None when it cannot go on."""
    try:
        actual = ours.play(step)
        drift = _drift(step, expected, actual)
    except (primset.Error, ValueError) as e:
        c.problems.append(f"call {i}, {step.overload}, on Primset's own tensors: {e}; the run ends "
                          "here")
        return None
    if drift > c.drift:
        c.drift, c.drift_at = drift, f"call {i}, {step.overload}"
    return ours


def _drift(step, expected, actual):
    """Of integers nothing: which of two close elements is the greater turns with the last bit."""
    if comparator(step) != "values":
        return 0.0
    return max((relative_difference(e, a) for e, a in zip(flatten(expected), flatten(actual))
                if isinstance(e, torch.Tensor) and (e.is_floating_point() or e.is_complex())),
               default=0.0)


def relative_difference(expected, actual):
    """The norm of the difference by that of what is expected. Either may be Primset's."""
    e, a = _wide(expected), _wide(actual)
    if e.shape != a.shape:
        raise ValueError(f"the result has shape {tuple(a.shape)}, PyTorch's {tuple(e.shape)}")
    difference, norm = torch.linalg.vector_norm(a - e).item(), torch.linalg.vector_norm(e).item()
    if difference == 0.0:
        return 0.0
    return difference / norm if norm else math.inf


def _wide(t):
    if isinstance(t, primset.Tensor):
        t = to_torch(t)
    if t.layout in SPARSE_LAYOUTS:
        t = torch_parts(t)[-1]
    t = t.detach().resolve_conj().resolve_neg()
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def _compare_outputs(c, tape, theirs, ours, in_double):
    for name, ref in tape.outputs.items():
        e, a, exact = theirs.value(ref), ours.value(ref), in_double[name]
        c.outputs[name] = Difference(relative_difference(e, a), relative_difference(exact, a),
                                     relative_difference(exact, e))
    own = max(d.torch_from_double for d in c.outputs.values())
    for name, d in c.outputs.items():
        if not (d.from_torch <= LIMIT or d.from_double <= FAR * own):
            c.problems.append(
                f"{name} is off by {d.from_torch:.1e} of its norm from PyTorch's, at most {LIMIT:.0e} "
                f"is expected, and by {d.from_double:.1e} from what it is in double, PyTorch's "
                f"outputs by at most {own:.1e}")


def _time(c, tape):
    """The two take turns, so that what else the machine does hits both. What the comparison did has
    compiled the kernels."""
    seconds = {TorchPlayer: [], PrimsetPlayer: []}
    for _ in range(PAIRS):
        for kind, taken in seconds.items():
            player = kind(tape)
            for step in tape.steps:
                player.play(step)
            player.wait()
            taken.append(player.seconds)
    c.torch_seconds, c.primset_seconds = map(statistics.median, seconds.values())
