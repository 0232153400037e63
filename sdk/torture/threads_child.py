"""Threads that make the same calls at once and must get the same bits.

    threads_child.py THREADS SECONDS SEED

What one thread makes another one drops: tensors and graphs go through a queue.
"""

import queue
import random
import sys
import threading
import time

import primset
from primset import Graph, ops


def table():
    x = ops.reshape(ops.arange(0, 6000, dtype=primset.float32) / 64, [60, 100])
    calls = {
        "mm": lambda: ops.mm(x, ops.t(x)),
        "softmax": lambda: ops.softmax(x, 1),
        "sort": lambda: ops.sort(-x, 1)[0],
        "cumsum": lambda: ops.cumsum(x, 1),
        "exp": lambda: ops.exp(x / 100),
        "sum": lambda: ops.sum(x),
        "index": lambda: ops.index_select(x, 0, ops.arange(0, 60, 7)),
        "std": lambda: ops.std(x, [1]),
        "to f16": lambda: x.to(primset.float16),
        "gelu": lambda: ops.gelu(x / 50),
    }
    for d in range(3):
        calls[f"permute {d}"] = lambda d=d: ops.permute(
            ops.reshape(x, [10, 6, 100]), [d, (d + 1) % 3, (d + 2) % 3]
        )
    for c in range(24):
        calls[f"graph {c}"] = lambda c=c: Graph.capture(lambda a: ops.mul(ops.add(a, c + 0.5), 2), x)(
            x
        )[0]
    return calls


def bits(tensor):
    return tensor.contiguous().reshape([-1]).tolist()


def work(calls, expected, end, seed, dropped, done):
    r, n, names = random.Random(seed), 0, list(calls)
    while time.monotonic() < end:
        name = r.choice(names)
        try:
            result = calls[name]()
            if bits(result) != expected[name]:
                print(f"WRONG {name}: other bits than of one thread", flush=True)
            dropped.put(result)
            if n % 16 == 0:
                kept = Graph.capture(lambda a: ops.neg(a), result)
                dropped.put(kept)
            if n % 32 == 0 and not primset.devices():
                print("WRONG devices: none", flush=True)
        except Exception as e:  # noqa: BLE001
            print(f"WRONG {name}: {type(e).__name__}: {str(e)[:200]}", flush=True)
        if n % 3 == 0:
            try:
                dropped.get_nowait()  # what another thread made ends here
            except queue.Empty:
                pass
        n += 1
    done.append(n)


def main():
    count, seconds, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    calls = table()
    expected = {name: bits(call()) for name, call in calls.items()}
    dropped, done, end = queue.SimpleQueue(), [], time.monotonic() + seconds
    threads = [
        threading.Thread(target=work, args=(calls, expected, end, seed * count + i, dropped, done))
        for i in range(count)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("DONE", sum(done), flush=True)


if __name__ == "__main__":
    main()
