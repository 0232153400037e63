"""Which operators PyTorch's CPU computes of tensors of sparse layouts and Primset refuses.

Of every overload recorded calls are tried with the first tensor, and with all of its dtype, in each
sparse layout in turn. A line a try, as JSON, under `layouts/` among the results; the table, overload
by layout, in layouts.md there. Values are the oracle's business, not compared here.
"""

import json
from collections import defaultdict
from pathlib import Path

import torch

from . import derive, sparse_sources
from .calls import SPARSE_LAYOUTS, TorchArguments, encode
from .compare import is_out, schema
from .dtype_parity import MISSING, plain_calls, primset_says, reason_of, reasons, torch_says

FIRST, ALL = "first", "all"
CANDIDATES = 4  # calls to try in a layout before PyTorch is said to have no such call
REASONS = Path(__file__).with_name("known_layout_differences.txt")
MAX_BYTES = 1 << 14  # of a call's memory: what PyTorch refuses tells nothing more of larger ones


# --- the calls ---------------------------------------------------------------------------------


def small_calls(overload, pool, known):
    """Strided calls of an overload, of small tensors."""
    if any(map(is_out, schema(overload).arguments)):
        return []
    _, found = plain_calls(overload, pool, known)
    return [c for c in found if not c.is_sparse() and sum(map(len, c.storages)) <= MAX_BYTES]


def in_layout(call, layout, which):
    """The call with tensors made sparse; None where none can be."""
    live = TorchArguments(call)
    made = []

    def convert(x):
        if isinstance(x, (list, tuple)):
            return type(x)(convert(v) for v in x)
        if not _can_be_sparse(x, layout, call.dtype()) or made and which == FIRST:
            return x
        made.append(sparse_sources.to_layout(x.resolve_conj().resolve_neg(), layout))
        return made[-1]

    args = [convert(a) for a in live.args]
    named = {k: convert(v) for k, v in live.kwargs.items()}
    wanted = 2 if which == ALL else 1  # of one tensor all are the first
    return encode(call.overload, args, named, call.source) if len(made) >= wanted else None


def _can_be_sparse(x, layout, dtype):
    if not isinstance(x, torch.Tensor) or x.dtype != dtype:
        return False
    return x.dim() > 0 if layout == torch.sparse_coo else x.dim() == 2


def tries(found):
    """(argument, layout, calls): of several the first that PyTorch computes is the one that counts."""
    for which in (FIRST, ALL):
        for layout in SPARSE_LAYOUTS:
            made = (derive._quiet(lambda c=c: in_layout(c, layout, which)) for c in found)
            chosen = [c for c in made if c is not None][:CANDIDATES]
            if chosen:
                yield which, layout, chosen


def attempt(overload, argument, layout, candidates):
    """One line of the results; None where PyTorch computes none of them."""
    call = next((c for c in candidates if not torch_says(c)), None)
    if call is None:
        return None
    return {"overload": overload, "argument": argument,
            "layout": str(layout).removeprefix("torch.sparse_"), "call": call.describe(),
            "primset": primset_says(call)}


# --- all overloads -----------------------------------------------------------------------------


def run(oracle, names, index):
    """Tries what was recorded, and reports."""
    from .attempts import attempt_all

    def small_tries(name, pool, known):
        return tries(small_calls(name, pool, known))

    folder = attempt_all(oracle, "layouts", names, index, small_tries, attempt)
    return report(folder, names, oracle.out)


# --- what differs ------------------------------------------------------------------------------


def report(folder, names, out):
    """Writes layouts.md, prints totals; the exit code: 1 where Primset refuses something."""
    from .driver import slug
    from .files import replace

    known = reasons(REASONS)
    computed, explained, missing = 0, 0, []
    for name in names:
        path = folder / (slug(name) + ".jsonl")
        for line in map(json.loads, path.read_text().splitlines() if path.exists() else ()):
            computed += 1
            if not line["primset"]:
                continue
            if reason_of(line, known, "layout"):
                explained += 1
            else:
                missing.append(line)
    replace(out / "layouts.md", _page(missing))
    overloads = {x["overload"] for x in missing}
    print(f"{MISSING}: {len(missing)} of {computed} tries, {len(overloads)} overloads; "
          f"explained by {REASONS.name}: {explained}; the table: {out / 'layouts.md'}")
    for family, lines in sorted(_by_family(missing).items(), key=lambda p: -len(p[1])):
        print(f"  {len(lines):4} {family}: {', '.join(sorted({x['overload'] for x in lines}))}")
    return 1 if missing else 0


def _by_family(lines):
    import primset

    found = defaultdict(list)
    for x in lines:
        found[primset.describe(x["overload"])["family"]].append(x)
    return found


def _page(missing):
    rows = defaultdict(list)
    for x in missing:
        rows[x["overload"], x["argument"]].append(x)
    out = [f"# Sparse layouts: {MISSING}", "", "| overload | tensors | layouts | Primset says |",
           "|---|---|---|---|"]
    for (overload, argument), found in sorted(rows.items()):
        said = found[0]["primset"].replace("|", "\\|")
        out.append(f"| {overload} | {argument} | {' '.join(x['layout'] for x in found)} | "
                   f"{said[:160]} |")
    return "\n".join(out) + "\n"
