"""Child processes of the torture tests: started, watched, and what became of them."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
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
class Context:
    """Where things are, and for how long to try."""

    build: pathlib.Path
    device: str
    seconds: float
    seed: int

    @property
    def primset(self):
        return self.build / "bin/primset"

    def environment(self, **changes):
        env = dict(os.environ, PYTHONPATH=f"{self.build / 'python'}:{ROOT / 'sdk'}",
                   PRIMSET_LOG="error", PRIMSET_DEVICE=self.device)
        env.update({k: str(v) for k, v in changes.items() if v is not None})
        for k in [k for k, v in changes.items() if v is None]:
            env.pop(k, None)
        return env


@dataclasses.dataclass
class Outcome:
    """What a kind of torture found. `faults` are texts: each says how to see it again."""

    tries: int = 0
    faults: list = dataclasses.field(default_factory=list)
    figures: dict = dataclasses.field(default_factory=dict)

    def fault(self, text):
        self.faults.append(text)


class Clock:
    """Counts down the seconds of a kind of torture; at least one try is always made."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def over(self):
        return time.monotonic() >= self.end


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
    return Ending(code, name, hung, out.decode(errors="replace"), err.decode(errors="replace"))


def start(command, env, **options):
    return subprocess.Popen([str(c) for c in command], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def run(command, env, timeout=120, **options):
    return ending_of(start(command, env, **options), timeout)


def python(context, script, *arguments, timeout=120, **changes):
    """Runs a script of this folder with the module of the build."""
    command = [sys.executable, pathlib.Path(__file__).parent / script, *arguments]
    return run(command, context.environment(**changes), timeout)


def folder(prefix):
    return tempfile.TemporaryDirectory(prefix=f"primset_torture_{prefix}_")
