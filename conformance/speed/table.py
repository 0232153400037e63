"""Reads choices.yaml, and the calls that are no larger ones of the conformance suite's: calls/.

A file of calls has groups. Each of `calls` is an operator and the text of its call, or several; each
of `rows` gives the variables of the text ($n) and names a case. `dtypes` are those that T stands for,
[f32] unless said; `check` says how results are compared, where the group has a way of its own.
"""

from __future__ import annotations

import pathlib
import re
import string

from .case_text import parsed
from .cases import Case

FOLDER = pathlib.Path(__file__).parent


class Table:
    def __init__(self, content, groups):
        self.most_used = set(content.get("most_used", ()))
        self.reasons = content.get("left_out", {})
        self.checks = {overload: check for check, overloads in content.get("checks", {}).items()
                       for overload in overloads}
        self.gpu_rules = {name for names in content.get("gpu_rules", {}) for name in names.split()}
        self.calls = {}  # overload -> (label, text, dtypes, check) each
        for name, group in groups.items():
            for overload, texts in group["calls"].items():
                self.calls.setdefault(overload, []).extend(_rows(name, group, texts))

    @staticmethod
    def read(folder=FOLDER):
        import yaml

        groups = {}
        for path in sorted((folder / "calls").glob("*.yaml")):
            for name, group in yaml.safe_load(path.read_text()).items():
                if name in groups:
                    raise ValueError(f"{path}: there is another group {name!r}")
                groups[name] = group
        return Table(yaml.safe_load((folder / "choices.yaml").read_text()), groups)

    def reason(self, overload, family):
        """Why an operator has no case; None where it is to have some."""
        for names, reason in self.reasons.items():
            for name in names.split():
                if name in (overload, f"family:{family}") or _matches(name, overload):
                    return reason
        return None

    def check(self, operator):
        """How an operator's results are compared; "cpu" before it: beside a CPU alone."""
        rule = self._check(operator)
        return f"cpu {rule}" if operator["name"] in self.gpu_rules else rule

    def _check(self, operator):
        if operator["name"] in self.checks:
            return self.checks[operator["name"]]
        if "nondeterministic_seeded" in operator["tags"] or operator["family"] == "random":
            return "shape"
        return "values"

    def cases(self, operator):
        check = self.check(operator)
        for label, text, dtypes, row_check in self.calls.get(operator["name"], ()):
            for dtype in claimed(dtypes, operator):
                yield Case(operator["name"], operator["family"], label, text, dtype,
                           check=row_check or check)


def claimed(dtypes, operator):
    """Those that the operator takes; one of its own where these are others, such as a complex one."""
    takes = operator["dtypes"]
    return ([d for d in dtypes if d in takes] or [d for d in ("i64", "bool", "c64") if d in takes][:1]
            if takes else dtypes)


def _matches(pattern, overload):
    return pattern.startswith("/") and re.search(pattern.strip("/"), overload) is not None


def _rows(name, group, texts):
    for row, variables in group.get("rows", {name: {}}).items():
        for i, text in enumerate(texts if isinstance(texts, list) else [texts]):
            made = string.Template(text).substitute(variables)
            parsed(made)  # raises where it is no call
            yield (f"{row} ({i + 1})" if i else str(row), made, group.get("dtypes", ["f32"]),
                   group.get("check"))
