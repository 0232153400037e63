"""Results that are right in more than one way: which of equal elements an index names, how the factors
of a matrix are rounded, what lies where nothing is said to lie."""

import math

import torch

from . import factorizations
from .calls import TorchArguments

# Operators without a promise about the order of equal elements, and which result is the index.
_INDEX = {"kthvalue": 1, "median": 1, "nanmedian": 1, "mode": 1, "topk": 1, "sort": 1, "argsort": 0}


def is_index(call, i):
    base, _, name = call.overload.partition(".")
    return _INDEX.get(base) == i and "stable" not in name


def same_elements(call, expected, actual):
    """Whether both indices name equal elements, and the actual ones no element twice."""
    given = named(call)
    self, dim = given["self"].resolve_conj().resolve_neg(), given.get("dim", -1)
    if self.dim() == 0:
        return torch.equal(expected, actual)
    if expected.dim() < self.dim():  # keepdim=False
        expected, actual = expected.unsqueeze(dim), actual.unsqueeze(dim)
    if int(actual.min()) < 0 or int(actual.max()) >= self.size(dim):
        return False
    order = actual.sort(dim)[0]
    twice = (order.narrow(dim, 1, order.size(dim) - 1)
             == order.narrow(dim, 0, order.size(dim) - 1)).any()
    e, a = self.gather(dim, expected), self.gather(dim, actual)
    return not twice and bool(((e == a) | ((e != e) & (a != a))).all())


# Which results are LU factors, their pivots and, where there is one, the number of the first pivot
# that is zero. Which rows are exchanged, and what is exactly zero, is by rounding where a matrix is
# singular.
_LU = {"_lu_with_info": (0, 1, 2), "linalg_lu_factor": (0, 1), "linalg_lu_factor_ex": (0, 1, 2),
       "_linalg_det": (1, 2), "_linalg_slogdet": (2, 3), "_linalg_solve_ex": (1, 2, 3)}


def is_lu(call, i):
    return i in _LU.get(call.overload.split(".")[0], ())


def factors_multiply(call, results):
    """Whether P L U is the matrix, or for determinants its transpose, to n eps |L| |U|."""
    lu, pivots, *infos = (results[i] for i in _LU[call.overload.split(".")[0]])
    if infos and not torch.equal(infos[0], _first_zero(lu.diagonal(dim1=-2, dim2=-1))):
        return False
    given = named(call)
    a = given["A" if "A" in given else "self"].resolve_conj()
    p, lower, upper = torch.lu_unpack(lu, pivots)
    bound = 4 * max(a.shape[-2:]) * torch.finfo(a.dtype).eps * (p.abs() @ lower.abs() @ upper.abs())
    product = p @ lower @ upper
    return any(bool(((product - m).abs() <= bound).all())
               for m in ([a, a.mT] if a.size(-1) == a.size(-2) else [a]))


def _first_zero(diagonal):
    """Counted from 1; 0 where there is none."""
    zero = diagonal == 0
    return torch.where(zero.any(-1), zero.int().argmax(-1) + 1, 0).int()


def holds(call, results):
    """Whether the operator is one whose results a property defines, and they have it."""
    base = call.overload.partition(".")[0]
    of = factorizations.PROPERTIES.get(base, _PROPERTIES.get(base))
    if of is None or not all(isinstance(x, torch.Tensor) for x in results):
        return False
    return bool(of(named(call), *results))


def _are_modes(given, values, indices):
    """Whether none occurs more often. PyTorch sorts by an order that a NaN breaks, and counts equal
    numbers apart then."""
    self, dim = given["self"], given.get("dim", -1)
    if self.dim() == 0:
        return True
    rows = self.movedim(dim, -1)
    values, indices = (x.squeeze(dim) if x.dim() == self.dim() else x for x in (values, indices))
    counts = (rows.unsqueeze(-1) == rows.unsqueeze(-2)).sum(-1)
    at = indices.unsqueeze(-1)
    named = rows.gather(-1, at).squeeze(-1) == values
    return bool((named & (counts.gather(-1, at).squeeze(-1) == counts.amax(-1))).all())


_PROPERTIES = {"mode": _are_modes}

# --- elements that mean nothing ------------------------------------------------------------------


def meaningless(call, i, shape):
    """A mask of the elements of result i that have no meaning, as PyTorch leaves them as it found its
    memory; None where all have one."""
    of = _MEANINGLESS.get(call.overload.partition(".")[0])
    return of(named(call), i, shape) if of else None


def _behind_lengths(given, i, shape):
    """Of the forward variables of ctc_loss: the steps behind an input's end, and the places behind a
    target's last, with a blank at either side of each label."""
    if i != 1:
        return None
    steps, labels = (torch.as_tensor(given[n]).view(-1, 1, 1)
                     for n in ("input_lengths", "target_lengths"))
    step = torch.arange(shape[1]).view(1, -1, 1)
    place = torch.arange(shape[2]).view(1, 1, -1)
    return (step >= steps) | (place > 2 * labels)


def _behind_storage(given, i, shape):
    """Of a view that made its storage grow: what it grew by."""
    source, begin = given.get("source"), given.get("storage_offset")
    if i or begin is None:
        return None
    if isinstance(source, torch.Tensor):
        source, begin = source.untyped_storage(), begin + source.storage_offset()
    width = given["self"].element_size()
    places = torch.arange(math.prod(shape)).view(shape)
    if given["stride"]:
        along = (torch.arange(n).view([-1] + [1] * (len(shape) - d - 1)) * s
                 for d, (n, s) in enumerate(zip(shape, given["stride"])))
        places = sum(along, torch.zeros(shape, dtype=torch.int64))
    return (begin + places + 1) * width > source.nbytes()


def _without_solution(given, i, shape):
    """What divides by zero: where the diagonal has one the result may contain NaN
    (torch.linalg.solve_triangular)."""
    a = given["A" if "A" in given else "self"]
    if i or given.get("unitriangular"):
        return None
    singular = (a.diagonal(dim1=-2, dim2=-1) == 0).any(-1)
    return singular[..., None, None].expand(shape)


_MEANINGLESS = {"_ctc_loss": _behind_lengths, "set": _behind_storage, "set_": _behind_storage,
                "triangular_solve": _without_solution, "linalg_solve_triangular": _without_solution}


def named(call):
    from .compare import schema

    arguments = TorchArguments(call)
    spec = schema(call.overload).arguments
    given = {a.name: a.default_value for a in spec if a.has_default_value()}
    given.update(zip((a.name for a in spec), arguments.args))
    given.update(arguments.kwargs)
    return given
