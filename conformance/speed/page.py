"""docs/speed.md and docs/speed.json, from the results of runs."""

import collections
import json
import math
import statistics

SLOWEST = 50


def read(path):
    """The last result of each case."""
    lines = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        lines[line["case"]] = line
    return list(lines.values())


def mean(lines):
    return math.exp(statistics.fmean(math.log(x["ratio"]) for x in lines))


def share(lines, bound):
    return sum(x["ratio"] < bound for x in lines) / len(lines)


def summary(lines):
    """Figures of the cases that were timed and right."""
    good = [x for x in lines if x.get("right") and "ratio" in x]
    if not good:
        return {"cases": 0}
    return {"cases": len(good), "mean": mean(good),
            "below": {str(b): share(good, b) for b in (1.0, 0.9, 0.7, 0.5, 0.4)},
            "least": min(x["ratio"] for x in good),
            "first_ms": percentiles([1e3 * x["first_s"] for x in good])}


def percentiles(numbers):
    numbers = sorted(numbers)
    at = lambda p: numbers[min(len(numbers) - 1, int(p * len(numbers)))]
    return {"median": at(0.5), "95": at(0.95)}


def grouped(lines, key):
    out = collections.defaultdict(list)
    for x in lines:
        out[x[key]].append(x)
    return out


def table_of_families(lines):
    yield "| family | cases | geometric mean | below 1 | below 0.7 | below 0.4 | least |"
    yield "|---|---|---|---|---|---|---|"
    rows = [(name, summary(these)) for name, these in grouped(lines, "family").items()]
    for name, s in sorted([r for r in rows if r[1]["cases"]], key=lambda r: r[1]["mean"]):
        below = " | ".join(f"{100 * s['below'][b]:.0f} %" for b in ("1.0", "0.7", "0.4"))
        yield f"| {name} | {s['cases']} | {s['mean']:.2f} | {below} | {s['least']:.3f} |"


def table_of_slowest(lines):
    yield "| case | Primset ms | PyTorch ms | PyTorch / Primset |"
    yield "|---|---|---|---|"
    good = [x for x in lines if x.get("right") and "ratio" in x]
    for x in sorted(good, key=lambda x: x["ratio"])[:SLOWEST]:
        yield (f"| {x['case']} | {1e3 * x['primset_s']:.3f} | {1e3 * x['pytorch_s']:.3f} | "
               f"{x['ratio']:.3f} |")


def text_of(lines):
    s = summary(lines)
    out = [f"{s['cases']} cases: geometric mean {s['mean']:.2f}; "
           + ", ".join(f"{100 * v:.1f} % below {k}" for k, v in s["below"].items())
           + f"; first call {s['first_ms']['median']:.1f} ms, 95th percentile {s['first_ms']['95']:.0f}",
           ""]
    out += [*table_of_families(lines), "", *table_of_slowest(lines), ""]
    wrong = [x["case"] for x in lines if x.get("right") is False]
    failed = collections.Counter(x["error"].split(":")[0] for x in lines if "error" in x)
    out += [f"not timed: {len(wrong)} whose results differ, "
            + ", ".join(f"{n} {k}" for k, n in failed.most_common())]
    return "\n".join(out)
