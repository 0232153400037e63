"""Calls from the conformance suite's own cases, which `primset conform --save-cases` writes: for
overloads that no sample of PyTorch's reaches, and to hold what those cases expect against PyTorch."""

import json
import math
import os
import random
import subprocess
import tempfile
from pathlib import Path

import torch

from .calls import REFUSED, Call, GeneratorRef, SparseRef, StorageRef, TensorRef, short_dtype

FIRST = 3  # of an overload and dtype: kept whatever else is chosen, for they are the plainest


def base_names():
    import primset

    return sorted({name.partition(".")[0] for name in primset.operators()})


def program():
    return Path(os.environ["PRIMSET_PYTORCH_ORACLE_PROGRAM"])


def calls_of(base, seed, count):
    """Of every overload and dtype the first cases, and others up to `count`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        subprocess.run([program(), "conform", "--save-cases", path, "--tier", "standard",
                        "--filter", base, "--filter", base + ".*", "--seed", str(seed)], check=True,
                       timeout=280, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(path) as lines:
            groups = {}
            for line in lines:
                kind = json.loads(line)["id"].rpartition(";case=")[0]
                groups.setdefault(kind, []).append(line)
    rng = random.Random(repr((seed, base)))
    for group in groups.values():
        rest = group[FIRST:]
        for line in group[:FIRST] + rng.sample(rest, min(len(rest), max(0, count - FIRST))):
            call = to_call(json.loads(line))
            if call is not None:
                yield call


def to_call(case):
    """None for a case that PyTorch cannot be given as it is."""
    from .compare import schema

    overload, _, parameters = case["id"].partition(":")
    made = _Arguments()
    try:
        values = [made.value(v) for v in case["args"]]
        arguments = schema(overload).arguments
    except (_NotForPyTorch, AttributeError, RuntimeError):
        return None
    # A storage stands in a case as a tensor on it.
    values = [StorageRef(v.storage) if str(a.type) == "Storage" else v
              for a, v in zip(arguments, values)]
    args = [v for a, v in zip(arguments, values) if not a.kwarg_only]
    named = {a.name: v for a, v in zip(arguments, values) if a.kwarg_only}
    # PyTorch's Python functions pass on the dtype of a sparse tensor's values where none is named; the
    # overloads below them take None for the default dtype, and refuse values of another.
    if overload.startswith(("sparse_", "_sparse_")) and "values" in (a.name for a in arguments):
        given = dict(zip((a.name for a in arguments), values))
        if "dtype" in named and named["dtype"] is None:
            named["dtype"] = given["values"].dtype
    origin = REFUSED if "expected_error" in case else "case"
    return Call(overload, tuple(args), named, [bytes.fromhex(s) for s in case["storages"]],
                "case", f"{origin} {parameters}")


class _NotForPyTorch(Exception):
    pass


_DTYPES = {short_dtype(d): d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_FORMATS = (torch.contiguous_format, torch.preserve_format, torch.channels_last,
            torch.channels_last_3d)
_BOOLEAN, _INTEGER, _FLOATING = range(3)  # kinds of numbers


class _Arguments:
    """The alternatives of an argument by tag, as conformance/cases/inputs/serialize.h has them."""

    def value(self, v):
        if v is None:
            return None
        tag = next(t for t in v if t != "offset")
        return getattr(self, "_" + tag)(v[tag], v)

    def _tensor(self, t, _=None):
        if t["wrapped"]:
            raise _NotForPyTorch("a number in the place of a tensor")
        if "layout" in t:
            parts = tuple(self._tensor(p) for p in t["parts"])
            return SparseRef(getattr(torch, t["layout"]), tuple(t["sizes"]), parts, t["coalesced"])
        return TensorRef(t["storage"], _DTYPES[t["dtype"]], tuple(t["sizes"]), tuple(t["strides"]),
                         t["offset"], t["conj"], t["neg"])

    def _tensors(self, list_, _):
        return [None if t is None else self._tensor(t) for t in list_]

    def _scalar(self, s, _=None):
        if s["kind"] == _BOOLEAN:
            return bool(s["integer"])
        if s["kind"] == _INTEGER:
            return s["integer"]
        re, im = _number(s["re"]), _number(s["im"])
        return re if s["kind"] == _FLOATING else complex(re, im)

    def _scalars(self, list_, _):
        return [self._scalar(s) for s in list_]

    def _plain(self, v, _):
        return v

    _int = _ints = _bool = _bools = _string = _plain
    _float, _floats = _scalar, _scalars

    def _dtype(self, name, _):
        return _DTYPES[name]

    def _layout(self, name, _):
        return getattr(torch, name)

    def _memory_format(self, i, _):
        return _FORMATS[i]

    def _device(self, _, __):
        return torch.device("cpu")

    def _seed(self, seed, v):
        return GeneratorRef(seed)  # where it stands has no meaning in PyTorch's generator

    def _out(self, *_):
        raise _NotForPyTorch("out= tensors are made where results are known")


def _number(text):
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.copysign(math.inf, -1.0 if text.startswith("-") else 1.0)
