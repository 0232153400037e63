"""Replays one call in PyTorch and in Primset."""

import time
import traceback
import warnings

import primset
import torch

from . import compare, stand_ins
from .calls import REFUSED, TorchArguments, is_tensor, short_dtype
from .compare import Verdict, torch_overload
from .expectations import (
    CHANGES_GEOMETRY,
    comparator,
    is_for_want_of_kernel,
    is_misread,
    is_ruled_out,
    lacks_kernel_of_dtype,
)
from .primset_side import PrimsetArguments
from .second_opinion import EQUAL, named_arguments

MAX_ELEMENTS = 1 << 24  # of a result; a larger one takes long and says nothing more


def record(call, phase=lambda p: None):
    """The call's line in the results: a dict."""
    out = {
        "overload": call.overload,
        "key": call.key(),
        "dtype": short_dtype(call.dtype()) if call.dtype() else "",
        "origin": call.origin,
        "source": call.source,
        "empty": call.is_empty(),
        **({"values": call.values} if call.values else {}),
        "call": call.describe(),
    }
    started = time.monotonic()
    out.update(_replay(call, phase))
    out["seconds"] = round(time.monotonic() - started, 4)
    return out


def _run(function, arguments):
    try:
        return function(*arguments.args, **arguments.kwargs), None
    except Exception as e:
        return None, e


def _replay(call, phase):
    if is_ruled_out(call):
        phase("primset")
        return _outcome_of_ruled_out(call)
    if is_misread(call):
        return {"outcome": "skipped", "checks": {}}
    phase("torch")
    torch.manual_seed(0)
    theirs = TorchArguments(call)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        their_result, their_error = _run(torch_overload(call.overload), theirs)
    if any(t.numel() > MAX_ELEMENTS for t in compare.flatten(their_result)
           if isinstance(t, torch.Tensor)):
        return {"outcome": "skipped", "checks": {}}
    phase("primset")
    try:
        ours = PrimsetArguments(call)
    except primset.Error as e:
        return _outcome_of_error(call, their_error, e)
    our_result, our_error = _run(lambda *a, **k: primset.invoke(call.overload, *a, **k), ours)
    phase("compare")
    if not their_error and _breaks_its_rules(call, theirs, their_result):
        return {"outcome": "ruled_out", "checks": {},
                "errors": ["", _text(our_error) if our_error else ""]}
    if isinstance(their_error, NotImplementedError) and not our_error:
        instead = _result_of_stand_in(call)
        if instead is not None:
            return {"by": EQUAL, **_verdict(lambda: compare.compare_results(call, instead, our_result))}
    if their_error or our_error:
        return _outcome_of_error(call, their_error, our_error)
    return _verdict(lambda: compare.compare(call, theirs, ours, their_result, our_result))


def _result_of_stand_in(call):
    """What PyTorch's other operators make of a call for which its CPU has no kernel; None where there
    are none, or they do not take it."""
    stand_in = stand_ins.of(call.overload)
    if not stand_in:
        return None
    outs = compare.out_names(call.overload)
    given = {k: x for k, x in named_arguments(call).items() if k not in outs}
    try:
        with torch.no_grad():
            return stand_in(**given)
    except Exception:
        return None


def _verdict(compared):
    try:
        v = compared()
    except Exception as e:
        return {"outcome": "oracle_error", "checks": {}, "details": [f"{type(e).__name__}: {e}"],
                "traceback": traceback.format_exc()[-900:]}
    line = {"outcome": "agree" if v.agrees else "differ", "checks": v.checks,
            "details": v.details, "worst": v.worst}
    return {**line, "second_opinion": v.second[:4]} if v.agrees and v.second else line


def _outcome_of_ruled_out(call):
    """PyTorch is not asked, and Primset is to refuse it."""
    try:
        ours = PrimsetArguments(call)
    except primset.Error as e:
        error = e
    else:
        _, error = _run(lambda *a, **k: primset.invoke(call.overload, *a, **k), ours)
    if error:
        return {"outcome": "ruled_out", "checks": {}, "errors": ["", _text(error)]}
    v = Verdict()
    v.check("errors", False, "no error; PyTorch's documentation rules the call out")
    return {"outcome": "differ", "checks": v.checks, "raises": True, "details": v.details}


def _breaks_its_rules(call, arguments, result):
    """Whether PyTorch's in-place operator returns another tensor than self, or gave self another size
    to broadcast it, either of which its documentation rules out (Broadcasting semantics)."""
    base = call.overload.partition(".")[0]
    before = call.args[0] if call.args else None
    if not base.endswith("_") or base.endswith("__") or not is_tensor(before):
        return False
    if (torch.Tag.inplace_view in torch_overload(call.overload).tags or base in CHANGES_GEOMETRY
            or comparator(call) == "none"):
        return False  # these are to do so
    self = arguments.args[0]
    return (isinstance(result, torch.Tensor) and result.dtype != self.dtype
            or tuple(self.shape) != before.size)


def _text(e):
    return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:300]


def _outcome_of_error(call, theirs, ours):
    v = Verdict()
    if theirs and ours:
        v.check("errors", True)
        return {"outcome": "agree", "checks": v.checks, "raises": True,
                "errors": [_text(theirs), _text(ours)],
                "same_class": _class(theirs) == _class(ours),
                "lacks_kernel": lacks_kernel_of_dtype(call, theirs)}
    if theirs:
        if is_for_want_of_kernel(call, theirs):  # more than PyTorch's CPU has
            return {"outcome": "beyond", "checks": {}, "errors": [_text(theirs), ""]}
        v.check("errors", False, f"no error; PyTorch's is {_text(theirs)}")
        return {"outcome": "differ", "checks": v.checks, "raises": True, "details": v.details}
    if isinstance(ours, primset.NotImplementedError) and not claimed(call):
        return {"outcome": "unclaimed", "checks": {}, "errors": ["", _text(ours)]}
    refused = REFUSED in call.origin  # Primset is meant to be the stricter one
    v.check("errors" if refused else "values", False,
            f"an error that PyTorch does not raise: {_text(ours)}")
    return {"outcome": "differ", "checks": v.checks, "raises": refused, "details": v.details}


def claimed(call):
    """Whether the operator's spec lists the dtypes in the call."""
    used = {t.dtype for t in call.tensors()} | {x for x in call.leaves()
                                                if isinstance(x, torch.dtype)}
    names = {t.name for t in primset.describe(call.overload)["dtypes"]}
    return {str(d).removeprefix("torch.") for d in used} <= names


def _class(e):
    for c in (IndexError, ValueError, TypeError, NotImplementedError):
        if isinstance(e, c):
            return c.__name__
    return "RuntimeError"
