"""What differed, grouped by what went wrong: the list to work from."""

import re
from collections import defaultdict

from .summary import is_failure

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?j?|nan|inf")


def cause(line):
    """A text that is equal for failures of one kind."""
    if not line.get("details"):
        return line["outcome"]
    text = line["details"][0]
    if "an error that PyTorch does not raise" in text:
        text = text.replace(line["overload"], "OP").replace(line["overload"].split(".")[0], "OP")
        text = re.sub(r"u16|u32|u64|uint16|uint32|uint64", "uN", text)
        return _NUMBER.sub("#", text)[:160]
    if text.startswith("errors"):
        return "errors: none raised; " + _NUMBER.sub("#", text.split("PyTorch's is ")[-1])[:110]
    check = text.split(":")[0]
    base = line["overload"].split(".")[0].rstrip("_")
    base = base.removesuffix("_backward") if check == "values" else base
    return f"{check} of {base}"


def write(oracle, names, path):
    groups = defaultdict(list)
    total = 0
    for name in names:
        for line in oracle.lines(name):
            total += 1
            if is_failure(line):
                groups[cause(line)].append(line)
    failures = sum(map(len, groups.values()))
    ranked = sorted(groups.items(), key=lambda g: -len({x["overload"] for x in g[1]}) * 3
                    - len(g[1]))
    with open(path, "w") as f:
        f.write(f"# Differences from PyTorch: {failures} of {total} calls, {len(groups)} causes\n")
        for text, lines in ranked:
            by_overload = defaultdict(list)
            for line in lines:
                by_overload[line["overload"]].append(line)
            f.write(f"\n## {text}\n{len(lines)} calls of {len(by_overload)} overloads: "
                    f"{', '.join(list(by_overload)[:40])}\n")
            shown = [v[0] for v in by_overload.values()][:3]
            if len(by_overload) == 1:
                shown = lines[:3]
            for line in shown:
                f.write(f"- `{line.get('call', '')[:300]}` ({line.get('origin', '')}; "
                        f"{line.get('source', '')}) {line['outcome']}\n")
                for d in line.get("details", [])[:2]:
                    f.write(f"    - {d[:300]}\n")
