"""Where the oracle's programs find PyTorch and Primset."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def use(build=None):
    """Goes on in the environment that the scripts made, where PyTorch is, with the module of the
    build folder."""
    python = ROOT / ".venv" / "bin" / "python"
    if importlib.util.find_spec("torch") is None and python.exists():
        os.execv(python, [str(python), *sys.argv])
    _find_module(build)
    os.environ.setdefault("PRIMSET_FALLBACK", "error")
    # On a device, what it finds wrong belongs to the call that it found it in.
    os.environ.setdefault("PRIMSET_ERRORS", "eager")


def _find_module(build):
    folders = [Path(build)] if build else [ROOT / "build" / "release", ROOT / "build"]
    for f in folders:
        if (f / "python" / "primset").is_dir():
            sys.path.insert(0, str(f / "python"))
            os.environ["PRIMSET_PYTORCH_ORACLE_PROGRAM"] = str(f / "bin" / "primset")
            return
