"""Each allocation of a call fails, one at a time: an error that says so, or the right result.

failing_malloc.c, preloaded, makes the N-th allocation of a window fail. The calls of
allocations_child.py are made with every N for plans that are there, and with random N while plans
are made and kernels compiled; whole programs with random N. Nothing crashes, ends, waits for ever, or
is wrong afterwards. On the CPU alone: Vulkan's drivers do not survive this. Nor does LLVM, whose own
allocations are left out (docs/reliability.md).
"""

import os
import pathlib
import random
import re

from torture.children import Clock, folder, how, in_parallel, python, run
from torture.preload import compiled

# No driver of Vulkan is found, and there are threads to start on a small machine too.
CPU_ALONE = {
    "PRIMSET_DEVICE": "cpu",
    "PRIMSET_CPU_THREADS": "8",
    "VK_DRIVER_FILES": "/dev/null",
    "VK_ICD_FILENAMES": "/dev/null",
}
MOST_CRASHES = 20  # of a run; each costs a new process
PROGRAMS = [
    "devices",
    "ops --family pointwise_binary",
    "prims --match exp",
    "conform --list --tier smoke --filter abs",
]
COMPILING_PROGRAMS = [
    "run add.Tensor 1 2",
    "run sum [1,2,3]",
    "explain add.Tensor",
    "conform --tier smoke --filter abs --jobs 1",
]
OUT_OF_MEMORY = re.compile(r"memory|alloc", re.IGNORECASE)


def try_calls(context, library, seconds, seed, outcome):
    """One process after the other, as each goes on where the last one ended."""
    first, n = "", 1
    with folder("allocations") as temporary:
        trace = pathlib.Path(temporary) / "trace"
        for _ in range(MOST_CRASHES):
            ending = python(
                context,
                "allocations_child.py",
                trace,
                seconds,
                seed,
                first,
                n,
                timeout=seconds * 2 + 60,
                LD_PRELOAD=library,
                PRIMSET_CACHE=temporary + "/cache",
                **CPU_ALONE,
            )
            for line in ending.out.splitlines():
                if line.startswith("WRONG"):
                    outcome.fault(f"{line} (allocations_child.py, seed {seed})")
                if line.startswith("DONE"):
                    delivered, errors, calls = map(int, line.split()[1:])
                    outcome.count("failing allocations", delivered)
                    outcome.count("errors", errors)
                    outcome.count("calls", calls)
            if not ending.hung and ending.code == 0:
                break
            number, _, first = (
                trace.read_text().strip().partition(" ") if trace.exists() else ("1", "", "")
            )
            outcome.fault(
                f"{how(ending)} in allocation {number} of '{first}': {ending.err.strip()[-300:]} "
                f"(allocations_child.py, seed {seed})"
            )
            n = int(number) + 1


def try_program(context, library, line, expected, r, outcome):
    """A whole program: its result, or an exit code and a word about memory. Threads that cannot be
    started change nothing."""
    threads = r.random() < 0.2
    setting = "PRIMSET_FAIL_THREADS" if threads else "PRIMSET_FAIL_ALLOCATION"
    n = r.randint(1, 8) if threads else int(10 ** r.uniform(0, 5.5))
    env = context.environment(LD_PRELOAD=library, PRIMSET_CACHE="off", **{setting: n}, **CPU_ALONE)
    ending = run([context.primset, *line.split()], env)
    what = f"primset {line} with {setting}={n}"
    outcome.tries += 1
    if threads and ending.code != 0:
        outcome.fault(f"{how(ending)}: {what}: {(ending.out + ending.err)[-300:]}")
        return
    outcome.count("programs")
    if ending.hung or ending.signal:
        outcome.fault(f"{how(ending)}: {what}: {ending.err.strip()[-300:]}")
    elif (
        ending.code == 0
        and steady(ending.out) != steady(expected)
        and not OUT_OF_MEMORY.search(ending.out)
    ):
        outcome.fault(f"another result: {what}: {ending.out[-300:]}")
    elif ending.code != 0 and not OUT_OF_MEMORY.search(ending.out + ending.err):
        outcome.fault(
            f"{how(ending)} without a word about memory: {what}: {(ending.out + ending.err)[-300:]}"
        )
    elif re.search(r"crash|signal \d+", ending.out):
        outcome.fault(f"a worker crashed: {what}: {ending.out[-600:]}")


def has_llvm_inside(program):
    """Then LLVM's allocations cannot be told from others, and nothing that compiles is tried."""
    return "libLLVM" not in run(["ldd", str(program)], dict(os.environ)).out


def steady(text):
    """Without what differs from run to run."""
    return re.sub(r"\d+(\.\d+)? ?(ms|us|µs|s)\b", "", text)


def torture(context, outcome):
    clock = Clock(context)
    outcome.figures = {"failing allocations": 0, "errors": 0, "calls": 0, "programs": 0}
    with folder("allocations_library") as temporary:
        library = compiled("failing_malloc", temporary)
        try_calls(context, library, context.seconds * 0.6, context.seed, outcome)
        env = context.environment(PRIMSET_CACHE="off", **CPU_ALONE)
        programs = PROGRAMS + ([] if has_llvm_inside(context.primset) else COMPILING_PROGRAMS)
        expected = {line: run([context.primset, *line.split()], env).out for line in programs}

        def attempt(number, own):
            r = random.Random(f"{context.seed} {number}")
            line = programs[number % len(programs)]
            try_program(context, library, line, expected[line], r, own)

        in_parallel(context, outcome, attempt, clock)
    outcome.tries += outcome.figures["failing allocations"]
