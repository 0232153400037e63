"""A run of PyTorch as data: its calls of ATen's operators in their order, and the memory it began with.

A tensor is written down as its geometry on a storage (calls.TensorRef). So it does not matter that
autograd hands the same tensor on as another object, and views and in-place calls are what they were.
"""

import math
from dataclasses import dataclass, field

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..calls import Encoder, SparseRef, is_tensor
from ..compare import flatten
from ..expectations import is_random
from ..record import overload_name


class NotRecordable(Exception):
    """The run does what another one cannot repeat."""


@dataclass
class Step:
    overload: str
    args: tuple
    kwargs: dict
    results: object = None
    releases: tuple = ()  # storages that no later step and no output needs

    def refs(self):
        """Of all tensors in it, those of a sparse tensor one by one."""
        for x in flatten([self.args, list(self.kwargs.values()), self.results]):
            yield from parts_of(x)


@dataclass
class Tape:
    steps: list = field(default_factory=list)
    storages: list = field(default_factory=list)  # bytes; None where a step makes it
    outputs: dict = field(default_factory=dict)  # name -> the tensor

    def count_overloads(self):
        return len({s.overload for s in self.steps})


def parts_of(ref):
    if isinstance(ref, SparseRef):
        return ref.parts
    return (ref,) if is_tensor(ref) else ()


class _Memory(Encoder):
    """Numbers storages as they turn up: what an argument is on was there before with its contents,
    what a result is on was made by the call."""

    def __init__(self):
        super().__init__(limit=math.inf)
        self.alive = []  # else an address would come back as another storage's
        self.is_new = False

    def contents(self, s):
        self.alive.append(s)
        return None if self.is_new else super().contents(s)


class _Recording(TorchDispatchMode):
    def __init__(self, tape, memory):
        super().__init__()
        self.tape, self.memory = tape, memory

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = overload_name(func)
        if name is None:
            raise NotRecordable(f"{func} is no operator of ATen's")
        step = Step(name, self.memory.value(tuple(args)),
                    {k: self.memory.value(v) for k, v in kwargs.items()})
        if is_random(step):
            raise NotRecordable(f"{name} draws random numbers")
        result = func(*args, **kwargs)
        self.memory.is_new = True
        step.results = self.memory.value(result)
        self.memory.is_new = False
        self.tape.steps.append(step)
        return result


def record(run):
    """The tape of run(), which returns its outputs by name."""
    tape, memory = Tape(), _Memory()
    with _Recording(tape, memory):
        outputs = run()
    tape.outputs = {name: memory.tensor(t.detach()) for name, t in outputs.items()}
    tape.storages = memory.storages
    _find_releases(tape)
    return tape


def _find_releases(tape):
    """A storage is released by the last step that names it."""
    seen = {p.storage for ref in tape.outputs.values() for p in parts_of(ref)}
    for step in reversed(tape.steps):
        named = {ref.storage for ref in step.refs()}
        step.releases = tuple(named - seen)
        seen |= named


def changes_geometry(step):
    """Whether its first argument is another view of its memory afterwards, as that of transpose_."""
    from ..compare import torch_overload

    return torch.Tag.inplace_view in torch_overload(step.overload).tags
