"""The generated stubs: a program that uses them passes mypy --strict, and a wrong one does not."""

import subprocess
import sys
from pathlib import Path

import primset
import pytest

STUBS = Path(__file__).resolve().parent.parent / "stubs"
WRONG = {
    "an operator's argument": ("ops.softmax(x, 'dim')", "arg-type|call-overload"),
    "an operator's result": ("s: str = ops.relu(x)", "assignment"),
    "a method": ("x.nosuch_property: int = 3", "attr-defined|misc|syntax"),
    "a keyword": ("primset.tensor([1.0], nosuch=1)", "call-arg"),
    "a graph's input": ("primset.Graph.capture(3, x)", "arg-type"),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package with its stubs, as it is installed."""
    folder = tmp_path_factory.mktemp("stubs")
    target = folder / "primset"
    target.mkdir()
    for file in Path(primset.__file__).resolve().parent.iterdir():
        if file.suffix == ".py" or file.name == "py.typed":
            (target / file.name).write_bytes(file.read_bytes())
    subprocess.run([sys.executable, STUBS / "make_stubs.py", target], check=True)
    return folder


def mypy(package, program):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", package / "cache", program],
        env={"MYPYPATH": str(package), "PATH": ""}, capture_output=True, text=True, cwd=package)


def test_a_typed_program_passes(package):
    done = mypy(package, STUBS / "typed_program.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_are_found(package):
    lines = ["import primset", "from primset import ops", "x = primset.tensor([1.0])"]
    first = len(lines) + 1
    lines += [text for text, _ in WRONG.values()]
    program = package / "wrong.py"
    program.write_text("\n".join(lines) + "\n")
    found = mypy(package, program).stdout
    for number, what in enumerate(WRONG, first):
        assert f"wrong.py:{number}: error" in found, f"{what} was not found:\n{found}"
