"""Where the programs of this folder find PyTorch and Primset."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PYTHON = ROOT / ".venv/bin/python"


def use_python_with_torch():
    """Goes on in the environment that the scripts made, where this Python has no PyTorch."""
    if importlib.util.find_spec("torch") is None and PYTHON.exists():
        os.execv(str(PYTHON), [str(PYTHON), *sys.argv])


def module_folder(build):
    """The folder with the package `primset`, of a build or of an unpacked bundle."""
    for folder in (build / "python", build / "lib/python", build):
        if (folder / "primset" / "__init__.py").exists():
            return folder
    raise SystemExit(f"run: no Python module in {build / 'python'}; expected a build or a bundle "
                     "in --build")


def program(build):
    path = build / "bin/primset"
    if not path.exists():
        raise SystemExit(f"run: no {path}; expected a build or a bundle in --build")
    return path


def of_worker(build, threads, cache):
    """Environment variables of a process that times calls."""
    paths = [str(module_folder(build)), str(pathlib.Path(__file__).resolve().parent.parent)]
    out = dict(os.environ, PRIMSET_CPU_THREADS=str(threads), OMP_NUM_THREADS=str(threads),
               MKL_NUM_THREADS=str(threads), PRIMSET_FALLBACK="error",
               PYTHONPATH=os.pathsep.join(paths))
    if cache:  # nor do the drivers keep what they compile
        out.update(PRIMSET_CACHE=str(cache), CUDA_CACHE_DISABLE="1", __GL_SHADER_DISK_CACHE="0")
    return out
