"""A template's call at other sizes.

Each size greater than 1 is a symbol: dims that have the same size keep having the same, and so do
numbers of the call that say a size. The symbols of the largest tensor take what a shape says, the
others grow with them.
"""

import dataclasses
import math

from .templates import TensorArg

# Arguments whose integers are sizes of tensors.
_SIZES = {"size", "sizes", "output_size", "input_size", "input_sizes", "self_sizes",
          "normalized_shape", "shape", "num_weights", "num_classes", "num_samples", "n", "steps",
          "split_size", "split_sizes", "end", "window_length", "N", "C", "HxW", "dim_size"}
# How the elements are shared out among the dims: many short rows, few long ones, as many of either.
SHAPES = ("even", "short rows", "long rows")
SHORT = 8


@dataclasses.dataclass(frozen=True)
class Scaled:
    """What a call's arguments are: tensors as TensorArg with their new sizes, integers at theirs."""

    args: tuple
    sizes: dict  # symbol -> size
    elements: int  # of the largest tensor


def scaled(template, elements, shape="even", fixed=()):
    """The call with about so many elements in its largest tensor; None where the shape is another's.

    `fixed`: symbols that keep their size, such as a kernel's width.
    """
    tensors = [a for a in flat(template.args) if isinstance(a, TensorArg)]
    if tensors:
        largest = max(tensors, key=lambda a: math.prod(a.sizes))
        free = [s for s in largest.sizes if s > 1 and s not in fixed]
    else:  # what is created has the sizes that the call names
        free = [s for s in _named_sizes(template) if s > 1 and s not in fixed]
    if not free:
        return None
    kept = math.prod(s for s in (largest.sizes if tensors else free) if s in fixed)
    sizes = shared_out(free, max(1, elements // max(1, kept)), shape)
    if sizes is None:
        return None
    growth = math.exp(sum(math.log(n / s) for s, n in sizes.items()) / len(sizes))
    for s in {s for a in tensors for s in a.sizes} | set(_named_sizes(template)):
        if s > 1 and s not in sizes:
            sizes[s] = s if s in fixed else max(1, round(s * growth))
    args = tuple(_at(a, n, sizes) for a, n in zip(template.args, template.names))
    count = max((math.prod(a.sizes) for a in flat(args) if isinstance(a, TensorArg)),
                default=math.prod(sizes[s] for s in free))
    return Scaled(args, sizes, count)


def shared_out(symbols, elements, shape):
    """Sizes of the symbols of a tensor's dims, which may come up more than once."""
    distinct = list(dict.fromkeys(symbols))
    if shape == "even":
        each = max(2, round(elements ** (1 / len(symbols))))
        sizes = dict.fromkeys(distinct, each)
        if symbols.count(distinct[-1]) == 1:
            rest = each ** (len(symbols) - 1)
            sizes[distinct[-1]] = max(2, elements // rest)
        return sizes
    if len(distinct) < 2 or len(distinct) != len(symbols):
        return None
    long = distinct[0] if shape == "short rows" else distinct[-1]
    sizes = dict.fromkeys(distinct, SHORT)
    sizes[long] = max(2, elements // SHORT ** (len(distinct) - 1))
    return sizes


def flat(args):
    for a in args:
        if isinstance(a, (list, tuple)):
            yield from flat(a)
        else:
            yield a


def _named_sizes(template):
    for a, name in zip(template.args, template.names):
        if name in _SIZES:
            yield from (x for x in flat([a]) if isinstance(x, int) and not isinstance(x, bool))


def _at(a, name, sizes):
    if isinstance(a, TensorArg):
        return dataclasses.replace(a, sizes=tuple(sizes.get(s, s) for s in a.sizes),
                                   values=_values_at(a, sizes))
    if isinstance(a, list):
        return [_at(x, name, sizes) for x in a]
    if name in _SIZES and isinstance(a, int) and not isinstance(a, bool):
        return sizes.get(a, a)
    return a


def _values_at(a, sizes):
    """Indices reach as far into their dim as before: what is below a symbol is below its size."""
    if a.dtype not in ("i64", "i32") or not a.values or min(a.values) < 0:
        return a.values
    greatest = max(a.values)
    limit = min((s for s in sizes if s > greatest), default=None)
    if greatest < 1 or limit is None:
        return a.values
    return tuple(v * sizes[limit] // limit for v in a.values)
