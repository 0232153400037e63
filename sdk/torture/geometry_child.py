"""Calls operators with hostile sizes, strides and offsets; its parent watches (geometry.py).

    geometry_child.py SEED COUNT TRACE

Every number of a call may be one that wraps, is negative or reaches far beyond memory. A call may
succeed or raise; it may not touch memory that is not its own: tensors that no call gets keep their
values. TRACE is a file that says which call is being made, for when this process does not live to say.
"""

import random
import re
import resource
import sys

import primset
from primset import ops

HOSTILE = [0, 1, -1, 2, 3, -2, 7, 2**31 - 1, 2**31, 2**32, 2**33 + 1, 2**40, 2**59, 2**60, 2**61,
           2**61 + 16, 2**62, 2**62 + 64, 2**63 - 1, -2**31, -2**40, -2**61, -2**62, -2**63, -2**63 + 1]
TAME = [0, 1, 2, 3, 4]
# They wait for, or ask, something that is none of their arguments.
SKIPPED = {"_debug_has_internal_overlap"}
LIMIT_BYTES = 6 << 30  # what is asked for beyond is out of memory at once
TAKES_NUMBERS = re.compile(r"\b(SymInt|int)(\[\d*\])?[?]? ")


def candidates():
    """The overloads with a size, a stride, an offset or another integer among their arguments."""
    found = []
    for name in primset.operators():
        described = primset.describe(name)
        arguments = described["schema"].split("->")[0]
        if described["implemented"] and TAKES_NUMBERS.search(arguments) and name not in SKIPPED:
            found.append((name, split_arguments(arguments)))
    return found


def split_arguments(schema):
    """(type, name, keyword only) of each argument."""
    inside = schema[schema.index("(") + 1:schema.rindex(")")]
    parts, depth, text = [], 0, ""
    for c in inside + ",":
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text.strip())
            text = ""
        else:
            text += c
    out, keyword = [], False
    for p in parts:
        if p == "*":
            keyword = True
        elif p:
            kind, _, rest = re.sub(r"\([a-z*! |>-]*\)", "", p).partition(" ")
            out.append((kind, rest.split("=")[0], keyword, "=" in rest))
    return out


class Caller:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.canaries = [ops.full([n], 7.25) for n in (1, 16, 160, 1000, 40000)]

    def number(self):
        r = self.random
        if r.random() < 0.45:
            return r.choice(TAME)
        n = r.choice(HOSTILE)
        return max(-2**63, min(2**63 - 1, n + r.choice([0, 0, 1, -1, 8])))

    def tensor(self, integral):
        r = self.random
        sizes = [r.choice([0, 1, 2, 3, 5]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
        if integral:
            values = ops.randint(0, 3, sizes)
            return values + self.number() if r.random() < 0.2 else values
        t = ops.rand(sizes)
        if t.numel() and r.random() < 0.1:  # more elements than its memory has
            t = t.reshape([-1])[:1].expand([r.choice([1, 3, 2**16])])
        return t

    def argument(self, kind, name):
        r = self.random
        bare = kind.rstrip("?")
        if kind.endswith("?") and r.random() < 0.4:
            return None
        if bare == "Tensor":
            integral = "ind" in name or "target" in name or "length" in name or r.random() < 0.1
            return self.tensor(integral)
        if bare.startswith("Tensor"):
            return [self.tensor("ind" in name) for _ in range(r.choice([0, 1, 2, 3]))]
        if re.match(r"(SymInt|int)\[", bare):
            digits = re.search(r"\[(\d+)\]", bare)
            count = int(digits[1]) if digits and r.random() < 0.8 else r.choice([0, 1, 1, 2, 3, 4, 70])
            return [self.number() for _ in range(count)]
        if bare in ("int", "SymInt"):
            return self.number()
        if bare == "bool":
            return r.random() < 0.5
        if bare in ("float", "Scalar"):
            return r.choice([0.0, 1.0, -1.0, 0.5, 2, 1e30, float("inf"), float("nan")])
        return None

    def call(self, name, arguments, trace):
        positional, keywords = [], {}
        for kind, argument, keyword, has_default in arguments:
            if has_default and self.random.random() < 0.3:
                keyword = True
                continue
            value = self.argument(kind, argument)
            if value is None and has_default:
                keyword = True
            elif keyword or len(keywords) > 0:
                keywords[argument] = value
            else:
                positional.append(value)
        trace.seek(0)
        trace.write(f"{name} {shown(positional)} {shown(list(keywords.items()))}\n")
        trace.truncate()
        trace.flush()
        return primset.invoke(name, *positional, **keywords)

    def check_canaries(self, name):
        for c in self.canaries:
            # Read through the host: no kernel of ours compares.
            values = set(c.tolist())
            if values != {7.25}:
                print(f"WRONG {name}: a tensor that it did not get has {sorted(values)[:4]}",
                      flush=True)
                sys.exit(3)


def shown(values):
    def one(v):
        return f"{v.dtype}{list(v.shape)}" if isinstance(v, primset.Tensor) else repr(v)

    return ", ".join(one(v) if not isinstance(v, (list, tuple)) else f"[{shown(v)}]" for v in values)


def main():
    seed, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    caller, overloads = Caller(seed), candidates()
    outcomes = {"returned": 0, "refused": 0}
    with open(path, "w+") as trace:
        for i in range(count):
            name, arguments = overloads[(seed * count + i) % len(overloads)]
            try:
                caller.call(name, arguments, trace)
                outcomes["returned"] += 1
            except (primset.Error, TypeError, ValueError, OverflowError, MemoryError) as e:
                outcomes["refused"] += 1
                if "mistake in Primset" in str(e):
                    trace.seek(0)
                    print(f"WRONG {trace.read().strip()}: {str(e)[:200]}", flush=True)
            if i % 16 == 15:
                caller.check_canaries(name)
    print("DONE", outcomes["returned"], outcomes["refused"], flush=True)


if __name__ == "__main__":
    main()
