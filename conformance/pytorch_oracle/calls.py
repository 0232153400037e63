"""An operator call as data: which overload, with which arguments on which memory.

A Call is what gets recorded, stored, derived from and replayed. Its tensors are geometry on
storages, and a storage is bytes, so that a copy of a call has the same aliasing, strides and offsets
as the original, in PyTorch and in Primset alike.
"""

import ctypes
import hashlib
import pickle
import re
from dataclasses import dataclass, field, replace

import torch
from torch.utils._python_dispatch import _disable_current_modes

# Bigger calls say nothing more about an operator's semantics and cost time.
MAX_STORAGE_BYTES = 1 << 21


# In the origin of a call, and of what is derived from it: Primset is meant to refuse it.
REFUSED = "refused case"


def _of_numbers(operands):
    """Their common dtype; None where PyTorch knows none."""
    try:
        return torch.result_type(*operands)
    except RuntimeError:
        return None


class NotEncodable(Exception):
    """The call has something that no Call can hold: a nested tensor, a module, a huge storage."""


@dataclass(frozen=True)
class TensorRef:
    storage: int
    dtype: torch.dtype
    size: tuple
    stride: tuple
    offset: int
    conj: bool = False
    neg: bool = False


@dataclass(frozen=True)
class SparseRef:
    """A tensor of a sparse layout: indices and values of COO; compressed indices, plain ones and
    values of the others."""

    layout: torch.layout
    size: tuple
    parts: tuple  # of TensorRef
    coalesced: bool = False

    @property
    def dtype(self):
        return self.parts[-1].dtype


@dataclass(frozen=True)
class GeneratorRef:
    seed: int


@dataclass(frozen=True)
class StorageRef:
    storage: int


@dataclass
class Call:
    overload: str  # "add.Tensor"
    args: tuple
    kwargs: dict
    storages: list = field(repr=False)  # of bytes
    source: str = ""  # the OpInfo it came from
    origin: str = "dispatch"  # how: dispatch, composite, error input, or the derivation
    values: str = ""  # the class of value_classes.py that its values are of; empty: the recorded ones

    def with_(self, **changes):
        return replace(self, **changes)

    # --- looking at it -----------------------------------------------------------------------

    def leaves(self):
        yield from _leaves(self.args)
        yield from _leaves(self.kwargs)

    def tensors(self):
        return [x for x in self.leaves() if is_tensor(x)]

    def is_sparse(self):
        """Whether a sparse layout is an argument's or asked for."""
        return any(isinstance(x, SparseRef) or isinstance(x, torch.layout) and x != torch.strided
                   for x in self.leaves())

    def is_empty(self):
        """Whether it has tensors, and none with an element."""
        tensors = self.tensors()
        return bool(tensors) and all(0 in t.size for t in tensors)

    def longest_list(self):
        """How many tensors there are in the longest list of tensors."""
        lists = [x for x in (*self.args, *self.kwargs.values()) if isinstance(x, (list, tuple))]
        return max((sum(map(is_tensor, x)) for x in lists), default=0)

    def dtype(self):
        """The dtype the call is counted under: the first floating or complex tensor's that is read,
        else the first one's, else that of the numbers that are chosen from, else the dtype argument
        or that of an out= tensor."""
        dtypes = [t.dtype for t in self._read()]
        for d in dtypes:
            if d.is_floating_point or d.is_complex:
                return d
        if dtypes:
            return dtypes[0]
        if self.overload == "where.Scalar":
            return _of_numbers(self.args[_operands(self.overload)])
        named = (x for x in self.leaves() if isinstance(x, torch.dtype))
        return next(named, next((t.dtype for t in self.tensors()), None))

    def _read(self):
        from .compare import out_names

        outs = out_names(self.overload)
        args = self.args[_operands(self.overload)]
        kept = {k: v for k, v in self.kwargs.items() if k not in outs}
        return [x for x in _leaves((args, kept)) if is_tensor(x)]

    def key(self):
        """Equal for calls that differ in values only, and these are of one class."""
        what = (self.overload, self.args, sorted(self.kwargs.items()),
                [len(s) for s in self.storages])
        text = repr((*what, self.values) if self.values else what)
        return hashlib.sha1(text.encode()).hexdigest()[:12]

    def describe(self):
        """For people: add.Tensor(f32[2, 3], 2.5, alpha=2)"""
        parts = [_describe(a) for a in self.args]
        parts += [f"{k}={_describe(v)}" for k, v in self.kwargs.items()]
        return f"{self.overload}({', '.join(parts)})"


def is_tensor(x):
    return isinstance(x, (TensorRef, SparseRef))


def _operands(overload):
    """The positional arguments that the operator's dtype is that of."""
    if overload.startswith("where."):
        return slice(1, None)  # not the condition
    if overload.startswith("bernoulli") and ".Tensor" in overload:
        return slice(1)  # not the probabilities
    if MADE_OF_PARTS.match(overload):
        return slice(_position(overload, "values"), None)  # not the indices
    return slice(None)


# Operators that make a sparse tensor of indices and values, or look whether that can be done.
MADE_OF_PARTS = re.compile(r"_?(validate_)?sparse_(coo|compressed|csr|csc|bsr|bsc)_tensor")


def _position(overload, argument):
    """Of a positional argument; 0 where there is none of the name."""
    from .compare import schema

    names = [a.name for a in schema(overload).arguments if not a.kwarg_only]
    return names.index(argument) if argument in names else 0


def _leaves(x):
    if isinstance(x, (list, tuple)):
        for v in x:
            yield from _leaves(v)
    elif isinstance(x, dict):
        for v in x.values():
            yield from _leaves(v)
    else:
        yield x


_SHORT = {"float": "f", "uint": "u", "int": "i", "complex": "c"}


def short_dtype(dtype):
    """torch.float32 -> f32"""
    name = str(dtype).removeprefix("torch.")
    for long, short in (("bfloat", "bf"), ("float8", "f8"), *_SHORT.items()):
        if name.startswith(long):
            return short + name.removeprefix(long)
    return name


def _contiguous(size):
    stride, step = [], 1
    for n in reversed(size):
        stride.append(step)
        step *= max(n, 1)
    return tuple(reversed(stride))


def _describe(x):
    if isinstance(x, TensorRef):
        text = f"{short_dtype(x.dtype)}{list(x.size)}"
        if x.stride != _contiguous(x.size):
            text += f"/{list(x.stride)}"
        if x.offset:
            text += f"@{x.offset}"
        return text + (" conj" if x.conj else "") + (" neg" if x.neg else "")
    if isinstance(x, SparseRef):
        parts = ", ".join(map(_describe, x.parts))
        kind = f"{str(x.layout).removeprefix('torch.sparse_')}{' coalesced' if x.coalesced else ''}"
        return f"{kind} {short_dtype(x.dtype)}{list(x.size)}({parts})"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(_describe(v) for v in x) + "]"
    if isinstance(x, torch.dtype):
        return short_dtype(x)
    return str(x) if not isinstance(x, str) else repr(x)


# --- sparse tensors of PyTorch's ---------------------------------------------------------------

SPARSE_LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr,
                  torch.sparse_bsc)


def part_names(layout):
    """The operators that give the parts, in SparseRef's order."""
    if layout == torch.sparse_coo:
        return "_indices", "_values"
    if layout in (torch.sparse_csr, torch.sparse_bsr):
        return "crow_indices", "col_indices", "values"
    return "ccol_indices", "row_indices", "values"


def sparse_parts(t):
    return [getattr(t, name)() for name in part_names(t.layout)]


def made_sparse(layout, size, parts, coalesced):
    """The tensor of these parts, on their memory, whatever they hold."""
    if layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(*parts, size, is_coalesced=coalesced, check_invariants=False)
    return torch.sparse_compressed_tensor(*parts, size, layout=layout, check_invariants=False)


# --- from live arguments -----------------------------------------------------------------------


class Encoder:
    def __init__(self, limit=MAX_STORAGE_BYTES):
        self.limit = limit
        self.storages = []
        self.positions = {}

    def storage(self, s):
        if s._cdata not in self.positions:
            contents = self.contents(s)
            self.positions[s._cdata] = len(self.storages)
            self.storages.append(contents)
        return self.positions[s._cdata]

    def contents(self, s):
        n = s.nbytes()
        if n > self.limit:
            raise NotEncodable(f"a storage of {n} bytes")
        return ctypes.string_at(s.data_ptr(), n) if n else b""

    def sparse(self, t):
        if t.device.type != "cpu" or t.is_quantized:
            raise NotEncodable(f"a {t.layout} tensor on {t.device}")
        with _disable_current_modes():
            parts = tuple(self.tensor(p.detach()) for p in sparse_parts(t))
            coalesced = t.layout == torch.sparse_coo and t.is_coalesced()
        return SparseRef(t.layout, tuple(t.size()), parts, coalesced)

    def tensor(self, t):
        if t.layout in SPARSE_LAYOUTS:
            return self.sparse(t)
        if t.layout != torch.strided or t.is_quantized or t.device.type != "cpu" or t.is_nested:
            raise NotEncodable(f"a {t.layout} tensor on {t.device}")
        return TensorRef(self.storage(t.untyped_storage()), t.dtype, tuple(t.size()), t.stride(),
                         t.storage_offset(), t.is_conj(), t.is_neg())

    def value(self, x):
        if isinstance(x, torch.Tensor):
            return self.tensor(x)
        if isinstance(x, (list, tuple)):
            return type(x)(self.value(v) for v in x) if type(x) in (list, tuple) else tuple(
                self.value(v) for v in x)
        if isinstance(x, torch.Generator):
            return GeneratorRef(x.initial_seed())
        if isinstance(x, torch.UntypedStorage):
            return StorageRef(self.storage(x))
        if isinstance(x, torch.TypedStorage):
            return StorageRef(self.storage(x._untyped_storage))
        if x is None or isinstance(x, (bool, int, float, complex, str, torch.dtype, torch.layout,
                                       torch.memory_format)):
            return x
        if isinstance(x, torch.device):
            if x.type != "cpu":
                raise NotEncodable(f"device {x}")
            return x
        raise NotEncodable(f"a {type(x).__name__}")


def encode(overload, args, kwargs, source="", origin="dispatch"):
    e = Encoder()
    encoded = tuple(e.value(a) for a in args)
    named = {k: e.value(v) for k, v in kwargs.items()}
    return Call(overload, encoded, named, e.storages, source, origin)


# --- to live arguments -------------------------------------------------------------------------


class TorchArguments:
    """The call's arguments for PyTorch, on memory of their own."""

    def __init__(self, call):
        self.storages = []
        for data in call.storages:
            s = torch.UntypedStorage(len(data))
            if data:
                ctypes.memmove(s.data_ptr(), data, len(data))
            self.storages.append(s)
        self.made = {}  # one tensor an argument position
        self.args = [self.value(a) for a in call.args]
        self.kwargs = {k: self.value(v) for k, v in call.kwargs.items()}

    def tensor(self, r):
        t = torch.empty(0, dtype=r.dtype).set_(self.storages[r.storage], r.offset, r.size, r.stride)
        if r.conj:
            t = torch._conj(t)
        if r.neg:
            t = torch._neg_view(t)
        return t

    def value(self, x):
        if isinstance(x, TensorRef):
            return self.tensor(x)
        if isinstance(x, SparseRef):
            parts = [self.tensor(p) for p in x.parts]
            return made_sparse(x.layout, x.size, parts, x.coalesced)
        if isinstance(x, (list, tuple)):
            return type(x)(self.value(v) for v in x)
        if isinstance(x, GeneratorRef):
            return torch.Generator().manual_seed(x.seed)
        if isinstance(x, StorageRef):
            return self.storages[x.storage]
        return x

    def bytes(self, i):
        s = self.storages[i]
        return ctypes.string_at(s.data_ptr(), s.nbytes()) if s.nbytes() else b""


def dump(calls, path):
    temporary = path.parent / f".{path.name}.part"
    with open(temporary, "wb") as f:
        pickle.dump(calls, f, protocol=pickle.HIGHEST_PROTOCOL)
    temporary.rename(path)


def load(path):
    with open(path, "rb") as f:
        return pickle.load(f)
