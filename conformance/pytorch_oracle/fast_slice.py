"""The fast slice: a fixed list of overloads of every family, each of which must agree."""

from pathlib import Path

from . import summary

FILE = Path(__file__).with_name("fast_slice.txt")
SAMPLES, CAP = 3, 2  # an OpInfo and dtype, an overload and dtype


class FastSlice:
    def __init__(self):
        self.families = {}
        words = None
        for line in FILE.read_text().splitlines():
            if line.startswith("#"):
                continue
            if not line.startswith(" "):
                key, _, line = line.partition(":")
                words = self.families.setdefault(key, []) if key else None
            if words is not None:
                words += line.split()
        self.sources = set(self.families.pop("sources"))
        words = [w.rstrip("]").partition("[") for names in self.families.values() for w in names]
        self.dtypes = {name: set(dtypes.split(",")) - {""} for name, _, dtypes in words}
        self.names = list(self.dtypes)

    def lines(self, oracle, name):
        """The calls that count: of the dtypes in brackets, where there are some."""
        dtypes = self.dtypes[name]
        return [x for x in oracle.lines(name) if x["outcome"] in summary.COUNTED
                and (not dtypes or x["dtype"] in dtypes)]

    def missing_families(self):
        """Families that have an implemented overload, and none in the slice."""
        import primset

        implemented = {primset.describe(n)["family"] for n in primset.operators()}
        return sorted(implemented - set(self.families))


def report(oracle, chosen):
    """Prints what disagrees; the exit code: 1 when some listed overload does, or was not reached."""
    wrong = 0
    calls = 0
    for name in chosen.names:
        lines = chosen.lines(oracle, name)
        failed = [x for x in lines if summary.is_failure(x)]
        calls += len(lines)
        if failed:
            wrong += 1
            print(f"{name}: {len(failed)} of {len(lines)} calls differ from PyTorch")
            for x in failed[:2]:
                print(f"    {x.get('call', x['outcome'])[:160]}")
                print(f"    {x.get('details', [x['outcome']])[0][:240]}")
            print(f"    again: conformance/pytorch_oracle/run --fast --only ={name}")
        elif not any(not x.get("raises") for x in lines):
            wrong += 1
            print(f"{name}: no call of it was replayed")
    print(f"\n{len(chosen.names)} overloads of {len(chosen.families)} families, {calls} calls: "
          + (f"{wrong} overloads do not agree" if wrong else "all agree"))
    if left := chosen.missing_families():
        print(f"not in the slice: {', '.join(left)}")
    return 1 if wrong else 0
