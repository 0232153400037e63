#!/usr/bin/env python3
"""Times small operators called from C++ through Primset and through PyTorch, in turns.

    conformance/benchmarks/measure_call_overhead.py

Needs PyTorch (2.13.0; ./test makes an environment, .venv), whose wheel carries libtorch, and
libprimset.so. Compiles call_overhead.cpp against both and runs it: tensors of 16 f32, plans known,
results compared first. The median of the ratios comes with its spread.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=lambda p: pathlib.Path(p).resolve(),
                        default=ROOT / "build/release")
    parser.add_argument("--compiler", default="clang++-22")
    parser.add_argument("--repeats", type=int, default=31, help="pairs of measurements")
    parser.add_argument("--calls", type=int, default=20000, help="of each measurement")
    return parser.parse_args()


def compile_program(arguments, torch_folder):
    program = arguments.build / "bin/primset_call_overhead"
    libraries = [arguments.build / "lib", torch_folder / "lib"]
    command = [arguments.compiler, "-std=c++20", "-O2", "-o", program]
    command += [pathlib.Path(__file__).parent / "call_overhead.cpp"]
    for folder in (ROOT / "sdk/include", arguments.build / "generated"):
        command.append(f"-I{folder}")
    # PyTorch's headers warn under newer compilers.
    for folder in ("include", "include/torch/csrc/api/include"):
        command += ["-isystem", torch_folder / folder]
    for folder in libraries:
        command += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    command += ["-lprimset", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)
    return program


def main():
    arguments = parse_arguments()
    try:
        import torch
    except ImportError:
        sys.exit("measure_call_overhead.py: needs PyTorch: pip install torch==2.13.0")
    program = compile_program(arguments, pathlib.Path(torch.__file__).parent)
    print(f"PyTorch {torch.__version__}, {arguments.repeats} pairs\n", flush=True)
    subprocess.run([program, str(arguments.repeats), str(arguments.calls)], check=True)


if __name__ == "__main__":
    main()
