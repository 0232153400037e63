"""Totals of a run, and what differed."""

from collections import Counter

# Outcomes that say something about Primset. `beyond`: PyTorch's CPU has no kernel; `unclaimed`: the
# spec does not list the dtype; `ruled_out`: PyTorch does what its documentation rules out;
# `torch_crash`: PyTorch died; `skipped`: a result too large to wait for.
COUNTED = ("agree", "differ", "crash", "timeout", "oracle_error")


def is_failure(line):
    return line["outcome"] in COUNTED and line["outcome"] != "agree"


def report(oracle, names):
    """Prints totals and the overloads that differ most; the exit code: 1 when one differs."""
    outcomes, checks, failed = Counter(), Counter(), Counter()
    differ, reached = {}, 0
    for name in names:
        lines = oracle.lines(name)
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
    for name, lines in sorted(differ.items(), key=lambda p: -len(p[1]))[:20]:
        x = lines[0]
        print(f"  {len(lines):4} {name}: {x.get('call', '')[:110]}")
        for d in x.get("details", [x["outcome"]])[:1]:
            print(f"       {d[:200]}")
    return 1 if differ else 0
