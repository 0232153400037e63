"""Calls under a strange floating-point environment give the same bits as under the default one.

    host_state_child.py MODE OPENED

MODE: one of modes(). OPENED: when the device is opened and plans are made, `before` the mode is set
or `under` it. Prints the bits of a table of results; the parent compares. The mode must be in force
again after each call.
"""

import ctypes
import ctypes.util
import locale
import os
import signal
import sys

import primset
from primset import ops

libm = ctypes.CDLL(ctypes.util.find_library("m"))
ROUNDING = {"downward": 0x400, "upward": 0x800, "zero": 0xC00}


def set_mxcsr(bits):
    """Sets bits of the SSE control register: 0x8000 flushes denormal results, 0x40 operands."""
    environment = (ctypes.c_uint32 * 8)()  # fenv_t of x86-64; the register is its last word
    libm.fegetenv(environment)
    environment[7] |= bits
    libm.fesetenv(environment)


def mxcsr():
    environment = (ctypes.c_uint32 * 8)()
    libm.fegetenv(environment)
    return environment[7] & ~0x3F


def modes():
    out = {"default": lambda: None, "flush": lambda: set_mxcsr(0x8040)}
    for name, code in ROUNDING.items():
        out[name] = lambda code=code: libm.fesetround(code)
    return out


def table():
    x = ops.arange(1, 2001, dtype=primset.float32) / 7
    tiny = x * 1e-41
    grid = ops.reshape(x[:1600], [40, 40])
    return {
        "arange": lambda: ops.arange(0.0, 1.0, 0.1),
        "linspace": lambda: ops.linspace(0.0, 1.0, 37),
        "full": lambda: ops.full([3], 0.1),
        "tensor": lambda: primset.tensor([0.1, 1e-40, 3.3]),
        "half": lambda: x.to(primset.float16),
        "bfloat16": lambda: x.to(primset.bfloat16),
        "f64 to f32": lambda: (x.to(primset.float64) / 3).to(primset.float32),
        "denormals": lambda: tiny * 3,
        "denormal sums": lambda: ops.sum(tiny),
        "large": lambda: ops.mul(ops.ones([300000]), 1e-41),
        "div": lambda: x / 3, "sqrt": lambda: ops.sqrt(x), "exp": lambda: ops.exp(-x),
        "log": lambda: ops.log(x), "sin": lambda: ops.sin(x), "tanh": lambda: ops.tanh(x / 100),
        "pow": lambda: ops.pow(x, 0.3), "sum": lambda: ops.sum(x), "mean": lambda: ops.mean(x),
        "var": lambda: ops.var(x), "cumsum": lambda: ops.cumsum(x, 0),
        "softmax": lambda: ops.softmax(x, 0),
        "mm": lambda: ops.mm(grid, grid), "addcmul": lambda: ops.addcmul(x, x, x, value=0.1),
        "round": lambda: ops.round(x), "floor_divide": lambda: ops.floor_divide(x, 0.3),
        "remainder": lambda: ops.remainder(x, 0.3), "lerp": lambda: ops.lerp(x, x * 2, 0.3),
        "gelu": lambda: ops.gelu(x), "erf": lambda: ops.erf(x / 100), "lgamma": lambda: ops.lgamma(x),
        "layer_norm": lambda: ops.layer_norm(grid, [40]), "std": lambda: ops.std(grid, [1]),
        "interpolate": lambda: ops.upsample_linear1d(ops.reshape(x[:40], [1, 1, 40]), [77], False),
        "add scalar": lambda: ops.add(x, 0.1, alpha=0.7), "clamp": lambda: ops.clamp(x, 0.1, 0.7),
        "rand": lambda: (primset.manual_seed(3), ops.rand([100]))[1],
        "randn": lambda: (primset.manual_seed(3), ops.randn([100]))[1],
    }


def surroundings():
    """What the process had and must have again."""
    mask = sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, []))
    umask = os.umask(0o22)
    os.umask(umask)
    return mxcsr(), libm.fegetround(), mask, locale.setlocale(locale.LC_ALL), os.getcwd(), umask


def main():
    mode, opened = sys.argv[1], sys.argv[2]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    if opened == "before":
        ops.zeros([1]).tolist()
        calls = table()
        modes()[mode]()
    else:
        modes()[mode]()
        calls = table()
    for name, call in calls.items():
        before = surroundings()
        try:
            result = call()
            bits = [v.hex() for v in result.to(primset.float64).reshape([-1]).tolist()[:400]]
        except primset.Error as e:
            bits = str(e)
        if surroundings() != before:
            print(f"WRONG {name}: changed {before} to {surroundings()}", flush=True)
        libm.fesetround(0) if mode == "default" else None
        print(name, bits, flush=True)


if __name__ == "__main__":
    main()
