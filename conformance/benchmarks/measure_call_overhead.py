#!/usr/bin/env python3
"""Times small operators called from C++ through Primset and through PyTorch, in turns.

    conformance/benchmarks/measure_call_overhead.py
    conformance/benchmarks/measure_call_overhead.py --device cuda:0 --peer-device cuda --calls 500

Needs PyTorch (2.13.0; ./test makes an environment, .venv), whose wheel carries libtorch, and
libprimset.so. Compiles call_overhead.cpp against both and runs it: tensors of 16 f32, plans known,
results compared first. Every call is timed in every turn; the median of the ratios comes
with its spread. On CUDA it is the host's time that counts, beside that of a launch by the driver
alone; more calls than its queue holds (some thousand) would wait for the device.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=lambda p: pathlib.Path(p).resolve(),
                        default=ROOT / "build/release", help="a build, or an unpacked bundle")
    parser.add_argument("--compiler", default="clang++-22")
    parser.add_argument("--device", default="cpu", help="Primset's")
    parser.add_argument("--peer-device", default="cpu", help="PyTorch's")
    parser.add_argument("--repeats", type=int, default=31, help="turns")
    parser.add_argument("--calls", type=int, default=20000, help="of each measurement")
    return parser.parse_args()


def compile_program(arguments, torch_folder):
    program = arguments.build / "bin/primset_call_overhead"
    libraries = [arguments.build / "lib", torch_folder / "lib"]
    command = [arguments.compiler, "-std=c++20", "-O2", "-o", program]
    command += [pathlib.Path(__file__).parent / "call_overhead.cpp"]
    bundled = arguments.build / "include"
    built = [ROOT / "sdk/include", ROOT / "sdk/base/include", arguments.build / "generated"]
    ours = [bundled] if bundled.is_dir() else built
    command += [f"-I{folder}" for folder in ours]
    # PyTorch's headers warn under newer compilers.
    for folder in ("include", "include/torch/csrc/api/include"):
        command += ["-isystem", torch_folder / folder]
    for folder in libraries:
        command += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    command += ["-lprimset", "-ltorch_cpu", "-lc10", "-ldl"]
    if (torch_folder / "lib/libtorch_cuda.so").exists():
        command += ["-Wl,--no-as-needed", "-ltorch_cuda", "-lc10_cuda"]
    subprocess.run(command, check=True)
    return program


def python_nanoseconds(torch, arguments):
    """Of the host, for PyTorch's a + b called from Python."""
    a, b = (torch.rand(16, device=arguments.peer_device) for _ in range(2))
    times = []
    for _ in range(arguments.repeats + 1):
        start = time.perf_counter_ns()
        for _ in range(arguments.calls):
            a + b
        times.append((time.perf_counter_ns() - start) / arguments.calls)
        (a + b).cpu()
    return statistics.median(times[1:])


def main():
    arguments = parse_arguments()
    try:
        import torch
    except ImportError:
        sys.exit("measure_call_overhead.py: needs PyTorch: pip install torch==2.13.0")
    program = compile_program(arguments, pathlib.Path(torch.__file__).parent)
    print(f"PyTorch {torch.__version__}, {arguments.repeats} turns\n", flush=True)
    numbers = [str(arguments.repeats), str(arguments.calls)]
    subprocess.run([program, arguments.device, arguments.peer_device, *numbers], check=True)
    print(f"PyTorch's add from Python: {python_nanoseconds(torch, arguments):.0f} ns")


if __name__ == "__main__":
    main()
