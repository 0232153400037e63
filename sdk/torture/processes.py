"""Forks, and exits while threads are inside calls: a process ends with its exit code, and in time."""

from torture.children import Clock, how, python

KINDS = ["fork", "fork_idle", "fork_threads", "daemons", "daemons_compile", "import"]


def torture(context, outcome):
    clock = Clock(context)
    counts = dict.fromkeys(KINDS, 0)
    while True:
        for kind in KINDS:
            ending = python(context, "processes_child.py", kind, timeout=30)
            counts[kind] += 1
            outcome.tries += 1
            if ending.hung or ending.code != 0 or "WRONG" in ending.out:
                outcome.fault(f"{kind}: {how(ending)}: {(ending.out + ending.err).strip()[-300:]} "
                              f"(processes_child.py {kind})")
            if clock.over():
                outcome.figures = {k: v for k, v in counts.items() if v}
                return
