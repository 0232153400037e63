"""Which calls are timed: of every operator, over sizes, element types, layouts and dims.

Every operator has the usual cases. Families where the place of the elements decides about speed have
all shapes and dims besides, and operators that networks spend their time in have all that there is.
Calls whose sizes depend on each other (a convolution's, a factorization's) stand in calls/
"""

from __future__ import annotations

import dataclasses
import re

from . import scaling
from .case_text import text_of

SMALL, USUAL, LARGE = 1 << 16, 1 << 20, 1 << 24
SIZES = (1 << 10, SMALL, USUAL, LARGE)
OTHER_DTYPES = ("f16", "f64", "i64", "bool", "c64", "u8")
LAYOUTS = ("transposed", "sliced", "broadcast")
# Families in which it matters how rows and columns lie.
WIDE = {"reduction", "scan", "sort_and_search", "indexing", "rearrange", "view_copy", "copy_and_cast"}


@dataclasses.dataclass(frozen=True)
class Case:
    overload: str
    family: str
    label: str  # of the sizes: a power of two, a shape, or the table's name of a row
    text: str  # the call: see case_text.py
    dtype: str  # that T stands for
    layout: str = "contiguous"
    dim: int | None = None
    out: str = ""  # the overload that writes results into memory given
    check: str = "values"  # how results are compared: see checks.py

    @property
    def id(self):
        parts = [self.label, self.dtype]
        parts += [self.layout] if self.layout != "contiguous" else []
        parts += [f"dim={self.dim}"] if self.dim is not None else []
        parts += ["out="] if self.out else []
        return f"{self.overload}: {', '.join(parts)}"

    def as_json(self):
        return {**dataclasses.asdict(self), "id": self.id}

    @staticmethod
    def from_json(x):
        return Case(**{f.name: x[f.name] for f in dataclasses.fields(Case)})


@dataclasses.dataclass(frozen=True)
class Wish:
    """A case that an operator is to have, if PyTorch takes the call."""

    goal: object  # a number of elements, or a name of scaling.SHAPES
    dtype: str
    layout: str = "contiguous"
    dim: int | None = None
    out: bool = False

    @property
    def label(self):
        return self.goal if self.goal in scaling.SHAPES else f"2^{self.goal.bit_length() - 1}"

    @property
    def kind(self):
        """What PyTorch takes or not, whatever the size."""
        return (self.dtype, self.layout, self.dim, self.out)


def wishes(operator, dtype, has_out, is_full):
    """Of an operator whose calls are recorded in `dtype`."""
    claimed = set(operator["dtypes"]) or {dtype}
    half = dtype == "f32" and "bf16" in claimed
    wide = operator["family"] in WIDE
    sizes = SIZES if is_full else SIZES[1:]
    yield from (Wish(n, dtype) for n in sizes)
    if half:
        yield from (Wish(n, "bf16") for n in (sizes if is_full else (USUAL,)))
    if wide or is_full:
        yield from (Wish(USUAL, d) for d in OTHER_DTYPES if d in claimed and d != dtype)
        yield from (Wish(USUAL, dtype, layout=x) for x in LAYOUTS)
    if is_full:
        yield from (Wish(LARGE, dtype, layout=x) for x in LAYOUTS)
    if wide or is_full or operator["family"] == "activation":
        yield from (Wish(s, dtype, dim=d) for s in scaling.SHAPES for d in dims_of(s))
    if has_out:
        yield from (Wish(n, dtype, out=True) for n in ((USUAL, LARGE) if is_full else (USUAL,)))


def dims_of(shape):
    return (0, 1, -1) if len(scaling.SHAPES[shape]) == 3 else (0, -1)


def call_for(operator, template, wish, goal):
    """The arguments of a wish at a size of `goal`; None where the template has no such form."""
    arguments = template.arguments
    rank = template.rank
    if wish.layout != "contiguous" and rank < 2:
        return None
    if wish.dim is not None:
        old = dim_in(operator, arguments)
        if old is None or rank < 2:
            return None
        if wish.goal in scaling.SHAPES and rank < len(scaling.SHAPES[wish.goal]):
            arguments, rank = scaling.raised(arguments), rank + 1
            old = old if old < 0 else old + 1
        arguments = scaling.with_dim(arguments, old, wish.dim)
    return scaling.scaled(arguments, goal)


def dim_in(operator, arguments):
    """The dim that a call goes along; None where it goes along none, or several."""
    if "dim" in arguments:
        value = arguments["dim"]
        if isinstance(value, list):
            return value[0] if len(value) == 1 and isinstance(value[0], int) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    default = re.search(r"\bint dim=(-?\d+)", operator["schema"])
    return int(default[1]) if default else None


def case_of(operator, template, wish, check, out):
    arguments = call_for(operator, template, wish, wish.goal)
    if arguments is None:
        return None
    return Case(operator["name"], operator["family"], wish.label, text_of(arguments), wish.dtype,
                wish.layout, wish.dim, out if wish.out else "", check)


def best_template(templates):
    """One of two dims or more, so that there are layouts, else the first."""
    return next((t for t in templates if 2 <= t.rank <= 4), templates[0])
