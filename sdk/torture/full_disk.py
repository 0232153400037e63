"""A disk that is full after any number of bytes, or after none: /dev/full.

disk.c, preloaded, ends the disk of one folder. A command that could not write says so, with the
file and the system's words, and its exit code; what was reported before is kept, and a file that is
cut short is not taken for a whole one. Only the kernel cache is done without, in silence.
"""

import pathlib
import random

from torture.children import Clock, folder, how, in_parallel, python, run
from torture.kills import Try, by_id, judge_reports, lines_of
from torture.preload import compiled

NO_SPACE = "No space left on device"
FAILED = 3  # the exit code of a command whose file failed
PRINTING = [
    "devices",
    "ops",
    "prims",
    "tuning",
    "explain add.Tensor",
    "completion bash",
    "--help",
    "--version",
    "conform --list --tier smoke --filter abs",
    "conform --tier smoke --filter abs",
    "run add.Tensor 1 2",
    "run --help",
]


def limited(context, library, temporary, n, **changes):
    """An environment in which the folder takes `n` more bytes."""
    return context.environment(
        LD_PRELOAD=library,
        PRIMSET_DISK_FOLDER=temporary,
        PRIMSET_DISK_BYTES=n,
        PRIMSET_DISK_END="full",
        PRIMSET_DISK_COUNT=mark(temporary),
        **changes,
    )


def mark(temporary):
    """The file that says that it came to the end of the disk; beside the folder."""
    return pathlib.Path(temporary).with_suffix(".mark")


def was_full(temporary):
    path = mark(temporary)
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


def judge_command(ending, full, place, what, outcome):
    """The disk was full: exit code 3, and the words for it. It was not: all is well."""
    said = NO_SPACE in ending.err and place in ending.err
    if ending.hung or ending.code != (FAILED if full else 0) or (full and not said):
        outcome.fault(
            f"{how(ending)} {'where the disk was full' if full else ''}: {what}: "
            f"{ending.err.strip()[-300:] or 'not a word'}"
        )


def try_conform(context, library, undisturbed, r, outcome):
    """A run whose disk is full, resumed on one that is not: as one run that nothing disturbed."""
    with folder("disk") as temporary, folder("cache") as cache:
        t = Try(context, temporary, ["abs", "cumsum"], context.device, r.choice([1, 2]))
        n = r.randrange(r.choice([4, 100, 3000, 15000]))
        t.environment["PRIMSET_CACHE"] = cache
        t.environment = limited(context, library, temporary, n, PRIMSET_CACHE=cache)
        ending = t.run()
        judge_command(ending, was_full(temporary), temporary, f"{n} bytes left: {t.shown}", outcome)
        judge_reports(t, outcome)
        t.environment = context.environment(PRIMSET_CACHE=cache)
        ending = t.run()
        found = by_id(lines_of(t.results)[0])
        if ending.code != 0 or found != undisturbed:
            outcome.fault(
                f"{how(ending)} of the resume, {len(found)} of {len(undisturbed)} results, after "
                f"{n} bytes were left: {t.shown}: {ending.err.strip()[-300:]}"
            )
        judge_reports(t, outcome)
        for p in pathlib.Path(temporary).rglob("*tmp"):
            outcome.fault(f"{p.name} stays after a full disk: {t.shown}")
    outcome.tries += 1


def try_files(context, library, r, outcome):
    """Commands that write files of their own: none is there, or it is whole."""
    for options, size in (
        (["run", "add.Tensor", "[[1,2],[3,4]]", "10", "--out", "FILE.npy"], 250),
        (["conform", "--tier", "smoke", "--filter", "abs", "--save-cases", "FILE"], 20000),
        (
            [
                "conform",
                "--device",
                "reference",
                "--filter",
                "abs",
                "--mutate",
                "4",
                "--results",
                "FILE",
            ],
            1500,
        ),
    ):
        with folder("disk") as temporary:
            n = r.randrange(size)
            command = [o.replace("FILE", temporary + "/file") for o in options]
            env = limited(context, library, temporary, n, PRIMSET_CACHE="off")
            ending = run([context.primset, *command], env)
            full = was_full(temporary)
            judge_command(
                ending, full, temporary + "/file", f"{n} bytes left: {' '.join(command)}", outcome
            )
            left = [p.name for p in pathlib.Path(temporary).iterdir()]
            if full and left:
                outcome.fault(
                    f"{left} is there although the disk was full: {n} bytes left: {' '.join(command)}"
                )
        outcome.tries += 1


def try_failures(context, library, r, outcome):
    """Saved failures, of cases that have no time to pass."""
    with folder("disk") as temporary:
        n = r.randrange(3000)
        command = [
            context.primset,
            "conform",
            "--tier",
            "smoke",
            "--filter",
            "abs",
            "--timeout",
            "1",
            "--no-rerun",
            "--failures",
            temporary + "/failed",
        ]
        ending = run(command, limited(context, library, temporary, n, PRIMSET_CACHE="off"))
        full = was_full(temporary)
        if full or ending.code == FAILED:
            judge_command(ending, full, temporary + "/failed", f"{n} bytes left: {command}", outcome)
        for p in pathlib.Path(temporary).rglob("*.json"):
            if not p.read_text().rstrip().endswith("}"):
                outcome.fault(f"{p.name} is cut short: {n} bytes left: {command}")
    outcome.tries += 1


def try_cache(context, library, expected, r, outcome):
    """Results are right, the cache of the full disk and that of the next run."""
    with folder("disk") as temporary:
        n = r.randrange(r.choice([60, 5000, 300000]))
        env = {
            k: v
            for k, v in limited(context, library, temporary, n).items()
            if k.startswith(("LD_", "PRIMSET_DISK"))
        }
        for changes in (env, {}):
            ending = python(context, "calls_child.py", PRIMSET_CACHE=temporary + "/cache", **changes)
            if ending.hung or ending.code != 0 or ending.out != expected:
                outcome.fault(
                    f"{how(ending)} or other values with {n} bytes for the cache: {ending.err[-300:]}"
                )
        was_full(temporary)
        for p in pathlib.Path(temporary).rglob("*tmp"):
            outcome.fault(f"{p.name} stays after a full disk")
    outcome.tries += 1


def try_printing(context, outcome):
    """Standard output is a disk that is full."""
    for line in PRINTING:
        with open("/dev/full", "wb") as full:
            ending = run(
                [context.primset, *line.split()], context.environment(PRIMSET_CACHE="off"), stdout=full
            )
        if ending.hung or ending.code != FAILED or NO_SPACE not in ending.err:
            outcome.fault(
                f"{how(ending)}: primset {line} >/dev/full: {ending.err.strip()[-300:] or 'not a word'}"
            )
        outcome.tries += 1


def torture(context, outcome):
    clock = Clock(context)
    with folder("disk_library") as temporary:
        library = compiled("disk", temporary)
        try_printing(context, outcome)
        expected = python(context, "calls_child.py", PRIMSET_CACHE=temporary + "/cache").out
        t = Try(context, temporary, ["abs", "cumsum"], context.device, 1)
        t.run()
        undisturbed = by_id(lines_of(t.results)[0])

        def attempt(number, own):
            r = random.Random(f"{context.seed} {number}")
            try_conform(context, library, undisturbed, r, own)
            try_files(context, library, r, own)
            try_failures(context, library, r, own)
            try_cache(context, library, expected, r, own)

        in_parallel(context, outcome, attempt, clock)
    outcome.figures = {"commands on a full disk": outcome.tries}
