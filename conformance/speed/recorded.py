"""The calls that speed cases are made of: the conformance suite's own, as `primset conform
--save-cases` writes them. They reach every operator, an operator of someone else too, and their sizes
are small and different from each other, so that it can be told which belong together.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import struct
import subprocess
import tempfile

from .case_text import Tensor, Word, parsed, tensors_of

# Cases that are there for what is unusual about them.
_UNUSUAL = ("empty", "special", "mismatch", "bad_", "wrong", "nothing", "huge", "overlap",
            "scalar", "misfit", "rank", "zero_dim")
_FORMATS = {"f32": "f", "f64": "d", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B",
            "c64": "f"}
# The element types that operators are looked for in, until each has a call.
DTYPES = ("f32", "i64", "c64")
LISTS = {"foreach", "fused_optimizer"}
LIST_LENGTH = 32  # tensors in a list of a network's parameters
MOST = 4.0  # values of a domain that reaches further are as far from 0


@dataclasses.dataclass(frozen=True)
class Template:
    overload: str
    dtype: str  # that T stands for
    arguments: dict

    @property
    def rank(self):
        return max((len(t.sizes) for t in tensors_of(self.arguments)), default=0)


def read(program):
    """All operators by name, and the templates of each, the most usual first."""
    operators = {x["name"]: x for x in json.loads(_output(program, "ops", "--json"))}
    found = {}
    for dtype in DTYPES:
        taken = {}
        for case in _cases(program, dtype):
            overload, _, rest = case["id"].partition(":")
            if overload in operators and overload not in found and _is_usual(case, rest):
                made = template(operators[overload], dtype, case)
                if made is not None:
                    taken.setdefault(overload, []).append(made)
        found.update(taken)
    return operators, found


def _cases(program, dtype):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cases.jsonl"
        _output(program, "conform", "--device", "reference", "--tier", "smoke", "--dtype", dtype,
                "--save-cases", path)
        with open(path) as f:
            yield from map(json.loads, f)


def _output(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def _is_usual(case, rest):
    name = rest.split("case=")[-1].split(";")[0]
    return (not case["expected"] and not case["graph"] and ";layout=" not in rest
            and not name.startswith(_UNUSUAL) and not name.endswith(_UNUSUAL))


def template(operator, dtype, case):
    """None for what has no meaning at another size: a call with out=, a number that is a tensor."""
    arguments = parsed(case["text"])
    if any(isinstance(v, Word) and v.startswith(("out", "wrapped", "&")) for v in arguments.values()):
        return None
    for name, value in arguments.items():
        if isinstance(value, Word) and value.startswith("rng("):
            arguments[name] = None  # each library draws from a generator of its own
    recorded = list(_recorded_tensors(case))
    count = sum(1 for v in arguments.values() for _ in tensors_of(v))
    if count == len(recorded):
        values = iter(recorded)
        arguments = {k: _with_ranges(v, values, case["storages"]) for k, v in arguments.items()}
    if operator["family"] in LISTS:
        arguments = lengthened(arguments, LIST_LENGTH)
    return Template(operator["name"], dtype, arguments)


def _recorded_tensors(case):
    for a in case["args"]:
        if a and "tensor" in a:
            yield a["tensor"]
        elif a and "tensors" in a:
            yield from (t for t in a["tensors"] if t is not None)


def _with_ranges(value, recorded, storages):
    """Tensors that are filled as the operator's domain asks for get that as a range."""
    if isinstance(value, tuple):
        return tuple(_with_ranges(v, recorded, storages) for v in value)
    if not isinstance(value, Tensor):
        for _ in tensors_of(value):
            next(recorded)
        return value
    range_ = _range(next(recorded), storages)
    return dataclasses.replace(value, fill=range_) if range_ and not value.fill else value


def _range(t, storages):
    code = _FORMATS.get(t["dtype"])
    if not code or t.get("layout") or not math.prod(t["sizes"]):
        return ""
    parts = 2 if t["dtype"] == "c64" else 1
    size = parts * struct.calcsize(code)
    count = parts * (1 + sum((n - 1) * s for n, s in zip(t["sizes"], t["strides"])))
    data = bytes.fromhex(storages[t["storage"]])
    values = [x for x in struct.unpack_from(f"<{count}{code}", data, t["offset"] * size)
              if math.isfinite(x)]
    if not values:
        return ""
    low, high = min(values), max(values)
    if code in "fd":
        low = max(low, -MOST) if low < MOST else low
        high = min(high, MOST) if high > -MOST else high
        return f"{low:.3g}..{max(high, low + 1e-3):.3g}"
    without_zero = "" if 0 in values or low > 0 else "!0"
    return f"{low}..{high + 1}{without_zero}"


def lengthened(arguments, length):
    """The same with that many tensors in each list; numbers that go with them, too."""
    counts = {len(v) for v in arguments.values() if isinstance(v, tuple) and v}
    if len(counts) != 1:
        return arguments
    (old,) = counts
    out = {}
    for name, value in arguments.items():
        if isinstance(value, tuple) and value:
            value = (value[0],) * length
        elif isinstance(value, list) and len(value) == old:
            value = [value[i % old] for i in range(length)]
        elif isinstance(value, Tensor) and value.sizes == (old,):
            value = dataclasses.replace(value, sizes=(length,))
        out[name] = value
    return out
