"""Ends of processes. processes_child.py KIND, with the device in PRIMSET_DEVICE:

    fork             opens the device, forks; the child computes on it, then on the CPU, and ends
    fork_idle        the same, and the child only ends
    fork_threads     forks while threads compute and compile; each child computes on the CPU, and ends
    daemons          ends while daemon threads are inside calls
    daemons_compile  the same while they compile new kernels
    import           ends at once, with work in flight
"""

import os
import sys
import threading
import time

import primset
from primset import ops


def work(x, stop):
    while not stop:
        ops.mm(x, x).sum().tolist()


def compile_new(seed):
    n = seed
    while True:
        n += 1
        x = ops.ones([3, 4, 5])
        ops.sum(ops.cumsum(ops.mul(x, n), n % 3), [n % 3]).tolist()
        ops.permute(x, [(n + i) % 3 for i in range(3)]).contiguous()


def fork(computes):
    x = ops.ones([64, 64])
    expected = ops.mm(x, x).sum().tolist()
    child = os.fork()
    if child == 0:
        if computes:
            try:
                if ops.mm(x, x).sum().tolist() != expected:
                    os._exit(4)
            except primset.Error as e:
                if "fork" not in str(e):
                    os._exit(5)
            y = ops.ones([64, 64], device="cpu")
            if ops.mm(y, y).sum().tolist() != expected:
                os._exit(6)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        print("WRONG the child ended with", os.waitstatus_to_exitcode(status), flush=True)
    if ops.mm(x, x).sum().tolist() != expected:
        print("WRONG the parent computes something else after the fork", flush=True)


def fork_threads():
    y = ops.ones([64, 64], device="cpu")
    expected = ops.mm(y, y).sum().tolist()
    for i in range(4):
        run = (work, (ops.rand([100, 100]), [])) if i % 2 else (compile_new, (1000 * i,))
        threading.Thread(target=run[0], args=run[1], daemon=True).start()
    time.sleep(0.05)
    children = []
    for i in range(100):
        child = os.fork()
        if child == 0:
            right = all(ops.mm(y + i, y).sum().tolist() == 64.0**3 * (1 + i) for i in range(3))
            os._exit(0 if right and ops.mm(y, y).sum().tolist() == expected else 7)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            print("WRONG the child ended with", os.waitstatus_to_exitcode(status), flush=True)


def main():
    kind = sys.argv[1]
    if kind == "fork_threads":
        fork_threads()
    elif kind in ("fork", "fork_idle"):
        fork(kind == "fork")
    elif kind.startswith("daemons"):
        x, stop = ops.rand([300, 300]), []
        for i in range(4):
            run = (work, (x, stop)) if kind == "daemons" else (compile_new, (1000 * i,))
            threading.Thread(target=run[0], args=run[1], daemon=True).start()
        time.sleep(0.05 + (os.getpid() % 7) * 0.02)
    else:
        x = ops.rand([500, 500])
        for _ in range(10):
            x = ops.mm(x, x) * 1e-3


if __name__ == "__main__":
    main()
