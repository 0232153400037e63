"""Records the overload calls below PyTorch's Python functions.

Two modes watch a function run. The dispatch mode sees every call that reaches a kernel; the function
mode sees the Python call above it, which names the overload of a composite operator. Running
backward under both reaches the overloads that only autograd calls.
"""

import torch
from torch.jit._builtins import _find_builtin
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .calls import NotEncodable, encode


def overload_name(op):
    """aten.add.Tensor -> add.Tensor; None for what is not ATen's."""
    if op.namespace != "aten":
        return None
    base = op._schema.name.removeprefix("aten::")
    return f"{base}.{op._schema.overload_name}" if op._schema.overload_name else base


class Recorder:
    """with recorder.of("add"): runs functions; recorder.calls has what they called."""

    def __init__(self):
        self.calls = []
        self.not_encodable = {}
        self.seen = set()
        self.source = ""
        self.origin = None

    def add(self, overload, args, kwargs, origin):
        try:
            call = encode(overload, args, kwargs, self.source, self.origin or origin)
        except NotEncodable as why:
            self.not_encodable.setdefault(overload, str(why))
            return
        key = call.key()
        if key not in self.seen:
            self.seen.add(key)
            self.calls.append(call)

    def of(self, source, origin=None):
        self.source, self.origin = source, origin
        return _Modes(self)


class _Modes:
    def __init__(self, recorder):
        self.modes = [_Dispatch(recorder), _Function(recorder)]

    def __enter__(self):
        for m in self.modes:
            m.__enter__()

    def __exit__(self, *error):
        for m in reversed(self.modes):
            m.__exit__(*error)


class _Dispatch(TorchDispatchMode):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = overload_name(func)
        if name and name != "detach":
            self.recorder.add(name, args, kwargs, "dispatch")
        return func(*args, **kwargs)


class _Function(TorchFunctionMode):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        call = _resolve(func, args, kwargs)
        if call:
            with torch._C.DisableTorchFunction():
                self.recorder.add(*call, "composite")
        return func(*args, **kwargs)


def _resolve(func, args, kwargs):
    """The overload that a Python function stands for, with its arguments; None where there is none."""
    name = (_find_builtin(func) or getattr(func, "__name__", "")).removeprefix("aten::")
    if not name or name.startswith("__") or not hasattr(torch.ops.aten, name):
        return None
    try:
        overload = torch._C._jit_resolve_packet("aten::" + name, *args, **kwargs)
    except Exception:
        return None
    return (name if overload == "default" else f"{name}.{overload}", args, kwargs)
