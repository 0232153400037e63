"""Names the cases that became slower than docs/speed.json says."""

from __future__ import annotations

from .page import of_cases, timed

SLOWER = 0.8  # of the ratio that stands on the page: what is less, in each of the turns, is no noise


def slower(rows, kept):
    """(case, ratio now, ratio on the page) of each that became slower, the worst first."""
    found = []
    for r in timed(of_cases(rows)):
        before = kept.get(r["case"], {}).get("ratio")
        best = r.get("spread", [r["ratio"]])[-1]
        if before and r["ratio"] < SLOWER * before and best < before:
            found.append((r["case"], r["ratio"], before))
    return sorted(found, key=lambda f: f[1] / f[2])


def broken(rows, kept):
    """Cases with a time on the page that are now wrong or fail."""
    return [r["case"] for r in of_cases(rows)
            if ("wrong" in r or "error" in r) and "ratio" in kept.get(r["case"], {})]


def report(rows, page, device):
    kept = page["devices"].get(device, {}).get("cases", {})
    both = sum(r["case"] in kept for r in rows)
    if not both:
        print(f"run: no case of {device} is in the results and on the page")
        return 1
    worse, failed = slower(rows, kept), broken(rows, kept)
    print(f"{both} cases of {device} are on the page; slower: {len(worse)}, "
          f"wrong or failing: {len(failed)}")
    for case, now, before in worse:
        print(f"  {before:.2f} -> {now:.2f}  {case}")
    for case in failed:
        print(f"  wrong or failing  {case}")
    return 1 if worse or failed else 0
