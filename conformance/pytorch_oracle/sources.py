"""Where calls come from: PyTorch's OpInfo, foreach, module and optimizer databases, run under the
recorder; the error inputs that OpInfos carry; and the conformance suite's cases."""

import itertools
import random
import warnings

import torch

from . import cases, sparse_sources
from .calls import SPARSE_LAYOUTS
from .record import Recorder

# Backward is run for these: the other dtypes of a *_backward overload are derived.
GRAD_DTYPES = (torch.float32, torch.complex64)


def databases():
    from torch.testing._internal import common_methods_invocations as c

    ops = list(c.op_db)
    for name in ("foreach_unary_op_db", "foreach_binary_op_db", "foreach_pointwise_op_db",
                 "foreach_reduce_op_db", "foreach_other_op_db"):
        ops += getattr(c, name)
    return ops


def names():
    """One name a unit of recording: an OpInfo, a module, an optimizer, the cases of an operator."""
    out = [f"op/{full_name(o)}" for o in databases()]
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    out += [f"module/{m.name}" for m in module_db]
    out += [f"optim/{o.optim_cls.__name__}" for o in optim_db]
    out += [f"sparse/{o}" for o in dict.fromkeys(map(full_name, databases()))
            if any(sparse_sources.takes(_op(o), layout) for layout in SPARSE_LAYOUTS)]
    out += [f"sparse_function/{name}" for name in sparse_sources.FUNCTIONS]
    out += [f"case/{base}" for base in cases.base_names()]
    return list(dict.fromkeys(out))


def full_name(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def record(name, seed, samples):
    """The calls that the samples of one unit make."""
    kind, _, rest = name.partition("/")
    recorder = Recorder()
    warnings.simplefilter("ignore")
    function = {"op": _record_op, "module": _record_module, "optim": _record_optimizer,
                "sparse": _record_sparse, "sparse_function": _record_sparse_function,
                "case": _record_cases}[kind]
    function(rest, recorder, seed, samples)
    return recorder


def _seeded(seed, *what):
    value = random.Random(repr((seed, *map(str, what)))).getrandbits(48)
    torch.manual_seed(value)
    random.seed(value)
    return random.Random(value)


def _choose(items, count, rng):
    """`count` of them, in order; all are generated, so take few of what can be many."""
    items = list(itertools.islice(items, 400))
    if len(items) <= count:
        return items
    return [items[i] for i in sorted(rng.sample(range(len(items)), count))]


def _quietly(f):
    """Runs f; what it raises is what it raises: the calls up to there are recorded."""
    try:
        return f()
    except Exception:
        return None


# --- OpInfos -----------------------------------------------------------------------------------


def _op(name):
    return next(o for o in databases() if full_name(o) == name)


def _record_op(name, recorder, seed, samples):
    op = _op(name)
    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        grad = dtype in GRAD_DTYPES and op.supports_autograd
        rng = _seeded(seed, name, dtype)
        inputs = _quietly(
            lambda: _choose(op.sample_inputs("cpu", dtype, requires_grad=grad), samples, rng))
        for sample in inputs or []:
            with recorder.of(name):
                _quietly(lambda: _run_sample(op, sample, grad))
    _record_errors(op, name, recorder, seed)


def _run_sample(op, sample, grad):
    out = op(sample.input, *sample.args, **sample.kwargs)
    if grad:
        _backward(sample.output_process_fn_grad(out))


def _backward(out):
    outs = [t for t in _tensors(out) if t.requires_grad and t.grad_fn is not None]
    if outs:
        torch.autograd.backward(outs, [torch.randn_like(t) for t in outs])


def _tensors(x):
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for v in x:
            yield from _tensors(v)


def _record_errors(op, name, recorder, seed):
    if op.error_inputs_func is None:
        return
    _seeded(seed, name, "errors")
    inputs = _quietly(lambda: list(itertools.islice(op.error_inputs("cpu"), 60)))
    for e in inputs or []:
        s = e.sample_input
        args = getattr(s, "args", ())
        kwargs = getattr(s, "kwargs", {})
        with recorder.of(name, "error input"):
            _quietly(lambda: op(s.input, *args, **kwargs))


# --- sparse tensors ----------------------------------------------------------------------------


def _record_sparse(name, recorder, seed, samples):
    op = _op(name)
    for layout in SPARSE_LAYOUTS:
        if not sparse_sources.takes(op, layout):
            continue
        for dtype in sorted(op.supported_dtypes("cpu"), key=str):
            grad = dtype in GRAD_DTYPES and op.supports_autograd
            _seeded(seed, name, layout, dtype)
            for sample in _quietly(lambda: sparse_sources.samples(op, layout, dtype, grad)) or []:
                with recorder.of(name):
                    _quietly(lambda: _run_sample(op, sample, grad))


def _record_sparse_function(name, recorder, seed, samples):
    for dtype in sparse_sources.DTYPES:
        _seeded(seed, name, dtype)
        for step in sparse_sources.steps(name, dtype):
            with recorder.of(f"sparse {name}"):
                _quietly(step)


# --- modules and optimizers --------------------------------------------------------------------


def _record_module(name, recorder, seed, samples):
    from torch.testing._internal.common_modules import module_db

    info = next(m for m in module_db if m.name == name)
    for training in (True, False):
        rng = _seeded(seed, name, training)
        inputs = _quietly(lambda: _choose(
            info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True,
                                    training=training), samples, rng))
        for i in inputs or []:
            with recorder.of(name):
                _quietly(lambda: _run_module(info, i, training))


def _run_module(info, i, training):
    m = info.module_cls(*i.constructor_input.args, **i.constructor_input.kwargs)
    m.train(training)
    _backward(m(*i.forward_input.args, **i.forward_input.kwargs))


def _record_optimizer(name, recorder, seed, samples):
    from torch.testing._internal.common_optimizers import optim_db

    info = next(o for o in optim_db if o.optim_cls.__name__ == name)
    _seeded(seed, name)
    for i in itertools.islice(info.optim_inputs_func(device="cpu"), samples):
        for how in ({"foreach": True}, {"fused": True}, {}):
            with recorder.of(name):
                _quietly(lambda: _run_optimizer(info, {**i.kwargs, **how}))


def _run_optimizer(info, kwargs):
    params = [torch.nn.Parameter(torch.randn(s)) for s in ((3,), (2, 4), ())]
    optimizer = info.optim_cls(params, **kwargs)
    for _ in range(2):
        for p in params:
            p.grad = torch.randn_like(p)
        optimizer.step()


# --- conformance cases -------------------------------------------------------------------------


def _record_cases(base, recorder, seed, samples):
    recorder.calls += list(cases.calls_of(base, seed, samples))
