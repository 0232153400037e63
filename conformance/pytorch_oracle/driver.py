"""Runs the oracle: records calls, replays them, writes results and the coverage page.

Every unit of work, an OpInfo to record or an overload to replay, runs in a child process forked from
this one, since PyTorch crashes on a few calls. Finished units stay on disk: a run that was
interrupted goes on where it stopped.
"""

import hashlib
import json
import mmap
import os
import signal
import struct
import sys
import time
import traceback
from pathlib import Path

_STATE = struct.Struct("qqd12s")  # call, phase, when it began, the key of one made to derive others
# In a list, as foreach takes them: longer ones say nothing more about the operator and take time.
MANY_TENSORS = 12
MANY_CRASHES = 40  # of PyTorch, in deriving the calls of one overload
PHASES = ("start", "torch", "primset", "compare", "done")


class Journal:
    """What a child is doing, in memory that it shares with its parent."""

    def __init__(self):
        self.memory = mmap.mmap(-1, _STATE.size)
        self.set(-1, 0)

    def set(self, call, phase, key=""):
        self.memory.seek(0)
        self.memory.write(_STATE.pack(call, phase, time.monotonic(), key.encode()))

    def get(self):
        return _STATE.unpack(self.memory[:])


class Children:
    """Keeps `jobs` children busy with units of work and reports how each ended."""

    def __init__(self, jobs, work, ended, limit):
        """work(unit, journal) runs in the child; ended(unit, journal, status) in the parent, and
        returns a unit to run instead, or None. `limit`: seconds a single call may take."""
        self.jobs, self.work, self.ended, self.limit = jobs, work, ended, limit

    def run(self, units):
        running = {}
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            self._run(units, running)
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)

    def _run(self, units, running):
        waiting = list(reversed(units))
        while waiting or running:
            while waiting and len(running) < self.jobs:
                unit, journal = waiting.pop(), Journal()
                running[self._fork(unit, journal)] = (unit, journal)
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in running:
                unit, journal = running.pop(pid)
                again = self.ended(unit, journal, status)
                if again is not None:
                    waiting.append(again)
                continue
            for pid, (_, journal) in running.items():
                if time.monotonic() - journal.get()[2] > self.limit:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def _fork(self, unit, journal):
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            os.setpgid(0, 0)
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 1)
            if not os.environ.get("PRIMSET_PYTORCH_ORACLE_VERBOSE"):
                os.dup2(devnull, 2)
            self.work(unit, journal)
            status = 0
        except BaseException:
            with open(Path(os.environ["PRIMSET_PYTORCH_ORACLE_OUT"]) / "errors.log", "a") as f:
                f.write(f"--- {unit}\n{traceback.format_exc()}\n")
        os._exit(status)


class Progress:
    def __init__(self, what, total):
        self.what, self.total, self.done, self.began = what, total, 0, time.monotonic()
        self.shown = 0.0

    def step(self, note=""):
        self.done += 1
        now = time.monotonic()
        if now - self.shown > 5 or self.done == self.total:
            self.shown = now
            print(f"{self.what}: {self.done}/{self.total} in {now - self.began:.0f} s {note}",
                  flush=True)


def slug(name):
    clean = "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
    return f"{clean[:80]}-{hashlib.sha1(name.encode()).hexdigest()[:6]}"


class Oracle:
    def __init__(self, out, seed, cap, samples, jobs):
        self.seed, self.cap, self.samples, self.jobs = seed, cap, samples, jobs
        self.out = Path(out) / f"seed{seed}-samples{samples}-cap{cap}"
        self.recorded = Path(out) / f"seed{seed}-samples{samples}" / "recorded"
        self.calls = Path(out) / f"seed{seed}-samples{samples}" / "calls"
        self.results = self.out / "results"
        for d in (self.recorded, self.calls, self.results):
            d.mkdir(parents=True, exist_ok=True)
        os.environ["PRIMSET_PYTORCH_ORACLE_OUT"] = str(self.out)
        self.not_recorded = {}  # unit -> its exit code, or minus the signal that ended it

    # --- recording -------------------------------------------------------------------------------

    def record(self, only=None):
        """Records what is not recorded yet; what fails is tried again by the next run."""
        from . import calls, sources

        units = [n for n in sources.names() if not only or only(n)]
        pending = [n for n in units if not (self.recorded / slug(n)).exists()]
        if not pending:
            return
        progress = Progress("recording", len(pending))

        def work(name, journal):
            recorder = sources.record(name, self.seed, self.samples)
            calls.dump(recorder.calls, self.recorded / slug(name))

        def ended(name, journal, status):
            if status:
                self.not_recorded[name] = os.waitstatus_to_exitcode(status)
            progress.step(name if not status else f"{name}: ended with status {status}")

        Children(self.jobs, work, ended, limit=300).run(pending)
        if len(self.not_recorded) < len(pending):
            for old in self.calls.glob("*"):
                old.unlink()

    def report_not_recorded(self):
        """Prints what could not be recorded; the exit code: 1 when there is such a unit."""
        for name, status in self.not_recorded.items():
            print(f"  not recorded, ended with {status}: {name}")
        if self.not_recorded:
            print(f"{len(self.not_recorded)} units of recording failed, and their calls are missing; "
                  f"the next run tries them again. Why: {self.out / 'errors.log'}")
        return 1 if self.not_recorded else 0

    def group(self):
        """Recorded calls by overload."""
        from . import calls
        from .files import replace

        marker = self.calls / "index.json"
        if marker.exists():
            return json.loads(marker.read_text())
        groups = {}
        for path in sorted(self.recorded.glob("[!.]*")):
            for c in calls.load(path):
                groups.setdefault(c.overload, {}).setdefault(c.key(), c)
        index = {}
        for overload, found in sorted(groups.items()):
            calls.dump(_limited(list(found.values())), self.calls / slug(overload))
            index[overload] = len(found)
        replace(marker, json.dumps(index))
        return index

    # --- replaying -------------------------------------------------------------------------------

    def replay(self, overloads, index, again=False):
        from . import calls, derive, replay

        pending = [o for o in overloads if again or not self._finished(o)]
        for o in pending:
            self._result(o).unlink(missing_ok=True)
        progress = Progress("replaying", len(pending))
        known = {}
        for name in index:
            known.setdefault(name.split(".")[0], []).append(name)

        def pool(name):
            path = self.calls / slug(name)
            return calls.load(path) if path.exists() else []

        def work(unit, journal):
            name, start, derive.crashing = unit
            derive.watcher = lambda key: journal.set(start - 1, 0, key)
            derive.watcher("")
            chosen = derive.derive(name, pool, known, claimed_dtypes(name), self.seed, self.cap)
            with open(self._result(name), "a") as f:
                for i, call in enumerate(chosen[start:], start):
                    journal.set(i, 1)
                    line = replay.record(call, lambda p: journal.set(i, PHASES.index(p)))
                    f.write(json.dumps(line) + "\n")
                    f.flush()
                f.write(json.dumps({"done": len(chosen)}) + "\n")

        def ended(unit, journal, status):
            name, start, crashing = unit
            if status == 0:
                progress.step(name)
                return None
            at, phase, _, key = journal.get()
            if at < start and key.strip(b"\0") and len(crashing) < MANY_CRASHES:
                return (name, start, crashing | {key.decode()})
            signal_number = status & 0x7F
            what = "timeout" if signal_number == signal.SIGKILL else "crash"
            if phase <= 1:
                what = "torch_" + what
            with open(self._result(name), "a") as f:
                f.write(json.dumps({"overload": name, "outcome": what, "index": at,
                                    "signal": signal_number, "checks": {}, "dtype": "",
                                    "origin": "", "empty": False}) + "\n")
            if at < start:  # not even derived
                with open(self._result(name), "a") as f:
                    f.write(json.dumps({"done": 0}) + "\n")
                progress.step(f"{name}: {what}")
                return None
            return (name, at + 1, crashing)

        Children(self.jobs, work, ended, limit=60).run([(o, 0, frozenset()) for o in pending])

    def _result(self, overload):
        return self.results / (slug(overload) + ".jsonl")

    def _finished(self, overload):
        path = self._result(overload)
        return path.exists() and '{"done"' in path.read_text()[-60:]

    def lines(self, overload):
        path = self._result(overload)
        if not path.exists():
            return []
        lines = [json.loads(x) for x in path.read_text().splitlines()]
        return [x for x in lines if "done" not in x]


def _limited(found, per_kind=40):
    """Enough calls of a kind to choose from; of those with long lists of tensors few."""
    kinds, out, long = {}, [], 0
    for c in sorted(found, key=lambda c: c.key()):
        if c.longest_list() > MANY_TENSORS:
            long += 1
            if long > 3:
                continue
        kind = (c.origin == "error input", c.dtype(), c.source)
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] <= per_kind:
            out.append(c)
    totals, kept = {}, []
    for c in out:  # from many sources, a few each
        kind = (c.origin == "error input", c.dtype())
        totals[kind] = totals.get(kind, 0) + 1
        if totals[kind] <= 6 * per_kind:
            kept.append(c)
    return kept


def claimed_dtypes(overload):
    import primset
    import torch

    names = [t.name for t in primset.describe(overload)["dtypes"]]
    return [getattr(torch, n) for n in names if n != "complex32"]
