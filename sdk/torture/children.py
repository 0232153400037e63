"""Child processes of the torture tests: started, watched, and what became of them."""

import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Ending:
    """How a child ended. `signal`: the name of the one that ended it, for example SIGSEGV."""

    code: int
    signal: str
    hung: bool
    out: str
    err: str

    @property
    def crashed(self):
        return bool(self.signal) and not self.hung


@dataclasses.dataclass
class Outcome:
    """What a kind of torture found. `faults` are texts: each says how to see it again."""

    tries: int = 0
    faults: list = dataclasses.field(default_factory=list)
    figures: dict = dataclasses.field(default_factory=dict)

    def fault(self, text):
        self.faults.append(text)

    def count(self, figure, n=1):
        self.figures[figure] = self.figures.get(figure, 0) + n

    def add(self, other):
        self.tries += other.tries
        self.faults += other.faults
        for figure, n in other.figures.items():
            self.count(figure, n)


@dataclasses.dataclass
class Context:
    """Where things are, for how long to try, and how many tries at once."""

    primset: pathlib.Path  # the program
    module: pathlib.Path  # the folder that holds the Python package
    device: str
    seconds: float
    seed: int
    jobs: int
    goal: tuple = None  # (figure, number): go on until it is reached
    most_seconds: float = 0
    outcome: Outcome = None

    def alone(self):
        """The same for tries that have all the cores."""
        return dataclasses.replace(self, jobs=1)

    def environment(self, **changes):
        env = dict(os.environ, PYTHONPATH=f"{self.module}:{ROOT / 'sdk'}", PRIMSET_LOG="error",
                   PRIMSET_DEVICE=self.device)
        env.update({k: str(v) for k, v in changes.items() if v is not None})
        for k in [k for k, v in changes.items() if v is None]:
            env.pop(k, None)
        return env


class Clock:
    """Counts down the time of a kind; at least one try is always made. Where the kind has a goal, its
    figure must be reached, too, within the most time."""

    def __init__(self, context):
        self.context, self.begin = context, time.monotonic()

    def over(self):
        spent = time.monotonic() - self.begin
        if spent < self.context.seconds or not self.context.goal:
            return spent >= self.context.seconds
        figure, number = self.context.goal
        reached = self.context.outcome.figures.get(figure, 0) >= number
        return reached or spent >= self.context.most_seconds



def in_parallel(context, outcome, attempt, clock):
    """attempt(number, outcome of its own) again and again, `context.jobs` at once, until the time is
    over. At least one each is made."""
    numbers, lock = itertools.count(), threading.Lock()

    def keep_trying():
        while True:
            own = Outcome()
            attempt(next(numbers), own)
            with lock:
                outcome.add(own)
            if clock.over():
                return

    with concurrent.futures.ThreadPoolExecutor(context.jobs) as pool:
        for job in [pool.submit(keep_trying) for _ in range(context.jobs)]:
            job.result()


def ending_of(process, timeout):
    try:
        out, err = process.communicate(timeout=timeout)
        hung = False
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        hung = True
    code = process.returncode
    name = signal.Signals(-code).name if code < 0 else ""
    return Ending(code, name, hung, (out or b"").decode(errors="replace"), err.decode(errors="replace"))


def how(ending):
    """What became of a process that did not end well."""
    return "no end" if ending.hung else ending.signal or f"exit code {ending.code}"


def start(command, env, **options):
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([str(c) for c in command], env=env, **{**streams, **options})


def run(command, env, timeout=120, **options):
    return ending_of(start(command, env, **options), timeout)


def python(context, script, *arguments, timeout=120, **changes):
    """Runs a script of this folder with the module of the build."""
    command = [sys.executable, pathlib.Path(__file__).parent / script, *arguments]
    return run(command, context.environment(**changes), timeout)


def folder(prefix):
    return tempfile.TemporaryDirectory(prefix=f"primset_torture_{prefix}_")
