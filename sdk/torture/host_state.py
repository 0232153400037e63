"""What the caller has set: its floating-point environment, its locale, its signal mask."""

import locale

from torture.children import how, python

MODES = ["downward", "upward", "zero", "flush"]


def lines(ending, what, outcome):
    if ending.hung or ending.code != 0:
        outcome.fault(f"{how(ending)}: host_state_child.py {what}: {ending.err.strip()[-300:]}")
    results = {}
    for line in ending.out.splitlines():
        if line.startswith("WRONG"):
            outcome.fault(f"{line} (host_state_child.py {what})")
            continue
        name, _, bits = line.partition(" [")
        results[name] = bits
    return results


def locales():
    """Some that are installed and write a comma where C has a point."""
    found = []
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            found.append(name)
        except locale.Error:
            continue
    locale.setlocale(locale.LC_NUMERIC, "C")
    return found


def torture(context, outcome):
    expected = lines(python(context, "host_state_child.py", "default", "before"), "default before",
                     outcome)
    differing = 0
    for mode in MODES:
        for opened in ("before", "under"):
            got = lines(python(context, "host_state_child.py", mode, opened), f"{mode} {opened}",
                        outcome)
            outcome.tries += len(got)
            for name, bits in expected.items():
                if got.get(name) != bits:
                    differing += 1
                    outcome.fault(f"{name} has other bits under '{mode}', device opened {opened} "
                                  f"(host_state_child.py {mode} {opened})")
    for name in locales():
        got = lines(python(context, "host_state_child.py", "default", "before", LC_ALL=name),
                    f"under locale {name}", outcome)
        outcome.tries += len(got)
        if got != expected:
            outcome.fault(f"other results under locale {name}")
    outcome.figures = {"results": outcome.tries, "differing": differing}
