"""Times cases, in a process of its own, which a crash may end.

    python -m speed.worker PRIMSET_DEVICE PYTORCH_DEVICE THREADS LOCK

Each line of the standard input is a case as JSON; each answer is lines of JSON on the standard output:
what has been found out so far ("step"), and at the end a row of the results ("row").
"""

from __future__ import annotations

import functools
import json
import sys
import time

from . import checks, timing
from .case_text import parsed
from .cases import Case
from .listing import function, into_memory, tensors_in
from .operands import Exchange, Maker, split

MOST_KEPT = 3 << 30  # bytes of free memory that PyTorch may keep on a GPU


class Worker:
    def __init__(self, torch, primset, device, peer, lock, say):
        self.torch, self.primset, self.device, self.peer = torch, primset, device, peer
        self.lock, self.say = lock, say
        self.exchange = Exchange(torch, primset, device)
        self.on_gpu = peer.startswith("cuda")
        self.wait = primset.synchronize
        self.peer_wait = torch.cuda.synchronize if self.on_gpu else lambda: None
        self.seconds = timing.SECONDS["gpu" if self.on_gpu else "cpu"]

    def row(self, case, first_only):
        """A row of the results. What PyTorch raises is no fault of Primset's."""
        row = {"case": case.id, "overload": case.overload, "family": case.family, "dtype": case.dtype,
               "label": case.label, "text": case.text}
        with timing.among_others(self.lock, self.waits):
            try:
                calls = Calls(self, case)
                started = time.perf_counter()
                expected = calls.expected()
                self.peer_wait()
                self.say(peer_first_s=time.perf_counter() - started)
            except Exception as e:
                return {**row, "peer_error": said(e)}
            try:
                row.update(self.checked(calls, expected, first_only))
                del expected
            except Exception as e:
                return {**row, "error": said(e)}
        if first_only or "wrong" in row:
            return row
        try:
            return {**row, **self.in_turns(calls.ours, calls.theirs, self.seconds)}
        except Exception as e:
            return {**row, "error": said(e)}

    def checked(self, calls, expected, first_only):
        """What the first call took, and what is wrong with results; the bytes that are moved."""
        calls.bind()
        before = self.primset.statistics()["kernels_compiled"]
        started = time.perf_counter()
        found = calls.ours()
        self.wait()
        first = {"first_s": time.perf_counter() - started,
                 "compiled": self.primset.statistics()["kernels_compiled"] - before}
        self.say(**first)
        if first_only:
            return first
        found = calls.poisoned(found)
        results = self.exchange.back(found)
        why = self.complaint(calls, self.near(results), expected)
        moved = calls.bytes_of_arguments() + sum(size_of(self.torch, t) for t in expected)
        return {**first, "wrong": why} if why else {**first, "bytes": moved}

    def complaint(self, calls, results, expected):
        """Why results are wrong. Where they differ PyTorch is asked again, in other ways."""
        if calls.check is None:
            return ""
        judge = lambda answer: checks.complaint(self.torch, calls.check, results, answer)
        why = judge(expected)
        if why and not all(judge(answer) for answer in calls.other_answers(expected)):
            return ""
        return why

    def in_turns(self, ours, theirs, seconds):
        with timing.alone(self.lock, self.waits):
            return timing.in_turns(ours, theirs, self.wait, self.peer_wait, seconds)

    def waits(self):
        self.say(waiting=True)

    def near(self, results):
        """Results that are compared on the GPU are compared faster."""
        return [r.to(self.peer) if self.on_gpu and isinstance(r, self.torch.Tensor) else r
                for r in results]

    def copy_rates(self, size=1 << 26):
        """Bytes a second that a copy reads and writes, on both sides."""
        theirs = self.torch.ones(size // 4, device=self.peer)
        ours = self.exchange.tensor(theirs)
        their_target, our_target = self.torch.empty_like(theirs), self.primset.ops.empty_like(ours)
        copy = self.primset.ops.copy_.default
        t = self.in_turns(lambda: copy(our_target, ours), lambda: their_target.copy_(theirs),
                          4 * self.seconds)
        name = self.torch.cuda.get_device_name() if self.on_gpu else "CPU"
        return {"primset": 2 * size / t["primset_s"], "pytorch": 2 * size / t["pytorch_s"],
                "device": self.device, "peer": f"PyTorch {self.torch.__version__} on {name}"}

    def tidy(self):
        if self.on_gpu and self.torch.cuda.memory_reserved() > MOST_KEPT:
            self.torch.cuda.empty_cache()


class Calls:
    """One call on both sides, with arguments made of its text."""

    def __init__(self, worker, case):
        self.torch, self.primset, self.exchange = worker.torch, worker.primset, worker.exchange
        self.case, self.texts, self.peer = case, parsed(case.text), worker.peer
        self.check = checks.beside(case.check, worker.on_gpu)
        self.values = Maker(self.torch, worker.peer, case.dtype, case.layout).arguments(self.texts)
        self.ours = None
        self.memory = {}  # PyTorch's for results, by the name of the argument
        called = self._take(case.overload)
        self.theirs = lambda: called(*self.positional, **self.named)

    def _take(self, overload):
        """PyTorch's function, and the arguments that it takes."""
        called = function(self.torch, overload)
        self.positional, self.named = split(called._schema.arguments, self.values)
        self.names = [a.name for a in called._schema.arguments]
        if "device" in self.names and "device" not in self.values:
            self.named["device"] = self.torch.device(self.peer)
        return called

    def expected(self):
        results = tensors_in(self.torch, self.theirs())
        if self.case.out:
            self._take(self.case.out)
            self.theirs, self.memory = into_memory(self.torch, self.case.out, self.values, results)
            results = tensors_in(self.torch, self.theirs())
        return [t.to_dense() if t.layout != self.torch.strided else t.resolve_conj().resolve_neg()
                for t in results]

    def other_answers(self, expected):
        """What PyTorch says without out=, which some of its out= forms get wrong; and of 16 bits in
        f32, rounded once, since either side may carry all steps so."""
        called = function(self.torch, self.case.overload)
        positional, named = split(called._schema.arguments, self.values)
        if self.case.out:
            yield tensors_in(self.torch, called(*positional, **named))
        if self.case.dtype in ("bf16", "f16"):
            try:
                wide = called(*self._wide(positional), **{n: self._wide(v) for n, v in named.items()})
            except Exception:  # there is no such call
                return
            yield [r.to(e.dtype) for r, e in zip(tensors_in(self.torch, wide), expected)]

    def _wide(self, x):
        half = (self.torch.float16, self.torch.bfloat16)
        if isinstance(x, list):
            return [self._wide(y) for y in x]
        if isinstance(x, self.torch.Tensor):
            return x.float() if x.dtype in half else x
        return self.torch.float32 if x in half else x

    def bind(self):
        """Makes Primset's arguments, and `ours`, which calls it."""
        take = lambda name, value: self.exchange.value(value, self.texts.get(name))
        self.mine = [take(n, v) for n, v in zip(self.names, self.positional)]
        self.my_named = {n: take(n, v) for n, v in self.named.items()}
        given = {n: self._like(m) for n, m in self.memory.items()}
        self.my_memory = list(primset_tensors(self.primset, list(given.values())))
        called = primset_function(self.primset, self.case.out or self.case.overload)
        named = {**self.my_named, **given}
        mine = self.mine
        self.ours = lambda: called(*mine, **named)
        self.primset.synchronize()

    def _like(self, x):
        """Memory of its own for Primset's results."""
        if isinstance(x, list):
            return [self._like(y) for y in x]
        return self.primset.ops.empty_like(self.exchange.tensor(x))

    def poisoned(self, found):
        """Results of a call whose memory was filled with what no result is: memory that was given, or
        memory that was freed and is taken again."""
        if self.my_memory:
            checks.poison(self.primset, self.my_memory)
            self.ours()
            return self.my_memory
        arguments = list(primset_tensors(self.primset, [self.mine, list(self.my_named.values())]))
        results = list(primset_tensors(self.primset, found))
        if self.check != "shape" and not any(r.is_alias_of(a) for r in results for a in arguments):
            checks.poison(self.primset, results)
        del results, found
        return self.ours()

    def bytes_of_arguments(self):
        tensors = tensors_in(self.torch, [self.positional, list(self.named.values())])
        return sum(size_of(self.torch, t) for t in tensors)


def primset_function(primset, overload):
    """The overload itself, which is looked up once; names that Python keeps to itself are looked up by
    each call."""
    base, _, which = overload.partition(".")
    if base.startswith("__"):
        return functools.partial(primset.invoke, overload)
    return getattr(getattr(primset.ops, base), which or "default")


def primset_tensors(primset, x):
    if isinstance(x, primset.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from primset_tensors(primset, y)


def size_of(torch, t):
    """Bytes that a call reads or writes: elements that share their place count once, of a sparse tensor
    those that are stored."""
    if t.layout == torch.sparse_coo:
        return size_of(torch, t._values()) + size_of(torch, t._indices())
    if t.layout != torch.strided:
        return size_of(torch, t.values())
    count = 1
    for n, stride in zip(t.shape, t.stride()):
        count *= n if stride else 1
    return count * t.element_size()


def said(e):
    text = (str(e).strip().splitlines() or [""])[0].partition(" This could be because")[0]
    return f"{type(e).__name__}: {text}"[:300]


def main():
    device, peer, threads, lock, first_only = sys.argv[1:]
    import primset
    import torch

    torch.set_num_threads(int(threads))
    torch.set_grad_enabled(False)
    if peer.startswith("cuda"):
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
    answers = sys.stdout
    sys.stdout = sys.stderr  # what libraries print is no answer

    def say(**step):
        print(json.dumps(step), file=answers, flush=True)

    worker = Worker(torch, primset, device, peer, lock, say)
    worker.exchange.back(worker.exchange.tensor(torch.ones(8, device=peer)))  # starts both devices
    for line in sys.stdin:
        request = json.loads(line)
        if request == "copy rates":
            say(row=worker.copy_rates())
            continue
        say(row=worker.row(Case.from_json(request), first_only == "1"))
        worker.tidy()


if __name__ == "__main__":
    main()
