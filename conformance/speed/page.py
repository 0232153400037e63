"""docs/speed.json, which holds a figure of every case, and docs/speed.md, which is made of it."""

from __future__ import annotations

import json
import math
import statistics

BOUNDS = (1.0, 0.9, 0.8, 0.7, 0.5, 0.4)
SLOWEST = 50
PROBLEMS = {
    "wrong": "Results that differ",
    "error": "Calls that fail",
    "stopped": "Calls that were stopped, and count as that slow",
    "unmeasured": "Cases that took too long",
    "peer_error": "Calls that PyTorch does not take on this device",
}


# --- results --------------------------------------------------------------------------------------


def read(path):
    """The last row of each case."""
    rows = {}
    for text in path.read_text().splitlines():
        row = json.loads(text)
        rows[row["case"]] = row
    return list(rows.values())


def of_cases(rows):
    return [r for r in rows if "overload" in r]


def timed(rows):
    """Those that have a ratio: timed, or stopped."""
    return [r for r in rows if "ratio" in r]


def mean(rows):
    """Geometric: of two cases, one twice as fast and one half as fast, it is 1."""
    return math.exp(statistics.fmean(math.log(r["ratio"]) for r in rows))


def share(rows, bound):
    return sum(r["ratio"] < bound for r in rows) / len(rows)


def grouped(rows, key):
    out = {}
    for r in rows:
        out.setdefault(r[key], []).append(r)
    return out


def percentile(numbers, p):
    numbers = sorted(numbers)
    return numbers[min(len(numbers) - 1, int(p * len(numbers)))]


def of_copy(rows, copy_rate):
    """The median share of a copy's bytes a second, of cases that move at least 2^22 bytes."""
    rates = [r["bytes"] / r["primset_s"] / copy_rate for r in rows
             if copy_rate and r.get("bytes", 0) >= 1 << 22]
    return statistics.median(rates) if rates else None


# --- docs/speed.json ------------------------------------------------------------------------------


def content(folder):
    """What stands in the JSON, of the results in a folder."""
    devices = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = read(path)
        if path.stem.endswith(".first"):
            continue
        device = ":".join(path.stem.rpartition("_")[::2])  # level_zero_0 is level_zero:0
        first = path.with_suffix(".first.jsonl")
        rates = [r["copy_rates"] for r in rows if "copy_rates" in r]
        devices[device] = {
            "copy_rates": rates[-1] if rates else {},
            "first": first_calls(read(first)) if first.exists() else {},
            "cases": {r["case"]: kept(r) for r in sorted(of_cases(rows), key=lambda r: r["case"])},
        }
    left_out = folder / "left_out.json"
    return {"devices": devices,
            "left_out": json.loads(left_out.read_text()) if left_out.exists() else {}}


def kept(row):
    out = {k: row[k] for k in ("family", "bytes", *PROBLEMS) if k in row}
    for name in ("primset_s", "pytorch_s", "ratio"):
        if name in row:
            out[name] = float(f"{row[name]:.3g}")
    return out


def first_calls(rows):
    """Milliseconds of first calls that compiled something, by family."""
    rows = [r for r in rows if r.get("compiled")]
    if not rows:
        return {}
    of = lambda these: {"calls": len(these),
                        "median_ms": round(1e3 * percentile([r["first_s"] for r in these], 0.5), 1),
                        "p95_ms": round(1e3 * percentile([r["first_s"] for r in these], 0.95), 1)}
    return {"all": of(rows), **{name: of(x) for name, x in sorted(grouped(rows, "family").items())}}


def rows_of(device):
    return [{"case": name, "overload": name.partition(":")[0], **row}
            for name, row in device["cases"].items()]


def write(folder, docs):
    made = content(folder)
    if not made["devices"]:
        print(f"run: no results in {folder}; expected DEVICE.jsonl")
        return 1
    lines = ["{", '"left_out": ' + json.dumps(made["left_out"], indent=0) + ",", '"devices": {']
    for i, (name, device) in enumerate(made["devices"].items()):
        rest = {k: v for k, v in device.items() if k != "cases"}
        lines += [f'{"," if i else ""}{json.dumps(name)}: {json.dumps(rest)[:-1]}, "cases": {{']
        rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in device["cases"].items()]
        lines += [",\n".join(rows), "}}"]
    lines += ["}", "}"]
    (docs / "speed.json").write_text("\n".join(lines) + "\n")
    (docs / "speed.md").write_text("\n".join(text(made)) + "\n")
    print(f"{docs / 'speed.md'} and {docs / 'speed.json'}")
    return 0


# --- docs/speed.md --------------------------------------------------------------------------------


def text(made):
    devices = made["devices"]
    yield from INTRODUCTION
    yield from summary_table(devices)
    for name, device in devices.items():
        rows = rows_of(device)
        yield from ["", f"## {name}", "", *about(device), *family_table(rows, device), ""]
        yield from [f"### The {SLOWEST} slowest on {name}", "", *slowest_table(rows)]
        yield from problem_lists(rows)
    yield from ["", "## Every operator", "", *operator_table(devices)]
    yield from ["", "## Left out", "", *left_out_table(made["left_out"])]


INTRODUCTION = [
    "# Speed: every operator against PyTorch", "",
    "Generated by `conformance/speed/run --page`. A case is one call of an operator of one element",
    "type, size and layout; `conformance/speed/run --help` says how it is timed. Figures are PyTorch's",
    "time over Primset's in turns of one run on the same device: above 1 Primset is faster. Means are",
    "geometric. First calls are those with an empty kernel cache, which compile. `of a copy` is the",
    "median of bytes a second over the device's own copy, of cases that move 4 MiB and more.", ""]


def summary_table(devices):
    yield ("| device | cases | operators | mean | " + " | ".join(f"below {b}" for b in BOUNDS)
           + " | least | wrong or failed |")
    yield "|---|---|---|---|" + "---|" * (len(BOUNDS) + 2)
    for name, device in devices.items():
        rows = rows_of(device)
        good = timed(rows)
        if not good:
            continue
        shares = " | ".join(f"{100 * share(good, b):.1f} %" for b in BOUNDS)
        bad = sum("wrong" in r or "error" in r for r in rows)
        yield (f"| {name} | {len(good)} | {len(grouped(good, 'overload'))} | {mean(good):.2f} | "
               f"{shares} | {min(r['ratio'] for r in good):.3f} | {bad} |")


def about(device):
    rates, first = device["copy_rates"], device["first"].get("all")
    if rates:
        theirs, ours = rates["pytorch"] / 1e9, rates["primset"] / 1e9
        yield (f"{rates['peer']}; a copy of 2^26 bytes reads and writes {theirs:.0f} GB/s in PyTorch, "
               f"{ours:.0f} in Primset.")
    if first:
        yield (f"First calls that compile: {first['calls']}, median {first['median_ms']:.0f} ms, "
               f"95th percentile {first['p95_ms']:.0f} ms.")
    yield ""


def family_table(rows, device):
    copy_rate = max((device["copy_rates"].get(k, 0) for k in ("primset", "pytorch")), default=0)
    yield ("| family | cases | mean | " + " | ".join(f"below {b}" for b in BOUNDS)
           + " | least | of a copy | first call, ms |")
    yield "|---|---|---|" + "---|" * (len(BOUNDS) + 3)
    families = {n: x for n, x in grouped(timed(rows), "family").items()}
    for name, these in sorted(families.items(), key=lambda f: mean(f[1])):
        shares = " | ".join(f"{100 * share(these, b):.0f} %" for b in BOUNDS)
        moved, first = of_copy(these, copy_rate), device["first"].get(name)
        yield (f"| {name} | {len(these)} | {mean(these):.2f} | {shares} | "
               f"{min(r['ratio'] for r in these):.3f} | {f'{moved:.2f}' if moved else ''} | "
               f"{first['median_ms'] if first else ''} |")


def slowest_table(rows):
    yield "| case | Primset ms | PyTorch ms | PyTorch / Primset |"
    yield "|---|---|---|---|"
    for r in sorted(timed(rows), key=lambda r: r["ratio"])[:SLOWEST]:
        at_least = "> " if "stopped" in r else ""
        yield (f"| {r['case']} | {at_least}{1e3 * r['primset_s']:.3g} | {1e3 * r['pytorch_s']:.3g} | "
               f"{r['ratio']:.3f} |")


def problem_lists(rows):
    for key, title in PROBLEMS.items():
        these = [r for r in rows if key in r]
        if these:
            yield from ["", f"### {title}: {len(these)}", ""]
            yield from (f"- {r['case']}" + (f": `{r[key]}`" if isinstance(r[key], str) else "")
                        for r in these)


def operator_table(devices):
    yield "| operator | " + " | ".join(f"{d}: cases | mean | least" for d in devices) + " |"
    yield "|---|" + "---|---|---|" * len(devices)
    groups = {d: grouped(timed(rows_of(x)), "overload") for d, x in devices.items()}
    for name in sorted({n for g in groups.values() for n in g}):
        cells = []
        for g in groups.values():
            these = g.get(name)
            cells += ([str(len(these)), f"{mean(these):.2f}", f"{min(r['ratio'] for r in these):.2f}"]
                      if these else ["", "", ""])
        yield f"| {name} | {' | '.join(cells)} |"


def left_out_table(left_out):
    yield "| why | operators |"
    yield "|---|---|"
    reasons = {}
    for name, why in left_out.items():
        reasons.setdefault(why.replace("|", "\\|"), []).append(name)
    for why, names in sorted(reasons.items(), key=lambda r: -len(r[1])):
        yield f"| {why} | {len(names)}: {', '.join(names)} |"


# --- a run's end ----------------------------------------------------------------------------------


def print_summary(rows):
    """What a run found; 1 where a result is wrong or a call fails."""
    rows = of_cases(rows)
    good = timed(rows)
    if good:
        print(f"{len(good)} cases timed: mean {mean(good):.2f}; "
              + ", ".join(f"{100 * share(good, b):.1f} % below {b}" for b in BOUNDS))
        for r in sorted(good, key=lambda r: r["ratio"])[:10]:
            print(f"  {r['ratio']:.3f}  {r['case']}")
    first = first_calls(rows).get("all")
    if first:
        print(f"{first['calls']} first calls that compile: median {first['median_ms']} ms, "
              f"95th percentile {first['p95_ms']} ms")
    for key, title in PROBLEMS.items():
        these = [r for r in rows if key in r]
        if these:
            print(f"{title}: {len(these)}")
            for r in these[:20]:
                print(f"  {r['case']}: {r[key]}")
    return 1 if any("wrong" in r or "error" in r for r in rows) else 0
