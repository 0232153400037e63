"""Tries calls of many overloads in children, since PyTorch crashes on some of them: what the tables of
dtypes and of layouts are made from.
"""

import json
import os
from collections import defaultdict

from . import calls
from .driver import Children, Progress, slug


def attempt_all(oracle, title, names, index, tries, attempt):
    """Writes a line a try under `title`/ among the results, one file an overload; the folder.

    `tries(name, pool, known)` gives the arguments of each try, made from recorded calls: `pool` loads
    those of an overload, `known` has the overloads of a base name. `attempt(name, *one)` gives the
    line, or None. Raises where `tries` fails: a table without tries would look like one without
    differences.
    """
    folder = oracle.out / title
    folder.mkdir(exist_ok=True)
    known = defaultdict(list)
    for name in index:
        known[name.split(".")[0]].append(name)

    def pool(name):
        path = oracle.calls / slug(name)
        return calls.load(path) if path.exists() else []

    def work(unit, journal):
        name, start = unit
        with open(folder / (slug(name) + ".jsonl"), "a") as f:
            for i, one in enumerate(tries(name, pool, known)):
                journal.set(i, 1)
                line = attempt(name, *one) if i >= start else None
                if line:
                    f.write(json.dumps(line) + "\n")
                    f.flush()

    progress = Progress(title, len(names))
    untried = []

    def ended(unit, journal, status):
        name, start = unit
        if status and journal.get()[0] >= start:  # a crash costs one try
            return (name, journal.get()[0] + 1)
        if status and os.WIFEXITED(status):
            untried.append(name)
        progress.step(name)
        return None

    for name in names:
        (folder / (slug(name) + ".jsonl")).unlink(missing_ok=True)
    Children(oracle.jobs, work, ended, limit=60).run([(n, 0) for n in names])
    if untried:
        raise RuntimeError(f"{title}: the calls to try failed to be made of {len(untried)} overloads: "
                           + ", ".join(untried[:10]))
    return folder
