"""The list of all cases, and why an operator has none.

Whether PyTorch takes a call of a certain form is found out by making it, of 2^10 elements, on the CPU.
The list is kept, under a name made of all that it depends on: the program, this folder and PyTorch's
version.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import pickle
import signal
import time

from . import recorded
from .case_text import text_of
from .cases import Case, best_template, call_for, case_of, wishes
from .operands import Maker, split
from .table import Table

TRIED = 1 << 10  # elements of a trial
MOST_RESULTS = 16  # times as many elements as the largest argument has
MOST_TEMPLATES = 4
SECONDS = 20  # that an operator's trials may take


class Listing:
    def __init__(self, cases, left_out):
        self.cases, self.left_out = cases, left_out

    @staticmethod
    def of(program, torch, folder, say=print):
        """Kept in `folder`; made anew when something changed, in about a minute."""
        path = folder / f"cases_{_name(program, torch)}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            return Listing([Case.from_json(x) for x in kept["cases"]], kept["left_out"])
        say("making the list of cases ...")
        started = time.monotonic()
        out = made(program, torch)
        folder.mkdir(parents=True, exist_ok=True)
        kept = {"left_out": out.left_out, "cases": [c.as_json() for c in out.cases]}
        path.write_text(json.dumps(kept, indent=0))
        say(f"{len(out.cases)} cases in {time.monotonic() - started:.0f} s: {path}")
        return out


def _name(program, torch):
    state = hashlib.sha1(torch.__version__.encode())
    state.update(pathlib.Path(program).read_bytes())
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.*")):
        if path.suffix in (".py", ".yaml"):
            state.update(path.read_bytes())
    return state.hexdigest()[:12]


def made(program, torch):
    table = Table.read()
    operators, templates = recorded.read(program)
    outs = {o["base"]: name for name, o in operators.items() if o["kind"] == "out"}
    cases, left_out = [], {}
    for name, operator in operators.items():
        if operator["kind"] not in ("functional", "mutable") or operator["status"] != "implemented":
            continue
        found, reason = alone(lambda: _of_operator(torch, table, operator, templates.get(name, []),
                                                   outs.get(name)), SECONDS)
        cases += found
        if not found:
            left_out[name] = reason
    return Listing(list({c.id: c for c in cases}.values()), left_out)


def alone(work, seconds):
    """(cases, reason) of a process of its own: some calls of PyTorch's end theirs, some end never."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # PyTorch warns of much that is as it is wanted
        signal.alarm(seconds)  # ends the process
        with os.fdopen(start, "wb") as answer:
            pickle.dump(work(), answer)
        os._exit(0)
    os.close(start)
    with os.fdopen(end, "rb") as answer:
        data = answer.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return pickle.loads(data)
    ended = signal.Signals(status & 127).name if status & 127 else f"code {status >> 8}"
    return [], f"a small call of PyTorch's ends its process ({ended})"


def _of_operator(torch, table, operator, templates, out):
    if function(torch, operator["name"]) is None:
        return [], "this PyTorch has no such operator"
    reason = table.reason(operator["name"], operator["family"])
    if reason:
        return [], reason
    rows = list(table.cases(operator))
    if rows:
        return rows, ""
    if not templates:
        return [], "the conformance suite records no call of it"
    is_full = operator["name"] in table.most_used
    why = ""
    for template in [best_template(templates), *templates][:MOST_TEMPLATES]:
        trial = Trial(torch, operator, template, out)
        cases = [case_of(operator, template, wish, table.check(operator), out)
                 for wish in wishes(operator, template.dtype, out is not None, is_full)
                 if trial.is_taken(wish)]
        if any(cases):
            return [c for c in cases if c], ""
        why = trial.why
    return [], f"a larger call is no call of PyTorch's: {why}"


class Trial:
    """Tries small calls of an operator, each form once."""

    def __init__(self, torch, operator, template, out):
        self.torch, self.operator, self.template, self.out = torch, operator, template, out
        self.taken, self.why = {}, "it has nothing that could grow"

    def is_taken(self, wish):
        key = (*wish.kind, isinstance(wish.goal, str) and wish.goal.count("x"))
        if key not in self.taken:
            arguments = call_for(self.operator, self.template, wish, TRIED)
            self.taken[key] = arguments is not None and self._is_call(arguments, wish)
        return self.taken[key]

    def _is_call(self, arguments, wish):
        torch = self.torch
        try:
            values = Maker(torch, "cpu", wish.dtype, wish.layout).arguments(arguments)
            called = function(torch, self.operator["name"])
            positional, named = split(called._schema.arguments, values)
            results = tensors_in(torch, called(*positional, **named))
            if wish.out and any(t.layout != torch.strided for t in results):
                return False  # nobody gives memory for a sparse result
            if wish.out:
                into_memory(torch, self.out, values, results)[0]()
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, KeyError,
                NotImplementedError, AttributeError, ZeroDivisionError) as e:
            self.why = (str(e).strip().splitlines() or [type(e).__name__])[0][:160]
            return False
        if not results:
            self.why = "it gives no tensor"
            return False
        if sum(t.numel() for t in results) > MOST_RESULTS * TRIED:
            self.why = f"results of {text_of(arguments)} outgrow its arguments"
            return False
        return True


def function(torch, overload):
    name, _, which = overload.partition(".")
    packet = getattr(torch.ops.aten, name, None)
    return getattr(packet, which or "default", None)


def tensors_in(torch, x):
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for y in x for t in tensors_in(torch, y)] if isinstance(x, (list, tuple)) else []


def out_names(called):
    """The arguments of PyTorch's overload that take results."""
    return [a.name for a in called._schema.arguments if a.kwarg_only and a.alias_info is not None
            and a.alias_info.is_write]


def into_memory(torch, overload, values, results):
    """A call of PyTorch's that writes into new tensors like the results, and these by their names."""
    called = function(torch, overload)
    positional, named = split(called._schema.arguments, values)
    names = out_names(called)
    memory = [torch.empty_like(t) for t in results]
    given = dict(zip(names, memory)) if len(names) == len(memory) else {names[0]: memory}

    def call():
        called(*positional, **named, **given)
        return memory

    return call, given
