"""What PyTorch itself answers to a call in another way, for answers of its own that are less right:
its kernels for narrow dtypes round at each step, some read or write tensors that are strided, or that
must grow, as if they were dense and of the right size, some read memory that nobody has written, and
its vector and scalar code disagree where complex numbers overflow. Others of its operators compute the
same by its own word, and its kernels for f32 what those for narrower dtypes are to. Last, what a
function is by its definition."""

import contextlib
import functools
import math

import torch
import torch.utils.deterministic

from . import definitions, equivalents
from .calls import TorchArguments, encode
from .expectations import is_continuous

IN_DOUBLE, WITHOUT_OUT, DENSE, STRIDED, ELEMENTS, FILLED, DECOMPOSED, EQUAL, IN_FLOAT, DEFINED = (
    "in double", "without out=", "of dense tensors", "of strided tensors", "of each element alone",
    "with new memory filled", "by PyTorch's decomposition", "by operators that it equals",
    "in f32, rounded once", "by definition")
# No answer: what overflows in PyTorch, too, in another order.
OVERFLOWN = "as either overflows"
WAYS = (WITHOUT_OUT, OVERFLOWN, DENSE, STRIDED, ELEMENTS, FILLED, DECOMPOSED, EQUAL, IN_FLOAT,
        IN_DOUBLE, DEFINED)
# The truths among them; the others are PyTorch's own answers in its own precision.
TRUTHS = (IN_DOUBLE, DEFINED)


class SecondOpinion:
    """Asked for where answers differ, computed once."""

    def __init__(self, call):
        self.call, self.runs = call, None

    def result(self, i):
        """[(how, tensor)] for result i, all results in one row."""
        return [(how, results[i]) for how, results, _ in self._runs() if i < len(results)]

    def argument(self, name, i):
        """The same for tensor i of the argument, as the call left it."""
        return [(how, left[name][i]) for how, _, left in self._runs()
                if i < len(left.get(name, ()))]

    def defined(self, i, where):
        """The values of the elements `where` of result (or of a list's tensor) i by definition, in
        double, a list with ANY_VALUE in it where that is so; None where one of them has none."""
        dtypes = {how: x.dtype for how, x in self.result(i) if isinstance(x, torch.Tensor)}
        call = _without_sparse(self.call) if self.call.is_sparse() else self.call
        return _defined(call, i, where, dtypes.get(WITHOUT_OUT, dtypes.get(DENSE)))

    def _runs(self):
        if self.runs is None:
            runs = []
            if without_outs(self.call.overload):
                runs.append(self._run(WITHOUT_OUT, _same))
            runs.append(self._run(DENSE, _dense))
            if self.call.is_sparse():
                runs.append(self._run(DENSE, _without_layout))
            runs.append(self._run(STRIDED, _strided))
            with _memory_filled():
                runs.append(self._run(FILLED, _same))
            runs.append(self._by_elements())
            decomposition = _decomposition(self.call.overload)
            if decomposition:
                runs.append(self._run(DECOMPOSED, _dense, decomposition))
            equal = equivalents.of(self.call.overload)
            if equal:
                runs.append(self._run(EQUAL, _dense, equal))
            if is_continuous(self.call):
                runs += [r for how in (IN_FLOAT, IN_DOUBLE) for r in self._widened(how, equal)]
            self.runs = [r for r in runs if r]
        return self.runs

    def _widened(self, how, equal):
        """In f32 where tensors are narrower, or in double; and so by what the operator equals, as of
        8-bit floats it takes neither."""
        dtypes = {t.dtype for t in self.call.tensors()} | set(_dtypes_asked(self.call))
        if how == IN_FLOAT and not dtypes & _FLOAT_OF.keys():
            return []
        wide = _FLOAT_OF if how == IN_FLOAT else _DOUBLE_OF
        run = functools.partial(self._run, how, lambda x: _in_dtypes(wide, _dense(x)))
        return [run(), equal and run(equal)]

    def _run(self, how, change, instead=None):
        """The call with `change` made to its arguments, of `instead` if that is given."""
        from .compare import flatten, out_names, torch_overload, written

        named = {k: change(x) for k, x in named_arguments(self.call).items()}
        function, outs = without_outs(self.call.overload), {}
        if function or instead:
            outs = {n: named.pop(n) for n in out_names(self.call.overload)}
        try:
            with torch.no_grad():
                found = (instead or function or torch_overload(self.call.overload))(**named)
        except Exception:
            return None
        results = flatten(found)
        unwritten = written(self.call.overload) if instead else ()
        left = {k: flatten(x) for k, x in named.items() if k not in unwritten}
        if instead and self.call.overload.partition(".")[0].endswith("_"):
            left["self"] = results  # which it returns, and does not write
        following = iter(results)
        for name, given in outs.items():
            left[name] = [next(following, None) for _ in flatten(given)]
        if function:
            left.update(_written_copies(function, found, named))
        return how, results, left

    def _by_elements(self):
        """An optimizer's step of lists of single elements: what it does for many at once differs."""
        named = named_arguments(self.call)
        takes_lists = isinstance(named.get("self"), (list, tuple))
        if not self.call.overload.startswith("_fused_") or not takes_lists:
            return None
        lists = [k for k, x in named.items() if isinstance(x, (list, tuple))]
        sizes = [x.shape for x in named["self"]]
        run = self._run(ELEMENTS, functools.partial(_cut, sizes))
        if not run:
            return None
        how, results, left = run
        return how, _joined(sizes, results), {k: _joined(sizes, left[k]) for k in lists}


def _written_copies(function, found, named):
    """What a form without out= returns of the arguments that the form with it writes besides."""
    from .compare import flatten

    found = found if isinstance(found, tuple) else (found,)
    names = [r.name.removesuffix("_out") for r in function._schema.returns]
    return {n: flatten(x) for n, x in zip(names, found) if n in named and n != "self"}


def named_arguments(call):
    from .compare import schema

    arguments = TorchArguments(call)
    named = dict(zip((a.name for a in schema(call.overload).arguments), arguments.args))
    return {**named, **arguments.kwargs}


@functools.cache
def without_outs(overload):
    """The overload that returns what this one writes to out=; None where there is none."""
    from .compare import out_names, schema

    outs = out_names(overload)
    wanted = [(a.name, str(a.type)) for a in schema(overload).arguments if a.name not in outs]
    packet = getattr(torch.ops.aten, overload.partition(".")[0])
    for name in packet.overloads() if outs else ():
        other = getattr(packet, name)
        if [(a.name, str(a.type)) for a in other._schema.arguments] == wanted:
            return other
    return None


def _decomposition(overload):
    """PyTorch's own definition of a functional form by other operators, which its compiler goes by;
    None where it has none."""
    from torch._decomp import decomposition_table

    from .compare import torch_overload

    function = without_outs(overload) or torch_overload(overload)
    writes = any(a.alias_info and a.alias_info.is_write for a in function._schema.arguments)
    return None if writes else decomposition_table.get(function)


# --- other forms of the arguments --------------------------------------------------------------


def _same(x):
    return x


def _each(x, change):
    """The argument with `change` made to it, or to each element where it is a list."""
    return type(x)(_each(v, change) for v in x) if isinstance(x, (list, tuple)) else change(x)


def _tensors(change):
    """An argument's change from that of its tensors."""
    return lambda x: _each(x, lambda v: change(v) if isinstance(v, torch.Tensor) else v)


_dense = _tensors(lambda t: t.clone() if t.layout != torch.strided else
                  t.clone(memory_format=torch.contiguous_format))


_without_layout = _tensors(lambda t: t.clone() if t.layout == torch.strided else t.to_dense())


@_tensors
def _strided(t):
    """Every second element of memory of its own: PyTorch's vector code takes neighbours alone."""
    if t.layout != torch.strided:
        return t.clone()
    wide = torch.zeros(*t.shape, 2, dtype=t.dtype)
    return wide[..., 0].copy_(t)


def _cut(sizes, x):
    """A list of tensors of `sizes` as one of their elements; one of other tensors, such as the
    numbers of steps, has one for each element."""
    if not isinstance(x, (list, tuple)):
        return x
    return [e.clone() for t, size in zip(x, sizes)
            for e in (t.flatten() if t.shape == size else [t] * size.numel())]


def _without_sparse(call):
    """The call of the same tensors, all strided."""
    live = TorchArguments(call)

    def strided(x):
        sparse = isinstance(x, torch.Tensor) and x.layout != torch.strided
        return x.to_dense() if sparse else x

    return encode(call.overload, [strided(a) for a in live.args],
                  {k: strided(v) for k, v in live.kwargs.items()}, call.source)


def _joined(sizes, elements):
    """What _cut made of lists, one after the other, as tensors again."""
    whole, rest = [], [e for e in elements if e is not None]
    while rest:
        for size in sizes:
            whole.append(torch.stack(rest[:size.numel()]).view(size) if size.numel() else
                         torch.empty(size))
            rest = rest[size.numel():]
    return whole


_NARROW = [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e4m3fnuz,
           torch.float8_e5m2, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
_FLOAT_OF = {torch.complex32: torch.complex64, **{d: torch.float32 for d in _NARROW}}
_DOUBLE_OF = {torch.complex32: torch.complex128, torch.complex64: torch.complex128,
              **{d: torch.float64 for d in [*_NARROW, torch.float32]}}


def _dtypes_asked(call):
    return [x for x in call.leaves() if isinstance(x, torch.dtype)]


def _in_dtypes(wide, x):
    """The argument with dtypes, and tensors of those, as `wide` has them."""
    def one(v):
        if isinstance(v, torch.Tensor):
            return v.to(wide.get(v.dtype, v.dtype))
        return wide.get(v, v) if isinstance(v, torch.dtype) else v
    return _each(x, one)


@contextlib.contextmanager
def _memory_filled():
    """New floating tensors hold NaN, integers their greatest."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


# --- by definition -----------------------------------------------------------------------------

MAX_DEFINED = 2048  # elements of a result
MAX_SCANNED = 1 << 14  # of one that rows are scanned for


def _function(overload):
    from .derive import ALIASES

    base = overload.partition(".")[0].removeprefix("_foreach_").strip("_")
    return ALIASES.get(base, base)


def _defined(call, i, where, computed_in):
    """`computed_in` is the result's dtype before an out= tensor takes it."""
    from .compare import out_names

    function = _function(call.overload)
    if function in definitions.SCANS:
        return _scanned(call, function, where)
    if function in definitions.REDUCTIONS:
        return _reduced(call, function, i, where)
    if not definitions.knows(function) or int(where.sum()) > MAX_DEFINED:
        return None
    outs = out_names(call.overload)
    operands = [x for n, x in named_arguments(call).items() if n not in outs and x is not None]
    operands = [_in(computed_in, x[i] if isinstance(x, (list, tuple)) else x) for x in operands]
    columns = [torch.broadcast_to(x, where.shape)[where] if isinstance(x, torch.Tensor)
               else [x] * int(where.sum()) for x in operands]
    values = [definitions.value(function, row) for row in zip(*columns)]
    if any(v is None for v in values):
        return None
    any_of = (definitions.ANY_VALUE, definitions.ANY_INFINITY)
    return [v if v in any_of else _overflown(v, computed_in) for v in values]


def _in(dtype, x):
    """An operand as it is where tensors of f32 meet numbers or integers, or of c64 numbers."""
    if dtype == torch.complex64 and isinstance(x, (int, float, complex)) and not isinstance(x, bool):
        return torch.tensor(x, dtype=dtype if isinstance(x, complex) else torch.float32).item()
    if dtype != torch.float32 or isinstance(x, (bool, complex, str)):
        return x
    if isinstance(x, torch.Tensor):
        return x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(dtype)
    return torch.tensor(x, dtype=dtype).item()


def _overflown(value, dtype):
    """The value, infinite where the dtype has none so great."""
    if dtype is None or isinstance(value, complex) or not dtype.is_floating_point:
        return value
    rounded = torch.tensor(value, dtype=dtype).item()
    return rounded if math.isinf(rounded) else value


def _scanned(call, function, where):
    named = named_arguments(call)
    if where.numel() > MAX_SCANNED:
        return None
    rows = named["self"].movedim(named["dim"], -1) if where.dim() else named["self"].view(1)
    asked = where.movedim(named["dim"], -1) if where.dim() else where.view(1)
    found = torch.zeros(asked.shape, dtype=torch.complex128)
    for at in asked.any(-1).nonzero().tolist():
        values = definitions.scanned(function, rows[tuple(at)].tolist())
        wanted = asked[tuple(at)]
        if any(v is None for v, w in zip(values, wanted.tolist()) if w):
            return None
        found[tuple(at)] = torch.tensor([v or 0 for v in values], dtype=found.dtype)
    found = found.movedim(-1, named["dim"]) if where.dim() else found.view(())
    values = found[where].tolist()
    return values if named["self"].is_complex() else [v.real for v in values]


def _reduced(call, function, i, where):
    """Of a list's tensors each has a result of its own."""
    named = named_arguments(call)
    x, options = named["self"], {k: v for k, v in named.items() if k in definitions.OPTIONS}
    if isinstance(x, (list, tuple)):
        x, i = x[i], 0
    if function == "dist":
        x = x.double() - named["other"].double() if x.is_floating_point() else x - named["other"]
    if named.get("dtype") is not None or x.numel() > MAX_SCANNED:
        return None
    dims = named.get("dim")
    dims = [dims] if isinstance(dims, int) else dims or list(range(x.dim()))
    if function == "linalg_norm" and len(dims) != 1:
        return None  # of a matrix
    rows = x.movedim(dims, list(range(-len(dims), 0))).reshape(where.numel(), -1)
    values = [definitions.reduced(function, row.tolist(), **options)
              for row in rows[where.flatten()]]
    return None if any(v is None for v in values) else [v[i] for v in values]
