"""Which of the cases a run takes. Each choice is the same in every run."""

from __future__ import annotations

import hashlib
import re

SLICE = 10  # a slice has one in so many cases of each family


def is_named(name, only):
    return not only or any(
        re.search(o.strip("/"), name) if o.startswith("/") else o in name for o in only)


def number(case):
    return int(hashlib.sha1(case.id.encode()).hexdigest()[:12], 16)


def shard(cases, text):
    i, n = map(int, text.split("/"))
    return [c for c in cases if number(c) % n == i]


def slice_of(cases):
    """Of each family those whose names' sums are least: no order of the list matters."""
    families = {}
    for c in cases:
        families.setdefault(c.family, []).append(c)
    kept = set()
    for members in families.values():
        kept.update(c.id for c in sorted(members, key=number)[:-(-len(members) // SLICE)])
    return [c for c in cases if c.id in kept]


def first_calls(cases):
    """One case of each operator and element type, the first of the list."""
    found = {}
    for c in cases:
        found.setdefault((c.overload, c.dtype), c)
    return list(found.values())
