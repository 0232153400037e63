"""A signal every millisecond or faster: results keep their bits, the heap stays whole."""

import pathlib

from torture.children import Clock, folder, how, in_parallel, python, run
from torture.preload import compiled

RATES = [20000, 1000, 5000]  # signals a second; more leave no time to compute


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


def counted(count_file):
    return sum(map(int, count_file.read_text().split())) if count_file.exists() else 0


def torture(context, outcome):
    clock = Clock(context)
    outcome.figures = {"signals": 0}
    with folder("signals") as temporary:
        storm = compiled("storm", temporary)

        def attempt(number, own):
            count_file = pathlib.Path(temporary) / f"count{number}"
            # Conformance takes minutes under such a storm: only where there is time for it.
            if number == len(RATES) and context.seconds >= 60:
                run_conformance(context, storm, count_file, own)
            else:
                run_calls(context, storm, count_file, RATES[number % len(RATES)], own)
            own.count("signals", counted(count_file))

        in_parallel(context, outcome, attempt, clock)
