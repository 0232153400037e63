"""Calls to take speed cases from: the conformance suite's own, one JSON line each, as
`primset conform --save-cases` writes them. They reach every operator, an operator of someone else too,
and their sizes are small and different from each other, so that it can be told which belong together.
"""

import dataclasses
import json
import math
import pathlib
import struct
import subprocess
import tempfile

# Cases that are there for what is unusual about them.
_UNUSUAL = ("empty", "special", "mismatch", "bad_", "wrong", "nothing", "huge", "large", "overlap",
            "scalar", "none", "misfit", "rank")
_FORMATS = {"f32": "f", "f64": "d", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B",
            "bool": "?", "f16": "e", "u16": "H", "u32": "I", "u64": "Q"}


@dataclasses.dataclass(frozen=True)
class TensorArg:
    dtype: str
    sizes: tuple
    values: tuple  # numbers, in memory's order; empty where the dtype is not one of struct's


@dataclasses.dataclass(frozen=True)
class Template:
    overload: str
    family: str
    case: str
    dtype: str  # of the case: tensors of it may take another, others keep theirs
    args: tuple  # TensorArg, a list of them, int, float, bool, complex, str or None
    names: tuple  # of the schema
    types: tuple


def read(program, dtype="f32", tier="smoke"):
    """Templates by overload, the most usual case first."""
    operators = {x["name"]: x for x in json.loads(_output(program, "ops", "--json"))}
    found = {}
    for case in _cases(program, dtype, tier):
        overload, _, rest = case["id"].partition(":")
        if overload not in operators or not is_usual(case, rest):
            continue
        made = template(operators[overload], dict(x.split("=") for x in rest.split(";")), case)
        if made is not None:
            found.setdefault(overload, []).append(made)
    return operators, found


def _cases(program, dtype, tier):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cases.jsonl"
        _output(program, "conform", "--device", "reference", "--tier", tier, "--dtype", dtype,
                "--save-cases", path)
        with open(path) as f:
            yield from map(json.loads, f)


def _output(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def is_usual(case, rest):
    name = rest.split("case=")[-1].split(";")[0]
    return (not case["expected"] and not case["graph"] and ";layout=" not in rest
            and not any(name.startswith(x) or name.endswith(x) for x in _UNUSUAL))


def template(operator, parts, case):
    names, types = arguments_of(operator["schema"])
    try:
        args = tuple(_decoded(a, case["storages"]) for a in case["args"])
    except NotImplementedError:  # sparse tensors, generators, storages
        return None
    return Template(operator["name"], operator["family"], parts.get("case", ""),
                    parts.get("dtype", ""), args, names[:len(args)], types[:len(args)])


def arguments_of(schema):
    """Names and types of a schema's arguments, in order."""
    inside = schema[schema.index("(") + 1:schema.rindex(") ->")]
    found = [a.split("=")[0].rsplit(" ", 1) for a in _split(inside) if a not in ("*", "")]
    return tuple(a[1] for a in found), tuple(a[0] for a in found)


def _split(text):
    """At commas that are in no brackets."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            out.append("")
        else:
            out[-1] += c
    return [x.strip() for x in out]


def _decoded(a, storages):
    if a is None or "seed" in a:  # PyTorch's generators are not ours: both draw from their default one
        return None
    (kind, x), = a.items()
    if kind == "tensor":
        return _tensor(x, storages)
    if kind == "tensors":
        return [None if t is None else _tensor(t, storages) for t in x]
    if kind in ("scalar", "float"):
        return _number(x)
    if kind in ("scalars", "floats"):
        return [_number(v) for v in x]
    if kind in ("int", "ints", "bool", "bools", "string", "dtype"):
        return x if kind != "dtype" else Dtype(x)
    if kind == "device":
        return None
    raise NotImplementedError(kind)


class Dtype(str):
    """The name of an element type, as an argument."""


def _number(x):
    real, imaginary = float.fromhex(x["re"]), float.fromhex(x["im"])
    if x["kind"] == 0:
        return bool(real)
    if x["kind"] == 1:
        return x["integer"]
    return real if x["kind"] == 2 else complex(real, imaginary)


def _tensor(t, storages):
    if t.get("layout"):
        raise NotImplementedError("a sparse tensor")
    code = _FORMATS.get(t["dtype"])
    values = ()
    if code and math.prod(t["sizes"]):
        data = bytes.fromhex(storages[t["storage"]])
        size = struct.calcsize(code)
        count = 1 + sum((n - 1) * s for n, s in zip(t["sizes"], t["strides"]))
        values = struct.unpack_from(f"<{count}{code}", data, t["offset"] * size)
    return TensorArg(t["dtype"], tuple(t["sizes"]), values)
