"""Calls and graphs of ever new structure: memory and files stay bounded."""

import pathlib

from torture.children import folder, how, python

# Kind: calls of a minute.
KINDS = {"permute": 20000, "graph": 3000, "dims": 20000}
GROWTH_MEGABYTES = 60  # from half of the calls to all of them, with limits that are reached by then


def torture(context, outcome):
    scale = max(0.1, context.seconds / 60)
    for kind, count in KINDS.items():
        with folder("growth") as temporary:
            ending = python(context, "growth_child.py", kind, int(count * scale), timeout=3600,
                            PRIMSET_CACHE=temporary + "/cache", PRIMSET_MAX_PLANS=256,
                            PRIMSET_MAX_KERNELS=256, PRIMSET_CACHE_BYTES=8 << 20)
            files = [p.stat().st_size for p in pathlib.Path(temporary).rglob("*") if p.is_file()]
        outcome.tries += int(count * scale)
        memory = [int(line.split()[1]) for line in ending.out.splitlines() if line.startswith("memory")]
        if ending.hung or ending.code != 0 or len(memory) != 3:
            outcome.fault(f"{kind}: {how(ending)}: {ending.err.strip()[-300:]}")
            continue
        if memory[2] - memory[1] > GROWTH_MEGABYTES:
            outcome.fault(f"{kind}: {memory} MB after a quarter, half and all of "
                          f"{int(count * scale)} calls")
        if sum(files) > 9 << 20:
            outcome.fault(f"{kind}: {sum(files)} bytes of cached files where 8 MiB are allowed")
        outcome.figures[f"MB of {kind}"] = memory[2]
