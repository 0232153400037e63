"""Which dtypes PyTorch's CPU takes and Primset does not, and the reverse, argument by argument.

Of every overload a recorded call is tried in both with its tensors in each dtype in turn (`all`), and
with one tensor argument alone in it. A line a try, as JSON, under `dtypes/` among the results; what
differs in dtypes.md there. Values are the oracle's business, not compared here.
"""

import itertools
import json
import re
import warnings
from collections import defaultdict
from pathlib import Path

import primset
import torch

from . import derive
from .calls import SparseRef, TensorRef, TorchArguments, encode, short_dtype
from .compare import is_out, schema, torch_overload
from .expectations import is_for_want_of_kernel
from .primset_side import PrimsetArguments

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16,
          torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.complex32, torch.complex64, torch.complex128, torch.float8_e5m2,
          torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz, torch.float8_e8m0fnu]
ALL = "all"
CANDIDATES = 4  # calls to try in a dtype before PyTorch is said to have no such call
REASONS = Path(__file__).with_name("known_dtype_differences.txt")


# --- the calls ---------------------------------------------------------------------------------


def plain_calls(overload, pool, known):
    """(calls that both compute as they are, all calls) of an overload, each with those of f32 and of
    most tensors first."""
    found = [c for c in pool(overload) if c.origin != "error input"]
    for relative in derive.relatives(overload, known):
        if any(map(_is_full, found)):
            break
        found = [derive._quiet(lambda c=c: derive.adapt(c, overload))
                 for c in pool(relative)[:40] if c.origin != "error input"]
        found = [c for c in found if c is not None]
    found = [c for c in found if _is_full(c)]
    found.sort(key=lambda c: (c.dtype() != torch.float32, -len(c.tensors()), _slight(c),
                              sum(map(len, c.storages)), c.key()))
    found = [c for c in found if _slight(c) <= _slight(found[0])]
    both = (c for c in found if not torch_says(c) and not primset_says(c))
    return list(itertools.islice(both, 2 * CANDIDATES)) or found, found


def _slight(call):
    """How many of its tensors have a dim of one element or none: what has nothing to be sorted or
    summed PyTorch hands back before it looks for a kernel."""
    return sum(1 in t.size or not t.size for t in call.tensors())


def _is_full(call):
    """Whether each of its tensors has elements: of nothing PyTorch computes anything."""
    def parts(t):
        return t.parts if isinstance(t, SparseRef) else (t,)

    return bool(call.tensors()) and not any(0 in p.size for t in call.tensors() for p in parts(t))


def in_dtype(found, recorded, dtype):
    """Calls whose main dtype is this one: converted, then recorded ones without a wider tensor."""
    fewest = min(map(_dtypes_mixed, found))
    alike = [c for c in found if _dtypes_mixed(c) == fewest][:CANDIDATES]
    made = (derive._quiet(lambda c=c: derive.to_dtype(c, dtype)) for c in alike)
    given = [c for c in (*found, *recorded) if {t.dtype for t in c.tensors()} == {dtype}]
    return [c for c in made if c is not None and _has(c, dtype)] + given[:CANDIDATES]


def _dtypes_mixed(call):
    return len({t.dtype for t in call.tensors()})


def _has(call, dtype):
    """Whether a tensor or an argument is of the dtype: numbers alone are of none."""
    return any(dtype in (x, getattr(x, "dtype", None)) for x in call.leaves())


def with_argument(call, name, dtype):
    """The call with one argument's tensors in another dtype; None where they have it."""
    position = {a.name: i for i, a in enumerate(schema(call.overload).arguments)}[name]
    given = call.kwargs.get(name) if name in call.kwargs else call.args[position]
    tensors = [given] if isinstance(given, TensorRef) else [
        x for x in given if isinstance(x, TensorRef)]
    if all(t.dtype == dtype for t in tensors):
        return None
    live = TorchArguments(call)

    def convert(x):
        if isinstance(x, torch.Tensor):
            return derive.converted(x, dtype)
        return type(x)(convert(v) for v in x) if isinstance(x, (list, tuple)) else x

    args, named = list(live.args), dict(live.kwargs)
    if name in named:
        named[name] = convert(named[name])
    else:
        args[position] = convert(args[position])
    return encode(call.overload, args, named, call.source, call.origin)


def tensor_arguments(call):
    """Names of the arguments that hold tensors and are not out=."""
    out = []
    for i, a in enumerate(schema(call.overload).arguments):
        value = call.kwargs.get(a.name, call.args[i] if i < len(call.args) else None)
        values = value if isinstance(value, (list, tuple)) else [value]
        if not is_out(a) and any(isinstance(x, TensorRef) for x in values):
            out.append(a.name)
    return out


# --- trying them -------------------------------------------------------------------------------


def torch_says(call):
    """What PyTorch makes of it: "" where it computes, else what it says."""
    try:
        arguments = TorchArguments(call)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch_overload(call.overload)(*arguments.args, **arguments.kwargs)
    except Exception as e:
        text = _first_line(e)
        return f"no kernel: {text}" if is_for_want_of_kernel(call, e) else text
    return ""


def primset_says(call):
    try:
        arguments = PrimsetArguments(call)
        primset.invoke(call.overload, *arguments.args, **arguments.kwargs)
    except Exception as e:
        return _first_line(e)
    return ""


def _first_line(e):
    return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:240]


def tries(found, recorded):
    """(argument, dtype, calls): of several the first that PyTorch computes is the one that counts."""
    for dtype in DTYPES:
        yield ALL, dtype, in_dtype(found, recorded, dtype)
    names = tensor_arguments(found[0])
    for name in names if len(found[0].tensors()) > 1 else []:
        for dtype in DTYPES:
            made = derive._quiet(lambda: with_argument(found[0], name, dtype))
            if made is not None:
                yield name, dtype, [made]


def attempt(overload, argument, dtype, candidates):
    """One line of the results."""
    line = {"overload": overload, "argument": argument, "dtype": short_dtype(dtype)}
    for call in candidates:
        theirs = torch_says(call)
        if not theirs:
            break
    else:
        if not candidates:
            return None
        # That there is no kernel says more than what else is wrong with a call.
        said = [torch_says(c) for c in candidates]
        at = next((i for i, text in enumerate(said) if text.startswith("no kernel")), 0)
        call, theirs = candidates[at], said[at]
    line["call"], line["torch"] = call.describe(), theirs
    if not theirs.startswith("no kernel"):
        line["primset"] = primset_says(call)
    claimed = {t.name for t in primset.describe(overload)["dtypes"]}
    line["claimed"] = any(short in claimed for short in (
        str(d).removeprefix("torch.") for d in (dtype, *_made_in(call))))
    return line


def _made_in(call):
    """The dtypes that the call names, and those of its out= tensors: it computes in these."""
    outs = (call.kwargs.get(a.name) for a in schema(call.overload).arguments if is_out(a))
    return [x for x in call.leaves() if isinstance(x, torch.dtype)] + [
        x.dtype for x in outs if isinstance(x, TensorRef)]


# --- all overloads -----------------------------------------------------------------------------


def run(oracle, names, index):
    """Tries what was recorded, and reports."""
    from .attempts import attempt_all

    def recorded_tries(name, pool, known):
        found, recorded = plain_calls(name, pool, known)
        return tries(found, recorded) if found else ()

    folder = attempt_all(oracle, "dtypes", names, index, recorded_tries, attempt)
    return report(folder, names, oracle.out)


# --- what differs ------------------------------------------------------------------------------

MISSING = "PyTorch computes, Primset refuses"
UNCLAIMED = "both compute, Primset does not claim it"
LAX = "PyTorch refuses, Primset computes"


def difference(line):
    """Its kind; None where there is none."""
    ours = line.get("primset")
    if ours is None or bool(line["torch"]) and bool(ours):
        return None
    if line["torch"]:
        return LAX
    if ours:
        return MISSING
    return UNCLAIMED if line["argument"] == ALL and not line["claimed"] else None


def reasons(path=REASONS):
    """[(reason, expressions)]: an expression fits `overload argument dtype`."""
    out = []
    for block in path.read_text().split("\n\n"):
        lines = [x for x in block.splitlines() if not x.startswith("#")]
        head = " ".join(x for x in lines if not x.startswith(" "))
        if head:
            out.append((head.rstrip(":"), [re.compile(x.strip()) for x in lines
                                           if x.startswith(" ")]))
    return out


def reason_of(line, known, what="dtype"):
    where = f"{line['overload']} {line['argument']} {line[what]}"
    return next((r for r, patterns in known if any(p.fullmatch(where) for p in patterns)), "")


def report(folder, names, out):
    """Writes dtypes.md and dtypes.json, prints totals; the exit code: 1 where something is left."""
    from .driver import slug
    from .files import replace

    known, groups, explained = reasons(), defaultdict(list), 0
    for name in names:
        path = folder / (slug(name) + ".jsonl")
        for line in map(json.loads, path.read_text().splitlines() if path.exists() else ()):
            kind = difference(line)
            if kind and reason_of(line, known):
                explained += 1
            elif kind:
                groups[kind].append(line)
    replace(out / "dtypes.json", json.dumps(groups, indent=1))
    replace(out / "dtypes.md", _page(groups))
    for kind in (MISSING, UNCLAIMED, LAX):
        overloads = {x["overload"] for x in groups[kind]}
        print(f"{kind}: {len(groups[kind])} tries of {len(overloads)} overloads")
    print(f"explained by {REASONS.name}: {explained}; the table: {out / 'dtypes.md'}")
    return 1 if any(groups.values()) else 0


def _page(groups):
    out = ["# Dtypes in which PyTorch and Primset differ"]
    for kind, lines in groups.items():
        rows = defaultdict(list)
        for x in lines:
            rows[x["overload"], x["argument"]].append(x)
        out += ["", f"## {kind}", "", "| overload | argument | dtypes | for example |",
                "|---|---|---|---|"]
        for (overload, argument), found in sorted(rows.items()):
            said = (found[0]["torch"] or found[0].get("primset") or "").replace("|", "\\|")
            out.append(f"| {overload} | {argument} | {' '.join(x['dtype'] for x in found)} | "
                       f"{said[:160]} |")
    return "\n".join(out) + "\n"
