"""Eight threads that call operators, graphs and lists of devices at once, with small limits of what
is remembered: the same bits as of one thread."""

from torture.children import Clock, folder, how, in_parallel, python

THREADS = 8
SECONDS = 4


def torture(context, outcome):
    clock = Clock(context)
    outcome.figures = {"calls": 0}

    def attempt(number, own):
        with folder("threads") as temporary:
            ending = python(
                context,
                "threads_child.py",
                THREADS,
                SECONDS,
                context.seed + number,
                timeout=120,
                PRIMSET_CACHE=temporary + "/cache",
                PRIMSET_MAX_PLANS=16,
                PRIMSET_MAX_KERNELS=16,
                PRIMSET_CACHE_BYTES=1 << 18,
            )
        for line in ending.out.splitlines():
            if line.startswith("WRONG"):
                own.fault(f"{line} (threads_child.py, seed {context.seed + number})")
            if line.startswith("DONE"):
                own.count("calls", int(line.split()[1]))
        if ending.hung or ending.code != 0:
            own.fault(
                f"{how(ending)}: threads_child.py, seed {context.seed + number}: {ending.err[-200:]}"
            )
        own.tries += 1

    # A try has all the cores.
    in_parallel(context.alone(), outcome, attempt, clock)
