"""Libraries that are preloaded into the processes under test: compiled with any C compiler there is."""

import pathlib
import shutil

from torture.children import run

COMPILERS = ["cc", "gcc", "clang", "clang-22", "clang-19", "clang-18", "clang-16", "clang-14", "tcc"]


class NoCompiler(Exception):
    """There is none; the text says what was looked for."""


def compiled(name, temporary):
    """The path of `name`.c of this folder, compiled as a shared library into the folder `temporary`."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise NoCompiler(
            f"{name}.c needs a C compiler; none of these is in PATH: {', '.join(COMPILERS)}"
        )
    library = pathlib.Path(temporary) / f"{name}.so"
    source = pathlib.Path(__file__).parent / f"{name}.c"
    built = run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], None)
    if built.code != 0:
        raise NoCompiler(f"{compiler} cannot compile {source}: {built.err.strip()}")
    return library
