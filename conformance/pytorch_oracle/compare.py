"""Holds Primset's answer to a call against PyTorch's."""

import cmath
import functools
import math
from dataclasses import dataclass, field

import primset
import torch

from . import properties
from .calls import SPARSE_LAYOUTS, TorchArguments
from .calls import sparse_parts as torch_parts
from .definitions import ANY_INFINITY, ANY_VALUE
from .expectations import comparator, is_left_out, may_overflow
from .primset_side import LAYOUTS, sparse_parts, to_torch
from .second_opinion import DEFINED, OVERFLOWN, TRUTHS, WITHOUT_OUT, SecondOpinion
from .tolerances import adds_all_up, is_right_as_a_whole, scale_of_class, tolerance

# Where both answers are further from the truth than tolerance, Primset's may be so far, in units of
# the tolerance, if PyTorch's is no nearer.
FAR = 3.0
# The greatest of many errors of one size, here and in PyTorch, differ by so much by chance.
CHANCE = 2.0

CHECKS = ("values", "dtype", "shape", "strides", "aliasing", "errors")


@dataclass
class Verdict:
    checks: dict = field(default_factory=dict)  # check -> bool; absent: nothing to check
    details: list = field(default_factory=list)
    worst: float = 0.0  # error over tolerance, of the worst element
    second: list = field(default_factory=list)  # where a second opinion decided, and by what

    def check(self, name, ok, detail=""):
        self.checks[name] = self.checks.get(name, True) and bool(ok)
        if not ok and len(self.details) < 4:
            self.details.append(f"{name}: {detail() if callable(detail) else detail}")

    def drop(self, name):
        self.checks.pop(name, None)
        self.details = [d for d in self.details if not d.startswith(name)]

    def add(self, other):
        for name, ok in other.checks.items():
            self.checks[name] = self.checks.get(name, True) and ok
        if not other.agrees:
            self.details = (self.details + other.details)[:4]
        self.worst = max(self.worst, other.worst)
        self.second += other.second

    @property
    def agrees(self):
        return all(self.checks.values())


def flatten(x):
    """Results as a flat list; lists of tensors are opened."""
    if isinstance(x, (list, tuple)):
        return [v for item in x for v in flatten(item)]
    return [x]


def compare(call, theirs, ours, their_result, our_result):
    """`theirs` and `ours` are the arguments the call was made with, as it left them."""
    v = Verdict()
    expected, actual = flatten(their_result), flatten(our_result)
    if len(expected) != len(actual):
        v.check("shape", False, f"{len(actual)} results, PyTorch has {len(expected)}")
        return v
    kind = comparator(call)
    second = SecondOpinion(call)
    verdicts = []
    for i, (e, a) in enumerate(zip(expected, actual)):
        if _undefined(e, a) or is_left_out(call, i, actual):
            continue
        at_once = Verdict()
        _compare_value(at_once, call.overload, f"result {i}", e, a, kind,
                       Asked(second.result, second.defined, i, call, call.values))
        if at_once.checks.get("values") is False and properties.is_index(call, i):
            at_once.checks["values"] = properties.same_elements(call, e, to_torch(a))
        if at_once.checks.get("values") is False and properties.is_lu(call, i):
            at_once.checks["values"] = properties.factors_multiply(
                call, [to_torch(x) for x in actual])
        verdicts.append(at_once)
    tensors = [a for a in actual if isinstance(a, primset.Tensor)]
    if tensors and any(x.checks.get("values") is False for x in verdicts) and properties.holds(
            call, [to_torch(a) for a in tensors]):
        for x in verdicts:
            x.checks["values"] = True
    for x in verdicts:
        v.add(x)
    _compare_aliasing(v, call, theirs, ours, expected, actual)
    _compare_arguments(v, call, theirs, ours, kind, expected, second)
    return v


def compare_results(call, expected, our_result):
    """Against results that PyTorch has by other operators (stand_ins.py): no strides and no memory."""
    v, second = Verdict(), SecondOpinion(call)
    expected, actual = flatten(expected), flatten(our_result)
    if len(expected) != len(actual):
        v.check("shape", False, f"{len(actual)} results, PyTorch has {len(expected)}")
        return v
    kind = "none" if call.overload.startswith("_fused_dropout") else "values"
    for i, (e, a) in enumerate(zip(expected, actual)):
        if e is not None and not is_left_out(call, i, actual):
            one = Verdict()
            _compare_value(one, call.overload, f"result {i}", e, a, kind,
                           Asked(second.result, second.defined, i, call, call.values))
            one.drop("strides")
            v.add(one)
    return v


@dataclass
class Asked:
    """A second opinion on one tensor."""

    ask: callable
    define: callable
    i: int
    call: object = None  # of whose results it is one
    values: str = ""  # the class of value_classes.py of the call's

    def __call__(self):
        return self.ask(self.i)

    def defined(self, where):
        return self.define(self.i, where)

    def meaningless(self, shape):
        return self.call and properties.meaningless(self.call, self.i, shape)

    def dtypes(self):
        return [t.dtype for t in self.call.tensors()] if self.call else []

    def of_nan(self, shape):
        """A mask of the elements of which an operand is NaN, of those of the result's shape."""
        mask = torch.zeros(shape, dtype=torch.bool)
        for t in flatten(TorchArguments(self.call).args) if self.call else ():
            if isinstance(t, torch.Tensor) and t.dtype.is_floating_point and _spreads(t, shape):
                mask |= t.isnan()
        return mask


def _spreads(tensor, shape):
    """Whether it can be broadcast to the shape."""
    sizes = zip(reversed(tensor.shape), reversed(shape))
    return tensor.dim() <= len(shape) and all(n in (1, m) for n, m in sizes)


def _undefined(expected, actual):
    """Where PyTorch returns no tensor, as a gradient nobody asked for, Primset's has no elements."""
    return expected is None and isinstance(actual, primset.Tensor) and actual.numel() == 0


def _compare_value(v, overload, where, expected, actual, kind, second):
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, primset.Tensor):
            v.check("shape", False, f"{where} is {type(actual).__name__}, PyTorch's is a Tensor")
            return
        _compare_tensor(v, overload, where, expected, actual, kind, second)
    elif isinstance(actual, primset.dtype):
        v.check("values", expected in (getattr(torch, actual.name), _code(actual.name)),
                f"{where} is {actual}, PyTorch's is {expected}")
    elif isinstance(expected, float) and isinstance(actual, (int, float)):
        ok = math.isclose(expected, actual, rel_tol=1e-7) or (expected != expected
                                                              and actual != actual)
        v.check("values", ok or kind != "values", f"{where} is {actual}, PyTorch's is {expected}")
    else:
        ok = type(expected) is type(actual) and expected == actual
        v.check("values", ok or kind != "values",
                lambda: f"{where} is {actual!r}, PyTorch's is {expected!r}")


def _code(dtype):
    """The number as which PyTorch's dispatcher returns a dtype."""
    own = getattr(torch, dtype)
    return torch.ops.aten.promote_types(own, own)


def _compare_tensor(v, overload, where, expected, actual, kind, second):
    if LAYOUTS.get(expected.layout) != actual.layout:
        v.check("shape", False, f"{where} is {actual.layout}, PyTorch's is {expected.layout}")
        return
    if expected.layout in SPARSE_LAYOUTS:
        _compare_sparse(v, overload, where, expected, actual, kind, second)
        return
    name = str(expected.dtype).removeprefix("torch.")
    v.check("dtype", name == actual.dtype.name,
            lambda: f"{where} is {actual.dtype.name}, PyTorch's is {name}")
    shape = tuple(expected.shape)
    if shape != actual.shape:
        better = _of_our_size(actual, second())
        v.check("shape", better is not None,
                lambda: f"{where} is {actual.shape}, PyTorch's is {shape}")
        if better is None:
            return
        v.second.append(f"{where}: PyTorch's is {shape}, {WITHOUT_OUT} {actual.shape}")
        expected, shape = better, actual.shape
    v.check("shape", True)
    v.check("strides", _same_strides(shape, expected.stride(), actual.stride()),
            lambda: f"{where} of {shape} has {actual.stride()}, PyTorch's has "
            f"{expected.stride()}")
    if name == actual.dtype.name and kind == "values":
        _compare_elements(v, overload, where, expected, to_torch(actual), second)


@dataclass
class AskedPart:
    """A second opinion on a part of a sparse tensor."""

    whole: Asked
    layout: torch.layout
    part: int

    def __call__(self):
        return [(how, torch_parts(t)[self.part]) for how, t in self.whole()
                if isinstance(t, torch.Tensor) and t.layout == self.layout]

    @property
    def values(self):
        return self.whole.values

    def defined(self, where):
        return None

    def meaningless(self, shape):
        return None

    def dtypes(self):
        return self.whole.dtypes()

    def of_nan(self, shape):
        return torch.zeros(shape, dtype=torch.bool)


def _compare_sparse(v, overload, where, expected, actual, kind, second):
    """Part by part. Which entries are stored, explicit zeros too, is what an operator gives."""
    shape = tuple(expected.shape)
    v.check("shape", shape == actual.shape, f"{where} is {actual.shape}, PyTorch's is {shape}")
    if expected.layout == torch.sparse_coo:
        flag = primset.invoke("is_coalesced", actual)
        v.check("shape", flag == expected.is_coalesced(),
                f"{where} is coalesced: {flag}, PyTorch's: {expected.is_coalesced()}")
        if not flag and not expected.is_coalesced():
            expected, actual = _summed(v, where, expected, actual)
    for i, (e, a) in enumerate(zip(torch_parts(expected), sparse_parts(actual))):
        part = AskedPart(second, expected.layout, i)
        e = _without_gaps(e, a) if e.dtype == torch.int64 and e.dim() == 2 else e
        _compare_tensor(v, overload, f"{where}, part {i}", e, a, kind, part)


def _summed(v, where, expected, actual):
    """Both coalesced, where entries stand otherwise: of a tensor that is not, the documentation says
    that entries of one place are meant as their sum, and nothing of how many there are."""
    ours = to_torch(sparse_parts(actual)[0])
    if torch.equal(expected._indices(), ours):
        return expected, actual
    try:
        sums = expected.coalesce(), primset.invoke("_coalesce", actual)
    except RuntimeError:  # PyTorch adds no numbers of this dtype up
        return expected, actual
    v.second.append(f"{where}: entries {tuple(ours.shape)}, PyTorch's "
                    f"{tuple(expected._indices().shape)}, compared coalesced")
    return sums


def _without_gaps(expected, actual):
    """PyTorch's indices as if they had memory of their own, where Primset's have: it cuts them out of
    the memory that it had for all entries, and copies them with strides or without."""
    gapless = expected.contiguous()
    return gapless if gapless.stride() == actual.stride() else expected


def _of_our_size(actual, opinions):
    """PyTorch's result where it makes the tensor itself."""
    for how, other in opinions:
        if how == WITHOUT_OUT and isinstance(other, torch.Tensor) and other.shape == actual.shape:
            return other
    return None


def _same_strides(shape, expected, actual):
    """Strides of dims of one element, and of empty tensors, mean nothing."""
    if 0 in shape:
        return True
    return all(n == 1 or e == a for n, e, a in zip(shape, expected, actual))


_WITHOUT_NEGATIVE = (torch.bool, torch.uint16, torch.uint32, torch.uint64)


def _wide(t):
    if t.is_neg() and (t.dtype in _WITHOUT_NEGATIVE or t.dtype.itemsize == 1
                       and t.dtype.is_floating_point):
        # PyTorch has no negative of these.
        t = torch._neg_view(t)
    t = t.detach().resolve_conj().resolve_neg()
    if t.dtype.is_complex:
        return t.to(torch.complex128)
    return t.to(torch.float64) if t.dtype.is_floating_point else t


def _compare_elements(v, overload, where, expected, actual, second):
    if expected.numel() == 0:
        v.check("values", True)
        return
    e, a = _wide(expected), _wide(actual)
    if e.dtype.is_floating_point or e.dtype.is_complex:
        rtol, atol = tolerance(overload, expected.dtype)
        atol *= scale_of_class(second.values, _greatest(e.abs()), expected.dtype, atol)
        if adds_all_up(overload):
            atol += rtol * _greatest(e.abs())
    else:
        rtol = atol = 0.0
    meaningless = second.meaningless(a.shape)
    if meaningless is not None:
        e = torch.where(meaningless, a, e)
    right, exact = _close(a, e, rtol, atol), e
    if not right.all() and may_overflow(overload, e.dtype, *second.dtypes()):
        either = ~torch.isfinite(e) & ~torch.isfinite(a)
        if not e.dtype.is_complex:
            either &= ~second.of_nan(e.shape)
        right = _settle(v, where, e, a, right, either, OVERFLOWN)
    if not right.all() and rtol:
        computed = _computed_in(expected.dtype, second())
        if computed:
            rtol, atol = (max(x) for x in zip((rtol, atol), tolerance(overload, computed)))
            how = f"{WITHOUT_OUT} {computed}"
            right = _settle(v, where, e, a, right, _close(a, e, rtol, atol), how)
    if not right.all():
        as_a_whole = is_right_as_a_whole(overload, second.values)
        right, exact = _by_second_opinion(v, where, expected, e, a, right, second, (rtol, atol),
                                          as_a_whole)
    v.check("values", right.all(), lambda: f"{where}: {_first(e, a, ~right)}")
    if rtol or atol:
        v.worst = max(v.worst, _greatest(_scaled(a, exact, rtol, atol)[right]))


def _settle(v, where, e, a, right, found, how):
    """What is right with what was `found` so."""
    new = found & ~right
    if new.any():
        v.second.append(f"{where}: {_first(e, a, new)}, {how} {a[new][0].item()!r}")
    return right | new


def _computed_in(dtype, opinions):
    """The narrower dtype that the result had before an out= tensor took it; None where it had not."""
    def eps(d):
        return torch.finfo(d).eps

    for how, other in opinions:
        if how == WITHOUT_OUT and isinstance(other, torch.Tensor):
            found = other.dtype
            floating = found.is_floating_point or found.is_complex
            return found if floating and eps(found) > eps(dtype) else None
    return None


def _by_second_opinion(v, where, expected, e, a, right, second, allowed, as_a_whole):
    """What is right, be it by what PyTorch answers in another way; or, element by element, no
    further from the truth than its first answer is, and not FAR from it; or, `as_a_whole`, no
    further than CHANCE allows beyond the furthest of its elements. All is right then, or it is no
    help. And the answers that decided, element by element."""
    whole, deciding, evidence, answers = right, e.clone(), [], [e]

    def decide(how, exact, asked, furthest=0.0, greatest=0.0):
        """`exact` is what the elements `asked` are, of which PyTorch's are off by `furthest`; the
        `greatest` of them all."""
        nonlocal whole
        found = _close(a[asked], _wide(exact.to(expected.dtype)), *allowed)
        if how in TRUTHS and any(allowed):
            near = _scaled(a[asked], exact, *allowed) <= FAR
            off = (a[asked] - exact).abs()
            found |= near & (off <= (e[asked] - exact).abs()) | (off <= furthest)
            # Where PyTorch overflows it says nothing of how far another may be off.
            overflown = torch.isfinite(exact) & ~torch.isfinite(e[asked])
            found |= overflown & (off <= allowed[0] * greatest)
        new = torch.zeros_like(asked)
        new[asked] = found
        if new.any():
            whole = whole | new
            if any(allowed):  # else it has no error to count, and PyTorch no index_put of some
                deciding[new] = exact[found].to(deciding.dtype)
            evidence.append(f"{where}: {_first(e, a, new)}, {how} {exact[found][0].item()!r}")

    for how, other in second():
        if whole.all():
            break
        if isinstance(other, torch.Tensor) and other.shape == a.shape:
            asked = ~whole
            other = other.to_dense() if other.layout in SPARSE_LAYOUTS else other
            exact = _wide(other)
            far = 0.0
            if how not in TRUTHS:
                answers.append(exact)
            elif as_a_whole:
                far = max(_as_a_whole(x, exact, second.values) for x in answers)
            greatest = _greatest(exact.abs()) if any(allowed) else 0.0
            decide(how, exact[asked], asked, far, greatest)
    if not whole.all():
        asked = ~whole
        values = second.defined(asked)
        if values is not None:
            own = a[asked].tolist()
            exact = [_allowed(v, x) for v, x in zip(values, own)]
            decide(DEFINED, torch.tensor(exact, dtype=a.dtype), asked)
    if not whole.all():
        return right, e
    v.second += evidence
    return whole, deciding


def _as_a_whole(e, exact, values):
    """How far an element may be off by how far the furthest of an answer of PyTorch's is; nothing
    where that is no error of rounding, as it may be in every digit where a large mean cancels."""
    furthest = _greatest((e - exact).abs())
    rounds = values == "large_mean" or furthest <= 0.01 * _greatest(exact.abs())
    return CHANCE * furthest if rounds else 0.0


def _allowed(v, own):
    """The value to hold `own` against: itself, where every value like it is right."""
    if v is ANY_INFINITY:
        return own if not cmath.isfinite(own) else math.nan
    return own if v is ANY_VALUE else v


def _scaled(x, exact, rtol, atol):
    return (x - exact).abs() / (atol + rtol * exact.abs())


def _greatest(errors):
    errors = errors[torch.isfinite(errors)]
    return float(errors.max()) if errors.numel() else 0.0


def _close(a, e, rtol, atol):
    if e.dtype.is_complex:  # by parts where one is infinite, which has no distance
        a, e = torch.view_as_real(a), torch.view_as_real(e)
        whole = torch.isclose(torch.view_as_complex(a), torch.view_as_complex(e), rtol=rtol,
                              atol=atol, equal_nan=True)
        return whole | _close(a, e, rtol, atol).all(-1)
    if e.dtype.is_floating_point:
        return torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    return a == e


def _first(e, a, wrong):
    at = tuple(int(i) for i in wrong.nonzero()[0])
    return (f"{int(wrong.sum())} of {e.numel()} differ; at {list(at)} {a[at].item()!r}, PyTorch's "
            f"{e[at].item()!r}")


# --- aliasing ----------------------------------------------------------------------------------


def _labels(results, storages, storage_of):
    """For each result the storage it is on: the number of an argument's, or a new one's."""
    labels, fresh = [], {}
    known = {storage_of(s): i for i, s in storages.items()}
    for r in results:
        key = None if r is None else storage_of(r)
        if key is None:
            labels.append(None)
        elif key in known:
            labels.append(("argument", known[key]))
        else:
            labels.append(("new", fresh.setdefault(key, len(fresh))))
    return labels


def _has_memory(t):
    return (torch_parts(t)[-1] if t.layout in SPARSE_LAYOUTS else t).numel() > 0


def _with_other_entries(call, theirs):
    """The arguments of compressed layouts that have another number of entries than before, by id."""
    given = flatten([*call.args, *call.kwargs.values()])
    left = flatten([*theirs.args, *(theirs.kwargs[k] for k in call.kwargs)])
    return {id(t) for ref, t in zip(given, left)
            if isinstance(t, torch.Tensor) and len(getattr(ref, "parts", ())) == 3
            and tuple(ref.parts[-1].size) != tuple(t.values().shape)}


def _compare_aliasing(v, call, theirs, ours, expected, actual):
    pairs = [(e, a) for e, a in zip(expected, actual)
             if isinstance(e, torch.Tensor) and isinstance(a, primset.Tensor)]
    if out_names(call.overload):
        # Whether a COO tensor that out= names gets other parts or keeps its own memory, each of
        # PyTorch's kernels has otherwise.
        pairs = [(e, a) for e, a in pairs if e.layout != torch.sparse_coo]
    # Nor is it said in which memory the parts of a compressed one are that gets other entries.
    grown = _with_other_entries(call, theirs)
    pairs = [(e, a) for e, a in pairs if id(e) not in grown]
    if not pairs:
        return

    def torch_key(x):
        if isinstance(x, torch.Tensor) and x.layout in SPARSE_LAYOUTS:
            x = torch_parts(x)[-1]
        s = x.untyped_storage() if isinstance(x, torch.Tensor) else x
        return s._cdata

    def our_key(x):
        if isinstance(x, primset.Tensor) and x.layout != primset.Layout.strided:
            x = sparse_parts(x)[-1]
        return x.storage() if isinstance(x, primset.Tensor) else x

    # An empty tensor has no memory to share.
    e = _labels([p[0] if _has_memory(p[0]) else None for p in pairs],
                dict(enumerate(theirs.storages)), torch_key)
    a = _labels([p[1] if _has_memory(p[0]) else None for p in pairs],
                dict(enumerate(ours.storages)), our_key)
    v.check("aliasing", e == a, lambda: f"results are on {a}, PyTorch's on {e}")
    if e != a:
        return
    for i, ((te, ta), label) in enumerate(zip(pairs, e)):
        if te.layout in SPARSE_LAYOUTS:
            continue
        if label and label[0] == "argument":
            v.check("aliasing", te.storage_offset() == ta.storage_offset(),
                    lambda: f"result {i} starts at {ta.storage_offset()}, PyTorch's at "
                    f"{te.storage_offset()}")
        v.check("aliasing", te.is_conj() == ta.is_conj() and te.is_neg() == ta.is_neg(),
                lambda: f"result {i} has conj={ta.is_conj()} neg={ta.is_neg()}, PyTorch's "
                f"conj={te.is_conj()} neg={te.is_neg()}")


# --- what the call left in its arguments -------------------------------------------------------


def _compare_arguments(v, call, theirs, ours, kind, expected, second):
    writes = written(call.overload)
    same = {id(t) for t in expected if isinstance(t, torch.Tensor)}
    touched = set()
    for name, e, a in _arguments(call, theirs, ours):
        tensors = list(zip(flatten(e), flatten(a)))
        if name not in writes:
            continue
        for j, (te, ta) in enumerate(tensors):
            if not isinstance(te, torch.Tensor):
                continue
            parts = torch_parts(te) if te.layout in SPARSE_LAYOUTS else [te]
            touched |= {p.untyped_storage()._cdata for p in parts}
            if id(te) not in same:  # else it was compared as a result
                _compare_value(v, call.overload, f"argument {name}", te, ta, kind,
                               Asked(functools.partial(second.argument, name), second.defined, j,
                                     values=call.values))
    for i, before in enumerate(call.storages):
        if theirs.storages[i]._cdata in touched:
            continue
        if theirs.bytes(i) == before:
            v.check("aliasing", ours.bytes(i) == before,
                    f"memory {i} was written, PyTorch leaves it as it was")


def _arguments(call, theirs, ours):
    names = [a.name for a in schema(call.overload).arguments]
    for name, e, a in zip(names, theirs.args, ours.args):
        yield name, e, a
    for name in call.kwargs:
        yield name, theirs.kwargs[name], ours.kwargs[name]


def schema(overload):
    return torch_overload(overload)._schema


def torch_overload(overload):
    base, _, name = overload.partition(".")
    return getattr(getattr(torch.ops.aten, base), name or "default")


def is_out(argument):
    return (argument.kwarg_only and argument.alias_info is not None
            and argument.alias_info.is_write)


@functools.cache
def out_names(overload):
    return [a.name for a in schema(overload).arguments if is_out(a)]


# In training they write running statistics, which their schemas do not say.
KEEPS_STATISTICS = {"batch_norm", "instance_norm", "native_batch_norm"}


def written(overload):
    names = {a.name for a in schema(overload).arguments
             if a.alias_info is not None and a.alias_info.is_write}
    if overload.partition(".")[0] in KEEPS_STATISTICS:
        names |= {"running_mean", "running_var"}
    return names
