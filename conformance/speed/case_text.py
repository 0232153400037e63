"""Calls as text: the language of the conformance suite's cases, read and written.

    self=T[1024,1024]{positive} dim=[0,-1] mode="trunc" tensors=(T[3],T[4]) other=none

conformance/cases/inputs/case_text.h says what each part means. Here a list may also say how often a
tensor comes, (32*T[1000]), and numbers that count may do so in steps, {counted*20}.

A value is read as a Tensor, a Sparse, a tuple of tensors, a list of numbers, a number, a bool, None, a
str (in quotes) or a Word (what is left: element types, layouts, "here"). `text_of(parsed(text))` is the
text again.
"""

from __future__ import annotations

import dataclasses
import math
import re

ELEMENT_TYPES = ("T", "R", "C", "A")  # the case's own; its real, complex and accumulating partner
_TENSOR = re.compile(r"([A-Za-z0-9]+)\[([-0-9,\s]*)\](?:@(\w+))?(?:\{(.*)\})?(?:@(\w+))?$")
_SPARSE = re.compile(r"(coo|csr|csc|bsr|bsc)\((.*)\)$")


class Word(str):
    """A word without quotes: `f32`, `csr`, `here`, `&self`."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    dtype: str  # T, R, C, A or the name of an element type
    sizes: tuple
    fill: str = ""
    layout: str = ""

    def __str__(self):
        return (f"{self.dtype}[{','.join(map(str, self.sizes))}]"
                + (f"@{self.layout}" if self.layout else "")
                + (f"{{{self.fill}}}" if self.fill else ""))

    @property
    def elements(self):
        return math.prod(self.sizes)


@dataclasses.dataclass(frozen=True)
class Sparse:
    layout: str
    tensor: Tensor
    options: tuple = ()  # (name, text) each

    def __str__(self):
        more = "".join(f",{k}={v}" if v else f",{k}" for k, v in self.options)
        return f"{self.layout}({self.tensor}{more})"


def split(text, separator):
    """At separators that are in no bracket and no quote."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in [*parts, text[start:].strip()] if p]


def parsed(text):
    """The arguments by name, in order. What is about results, `->strided` and `!index`, is left out."""
    out = {}
    for part in split(text, " "):
        if part.startswith(("->", "!")):
            continue
        name, sign, value = part.partition("=")
        if not sign:
            raise ValueError(f"'{part}' in '{text}': expected name=value")
        out[name] = value_of(value)
    return out


def value_of(text):
    if text == "none":
        return None
    if text in ("true", "false"):
        return text == "true"
    if text[0] == '"':
        return text[1:-1]
    if text[0] == "(":
        return tuple(x for p in split(text[1:-1], ",") for x in _repeated(p))
    if text[0] == "[":
        return [value_of(p) for p in split(text[1:-1], ",")]
    sparse = _SPARSE.match(text)
    if sparse:
        first, *rest = split(sparse[2], ",")
        return Sparse(sparse[1], value_of(first), tuple(r.partition("=")[::2] for r in rest))
    tensor = _TENSOR.match(text)
    if tensor:
        sizes = tuple(int(s) for s in tensor[2].split(",") if s.strip())
        return Tensor(tensor[1], sizes, tensor[4] or "", tensor[3] or tensor[5] or "")
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            pass
    return Word(text)


def _repeated(text):
    count, star, value = text.partition("*")
    return [value_of(value)] * int(count) if star and count.isdigit() else [value_of(text)]


def text_of(arguments):
    return " ".join(f"{name}={_written(value)}" for name, value in arguments.items())


def _written(value):
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Word, Tensor, Sparse)):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        if len(value) > 4 and len(set(value)) == 1:
            return f"({len(value)}*{_written(value[0])})"
        return f"({','.join(map(_written, value))})"
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, complex):
        return str(value).strip("()")
    return repr(value)


def tensors_of(value):
    """All Tensors in arguments, those of lists and inside sparse ones too."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Sparse):
        yield value.tensor
    elif isinstance(value, dict):
        for v in value.values():
            yield from tensors_of(v)
    elif isinstance(value, tuple):
        for v in value:
            yield from tensors_of(v)
