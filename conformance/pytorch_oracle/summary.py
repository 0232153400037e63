"""Totals of a run, and what differed: printed, and as summary.json among the results."""

import json
from collections import Counter

from .files import replace

# Outcomes that say something about Primset. `beyond`: PyTorch's CPU has no kernel; `unclaimed`: the
# spec does not list the dtype; `ruled_out`: PyTorch does what its documentation rules out;
# `torch_crash`: PyTorch died; `skipped`: a result too large to wait for.
COUNTED = ("agree", "differ", "crash", "timeout", "oracle_error")


def is_failure(line):
    return line["outcome"] in COUNTED and line["outcome"] != "agree"


def agrees_in_elements(line):
    """Strides and aliasing have goals of their own."""
    return (line["outcome"] in ("agree", "differ")
            and all(line["checks"].get(c, True) for c in ("values", "dtype", "shape")))


def by_class(lines):
    """{class of values: [calls that agree in values, dtype and shape, calls]}, of value_classes.py."""
    found = {}
    for x in lines:
        if "values" in x and x["outcome"] in COUNTED and not x.get("raises"):
            pair = found.setdefault(x["values"], [0, 0])
            pair[0] += agrees_in_elements(x)
            pair[1] += 1
    return found


def added(tables):
    """The sum of what by_class has of several overloads."""
    total = {}
    for table in tables:
        for name, pair in table.items():
            total[name] = [a + b for a, b in zip(total.get(name, (0, 0)), pair)]
    return dict(sorted(total.items()))


def _report_classes(tables):
    """Prints the figure of each class of values; the tables for summary.json."""
    totals = added(tables.values())
    for name, (ok, n) in totals.items():
        print(f"  values of the class {name:15} {ok}/{n} agree ({100 * ok / n:.2f}%)")
    differing = {name: {o: t[name] for o, t in tables.items()
                        if name in t and t[name][0] < t[name][1]} for name in totals}
    return {name: {"agree": pair[0], "calls": pair[1], "differing": differing[name]}
            for name, pair in totals.items()}


def report(oracle, names):
    """Prints totals and the overloads that differ most; the exit code: 1 when one differs."""
    outcomes, checks, failed = Counter(), Counter(), Counter()
    differ, reached, classes = {}, 0, {}
    for name in names:
        lines = oracle.lines(name)
        classes[name] = by_class(lines)
        reached += any(x["outcome"] == "agree" and not x.get("raises") for x in lines)
        for x in lines:
            outcomes[x["outcome"]] += 1
            for check, ok in x["checks"].items():
                checks[check] += 1
                failed[check] += not ok
            if is_failure(x):
                differ.setdefault(name, []).append(x)
    print(f"\n{len(names)} overloads, {reached} with an agreeing call")
    print("calls: " + ", ".join(f"{n} {k}" for k, n in outcomes.most_common()))
    for check in sorted(checks):
        n = checks[check]
        print(f"  {check:9} {n - failed[check]}/{n} agree ({100 * (1 - failed[check] / n):.2f}%)")
    page = {"overloads": len(names), "with an agreeing call": reached, "outcomes": outcomes,
            "checks": {c: [n - failed[c], n] for c, n in sorted(checks.items())},
            "value classes": _report_classes(classes)}
    replace(oracle.out / "summary.json", json.dumps(page, indent=1) + "\n")
    for name, lines in sorted(differ.items(), key=lambda p: -len(p[1]))[:20]:
        x = lines[0]
        print(f"  {len(lines):4} {name}: {x.get('call', '')[:110]}")
        for d in x.get("details", [x["outcome"]])[:1]:
            print(f"       {d[:200]}")
    return 1 if differ else 0
