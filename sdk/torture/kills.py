"""Kills in the middle of `primset conform --results F`, of its resumes, and of its workers.

Each try has a folder of its own, with an empty kernel cache, so that kernels are compiled and the
cache is written when a signal comes. It starts, kills and resumes the same run some times, lets the
last resume end by itself, and holds what is left against an undisturbed run. Where disk.c can be
compiled, some of the kills come in the middle of a write, or between a write and its rename.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import time

from torture.children import Clock, ending_of, folder, how, in_parallel, run, start
from torture.preload import NoCompiler, compiled

FILTERS = [["abs", "cumsum"], ["sum.*"], ["mm", "neg.default"], ["prim/add", "sort.default"]]
KILLS_OF_A_TRY = 6
REPORTS = {"--html": "page.html", "--csv": "table.csv", "--junit": "junit.xml"}
# A worker that is killed is one that crashed: its case is run again alone and is a flake then, or a
# crash when that run is killed, too; or the run cannot open its device.
AFTER_A_DEAD_WORKER = {0, 1, 3, 6}


class Try:
    def __init__(self, context, temporary, filters, device, jobs):
        self.folder = pathlib.Path(temporary)
        self.results = self.folder / "results.jsonl"
        self.environment = context.environment(PRIMSET_CACHE=self.folder / "cache")
        self.command = [
            context.primset,
            "conform",
            "--device",
            device,
            "--tier",
            "smoke",
            "--jobs",
            jobs,
            "--batch",
            8,
            "--results",
            self.results,
            "--resume",
        ]
        for f in filters:
            self.command += ["--filter", f]
        for option, name in REPORTS.items():
            self.command += [option, self.folder / name]
        self.shown = " ".join(map(str, self.command[1:]))

    def start(self, **changes):
        return start(self.command, {**self.environment, **changes})

    def run(self):
        return run(self.command, self.environment)


def lines_of(path):
    """The results of a file and the lines that are none; a last line without end counts as none."""
    results, broken = [], []
    text = path.read_bytes() if path.exists() else b""
    lines = text.split(b"\n")
    for line in lines[:-1]:
        try:
            value = json.loads(line)
            if "run" not in value:
                results.append(value)
        except ValueError:
            broken.append(line)
    return results, broken + [line for line in lines[-1:] if line]


def meaning(result):
    return tuple(result.get(k) for k in ("outcome", "kind", "detail", "elements", "empty"))


def by_id(results):
    return {r["id"]: meaning(r) for r in results}


def children_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(p) for p in text.split()]


def is_alive(pid, parent_gone):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return parent_gone and state not in "ZX"


def survivors(pids, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end and any(is_alive(p, True) for p in pids):
        time.sleep(0.01)
    return [p for p in pids if is_alive(p, True)]


def kill_run(t, r, duration, crashed, outcome):
    """Sends the run a signal, or SIGKILL to one of its workers. Says whether it was a worker.
    `crashed`: cases of earlier runs count as crashes."""
    process = t.start()
    time.sleep(r.uniform(0, duration))
    workers = children_of(process.pid)
    worker = bool(workers) and r.random() < 0.3
    number = (
        signal.SIGKILL if worker else r.choice([signal.SIGKILL] * 3 + [signal.SIGINT, signal.SIGTERM])
    )
    if not worker and r.random() < 0.2:  # workers first hear of it when their parent is gone
        os.kill(process.pid, signal.SIGSTOP)
        workers = children_of(process.pid)
    try:
        os.kill(r.choice(workers) if worker else process.pid, number)
    except ProcessLookupError:
        worker = False
    if not worker and number != signal.SIGKILL:
        os.kill(process.pid, signal.SIGCONT)
    ending = ending_of(process, 120)
    outcome.count("kills")
    outcome.count("of workers", int(worker))
    allowed = AFTER_A_DEAD_WORKER if worker else {-number, 0} | ({1, 6} if crashed else set())
    if ending.hung or ending.code not in allowed:
        outcome.fault(
            f"{how(ending)} after {signal.Signals(number).name}{' of a worker' * worker}: "
            f"{t.shown}: {ending.err.strip()[-300:]}"
        )
    if ending.code == 3 and not ending.err.strip():
        outcome.fault(f"exit code 3 without a word after a worker's death: {t.shown}")
    for pid in survivors(workers):
        outcome.fault(f"the worker {pid} outlives its parent: {t.shown}")
        os.kill(pid, signal.SIGKILL)
    return worker


def kill_in_a_write(t, r, library, crashed, outcome):
    """Ends the run, or its workers, by its own writes. Says how many workers."""
    place, size = r.choice([("results.jsonl", 2500), (".", 5000), ("cache", 300), ("cache", 20000)])
    mark = t.folder.with_suffix(".mark")
    process = t.start(
        LD_PRELOAD=str(library),
        PRIMSET_DISK_FOLDER=str(t.folder / "x")[:-1] + place,
        PRIMSET_DISK_END="kill",
        PRIMSET_DISK_BYTES=str(r.randrange(size)),
        PRIMSET_DISK_COUNT=str(mark),
    )
    ending = ending_of(process, 120)
    deaths = mark.read_text().count("end") if mark.exists() else 0
    mark.unlink(missing_ok=True)
    outcome.count("kills", deaths)
    outcome.count("in writes", deaths)
    allowed = {0} if not deaths else AFTER_A_DEAD_WORKER if place == "cache" else {-signal.SIGKILL}
    if ending.hung or ending.code not in allowed | ({1, 6} if crashed else set()):
        outcome.fault(
            f"{how(ending)} after {deaths} deaths in writes of {place}: {t.shown}: "
            f"{ending.err.strip()[-300:]}"
        )
    return deaths if place == "cache" else 0


def judge_growth(t, before, outcome):
    """What had been written is there still, and is followed by whole lines."""
    after = t.results.read_bytes() if t.results.exists() else b""
    if not after.startswith(before):
        outcome.fault(f"a resume changed lines that were there: {t.shown}")
    return after


def judge_reports(t, outcome):
    """A report is there whole, or not at all."""
    ends = {"page.html": "</html>", "junit.xml": "</testsuites>", "table.csv": "\n"}
    for name, last in ends.items():
        path = t.folder / name
        if (
            path.exists()
            and not path.read_text().rstrip(" ").endswith(last)
            and not path.read_text().rstrip().endswith(last)
        ):
            outcome.fault(f"{name} is cut short: {t.shown}")


def judge_end(t, expected, kills, worker_kills, outcome):
    """The last resume, undisturbed: all results, each once, those of the undisturbed run."""
    ending = t.run()
    results, broken = lines_of(t.results)
    found, ids = by_id(results), [r["id"] for r in results if r.get("outcome") != "not run"]
    if ending.hung or ending.code not in ({0, 1, 6} if worker_kills else {0}):
        outcome.fault(f"{how(ending)} of the last resume: {t.shown}: {ending.err.strip()[-300:]}")
    lost = expected.keys() - found.keys()
    if lost:
        outcome.count("lines lost", len(lost))
        outcome.fault(f"{len(lost)} results are lost, for example {min(lost)}: {t.shown}")
    if len(ids) != len(set(ids)):
        outcome.count("duplicates", len(ids) - len(set(ids)))
        outcome.fault(f"{len(ids) - len(set(ids))} results are there twice: {t.shown}")
    if len(broken) > kills:
        outcome.fault(f"{len(broken)} broken lines after {kills} kills: {t.shown}")
    for name in found.keys() & expected.keys():
        killed = worker_kills and "signal 9" in str(found[name][2])
        if found[name] != expected[name] and not killed:
            outcome.fault(f"{name} came to {found[name]}, undisturbed to {expected[name]}: {t.shown}")
    outcome.count("results", len(found))


def judge_leftovers(t, outcome):
    """Of what killed processes were writing nothing stays: the last run, or the cache's daily count,
    has removed it."""

    def left():
        return [p for p in t.folder.rglob("*") if p.name.endswith("tmp")]

    outcome.count("temporary files left by kills", len(left()))
    if not left():
        return
    # Each kernel's file is written anew, and each folder visited.
    for p in (t.folder / "cache").rglob("*.psk"):
        p.unlink()
    t.results.unlink()
    (t.folder / "cache/usage").unlink(missing_ok=True)
    t.run()
    for p in left():
        outcome.fault(f"{p.relative_to(t.folder)} stays for ever: {t.shown}")


def make_try(context, undisturbed, library, seed, outcome):
    r = random.Random(f"{context.seed} {seed}")
    (n, device), (expected, duration) = r.choice(list(undisturbed.items()))
    with folder("kills") as temporary:
        t = Try(context, temporary, FILTERS[n], device, r.choice([1, 2]))
        worker_kills, before = 0, b""
        for _ in range(KILLS_OF_A_TRY):
            if library and r.random() < 0.4:
                worker_kills += kill_in_a_write(t, r, library, worker_kills > 0, outcome)
            else:
                worker_kills += kill_run(t, r, duration * 1.1, worker_kills > 0, outcome)
            before = judge_growth(t, before, outcome)
            judge_reports(t, outcome)
            if r.random() < 0.2:
                shutil.rmtree(t.folder / "cache", ignore_errors=True)
        judge_end(t, expected, KILLS_OF_A_TRY, worker_kills, outcome)
        judge_reports(t, outcome)
        judge_leftovers(t, outcome)
    outcome.tries += KILLS_OF_A_TRY


def devices(context):
    """The device under test, and Vulkan's where there is one: its drivers write files, too."""
    names = run([context.primset, "devices", "--names"], context.environment()).out.split()
    return [context.device] + [d for d in names if d == "vulkan:0" and context.device == "cpu"]


def run_undisturbed(context, outcome):
    """By filter and device: the results, and how long they take."""
    found = {}
    for device in devices(context):
        for n, filters in enumerate(FILTERS):
            with folder("kills") as temporary:
                t = Try(context, temporary, filters, device, 1)
                begin = time.monotonic()
                ending = t.run()
                results = by_id(lines_of(t.results)[0])
                if ending.code != 0 or not results:
                    outcome.fault(f"{how(ending)} undisturbed: {t.shown}: {ending.err[-300:]}")
                    continue
                found[n, device] = results, time.monotonic() - begin
    return found


def library_of_writes(temporary):
    try:
        return compiled("disk", temporary)
    except NoCompiler:
        return None


def torture(context, outcome):
    clock = Clock(context)
    undisturbed = run_undisturbed(context, outcome)
    outcome.figures = {
        "kills": 0,
        "of workers": 0,
        "in writes": 0,
        "lines lost": 0,
        "duplicates": 0,
        "results": 0,
    }
    with folder("kills_library") as temporary:
        library = library_of_writes(temporary)
        if undisturbed:
            in_parallel(
                context, outcome, lambda n, own: make_try(context, undisturbed, library, n, own), clock
            )
