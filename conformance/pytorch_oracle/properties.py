"""Results that are right in more than one way: which of equal elements an index names, how the factors
of a matrix are rounded."""

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


# Which results are LU factors and their pivots.
_LU = {"_lu_with_info": (0, 1), "linalg_lu_factor": (0, 1), "linalg_lu_factor_ex": (0, 1),
       "_linalg_det": (1, 2), "_linalg_slogdet": (2, 3)}


def is_lu(call, i):
    return _LU.get(call.overload.split(".")[0], (None,))[0] == i


def factors_multiply(call, results):
    """Whether P L U is the matrix, or for determinants its transpose, to n eps |L| |U|."""
    lu, pivots = (results[i] for i in _LU[call.overload.split(".")[0]])
    given = named(call)
    a = given["A" if "A" in given else "self"].resolve_conj()
    p, lower, upper = torch.lu_unpack(lu, pivots)
    bound = 4 * max(a.shape[-2:]) * torch.finfo(a.dtype).eps * (p.abs() @ lower.abs() @ upper.abs())
    product = p @ lower @ upper
    return any(bool(((product - m).abs() <= bound).all())
               for m in ([a, a.mT] if a.size(-1) == a.size(-2) else [a]))


def holds(call, results):
    """Whether the operator is one whose results a property defines, and they have it."""
    of = factorizations.PROPERTIES.get(call.overload.partition(".")[0])
    if of is None or not all(isinstance(x, torch.Tensor) for x in results):
        return False
    return bool(of(named(call), *results))


def named(call):
    from .compare import schema

    arguments = TorchArguments(call)
    spec = schema(call.overload).arguments
    given = {a.name: a.default_value for a in spec if a.has_default_value()}
    given.update(zip((a.name for a in spec), arguments.args))
    given.update(arguments.kwargs)
    return given
