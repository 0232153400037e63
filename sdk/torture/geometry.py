"""Hostile sizes, strides and offsets for every operator that takes integers."""

import pathlib

from torture.children import Clock, folder, how, python

CALLS = 300  # of a child
SECONDS_OF_A_CHILD = 90


def torture(context, outcome):
    clock, seed = Clock(context), context.seed
    returned = refused = 0
    with folder("geometry") as temporary:
        trace = pathlib.Path(temporary) / "trace"
        while True:
            ending = python(context, "geometry_child.py", seed, CALLS, trace,
                            timeout=SECONDS_OF_A_CHILD)
            again = f"(sdk/torture/geometry_child.py {seed} {CALLS} trace)"
            for line in ending.out.splitlines():
                if line.startswith("WRONG"):
                    outcome.fault(f"{line} {again}")
            if ending.hung or ending.code != 0:
                outcome.fault(f"{how(ending)} in {trace.read_text().strip()[:300]} {again}")
            else:
                done = ending.out.split()[-2:]
                returned, refused = returned + int(done[0]), refused + int(done[1])
            outcome.tries += CALLS
            seed += 1
            if clock.over():
                break
    outcome.figures = {"calls": outcome.tries, "returned": returned, "refused": refused}
