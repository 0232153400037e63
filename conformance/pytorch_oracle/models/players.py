"""Play a tape: each call gets the tensors that the player's own earlier calls made."""

import math
import time

import primset
import torch

from ..calls import Call, Encoder, TorchArguments, is_tensor
from ..calls import sparse_parts as torch_parts
from ..compare import flatten, torch_overload
from ..primset_side import PrimsetArguments, sparse_parts
from .tape import changes_geometry, parts_of


class _Player:
    """Storages and tensors of a tape by what it calls them. The other base class makes arguments."""

    def __init__(self, tape):
        self.storages = {i: self.load(data) for i, data in enumerate(tape.storages)
                         if data is not None}
        self.made = {}  # the tensors that calls returned
        self.on = {}  # storage -> what of `made` is on it
        self.seconds = 0.0  # in calls

    def value(self, x):
        if is_tensor(x) and x in self.made:
            return self.made[x]
        return super().value(x)

    def play(self, step):
        args = [self.value(a) for a in step.args]
        kwargs = {k: self.value(v) for k, v in step.kwargs.items()}
        started = time.perf_counter()
        result = self.invoke(step.overload, args, kwargs)
        self.seconds += time.perf_counter() - started
        if changes_geometry(step):
            self.made.pop(step.args[0], None)
        for ref, t in zip(flatten(step.results), flatten(result), strict=True):
            if is_tensor(ref):
                self._keep(ref, t)
        self._release(step.releases)
        return result

    def _keep(self, ref, tensor):
        self.made[ref] = tensor
        parts = self.parts(tensor) if ref not in parts_of(ref) else [tensor]
        for part_ref, part in zip(parts_of(ref), parts):
            self.storages.setdefault(part_ref.storage, self.storage_of(part))
            self.on.setdefault(part_ref.storage, []).append(ref)

    def _release(self, storages):
        for i in storages:
            self.storages.pop(i, None)
            for ref in self.on.pop(i, ()):
                self.made.pop(ref, None)


class TorchPlayer(_Player, TorchArguments):
    parts = staticmethod(torch_parts)

    def load(self, data):
        s = torch.UntypedStorage(len(data))
        if data:
            torch.tensor([], dtype=torch.uint8).set_(s).copy_(
                torch.frombuffer(bytearray(data), dtype=torch.uint8))
        return s

    def storage_of(self, t):
        return t.untyped_storage()

    def invoke(self, overload, args, kwargs):
        with torch.no_grad():
            return torch_overload(overload)(*args, **kwargs)

    def wait(self):
        pass

    def call(self, step, source):
        """The step as a call of its own, on copies of this player's tensors as they are now."""
        e = Encoder(limit=math.inf)
        args = tuple(e.value(self.value(a)) for a in step.args)
        kwargs = {k: e.value(self.value(v)) for k, v in step.kwargs.items()}
        return Call(step.overload, args, kwargs, e.storages, source, "model")


class PrimsetPlayer(_Player, PrimsetArguments):
    """Plays on the device of the scope."""

    parts = staticmethod(sparse_parts)

    def load(self, data):
        return primset.tensor(data).storage()

    def storage_of(self, t):
        return t.storage()

    def invoke(self, overload, args, kwargs):
        return primset.invoke(overload, *args, **kwargs)

    def wait(self):
        started = time.perf_counter()
        primset.synchronize()
        self.seconds += time.perf_counter() - started
