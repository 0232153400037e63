"""Times of two calls, in turns."""

from __future__ import annotations

import contextlib
import fcntl
import math
import statistics
import time

PAIRS = 5
SECONDS = {"cpu": 0.02, "gpu": 0.005}  # of one measurement, at least
MOST_IN_FLIGHT = 1000
LONG = 0.5  # seconds a call: what takes longer is measured once


@contextlib.contextmanager
def alone(path, waiting):
    """While no other worker uses the devices. `waiting` is called now and then until it is this
    worker's turn."""
    with open(f"{path}.turn", "w") as turn, open(path, "w") as f:
        _lock(turn, fcntl.LOCK_EX, waiting)  # so that none begins to prepare meanwhile
        _lock(f, fcntl.LOCK_EX, waiting)
        yield


@contextlib.contextmanager
def among_others(path, waiting):
    """While other workers prepare calls too, but none measures."""
    with open(f"{path}.turn", "w") as turn, open(path, "w") as f:
        _lock(turn, fcntl.LOCK_EX, waiting)
        _lock(f, fcntl.LOCK_SH, waiting)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield


def _lock(file, kind, waiting):
    asked = time.monotonic()
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.002)
        if time.monotonic() - asked > 1:
            asked = time.monotonic()
            waiting()


def timed(call, wait, seconds):
    """Seconds a call, of as many as fill the time."""
    spent = _batch(call, wait, 1)
    if spent >= seconds:
        return spent
    more = math.ceil(seconds / spent)
    count = spent = 0  # a first call alone says little about a GPU, where many are in flight at a time
    while spent < seconds:
        more = min(more, MOST_IN_FLIGHT)
        spent += _batch(call, wait, more)
        count += more
        more = max(1, math.ceil((seconds - spent) * count / spent))
    return spent / count


def _batch(call, wait, count):
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return time.perf_counter() - start


def in_turns(ours, theirs, wait, peer_wait, seconds):
    """Medians of both sides, and of the ratios of neighbouring measurements."""
    pair = lambda s: (timed(ours, wait, s), timed(theirs, peer_wait, s))
    turns = [pair(0)]
    if max(turns[0]) < LONG:
        turns = [pair(seconds) for _ in range(PAIRS)]
    ratios = sorted(b / a for a, b in turns)
    return {"primset_s": statistics.median(t[0] for t in turns),
            "pytorch_s": statistics.median(t[1] for t in turns),
            "ratio": statistics.median(ratios), "spread": [ratios[0], ratios[-1]]}
