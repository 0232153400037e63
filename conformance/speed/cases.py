"""Which calls are timed: of every operator, over sizes, element types, layouts and dims."""

import dataclasses

from . import scaling
from .arguments import Request, function, made

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
USUAL = 1 << 20
OTHER_DTYPES = ("f16", "f64", "i64", "bool", "c64", "u8")
OTHER_LAYOUTS = ("transposed", "sliced", "broadcast")
# Overloads that only read what a tensor is.
NOT_TIMED = {"query": "reads what a tensor is", "view": "makes a view: no element is touched"}


@dataclasses.dataclass(frozen=True)
class Case:
    overload: str
    template: int  # which of the overload's
    elements: int
    dtype: str = "f32"
    layout: str = "contiguous"
    shape: str = "even"
    dim: int | None = None  # of the arguments named so
    out: bool = False

    @property
    def id(self):
        parts = [f"n=2^{self.elements.bit_length() - 1}", self.dtype]
        parts += [self.layout] if self.layout != "contiguous" else []
        parts += [self.shape] if self.shape != "even" else []
        parts += [f"dim={self.dim}"] if self.dim is not None else []
        parts += ["out="] if self.out else []
        return f"{self.overload}: {', '.join(parts)}"


def of(torch, operator, index, template, has_out):
    """The cases of an overload by one of its templates."""
    takes = set(operator["dtypes"]) or {"f32"}
    case = lambda **changes: Case(operator["name"], index, **{"elements": USUAL, **changes})
    out = [case(elements=n) for n in SIZES]
    out += [case(elements=n, dtype="bf16") for n in SIZES[2:] if "bf16" in takes]
    out += [case(dtype=d) for d in OTHER_DTYPES if d in takes]
    out += [case(layout=x) for x in OTHER_LAYOUTS if any_of_rank(template, 2)]
    if "dim" in template.names and any_of_rank(template, 2):
        out += [case(shape=s, dim=d) for s in scaling.SHAPES for d in (0, -1)]
    out += [case(elements=n, out=True) for n in SIZES[2:] if has_out]
    taken = {}  # whether sizes fit does not depend on the element type, nor on how many there are
    for c in out:
        key = (c.layout, c.shape, c.dim)
        if key not in taken:
            taken[key] = is_call(torch, template, dataclasses.replace(c, elements=SIZES[1], dtype="f32"))
    return [c for c in out if taken[c.layout, c.shape, c.dim]]


def any_of_rank(template, rank):
    return any(len(a.sizes) >= rank for a in scaling.flat(template.args) if hasattr(a, "sizes"))


def at(template, case):
    """The template's call in the size and shape of a case; None where it has no such shape."""
    if case.dim is not None:
        args = tuple(with_dim(a, case.dim) if n == "dim" else a
                     for a, n in zip(template.args, template.names))
        template = dataclasses.replace(template, args=args)
    return scaling.scaled(template, case.elements, case.shape)


def with_dim(argument, dim):
    return [dim] if isinstance(argument, list) else dim


def is_call(torch, template, case):
    """Whether PyTorch takes the call, as far as sizes go. What it has no shape function of is tried
    when its time comes."""
    call = at(template, case)
    if call is None:
        return False
    try:
        positional, named = made(torch, template, call, Request(case.dtype, case.layout), "meta")
        function(torch, template.overload)(*positional, **named)
    except NotImplementedError:
        pass
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, KeyError):
        return False
    return True
