"""A call at other sizes.

Each size greater than 1 is a symbol: dims that have the same size keep having the same, and so do
numbers of the call that say a size or the end of a range of indices. The symbols of the largest tensor
take what is asked for, the others grow with them.
"""

from __future__ import annotations

import dataclasses
import math

from .case_text import Sparse, Tensor, tensors_of

# Arguments whose integers are sizes of tensors.
_SIZES = {"size", "sizes", "output_size", "input_size", "input_sizes", "self_sizes",
          "normalized_shape", "shape", "num_weights", "num_classes", "num_samples", "steps", "end",
          "window_length", "split_sizes"}
_SIZES_ALONE = {"n"}  # of a call without tensors; else an order, or a number of places
# How elements are shared out among the dims: by the last two, or three, dims of a tensor.
SHAPES = {"2^20 x 8": (1 << 20, 8), "2^18 x 64": (1 << 18, 64), "8 x 2^20": (8, 1 << 20),
          "1024 x 1024": (1024, 1024), "33 x 77 x 1021": (33, 77, 1021)}


def scaled(arguments, goal):
    """The arguments with a largest tensor of `goal` elements, or of the shape of SHAPES that `goal`
    names; None where they have no tensor or number to scale, or the shape is of another rank."""
    tensors = list(tensors_of(arguments))
    count = most_tensors(arguments)
    largest = max((t for t in tensors if t.sizes != (count,)), key=lambda t: t.elements, default=None)
    dims = [s for s in max([largest.sizes if largest else (), *_named_lists(arguments)], key=math.prod)
            if s > 1]
    if not dims:
        return None
    if isinstance(goal, int):
        goal = max(2, goal // count)
    sizes = shape_of(dims, SHAPES[goal]) if goal in SHAPES else even(dims, goal)
    if sizes is None:
        return None
    known = dict(sizes)
    sizes.setdefault(count, count)  # one number for each tensor of a list
    of_tensors = {s for t in tensors for s in t.sizes}
    products = {math.prod(t.sizes) for t in tensors} - of_tensors
    for s, ratio in _ratios(arguments, largest, known):
        if s > 1 and s not in products:
            sizes.setdefault(s, max(1, round(s * ratio)))
    products = {math.prod(t.sizes): math.prod(sizes.get(s, s) for s in t.sizes) for t in tensors}
    return {name: _at(value, sizes, products, _is_size(name, bool(tensors)))
            for name, value in arguments.items()}


def _ratios(arguments, largest, known):
    """How a symbol that the largest tensor lacks grows: as the dim in the same place of the largest, as
    what its values point into, else as the dims of the largest do on average."""
    tensors = list(tensors_of(arguments))
    ratio = lambda s: known[s] / s if s in known else 1
    for t in tensors:
        if largest and len(t.sizes) == len(largest.sizes):
            yield from zip(t.sizes, map(ratio, largest.sizes))
    for t in tensors:
        end = t.fill.partition("..")[2]
        if end.isdigit() and int(end) in known:
            yield from ((s, ratio(int(end))) for s in t.sizes)
    mean = math.exp(sum(math.log(n / s) for s, n in known.items()) / len(known))
    yield from ((s, mean) for s in _named_sizes(arguments))
    yield from ((s, mean) for t in tensors for s in t.sizes)


def even(dims, elements):
    """Powers of two, as equal as they can be, the last the greatest."""
    sizes, left = {}, elements.bit_length() - 1
    for i, s in enumerate(dims):
        if s in sizes:
            left -= sizes[s].bit_length() - 1
            continue
        bits = max(1, left // (len(dims) - i))
        sizes[s] = 1 << bits
        left -= bits
    return sizes


def shape_of(dims, shape):
    """The shape's sizes; a tensor of one dim more splits the first, one of more has none."""
    if len(set(dims)) != len(dims) or len(dims) not in (len(shape), len(shape) + 1):
        return None
    if len(dims) > len(shape):
        first = 1 << (shape[0].bit_length() // 2) if shape[0] > 8 else 2
        if shape[0] % first:
            return None
        shape = (first, shape[0] // first, *shape[1:])
    return dict(zip(dims, shape))


def most_tensors(arguments):
    """How many tensors the longest list has, where lists are of many."""
    longest = max((len(v) for v in arguments.values() if isinstance(v, tuple)), default=0)
    return longest if longest > 4 else 1


def _is_size(name, has_tensors):
    return name in _SIZES or (name in _SIZES_ALONE and not has_tensors)


def _named_lists(arguments):
    has_tensors = any(True for _ in tensors_of(arguments))
    for name, value in arguments.items():
        numbers = value if isinstance(value, list) else [value]
        whole = all(isinstance(x, int) and not isinstance(x, bool) for x in numbers)
        if _is_size(name, has_tensors) and whole:
            yield tuple(numbers)


def _named_sizes(arguments):
    for numbers in _named_lists(arguments):
        yield from numbers


def _at(value, sizes, products, is_size=False):
    if isinstance(value, Tensor):
        return dataclasses.replace(value, sizes=tuple(sizes.get(s, s) for s in value.sizes),
                                   fill=_range_at(value, sizes, products))
    if isinstance(value, Sparse):  # how many entries are stored goes with the size, too
        options = tuple(o for o in value.options if o[0] != "entries")
        tensor = dataclasses.replace(_at(value.tensor, sizes, products), fill="")
        return Sparse(value.layout, tensor, options)
    if isinstance(value, tuple):
        return tuple(_at(v, sizes, products) for v in value)
    if isinstance(value, list) and is_size:
        return [_at(v, sizes, products, True) for v in value]
    if is_size and isinstance(value, int) and not isinstance(value, bool):
        return sizes.get(value, products.get(value, value))
    return value


def _range_at(tensor, sizes, products):
    """Indices reach as far into their dim, or their tensor, as before."""
    low, dots, high = tensor.fill.partition("..")
    if not dots or not tensor.dtype.startswith("i") or not high.isdigit():
        return tensor.fill
    end = sizes.get(int(high)) or products.get(int(high))
    if end is None:
        return tensor.fill
    return f"{-end if low == f'-{high}' else low}..{end}"


def with_dim(arguments, old, new):
    """The call along another dim: the two change places in all tensors of that many dims."""
    rank = max(len(t.sizes) for t in tensors_of(arguments))
    i, j = old % rank, new % rank

    def moved(value):
        if isinstance(value, Tensor) and len(value.sizes) == rank:
            sizes = list(value.sizes)
            sizes[i], sizes[j] = sizes[j], sizes[i]
            return dataclasses.replace(value, sizes=tuple(sizes))
        return tuple(map(moved, value)) if isinstance(value, tuple) else value

    out = {name: moved(value) for name, value in arguments.items()}
    out["dim"] = [new] if isinstance(arguments.get("dim"), list) else new
    return out


def raised(arguments):
    """The call with one dim more in front, of a size that no other dim has."""
    rank = max(len(t.sizes) for t in tensors_of(arguments))
    size = next(s for s in (3, 2, 11, 13) if all(s not in t.sizes for t in tensors_of(arguments)))

    def more(value):
        if isinstance(value, Tensor) and len(value.sizes) == rank:
            return dataclasses.replace(value, sizes=(size, *value.sizes))
        return tuple(map(more, value)) if isinstance(value, tuple) else value

    return {name: more(value) for name, value in arguments.items()}
