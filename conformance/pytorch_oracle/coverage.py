"""The coverage page: what was replayed of each overload and how it came out."""

import functools
import json
import re
from collections import defaultdict

import torch

from .calls import short_dtype
from .causes import cause_of, details_of
from .compare import CHECKS, schema
from .driver import claimed_dtypes
from .files import replace
from .second_opinion import TRUTHS, WAYS, without_outs
from .summary import COUNTED, added, agrees_in_elements, by_class, is_failure

# Per cent that a whole run must come to: (what, of totals, at least).
GOALS = (
    ("implemented overloads with a replayed call", "reached", 99.0),
    ("values, dtype and shape agree", "values, dtype and shape", 99.5),
    ("values, dtype and shape agree of the class of values that does worst", "worst class", 99.5),
    ("strides agree", "strides", 98.0),
    ("aliasing agrees", "aliasing", 98.0),
    ("OpInfo's error inputs raise", "error inputs", 98.0),
    ("values by PyTorch's own precision, not by a truth", "own precision", 99.5),
    ("overloads of whose calls 95 % agree in values, dtype and shape", "sound", 100.0),
    ("calls that differ do so of a known cause", "explained", 100.0),
    ("claimed dtypes that PyTorch's CPU has, with an agreeing call", "claimed", 100.0),
)


def _decided(line, how):
    """Whether a second opinion of this kind was needed."""
    return any(f", {how} " in text for text in line.get("second_opinion", ()))


def _differences_of(lines):
    """[cause, how many calls, one of them], empty the cause that is not known."""
    found = {}
    for x in lines:
        if is_failure(x):
            entry = found.setdefault(cause_of(x), [0, details_of(x)[0].splitlines()[0][:220]])
            entry[0] += 1
    return [[cause, n, example] for cause, (n, example) in found.items()]


def _beyond(lines):
    """The dtypes that PyTorch does not take."""
    return {x["dtype"] for x in lines if x["outcome"] == "beyond" or x.get("lacks_kernel")}


# How PyTorch says which of its kernels there is none of: (the kernel, the device).
_NO_KERNEL = re.compile(r"Could not run '(\S+)' with arguments from the '(\w+)' backend")


# The dispatch keys of what calls have here: tensors of the CPU, dense and sparse.
_HELD_KEYS = ("CPU", "SparseCPU", "SparseCsrCPU", "CompositeExplicitAutograd",
              "CompositeImplicitAutograd")
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key


def why_not_run(lines):
    """Why PyTorch's CPU runs none of an overload's calls, of which it has no implementation for any
    input; empty where one runs, or is refused for its arguments."""
    said = [(x.get("errors") or [""])[0] for x in lines]
    if not said or not all(text.startswith("NotImplementedError") for text in said):
        return ""
    kernel = _NO_KERNEL.search(said[0])
    if kernel and any(map(functools.partial(_has_kernel, kernel[1]), _HELD_KEYS)):
        return ""  # of another layout than was asked for
    if kernel:
        return "no kernel {} for {}".format(*kernel.groups())
    return said[0].removeprefix("NotImplementedError: ")


def _without_outs(name):
    """The name of the overload that returns what this one writes: where PyTorch's kernel of that does
    not take a dtype there is no result to make an out= tensor for."""
    other = without_outs(name)
    return other.name().removeprefix("aten::") if other else name


def _takes_tensors(name):
    return any("Tensor" in str(a.type) for a in schema(name).arguments)


def overload_row(oracle, name, described):
    every = oracle.lines(name)
    lines = [x for x in every if x["outcome"] in COUNTED]
    row = {
        "overload": name,
        "family": described["family"],
        "implemented": described["implemented"],
        "calls": len(lines),
        "agree": sum(not is_failure(x) for x in lines),
        "worst": max((x.get("worst", 0.0) for x in lines), default=0.0),
        "differences": _differences_of(lines),
    }
    for check in CHECKS:
        held = [x["checks"][check] for x in lines if check in x["checks"]]
        row[check] = [sum(held), len(held)]
    core = [x for x in lines if not x.get("raises")]
    row["own precision"] = [sum(not any(_decided(x, how) for how in TRUTHS) for x in core),
                            len(core)]
    row["decided"] = {how: sum(_decided(x, how) for x in core) for how in WAYS}
    row["core"] = [sum(map(agrees_in_elements, core)), len(core)]
    agreeing = {x["dtype"] for x in core if not x["empty"] and agrees_in_elements(x)}
    row["dtypes"] = sorted(agreeing)
    row["held by others"] = bool(core) and all("by" in x for x in core)
    row["value classes"] = by_class(every)
    row["cannot run"] = why_not_run(every)
    if described["implemented"]:
        beyond = _beyond(every) | _beyond(oracle.lines(_without_outs(name)))
        tried = {x["dtype"] for x in lines if not x.get("raises") and not x["empty"]}
        claimed = {short_dtype(d) for d in claimed_dtypes(name) if _takes_tensors(name)}
        claimed -= beyond - tried
        row["claimed_without_call"] = sorted(claimed - agreeing)
        row["claimed"] = [len(claimed & agreeing), len(claimed)]
    errors = [x for x in lines if x.get("raises") and x["origin"] == "error input"]
    row["error_inputs"] = [sum(not is_failure(x) for x in errors), len(errors)]
    return row


def gather(oracle):
    import primset

    rows = []
    for name in primset.operators(all=True):
        rows.append(overload_row(oracle, name, primset.describe(name)))
    return {"totals": totals(rows), "families": families(rows), "overloads": rows}


def _sum(rows, key):
    return [sum(r[key][0] for r in rows), sum(r[key][1] for r in rows)]


def totals(rows):
    done = [r for r in rows if r["implemented"]]
    reached = [r for r in done if r["core"][1]]
    below = sorted(r["overload"] for r in reached if r["core"][0] < 0.95 * r["core"][1])
    unknown = sorted(r["overload"] for r in done if "" in _causes(r))
    cannot_run = {r["overload"]: r["cannot run"] for r in done if r["cannot run"]}
    classes = added(r["value classes"] for r in done)
    out = {
        "overloads": len(rows),
        "implemented": len(done),
        "reached": [len(reached), len(done)],
        "held by others": sorted(r["overload"] for r in reached if r["held by others"]),
        "cannot run": cannot_run,
        "calls": sum(r["calls"] for r in done),
        "values, dtype and shape": _sum(done, "core"),
        "value classes": classes,
        "worst class": min(classes.values(), key=lambda pair: pair[0] / pair[1], default=[0, 0]),
        "own precision": _sum(done, "own precision"),
        "decided": {how: sum(r["decided"][how] for r in done) for how in WAYS},
        "claimed": _sum(done, "claimed"),
        "error inputs": _sum(done, "error_inputs"),
        "sound": [len(reached) - len(below), len(reached)],
        "explained": [sum(n for r in done for cause, n, _ in r["differences"] if cause),
                      sum(n for r in done for _, n, _ in r["differences"])],
        "of unknown cause": unknown,
        "below 95 %": below,
        "claimed without call": {r["overload"]: r["claimed_without_call"] for r in done
                                 if r["claimed_without_call"]},
        "not reached": sorted(r["overload"] for r in done
                              if r["core"][1] == 0 and not r["cannot run"]),
    }
    for check in CHECKS:
        out[check] = _sum(done, check)
    return out


def _causes(row):
    return {cause for cause, _, _ in row["differences"]}


def families(rows):
    groups = defaultdict(list)
    for r in rows:
        groups[r["family"]].append(r)
    return {name: totals(g) for name, g in sorted(groups.items())}


def goals(total):
    """[(what, [how many, of how many], per cent aimed at, whether met)]"""
    return [(what, total[key], least, total[key][0] * 100 >= least * total[key][1])
            for what, key, least in GOALS]


def report(oracle):
    """Prints how a whole run came out against its goals; the exit code: 1 when one is missed."""
    total = gather(oracle)["totals"]
    met = goals(total)
    print()
    for what, pair, least, ok in met:
        print(f"  {'met   ' if ok else 'MISSED'} {percent(pair):>9} of {pair[1]:<7} {what} "
              f"(goal {least} %)")
    print(f"  of these {len(total['held by others'])} against other operators of PyTorch's, whose CPU "
          f"has no kernel of them; it has none of {len(total['cannot run'])} more:")
    for name, why in total["cannot run"].items():
        print(f"  PyTorch's CPU cannot run it: {name}: {why}")
    for name in total["not reached"]:
        print(f"  no call reached: {name}")
    for name in total["below 95 %"]:
        print(f"  fewer than 95 % of its calls agree: {name}")
    for name, dtypes in total["claimed without call"].items():
        print(f"  claimed without an agreeing call: {name} of {', '.join(dtypes)}")
    for name in total["of unknown cause"]:
        print(f"  some calls differ, and why is not known: {name}")
    return 0 if all(ok for *_, ok in met) else 1


# --- Markdown ----------------------------------------------------------------------------------


def percent(pair):
    ok, n = pair
    return f"{100 * ok / n:.2f} %" if n else "–"


def page(data, oracle):
    t = data["totals"]
    out = [
        "# Coverage: every operator against PyTorch",
        "",
        "Generated by `conformance/pytorch_oracle/run --page`. Calls are recorded from",
        "PyTorch 2.13.0's own test samples (OpInfo, modules, optimizers), further forms, dtypes and",
        "layouts are derived from them, and each is replayed through `primset.invoke` on the CPU and",
        f"compared with PyTorch's answer. Sample seed {oracle.seed}, at most {oracle.samples} samples",
        f"an OpInfo and dtype, {oracle.cap} calls an overload and dtype.",
        "",
        "| | |",
        "|---|---|",
        f"| overloads in ATen that are in scope | {t['overloads']} |",
        f"| implemented | {t['implemented']} |",
        f"| calls replayed | {t['calls']} |",
    ]
    out += [f"| {c} agree | {percent(t[c])} of {t[c][1]} |" for c in CHECKS]
    out += ["", "## Goals", "", "| | | goal | |", "|---|---|---|---|"]
    out += [f"| {what} | {percent(pair)} of {pair[1]} | {least} % | {'met' if ok else 'missed'} |"
            for what, pair, least, ok in goals(t)]
    out += ["", "Where PyTorch's first answer differs it is asked again, in other ways, and where it "
            "then says what Primset", f"does, that decides (of {t['own precision'][1]} calls):",
            "", "| asked | calls |", "|---|---|"]
    out += [f"| {how} | {n} |" for how, n in t["decided"].items()]
    out += ["", "The evidence stands beside each call in the results."]
    out += ["", "## By class of values", "", "Calls whose values naive algorithms fail on "
            "(`conformance/pytorch_oracle/value_classes.py`).", "",
            "| class | calls | values, dtype, shape |", "|---|---|---|"]
    out += [f"| {name} | {pair[1]} | {percent(pair)} |" for name, pair in t["value classes"].items()]
    out += ["", "## By family", "",
            "| family | overloads | implemented | reached | calls | values, dtype, shape | strides |"
            " aliasing |", "|---|---|---|---|---|---|---|---|"]
    for name, f in data["families"].items():
        out.append(f"| {name} | {f['overloads']} | {f['implemented']} | {f['reached'][0]} | "
                   f"{f['calls']} | {percent(f['values, dtype and shape'])} | "
                   f"{percent(f['strides'])} | {percent(f['aliasing'])} |")
    out += _worst(data["overloads"]) + _differences(data["overloads"]) + _not_covered(data)
    return "\n".join(line.rstrip() for line in out).rstrip() + "\n"


def _worst(rows):
    ranked = sorted((r for r in rows if r["worst"] < float("inf")), key=lambda r: -r["worst"])
    out = ["", "## The ten greatest errors, in units of PyTorch's tolerance", "",
           "Of what agrees, to the answer that decided. Above 1: no further from the truth than",
           "PyTorch's own answer is.", "", "| overload | error / tolerance |", "|---|---|"]
    return out + [f"| {r['overload']} | {r['worst']:.3g} |" for r in ranked[:10]]


def _differences(rows):
    by_cause = defaultdict(list)
    for r in rows:
        for cause, n, example in r["differences"]:
            by_cause[cause].append((r, n, example))
    out = ["", "## What differs, by cause", ""]
    for cause, found in sorted(by_cause.items(), key=lambda p: -sum(n for _, n, _ in p[1])):
        calls = sum(n for _, n, _ in found)
        out += [f"### {cause or 'Not known'}", "", f"{calls} calls. For example, "
                f"{found[0][0]['overload']}: {found[0][2]}", ""]
        out += [f"- **{r['overload']}**: {n} of {r['calls']} calls" for r, n, _ in found] + [""]
    return out if by_cause else out + ["Nothing."]


def _not_covered(data):
    t = data["totals"]
    out = ["", "## What is not covered", ""]
    out.append(f"Implemented, but no call reached them ({len(t['not reached'])}): "
               + (", ".join(t["not reached"]) or "none") + ".")
    out += ["", "Held against other operators of PyTorch's "
            "(`conformance/pytorch_oracle/stand_ins.py`), whose CPU has no kernel of them "
            f"({len(t['held by others'])}): "
            + (", ".join(t["held by others"]) or "none") + "."]
    out += ["", "Implemented, but PyTorch's CPU has no implementation to hold them against "
            f"({len(t['cannot run'])}):", ""]
    by_reason = defaultdict(list)
    for name, why in t["cannot run"].items():
        by_reason[why].append(name)
    out += [f"- {', '.join(names)}: {why}" for why, names in sorted(by_reason.items())]
    missing = [r for r in data["overloads"] if r.get("claimed_without_call")]
    out += ["", "Claimed dtypes without an agreeing call:" + ("" if missing else " none."), ""]
    out += [f"- {r['overload']}: {', '.join(r['claimed_without_call'])}. "
            + ("; ".join(sorted(_causes(r) - {""})) or "PyTorch takes none of the calls in it.")
            for r in missing]
    by_family = defaultdict(list)
    for r in data["overloads"]:
        if not r["implemented"]:
            by_family[r["family"]].append(r["overload"])
    if by_family:
        out += ["", "Declared, not implemented:", ""]
    out += [f"- {f}: {len(names)}" for f, names in sorted(by_family.items())]
    return out


# A line an overload, of what there is to say: the page is kept, and compared with the next one.
def _as_json(data):
    rows = [{k: v for k, v in r.items() if v not in ([], [0, 0], {}, "")} for r in data["overloads"]]
    parts = [f' {json.dumps(k)}: {json.dumps(v)}' for k, v in data.items() if k != "overloads"]
    lines = ",\n".join("  " + json.dumps(r) for r in rows)
    return "{\n" + ",\n".join(parts) + ',\n "overloads": [\n' + lines + "\n ]\n}\n"


def write(oracle, folder):
    data = gather(oracle)
    replace(folder / "coverage.json", _as_json(data))
    replace(folder / "coverage.md", page(data, oracle))
    return data
