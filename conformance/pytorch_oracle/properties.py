"""Results that are right in more than one way: which of equal elements an index names, how the factors
of a matrix are rounded, what lies where nothing is said to lie."""

import functools
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


def _are_distinct(given, values, inverse, counts=None):
    """Whether none comes up twice, and in order, which of several NaN comes first being left open: none
    equals another. PyTorch's order of rows breaks where one has a NaN."""
    if "dim" in given:
        rows, found = (x.movedim(given["dim"], 0).flatten(1) for x in (given["self"], values))
    else:
        rows, found = given["self"].reshape(-1, 1), values.view(-1, 1)
    at = inverse.flatten()
    if len(at) != len(rows) or counts is not None and counts.numel() and not torch.equal(
            counts, at.bincount(minlength=len(found))):
        return False
    own, named = rows.isnan().any(1), found[at]
    same = (rows == named) | (rows.isnan() & named.isnan())
    ordered = found[~found.isnan().any(1)].tolist()
    return (bool(same.all()) and len(at[own].unique()) == int(own.sum()) == len(found) - len(ordered)
            and all(a < b for a, b in zip(ordered, ordered[1:])))


def _is_of_singular(given, solution, info):
    """Whether each matrix is singular, and the first pivot that is zero one that may be: no later than
    behind as many as its rank. Which of these it is, is by rounding."""
    rank = torch.linalg.matrix_rank(given["A"])
    return bool(((rank < given["A"].size(-1)) & (info > 0) & (info <= rank + 1)).all())


def _is_determinant(given, value):
    """Whether it is that of f64 but for what rounding in each factor's n steps makes of it: n eps,
    times the matrix's condition."""
    a = given.get("A", given.get("self"))
    wide = a.to(torch.complex128 if a.is_complex() else torch.float64)
    eps = torch.finfo(value.dtype).eps
    if eps <= torch.finfo(torch.float64).eps:
        return False
    exact = torch.linalg.det(wide)
    bound = 2 * a.size(-1) * eps * torch.linalg.cond(wide) * exact.abs()
    return bool(((value.to(wide.dtype) - exact).abs() <= bound).all())


def _is_of_rounding(given, condition):
    """Whether each matrix is singular, and its condition number that of one that is so but for
    rounding: the least singular value is 0 or what rounding leaves of it."""
    a = given["self"]
    edge = 16 * max(a.shape[-2:]) * torch.finfo(condition.dtype).eps
    singular = torch.linalg.matrix_rank(a) < min(a.shape[-2:])
    return bool((singular & ((condition >= 1 / edge) | (condition <= edge))).all())


def _are_of_one_number(given, counts, *edges):
    """Whether a dim's edges are all one number, so that no bin is between them, and each point is
    counted in one of its."""
    points = given["self"].flatten(0, -2)
    weight = given.get("weight")
    total = torch.tensor(float(len(points))) if weight is None else weight.sum()
    one = [i for i, e in enumerate(edges) if bool((e == e[0]).all())]
    within = all(bool((edges[i][0] == points[:, i]).all()) for i in one)
    return bool(one) and within and torch.allclose(counts.sum().double(), total.double())


def _are_distances(given, distances):
    """Whether each square of a distance is right but for the rounding of the squares of its two rows.
    ATen makes it by a product of matrices (of more than 25 rows, or where compute_mode asks for it),
    where squares cancel whose rows are close to each other and far from 0."""
    x, y, mode = given["x1"].double(), given["x2"].double(), given.get("compute_mode") or 0
    many = mode == 1 or mode == 0 and max(x.size(-2), y.size(-2)) > 25
    if given.get("p", 2.0) != 2.0 or not many and "p" in given:
        return False
    exact = (x.unsqueeze(-2) - y.unsqueeze(-3)).square().sum(-1)
    squares = x.square().sum(-1).unsqueeze(-1) + y.square().sum(-1).unsqueeze(-2)
    bound = 2 * (x.size(-1) + 2) * torch.finfo(distances.dtype).eps * squares
    return bool(((distances.double().square() - exact).abs() <= bound).all())


_PROPERTIES = {"_cdist_forward": _are_distances, "_euclidean_dist": _are_distances,
               "cdist": _are_distances, "histogramdd": _are_of_one_number,
               "det": _is_determinant, "linalg_cond": _is_of_rounding,
               "linalg_det": _is_determinant, "mode": _are_modes,
               "linalg_solve_ex": _is_of_singular, "_unique": _are_distinct,
               "_unique2": _are_distinct, "unique_dim": _are_distinct}

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
    a = next(given[name] for name in ("LU", "A", "self") if name in given)
    if i or given.get("unitriangular"):
        return None
    singular = (a.diagonal(dim1=-2, dim2=-1) == 0).any(-1)
    return singular[..., None, None].expand(shape)


def _of_misfit_lengths(given, i, shape):
    """Of segments that do not make up their rows (torch.segment_reduce), which the gradient does not
    look at."""
    lengths = given.get("lengths")
    if i or lengths is None or bool((lengths.sum(-1) == given["data"].size(given["axis"])).all()):
        return None
    return torch.ones(shape, dtype=torch.bool)


def _of_other_indices(rank, given, i, shape):
    """Of the gradient of maxima the elements that indices name which, as none that max_pool returns,
    are outside of the windows: PyTorch writes wherever they say, in another plane too."""
    index, size, of_dim = given["indices"], given["self"].shape, _each_dim(rank, given)
    if len(size) <= rank:
        return None
    astray = torch.zeros(index.shape, dtype=torch.bool)
    for d in reversed(range(rank)):
        kernel, stride, padding, dilation = (
            of_dim[n][d] for n in ("kernel_size", "stride", "padding", "dilation"))
        along = [-1 if e == d else 1 for e in range(rank)]
        start = (torch.arange(index.shape[d - rank]) * stride - padding).view(along)
        step = index % size[d - rank] - start
        index = index // size[d - rank]
        astray |= (step % dilation != 0) | (step < 0) | (step >= kernel * dilation)
    elements = math.prod(size[-rank:])
    index, astray = (x.flatten(-rank).flatten(0, -2) for x in (given["indices"], astray))
    beyond = (index < 0) | (index >= elements)
    if not astray.any() or bool(beyond.any()):
        return torch.ones(shape, dtype=torch.bool) if astray.any() else None
    mask = torch.zeros(len(index), elements, dtype=torch.bool)
    mask[torch.arange(len(index)).unsqueeze(1).expand_as(index)[astray], index[astray]] = True
    return mask.view(shape)


def _each_dim(rank, given):
    """The numbers that a window has for each dim, of which one may stand for all."""
    each = {n: list(given[n]) for n in ("kernel_size", "stride", "padding", "dilation")}
    each["stride"] = each["stride"] or each["kernel_size"]
    return {n: x * rank if len(x) == 1 else x for n, x in each.items()}


def _by_false_pivots(given, i, shape):
    """Of matrices with a zero where a block of their diagonal is one number (torch.linalg.ldl_factor:
    its pivot is positive), and of pivots that no factorization gives: they exchange a row with itself
    or a later one, and are negative for blocks of two rows."""
    diagonal, pivots = given["LD"].diagonal(dim1=-2, dim2=-1), given["pivots"]
    singular = ((diagonal == 0) & (pivots > 0)).any(-1)
    earlier = (pivots.abs() < torch.arange(1, pivots.size(-1) + 1)).any(-1)
    false = singular | earlier | ((pivots < 0).sum(-1) % 2 == 1)
    return false[..., None, None].expand(shape)


def _without_direction(given, i, shape):
    """Of the gradient of v / |v|: where |v| is 0."""
    if i:
        return None
    dim = given["dim"] % len(shape)
    sizes = [n if d == dim else 1 for d, n in enumerate(shape)]
    return (given["saved_norms"] == 0).view(sizes).expand(shape)


_MEANINGLESS = {"_weight_norm_interface_backward": _without_direction,
                "_weight_norm_differentiable_backward": _without_direction,
                "max_pool2d_with_indices_backward": functools.partial(_of_other_indices, 2),
                "max_pool3d_with_indices_backward": functools.partial(_of_other_indices, 3),
                "_segment_reduce_backward": _of_misfit_lengths,
                "_ctc_loss": _behind_lengths, "set": _behind_storage, "set_": _behind_storage,
                "triangular_solve": _without_solution, "linalg_solve_triangular": _without_solution,
                "linalg_lu_solve": _without_solution, "linalg_ldl_solve": _by_false_pivots}


def named(call):
    from .compare import schema

    arguments = TorchArguments(call)
    spec = schema(call.overload).arguments
    given = {a.name: a.default_value for a in spec if a.has_default_value()}
    given.update(zip((a.name for a in spec), arguments.args))
    given.update(arguments.kwargs)
    return given
