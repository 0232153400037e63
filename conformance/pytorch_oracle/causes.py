"""Why calls differ from PyTorch where Primset is not to follow: known_differences.txt."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("known_differences.txt")
_HEAD = re.compile(r"(?:\[(\w+)( of empty calls)?\] )?(.*)", re.S)
PATTERN = "  ~ "
# Behind an operator's name: each of its overloads is meant, in place too.
EACH = ".*"


@dataclass
class Cause:
    text: str
    check: str  # of which it is the cause; empty: of any but errors
    of_empty: bool  # of calls without an element alone
    overloads: set
    patterns: list

    def explains(self, line, detail):
        """Whether it is why the call differs so: `strides: result 0 ...`."""
        check, colon, _ = detail.partition(":")
        if self.check != check and (self.check or check == "errors"):
            return False
        if self.of_empty and not line.get("empty"):
            return False
        named = bool({line["overload"], _each(line["overload"])} & self.overloads)
        said = any(p.search(detail) for p in self.patterns)
        if self.check == "errors":
            return named or said
        return named and (said or not self.patterns)


def _each(overload):
    return overload.partition(".")[0].rstrip("_") + EACH


@functools.cache
def known():
    causes = []
    for block in FILE.read_text().split("\n\n"):
        lines = [x for x in block.splitlines() if not x.startswith("#")]
        head = " ".join(x for x in lines if not x.startswith(" "))
        if not head:
            continue
        if any(x.startswith("[") for x in lines[1:]):
            raise ValueError(f"{FILE.name}: no empty line before a cause that begins within '{head}'")
        check, of_empty, text = _HEAD.fullmatch(head).groups()
        patterns = [re.compile(x.removeprefix(PATTERN)) for x in lines if x.startswith(PATTERN)]
        names = " ".join(x for x in lines if x.startswith(" ") and not x.startswith(PATTERN))
        if patterns and not names and check != "errors":
            raise ValueError(f"{FILE.name}: '{head}' says of every overload what it is only of "
                             "errors; name the overloads")
        causes.append(Cause(text.rstrip(":"), check or "", bool(of_empty), set(names.split()),
                            patterns))
    return causes


def details_of(line):
    """What differs in a call; a crash, say, has no details but is one."""
    return line.get("details") or [line["outcome"]]


def cause_of(line):
    """Why the call differs; empty when that is not known of all that differs in it."""
    causes = []
    for detail in details_of(line):
        found = next((c.text for c in known() if c.explains(line, detail)), "")
        if not found:
            return ""
        causes.append(found)
    return "; ".join(dict.fromkeys(causes))
