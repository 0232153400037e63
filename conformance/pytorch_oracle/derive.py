"""Calls derived from recorded ones: forms of an operator that no Python function calls, other
dtypes, other layouts."""

import functools
import itertools
import random
import re

import torch

from . import stand_ins, value_classes
from .calls import REFUSED, SPARSE_LAYOUTS, Call, TensorRef, TorchArguments, encode, is_tensor
from .compare import is_out, schema, torch_overload, written
from .expectations import is_misread, is_ruled_out, lacks_kernel_of_dtype

# Operators that are another one under a second name.
ALIASES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "arctan2": "atan2", "clip": "clamp", "concat": "cat",
    "concatenate": "cat", "divide": "div", "fix": "trunc", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "subtract": "sub", "true_divide": "div", "swapaxes": "transpose", "swapdims": "transpose",
    "moveaxis": "movedim", "row_stack": "vstack", "special_digamma": "digamma",
    "special_erf": "erf", "special_erfc": "erfc", "special_erfinv": "erfinv",
    "special_exp2": "exp2", "special_expit": "sigmoid", "special_expm1": "expm1",
    "special_gammainc": "igamma", "special_gammaincc": "igammac", "special_gammaln": "lgamma",
    "special_i0": "i0", "special_log1p": "log1p", "special_log_softmax": "log_softmax",
    "special_logit": "logit", "special_logsumexp": "logsumexp", "special_multigammaln": "mvlgamma",
    "special_polygamma": "polygamma", "special_psi": "digamma", "special_round": "round",
    "special_sinc": "sinc", "special_softmax": "softmax", "special_xlogy": "xlogy",
    "matrix_exp": "linalg_matrix_exp", "linalg_matmul": "matmul", "ger": "outer",
    "ldexp": "mul", "_unsafe_index": "index", "_unsafe_view": "view", "special_ndtr": "erf",
    "_conj_physical": "conj_physical", "unsafe_chunk": "chunk", "unsafe_split": "split",
    "unsafe_split_with_sizes": "split_with_sizes", "linalg_svd": "_linalg_svd",
    "linalg_det": "_linalg_det", "linalg_slogdet": "_linalg_slogdet",
    "_reshape_alias": "as_strided", "_sparse_log_softmax": "_log_softmax",
    "_unsafe_index_put": "index_put", "_safe_softmax": "softmax", "scatter_add": "scatter",
    "_fused_sgd": "_fused_sgd_", "_fused_adam": "_fused_adam_", "_fused_adamw": "_fused_adamw_",
    "_fused_adagrad": "_fused_adagrad_", "slice_inverse": "slice_scatter",
    "linalg_solve": "_linalg_solve_ex", "linalg_eigh": "_linalg_eigh",
    "linalg_eigvals": "_linalg_eigvals", "trapezoid": "trapz", "lift_fresh": "alias",
    "lift": "alias", "_neg_view": "alias", "_conj": "alias", "nan_to_num": "relu",
}


def relatives(overload, known):
    """Overloads whose calls may be adapted to this one, the closest first."""
    base, _, name = overload.partition(".")
    bases = [base]
    stripped = base.rstrip("_")
    bases += [stripped, stripped + "_"]
    for b in (stripped, base):
        if b.endswith("_copy"):
            bases += [b.removesuffix("_copy"), b.removesuffix("_copy") + "_"]
        bases += [b + "_copy"]
        if b in ALIASES:
            bases += [ALIASES[b], ALIASES[b].rstrip("_"), ALIASES[b] + "_"]
        bases += [k for k, v in ALIASES.items() if v == b]
    out = []
    for b in dict.fromkeys(bases):
        out += sorted((o for o in known.get(b, ()) if o != overload),
                      key=lambda o: _distance(overload, o))
    return out


def _distance(a, b):
    """Overloads of like argument names first: add.out next to add.Tensor, not add.Scalar."""
    left = {(x.name, str(x.type)) for x in schema(a).arguments}
    right = {(x.name, str(x.type)) for x in schema(b).arguments}
    return len(left ^ right)


# --- other overloads ---------------------------------------------------------------------------


def adapt(call, overload, how=None):
    """The call's arguments, as far as `overload` has them by name; None where one is missing."""
    source, target = schema(call.overload), schema(overload)
    given = dict(zip((a.name for a in source.arguments), call.args))
    given.update(call.kwargs)
    args, kwargs, storages = [], {}, list(call.storages)
    for a in target.arguments:
        if is_out(a):
            continue
        if a.name in given:
            value, ok = _fit(given[a.name], str(a.type), storages)
            if not ok:
                return None
        elif a.has_default_value():
            if not a.kwarg_only:
                args.append(a.default_value)
            continue
        else:
            return None
        if a.kwarg_only:
            kwargs[a.name] = value
        else:
            args.append(value)
    refused = f", {REFUSED}" if REFUSED in call.origin else ""
    out = Call(overload, tuple(args), kwargs, storages, call.source,
               f"from {call.overload}{refused}", call.values)
    if any(is_out(a) for a in target.arguments):
        return with_outs(out, call, how)
    return out


def _fit(value, kind, storages):
    """A tensor where a number is expected and the reverse; (value, whether it fits)."""
    number = isinstance(value, (bool, int, float, complex))
    if kind in ("number", "int", "float", "bool") and isinstance(value, TensorRef):
        t = TorchArguments(Call("", (value,), {}, storages)).args[0]
        if t.numel() == 0:
            return None, False
        return t.resolve_conj().resolve_neg().flatten()[0].item(), True
    if kind in ("Tensor", "Optional[Tensor]") and number:
        t = torch.tensor(value)
        storages.append(bytes(t.reshape(1).view(torch.uint8).numpy()))
        return TensorRef(len(storages) - 1, t.dtype, (), (), 0), True
    if kind.startswith("List[int") and isinstance(value, TensorRef):
        t = TorchArguments(Call("", (value,), {}, storages)).args[0]
        return t.tolist() if t.dim() == 1 else None, t.dim() == 1
    if kind == "Tensor" and not is_tensor(value):
        return None, False
    return value, True


# How out= tensors are: those of the first row are for every call.
FITTING, GROWING, STRIDED = range(3)
OTHER_DTYPE, SHARED = range(3, 5)
UNUSUAL_OUTS = 2  # calls of an overload for each of the second row


def with_outs(call, base, how=None):
    """`call` with out= tensors."""
    result = run(base)
    if result is None:
        return None
    tensors = [r for r in (result if isinstance(result, (list, tuple)) else [result])]
    outs = [a for a in schema(call.overload).arguments if is_out(a)]
    if len(outs) == 1 and isinstance(result, (list, tuple)) and "List" in str(outs[0].type):
        tensors = [list(result)]
    if len(outs) != len(tensors):
        return None
    how = int(call.key(), 16) % (STRIDED + 1) if how is None else how
    live = TorchArguments(call)
    named = dict(live.kwargs)
    inputs = [x for a in (*live.args, *live.kwargs.values())
              for x in (a if isinstance(a, (list, tuple)) else [a])
              if isinstance(x, torch.Tensor)]
    for a, t in zip(outs, tensors):
        made = ([_out_like(x, how, inputs) for x in t] if isinstance(t, list)
                else _out_like(t, how, inputs))
        if made is None or made == [] or isinstance(made, list) and None in made:
            return None
        named[a.name] = made
    origin = {OTHER_DTYPE: "out= of another dtype, ", SHARED: "out= that shares memory, "}
    made = encode(call.overload, live.args, named, call.source, origin.get(how, "") + call.origin)
    return made.with_(values=call.values)


_LEFT_BEHIND = 77  # in out= tensors, where nothing of it may remain


_OTHER_DTYPE = {
    torch.float32: torch.float64, torch.float64: torch.float32, torch.float16: torch.float32,
    torch.bfloat16: torch.float16, torch.int64: torch.int32, torch.int32: torch.int64,
    torch.int16: torch.float32, torch.int8: torch.int16, torch.uint8: torch.bool,
    torch.bool: torch.uint8, torch.complex64: torch.complex128, torch.complex128: torch.complex64,
}


def _out_like(t, how, inputs):
    if not isinstance(t, torch.Tensor):
        return None
    if t.layout in SPARSE_LAYOUTS:
        return _sparse_out_like(t, how)
    if how == OTHER_DTYPE:
        other = _OTHER_DTYPE.get(t.dtype)
        return other and torch.full(t.shape, _LEFT_BEHIND, dtype=other)
    if how == SHARED:
        return _on_memory_of(inputs, t)
    if how == FITTING:
        return torch.full(t.shape, _LEFT_BEHIND, dtype=t.dtype)
    if how == GROWING:
        return torch.zeros(0, dtype=t.dtype)
    # Every other element of something twice as large in its last dim.
    size = (*t.shape[:-1], 2 * t.shape[-1]) if t.dim() else (2,)
    wide = torch.full(size, _LEFT_BEHIND, dtype=t.dtype)
    return wide[..., ::2] if t.dim() else wide[1]


def _sparse_out_like(t, how):
    """Of the result's layout: with entries of its own, or none."""
    if how in (OTHER_DTYPE, SHARED):
        return None
    made = t.clone()
    if made.layout == torch.sparse_coo and how == GROWING:
        return torch.sparse_coo_tensor(size=t.shape, dtype=t.dtype)
    (made._values() if made.layout == torch.sparse_coo else made.values()).fill_(_LEFT_BEHIND)
    return made


def _on_memory_of(inputs, t):
    """Where the first input starts that has its dtype and room for it."""
    for x in inputs:
        if x.layout in SPARSE_LAYOUTS:
            continue
        room = x.untyped_storage().nbytes() // x.itemsize - x.storage_offset()
        if x.dtype == t.dtype and 0 < t.numel() <= room:
            return x.as_strided(t.shape, torch.empty(t.shape, device="meta").stride(),
                                x.storage_offset())
    return None


def run(call):
    """PyTorch's result, or None when it raises."""
    return _quiet(lambda: _called(call))


def _refused(call):
    """Whether PyTorch raises."""
    return _error(call) is not None


def _has_no_answer(call):
    """Whether PyTorch raises, and has none by other operators."""
    return not stand_ins.of(call.overload) and _refused(call)


def _error(call):
    try:
        _called(call)
    except Exception as e:
        return e
    return None


# PyTorch crashes on some calls: who watches over this process hears of each before it is made, and
# says which to leave alone (by key).
watcher = None
crashing = frozenset()


def _called(call):
    if call.key() in crashing or is_ruled_out(call) or is_misread(call):
        raise RuntimeError("PyTorch crashes")
    if watcher:
        watcher(call.key())
    arguments = TorchArguments(call)
    with torch.no_grad():
        return torch_overload(call.overload)(*arguments.args, **arguments.kwargs)


# --- other dtypes ------------------------------------------------------------------------------


# Which arguments take the other dtype: all tensors of the main one and the dtype arguments that name
# it; the first tensor alone, where another argument has a dtype of its own (probabilities).
ALL, FIRST = range(2)


def to_dtype(call, dtype, which=ALL):
    """The call with its tensors of the main dtype in `dtype` instead; values as PyTorch converts
    them."""
    main = call.dtype()
    if main is None or main == dtype:
        return None
    live = TorchArguments(call)
    first = next((id(x) for x in live.args if isinstance(x, torch.Tensor)), None)

    def convert(x):
        if isinstance(x, torch.Tensor) and which == FIRST and id(x) != first:
            return x
        if isinstance(x, torch.Tensor) and x.dtype == main and x.layout in SPARSE_LAYOUTS:
            return x.to(dtype)
        if isinstance(x, torch.Tensor) and x.dtype == main:
            return converted(x, dtype)
        if isinstance(x, (list, tuple)):
            return type(x)(convert(v) for v in x)
        return dtype if x is main else x

    def number(x):
        if not (dtype.is_floating_point or dtype.is_complex) and isinstance(x, float):
            return int(x) if x == x and abs(x) < 1e9 else 1
        return x

    args = [number(convert(a)) for a in live.args]
    named = {k: number(convert(v)) for k, v in live.kwargs.items()}
    return encode(call.overload, args, named, call.source, f"dtype of {call.origin}")


def converted(x, dtype):
    """The tensor in another dtype, its values where the dtype has such and small ones elsewhere."""
    source = x.resolve_conj().resolve_neg()
    if source.is_complex() and not dtype.is_complex:
        source = source.real
    if not (dtype.is_floating_point or dtype.is_complex) and source.is_floating_point():
        source = source.nan_to_num(0, 9, -9).clamp(-100, 100)
        if not dtype.is_signed:
            source = source.abs()
    out = torch.empty_strided(x.shape, x.stride(), dtype=dtype) if x.numel() else None
    return source.to(dtype) if out is None or _overlaps(x) else out.copy_(source)


def _overlaps(t):
    return any(s == 0 and n > 1 for s, n in zip(t.stride(), t.size()))


# --- other layouts -----------------------------------------------------------------------------

LAYOUTS = ("strided", "offset", "transposed", "expanded", "scalar", "empty")
# PyTorch's kernel of these reads three sizes of tensors of any rank: what it makes of a scalar is
# chance.
READS_SIZES_UNSEEN = {"conv_tbc_backward"}
# Of pointers without elements PyTorch makes what is no tensor.
MAKES_OF_PARTS = re.compile(r"_?sparse_(compressed|csr|csc|bsr|bsc)_tensor(_unsafe)?")


def to_layout(call, layout, rng):
    """The call with tensors of the same values in other memory, or with sizes changed alike in all:
    `scalar` takes one element of each, `empty` none."""
    base = call.overload.partition(".")[0]
    if layout == "scalar" and base in READS_SIZES_UNSEEN:
        return None
    if layout in ("scalar", "empty") and MAKES_OF_PARTS.fullmatch(base):
        return None
    live = TorchArguments(call)
    changed = False
    # What is written must not overlap itself: PyTorch's documentation of Tensor.expand says so.
    kept = written(call.overload) if layout == "expanded" else ()

    def change(x):
        nonlocal changed
        if isinstance(x, torch.Tensor) and x.layout in SPARSE_LAYOUTS:
            return x
        if isinstance(x, torch.Tensor):
            y = _LAYOUTS[layout](x, rng)
            changed |= y is not None
            return x if y is None else y
        if isinstance(x, (list, tuple)) and x and isinstance(x[0], torch.Tensor):
            return type(x)(change(v) for v in x)
        return x

    names = [a.name for a in schema(call.overload).arguments]
    args = [a if n in kept else change(a) for n, a in zip(names, live.args)]
    named = {k: v if k in kept else change(v) for k, v in live.kwargs.items()}
    if not changed:
        return None
    return encode(call.overload, args, named, call.source, f"{layout} of {call.origin}")


def _strided(x, rng):
    if x.dim() == 0 or _overlaps(x):
        return None
    wide = torch.zeros((*x.shape[:-1], 2 * x.shape[-1]), dtype=x.dtype)
    view = wide[..., 1::2]
    view.copy_(x)
    return view


def _offset(x, rng):
    room = torch.zeros(x.numel() + 3, dtype=x.dtype)
    view = room[3:].view(x.shape)
    view.copy_(x)
    return view


def _transposed(x, rng):
    if x.dim() < 2:
        return None
    dims = list(range(x.dim()))
    rng.shuffle(dims)
    back = [dims.index(i) for i in range(x.dim())]
    return x.permute(dims).clone(memory_format=torch.contiguous_format).permute(back)


def _expanded(x, rng):
    big = [i for i, n in enumerate(x.shape) if n > 1]
    if not big:
        return None
    dim = rng.choice(big)
    return x.narrow(dim, 0, 1).clone().expand(x.shape)


def _scalar(x, rng):
    return x.flatten()[0].clone() if x.dim() and x.numel() else None


def _empty(x, rng):
    """A tensor of one element stands for a number beside the others."""
    return x.narrow(0, 0, 0).clone() if x.numel() > 1 else None


_LAYOUTS = {"strided": _strided, "offset": _offset, "transposed": _transposed,
            "expanded": _expanded, "scalar": _scalar, "empty": _empty}


# --- all of it ---------------------------------------------------------------------------------


def derive(overload, pool, known, claimed, seed, cap):
    """The calls to replay for an overload. `pool(name)` are the recorded calls of one, `known` the
    recorded overloads by base name, `claimed` the dtypes its spec lists, `cap` how many calls per
    dtype."""
    rng = random.Random(repr((seed, overload)))
    calls = list(pool(overload))
    if any(is_out(a) for a in schema(overload).arguments):
        calls = _capped(calls, cap, rng) + _with_outs(overload, pool, known, claimed, seed, cap)
        return _unique(calls)
    normal = [c for c in calls if c.origin != "error input"]
    if not _enough(normal):
        for relative in relatives(overload, known):
            adapted = [_quiet(lambda: adapt(c, overload)) for c in pool(relative)]
            found = [c for c in adapted if c is not None]
            calls += found
            normal += [c for c in found if c.origin != "error input"]
            if _enough(normal):
                break
    calls = _capped(calls, cap, rng)
    out = list(calls)
    out += _other_dtypes(normal, claimed, cap, rng, lambda: _adapted(overload, pool, known))
    out += _other_layouts(normal, cap, rng)
    if cap > 2:
        out += value_classes.derived(overload, out, rng, _has_no_answer)
    return _unique(out)


def _adapted(overload, pool, known):
    """Calls of all relatives, as this overload takes them; none where its own are as good."""
    found = (_quiet(lambda: adapt(c, overload)) for r in relatives(overload, known)
             for c in pool(r) if c.origin != "error input")
    return [c for c in found if c is not None]


def _with_outs(overload, pool, known, claimed, seed, cap):
    """The calls of the closest overload without out= that has some, each with results to write."""
    for relative in relatives(overload, known):
        if any(is_out(a) for a in schema(relative).arguments):
            continue
        calls = [c for c in derive(relative, pool, known, claimed, seed, cap)
                 if not c.values or c.dtype() == torch.float32]
        found = [_quiet(lambda: adapt(c, overload)) for c in calls]
        found = [c for c in found if c is not None]
        if _enough(found):
            found += _fitting_outs(calls, found, overload)
            return found + (_unusual_outs(calls, overload) if cap > 2 else [])
    return []


def _fitting_outs(calls, found, overload):
    """A call with out= tensors that fit in each dtype in which PyTorch takes none of `found`, as where
    its kernel wants dense ones."""
    taken = set()
    for c in found:
        if c.dtype() not in taken and _has_elements(c) and not _refused(c):
            taken.add(c.dtype())
    out = []
    for c in calls:
        made = None if c.dtype() in taken else _quiet(lambda: adapt(c, overload, FITTING))
        if made is not None and _has_elements(made) and not _refused(made):
            taken.add(c.dtype())
            out.append(made)
    return out


def _unusual_outs(calls, overload):
    """A few calls with each kind of out= that some operators refuse and others take. In an input's
    memory only what PyTorch refuses: what it takes it may read after it was written. And of another
    dtype only where none is asked for by an argument."""
    calls = [c for c in calls if _has_elements(c)]
    without_dtype = [c for c in calls if not any(isinstance(x, torch.dtype) for x in c.leaves())]
    other = (_quiet(lambda: adapt(c, overload, OTHER_DTYPE)) for c in without_dtype)
    shared = (_quiet(lambda: adapt(c, overload, SHARED)) for c in calls)
    kinds = ((c for c in other if c), (c for c in shared if c and _refused(c)))
    return [c for kind in kinds for c in itertools.islice(kind, UNUSUAL_OUTS)]


CANDIDATES = 12  # calls to try in another dtype
REFUSED_TRIES = 100  # the same, to find one for which PyTorch has no kernel


def _unique(calls):
    unique = {}
    for c in calls:
        unique.setdefault(c.key(), c)
    return list(unique.values())


def _enough(calls):
    return any(_has_elements(c) for c in calls)


def _has_elements(call):
    return bool(call.tensors()) and not call.is_empty()


def _quiet(f):
    try:
        return f()
    except Exception:
        return None


def _capped(calls, cap, rng):
    groups = {}
    for c in calls:
        kind = "error" if c.origin == "error input" else c.dtype()
        groups.setdefault(kind, []).append(c)
    return [c for kind, g in groups.items()
            for c in _with_taken(spread(g, cap, rng), kind, g, min(2, cap))]


def _with_taken(chosen, kind, calls, wanted):
    """`chosen` and, where PyTorch takes fewer than `wanted` of them with elements, more such."""
    if kind == "error":
        return chosen
    have = {id(c) for c in chosen}
    left = [c for c in calls if id(c) not in have][:REFUSED_TRIES]

    def taken(calls):
        return filter(lambda c: not c.is_empty() and not _refused(c), calls)

    missing = wanted - len(list(itertools.islice(taken(chosen), wanted)))
    return chosen + list(itertools.islice(taken(left), missing))


def spread(calls, cap, rng):
    """At most `cap`, from as many sources as there are."""
    by_source = {}
    for c in calls:
        by_source.setdefault(c.source, []).append(c)
    for g in by_source.values():
        rng.shuffle(g)
    out = []
    while len(out) < cap and by_source:
        for source in list(by_source):
            out.append(by_source[source].pop())
            if not by_source[source]:
                del by_source[source]
            if len(out) == cap:
                break
    return out


def _other_dtypes(calls, claimed, cap, rng, more):
    """For dtypes in which PyTorch takes few of the calls: a few more that it takes, or one that it
    refuses and one for which it has no kernel. `more()` gives further calls, for dtypes in which it
    refuses all of these."""
    have = {}
    taken = [c for c in calls if _has_elements(c) and not _refused(c)]
    for c in taken:
        have[c.dtype()] = have.get(c.dtype(), 0) + 1
    wanted = [d for d in claimed if have.get(d, 0) < min(2, cap)]
    bases = _plain(taken or calls)
    further = functools.cache(lambda: [c for c in more() if _has_elements(c)])
    plain = functools.cache(lambda: _plain(further()))
    out = []
    for d in wanted:
        made = _in_dtype(bases, d, rng, ALL)
        good, refused = _accepted(made, cap), made[:1]
        for source, which in ((lambda: bases, FIRST), (further, None), (plain, ALL)):
            if good or have.get(d, 0):
                break
            good = _accepted(_in_dtype(source(), d, rng, which), cap)
        out += good or refused
        if not good and not have.get(d, 0) and not any(_lacks_kernel(c) for c in refused):
            out += _without_kernel(plain(), d, rng)
    return out


def _without_kernel(calls, dtype, rng):
    """One of the calls in a dtype that PyTorch's kernel does not have, in a list, where there is such
    a one: what it refuses for its arguments tells nothing of the dtype."""
    made = (_quiet(lambda: to_dtype(c, dtype)) for c in spread(calls, REFUSED_TRIES, rng))
    return list(itertools.islice((c for c in made if c is not None and _lacks_kernel(c)), 1))


def _lacks_kernel(call):
    error = _error(call)
    return error is not None and lacks_kernel_of_dtype(call, error)


def _plain(calls):
    floats = [c for c in calls if c.dtype() in (torch.float32, torch.float64)]
    return sorted(floats if any(c.dtype() == torch.float32 for c in calls) else calls,
                  key=lambda c: c.key())


def _in_dtype(calls, dtype, rng, which):
    """A few of the calls in another dtype; `which` None: those that have it already."""
    if which is None:
        return spread([c for c in calls if c.dtype() == dtype], CANDIDATES, rng)
    made = (_quiet(lambda: to_dtype(c, dtype, which)) for c in spread(calls, CANDIDATES, rng))
    return [c for c in made if c is not None and c.dtype() == dtype]


def _accepted(calls, cap):
    return list(itertools.islice((c for c in calls if not _refused(c)), min(3, cap)))


def _other_layouts(calls, cap, rng):
    out = []
    bases = [c for c in calls if c.dtype() in (torch.float32, None)] or calls
    for layout in LAYOUTS:
        for c in spread(list(bases), 2 if cap > 2 else 1, rng):
            made = _quiet(lambda: to_layout(c, layout, rng))
            if made is not None:
                out.append(made)
    return out
