"""A signal every millisecond or faster: results keep their bits, the heap stays whole."""

import pathlib
import shutil

from torture.children import Clock, folder, how, python, run

RATES = [1000, 5000, 20000]  # signals a second; more leave no time to compute


def preloaded(temporary):
    """storm.c, compiled."""
    library = pathlib.Path(temporary) / "storm.so"
    compiler = shutil.which("cc") or shutil.which("clang-22") or shutil.which("clang")
    source = pathlib.Path(__file__).parent / "storm.c"
    built = run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], None)
    if built.code != 0:
        raise RuntimeError(f"storm.c does not compile: {built.err}")
    return library


def judge(ending, what, outcome):
    for line in ending.out.splitlines():
        if line.startswith("WRONG"):
            outcome.fault(f"{line} ({what})")
    if ending.hung or ending.code != 0:
        outcome.fault(f"{how(ending)}: {what}: {(ending.out + ending.err).strip()[-300:]}")


def run_calls(context, storm, count_file, rate, outcome):
    seconds = max(2, min(20, context.seconds / 6))
    environment = {"LD_PRELOAD": storm, "PRIMSET_STORM_HZ": rate, "PRIMSET_STORM_COUNT": count_file}
    ending = python(context, "signals_child.py", seconds, timeout=seconds * 10 + 60, **environment)
    judge(ending, f"{rate} signals a second, signals_child.py", outcome)
    outcome.tries += 1


def run_conformance(context, storm, count_file, outcome):
    """Conformance holds every result against the reference, whatever arrives meanwhile."""
    environment = context.environment(LD_PRELOAD=storm, PRIMSET_STORM_HZ=1000,
                                      PRIMSET_STORM_COUNT=count_file)
    command = [context.primset, "conform", "--device", context.device, "--tier", "smoke", "--jobs", "2"]
    ending = run(command, environment, timeout=900)
    judge(ending, "1000 signals a second, " + " ".join(map(str, command[1:])), outcome)
    outcome.tries += 1


def torture(context, outcome):
    clock = Clock(context)
    with folder("signals") as temporary:
        storm, count_file = preloaded(temporary), pathlib.Path(temporary) / "count"
        for rate in RATES:
            run_calls(context, storm, count_file, rate, outcome)
        if context.seconds >= 120:
            run_conformance(context, storm, count_file, outcome)
        while not clock.over():
            run_calls(context, storm, count_file, RATES[outcome.tries % len(RATES)], outcome)
        counts = count_file.read_text().split() if count_file.exists() else []
        outcome.figures = {"signals": sum(map(int, counts))}
