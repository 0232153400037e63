"""Calls whose values are of a class that samples seldom have, and on which naive algorithms fail.

large_mean      small deviations from a large mean, whose squares cancel in every digit
near_overflow   about the greatest number that does not overflow by itself: the greatest of all where
                a result's element is made of one of an argument's, the greatest of which their sums
                are none too great where it is made of many, its root where they are multiplied
near_underflow  about the smallest normal number, or its root
denormal        below the smallest normal number
inf_nan         infinities of both signs and NaN among what the call had
ties            few numbers often, among them zeros of both signs
huge_integers   about the greatest and the least integer; of floats, integers with gaps between them

A call of a class is a call that PyTorch takes, in the same memory with other values. What is not data
(indices, probabilities, limits in order) keeps its values, and so does the shape of a matrix that is
factorized: it is scaled as a whole.
"""

import math
import random

import torch

from .calls import REFUSED, SPARSE_LAYOUTS, TorchArguments, encode, sparse_parts
from .compare import schema, written
from .expectations import comparator

# How many calls of a class in each dtype.
CALLS = {torch.float32: 2, torch.float64: 1, torch.float16: 1, torch.bfloat16: 1, torch.complex64: 1,
         torch.int64: 1, torch.int32: 1, torch.uint8: 1}
FEW_ELEMENTS = 4  # in all tensors; of fewer there is little to sum up, to sort or to confuse

# Families without arithmetic, of which the values are none that a call is given.
_WITHOUT_VALUES = {"creation", "query", "random", "view", "view_copy", "window"}
# Each element of a result is made of one of each argument's, or of few.
_ELEMENTWISE = {"activation", "comparison", "copy_and_cast", "foreach", "pointwise_binary",
                "pointwise_unary", "rearrange", "sort_and_search", "special"}
# Sums of products.
_OF_PRODUCTS = {"attention", "convolution", "fft", "linalg", "matmul", "recurrent", "sparse"}
# What becomes of them by a family's algorithm, which is not PyTorch's alone, or is not defined: of an
# infinity in a Fourier transform, or beside a weight of zero or a place without entry, of numbers that
# no integer is as great as.
_UNDEFINED = {"fft": {"inf_nan"}, "upsample": {"inf_nan"}, "sparse": {"inf_nan"},
              "fake_quantize": {"inf_nan", "near_overflow"}}
# Paths whose probability is infinite or none.
_OF_PROBABILITIES = ("_ctc_loss", "ctc_loss")
# Of complex numbers the others come to products and quotients with infinities and NaN, in which
# PyTorch's own scalar and vector code disagree.
_OF_COMPLEX = {"large_mean", "near_underflow", "ties"}
# They factorize matrices in a family of others.
_FACTORIZES = {"_spsolve"}
# What an operator is given that follows from the rest, of which its forward function makes it.
_FOLLOWS = {"_pdist_backward": ("pdist", lambda x: torch.pdist(x["self"], x["p"]))}
# In other families, elements of many, and of products of them.
_MULTIPLIES = ("_embedding_bag", "embedding_bag", "grid_sampler", "_grid_sampler", "_foreach_mm",
               "histogram", "_histogramdd", "_masked_softmax_backward", "_softmax_backward_data",
               "_log_softmax_backward_data")
# Their values say how many elements a result has, or they multiply a matrix for each column.
_LEFT_OUT = {"bincount", "linalg_householder_product", "one_hot", "orgqr", "ormqr",
             "repeat_interleave"}
# Integers that say where something is, or how much of it, floats within limits, in an order, or of
# which a polynomial is computed step by step, and factors, one of which is about 1 whatever the matrix.
_NOT_DATA = {"LD", "LU", "LU_data", "bag_size", "batch_sizes", "boundaries", "ccol_indices",
             "col_indices", "crow_indices", "grid", "index", "indices", "input_lengths",
             "invstd", "lengths", "max_indices", "maximum_indices", "n", "offset2bag", "offsets",
             "pdist", "pivots", "random_samples",
             "row_indices", "running_var", "save_invstd", "save_var", "scale", "sorted_sequence",
             "sorter", "state_steps", "target_lengths", "targets", "zero_point"}


def derived(overload, calls, rng, refused):
    """Calls of each class, made of `calls` that have values; `refused` tells what PyTorch refuses."""
    import primset

    base, usual = overload.partition(".")[0], primset.describe(overload)["family"]
    if usual in _WITHOUT_VALUES or base in _LEFT_OUT:
        return []
    usable = [c for c in calls if _has_data(c) and comparator(c) == "values"]
    out = []
    for name in CLASSES:
        for dtype, count in CALLS.items():
            of_dtype = [c for c in usable if c.dtype() == dtype]
            rng.shuffle(of_dtype)
            made = (with_values(c, name, "sparse" if c.is_sparse() else usual)
                    for c in of_dtype[:4 * count])
            out += _first(made, count, refused)
    return out


def _first(made, count, refused):
    found = []
    for call in made:
        if call is not None and not refused(call):
            found.append(call)
        if len(found) == count:
            break
    return found


def _has_data(call):
    if call.origin == "error input" or REFUSED in call.origin or call.values:
        return False
    dtype = call.dtype()
    sizes = [torch.Size(t.size).numel() for t in call.tensors() if t.dtype == dtype]
    return sum(sizes) >= FEW_ELEMENTS


def _is_factorized(overload, family):
    return overload in _FACTORIZES or family == "linalg" and "norm" not in overload


def with_values(call, name, family):
    """The call with the data of its dtype of a class; None where the class has none of the dtype, or
    an argument is no memory to write other values to."""
    dtype = call.dtype()
    make = CLASSES[name]
    if _is_factorized(call.overload, family):
        make = _SCALED.get(name)
    undefined = (name in _UNDEFINED.get(family, ())
                 or name == "inf_nan" and call.overload.startswith(_OF_PROBABILITIES))
    if make is None or undefined or not _is_of(name, dtype, _is_elementwise(call, family)):
        return None
    live = TorchArguments(call)
    seed = random.Random(repr((call.key(), name))).getrandbits(48)
    rng = _Source(torch.Generator().manual_seed(seed), _terms(call, family),
                  _multiplies(call, family))
    changed = False
    for argument, value in _named(call, live):
        if argument.name in _NOT_DATA or argument.name in _only_written(call):
            continue
        for t in value if isinstance(value, (list, tuple)) else [value]:
            t = sparse_parts(t)[-1] if getattr(t, "layout", None) in SPARSE_LAYOUTS else t
            if isinstance(t, torch.Tensor) and t.dtype == dtype and t.numel():
                _fill(t, make, rng)
                changed = True
    if not changed or not _followed(call, live):
        return None
    made = encode(call.overload, live.args, live.kwargs, call.source, f"{name} of {call.origin}")
    return made.with_(values=name)


def _followed(call, live):
    """Whether what follows from the arguments, if anything, has been made of their new values."""
    name, of = _FOLLOWS.get(call.overload.partition(".")[0], ("", None))
    if of is None:
        return True
    given = {a.name: value for a, value in _named(call, live)}
    try:
        given[name].copy_(of(given))
    except RuntimeError:  # of another size
        return False
    return True


def _is_elementwise(call, family):
    return family in _ELEMENTWISE and not call.overload.startswith(_MULTIPLIES)


def _terms(call, family):
    """How many numbers make up an element of a result, at most."""
    if _is_elementwise(call, family):
        return 1
    return 4 * max(map(len, call.storages)) // call.dtype().itemsize


def _multiplies(call, family):
    """Whether these are products; or may be, and there is no wider dtype to tell by what is right."""
    dtype = call.dtype()
    if _is_elementwise(call, family):
        return dtype.is_complex
    return (family in _OF_PRODUCTS or call.overload.startswith(_MULTIPLIES) or dtype.is_complex
            or dtype == torch.float64)


def _is_of(name, dtype, elementwise):
    if dtype.is_complex:
        return name in _OF_COMPLEX
    if not dtype.is_floating_point:
        return name in ("ties", "huge_integers")
    if elementwise:
        return True
    # Integers cancel in sums that are exact no more, and of the least doubles none is the square.
    return name != "huge_integers" and (name, dtype) != ("denormal", torch.float64)


def _named(call, live):
    arguments = schema(call.overload).arguments
    named = {a.name: a for a in arguments}
    return [*zip(arguments, live.args), *((named[k], v) for k, v in live.kwargs.items())]


def _only_written(call):
    """The out= tensors: what is in them is not read."""
    return () if call.overload.partition(".")[0].endswith("_") else written(call.overload)


def _fill(t, make, rng):
    """Writes values to a tensor; to each place once where it names one twice."""
    for dim, step in enumerate(t.stride()):
        if step == 0 and t.size(dim) > 1:
            t = t.narrow(dim, 0, 1)
    before = t.resolve_conj().resolve_neg().clone()
    if t.is_complex():
        made = torch.view_as_complex(make(torch.view_as_real(before).contiguous(), rng))
    else:
        made = make(before, rng)
    t.copy_(made)


class _Source:
    """Random numbers; how many of them make up an element of a result, and whether by products."""

    def __init__(self, generator, terms, products):
        self.generator, self.terms, self.products = generator, terms, products

    def uniform(self, x):
        return torch.rand(x.shape, generator=self.generator, dtype=torch.float64)

    def integers(self, x, least, greatest):
        return torch.randint(least, greatest + 1, x.shape, generator=self.generator)

    def signs(self, x):
        return self.integers(x, 0, 1) * 2 - 1


# --- the classes -------------------------------------------------------------------------------


def _large_mean(x, rng):
    """A mean of 4 / sqrt(eps) beside deviations of about 1: those of its square are 16 eps. Of doubles
    a smaller one, since there is no wider dtype to tell by what is right."""
    mean = min(4 / torch.finfo(x.dtype).eps ** 0.5, 2.0 ** 20)
    return (mean + 4 * rng.uniform(x) - 2).to(x.dtype)


def _near_overflow(x, rng):
    greatest = torch.finfo(x.dtype).max / rng.terms
    if rng.products:
        greatest = (greatest / 4) ** 0.5
    return (greatest * (0.25 + 0.75 * rng.uniform(x)) * rng.signs(x)).to(x.dtype)


def _near_underflow(x, rng):
    smallest = torch.finfo(x.dtype).tiny
    if rng.products:
        smallest = smallest ** 0.5
    return (smallest * (1 + 7 * rng.uniform(x)) * rng.signs(x)).to(x.dtype)


def _denormal(x, rng):
    """From the smallest of all to the smallest that is normal, by their exponents."""
    info = torch.finfo(x.dtype)
    smallest = info.tiny * info.eps
    made = smallest * (1 / info.eps) ** rng.uniform(x)
    return ((made / smallest).floor() * smallest * rng.signs(x)).to(x.dtype)


def _inf_nan(x, rng):
    """One element in four, and the first."""
    special = torch.tensor([torch.inf, -torch.inf, torch.nan], dtype=x.dtype)
    chosen = special[rng.integers(x, 0, 2)]
    where = rng.integers(x, 0, 3) == 0
    where.view(-1)[0] = True
    return torch.where(where, chosen, x)


def _ties(x, rng):
    if not x.dtype.is_floating_point:
        return rng.integers(x, 0, 2).to(x.dtype)
    few = torch.tensor([-1.0, -0.0, 0.0, 0.5, 1.0], dtype=x.dtype)
    return few[rng.integers(x, 0, 4)]


def _huge_integers(x, rng):
    near = rng.integers(x, 0, 3)
    if x.dtype.is_floating_point:
        first_gap = round(2 / torch.finfo(x.dtype).eps)
        return ((first_gap + 2 * near) * rng.signs(x)).to(x.dtype)
    info = torch.iinfo(x.dtype)
    return torch.where(rng.signs(x) > 0, info.max - near, info.min + near).to(x.dtype)


def _scaled_up(x, rng):
    return x * 2.0 ** (math.log2(torch.finfo(x.dtype).max) // 4)


def _scaled_down(x, rng):
    return x * 2.0 ** (math.log2(torch.finfo(x.dtype).tiny) // 4)


CLASSES = {"large_mean": _large_mean, "near_overflow": _near_overflow,
           "near_underflow": _near_underflow, "denormal": _denormal, "inf_nan": _inf_nan,
           "ties": _ties, "huge_integers": _huge_integers}
# Of matrices that are factorized.
_SCALED = {"near_overflow": _scaled_up, "near_underflow": _scaled_down}
