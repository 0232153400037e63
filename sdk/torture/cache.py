"""Files in the kernel cache that are damaged or that somebody else put there: none is executed.

Each try changes every file of a cache that a process has filled, in one of many ways, and runs the
same calls again: they must give the same values, whatever is there.
"""

import os
import pathlib
import random
import shutil
import signal
import sys
import time

from torture.children import ROOT, Clock, folder, how, in_parallel, python, start

KILLS = 6  # of a try
EXECUTED = b"\x0f\x0b" * 2048  # ud2: a process that runs it dies of SIGILL


def flip(path, r, others):
    data = bytearray(path.read_bytes())
    for _ in range(r.choice([1, 3, 50])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    path.write_bytes(data)


def cut(path, r, others):
    os.truncate(path, r.randrange(path.stat().st_size))


def extend(path, r, others):
    with open(path, "ab") as f:
        f.write(os.urandom(r.choice([1, 100, 5000])))


def exchange(path, r, others):
    other = r.choice(others)
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)


def replace_code(path, r, others):
    """The header stays, what it describes is code that ends the process."""
    data = path.read_bytes()
    path.write_bytes(data[:48] + (EXECUTED * (len(data) // len(EXECUTED) + 1))[:len(data) - 48])


def anew(path, make):
    os.remove(path)
    make()


def fifo(path, r, others):
    anew(path, lambda: os.mkfifo(path, 0o600))


def directory(path, r, others):
    anew(path, lambda: path.mkdir())


def link(path, r, others):
    aside = path.with_suffix(".aside")
    shutil.move(path, aside)
    path.symlink_to(aside)


def zero_device(path, r, others):
    anew(path, lambda: path.symlink_to("/dev/zero"))


def sparse(path, r, others):
    os.truncate(path, 1 << 41)


def writable(path, r, others):
    replace_code(path, r, others)
    os.chmod(path, 0o666)


def random_bytes(path, r, others):
    path.write_bytes(os.urandom(r.choice([0, 10, 48, 4000])))


WAYS = [flip, cut, extend, exchange, replace_code, fifo, directory, link, zero_device, sparse, writable,
        random_bytes]


def cached(cache):
    return [p for p in cache.rglob("*.psk") if p.is_file() and not p.is_symlink()]


def fill(context, cache):
    return python(context, "calls_child.py", PRIMSET_CACHE=cache, timeout=120)


def judge(ending, expected, what, outcome):
    if ending.hung or ending.code != 0:
        outcome.fault(f"{how(ending)} with a cache whose files were changed by '{what}': "
                      f"{ending.err[-300:]}")
    elif ending.out != expected:
        outcome.fault(f"other values with a cache whose files were changed by '{what}'")


def try_way(context, way, r, expected, outcome):
    with folder("cache") as temporary:
        cache = pathlib.Path(temporary) / "cache"
        fill(context, cache)
        files = cached(cache)
        for path in files:
            if path.is_file():
                way(path, r, files)
                outcome.count("files")
        judge(fill(context, cache), expected, way.__name__, outcome)
        judge(fill(context, cache), expected, way.__name__ + ", a second time", outcome)


def try_other_users(context, expected, outcome):
    """Another user's files, or a folder that others may write, are not used at all."""
    with folder("cache") as temporary:
        cache = pathlib.Path(temporary) / "cache"
        fill(context, cache)
        for path in cached(cache):
            replace_code(path, random, [])
        os.chmod(cache, 0o777)
        before = sorted(cached(cache))
        judge(fill(context, cache), expected, "a folder that others may write", outcome)
        if sorted(cached(cache)) != before:
            outcome.fault("something was written into a folder that others may write")
        outcome.count("files", len(before))
        if os.geteuid() == 0:
            os.chmod(cache, 0o700)
            os.chown(cache, 12345, 12345)
            judge(fill(context, cache), expected, "a folder of another user's", outcome)
            outcome.count("files", len(before))


def try_kills(context, r, expected, outcome):
    """Killed while kernels are compiled and stored: what is left is whole or not there."""
    with folder("cache") as temporary:
        cache = pathlib.Path(temporary) / "cache"
        command = [sys.executable, ROOT / "sdk/torture/calls_child.py"]
        for _ in range(KILLS):
            process = start(command, context.environment(PRIMSET_CACHE=cache))
            time.sleep(r.uniform(0.05, 1.0))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            outcome.count("kills")
        judge(fill(context, cache), expected, "a killed process", outcome)


def torture(context, outcome):
    clock = Clock(context)
    outcome.figures = {"files": 0, "kills": 0}
    with folder("cache") as temporary:
        expected = fill(context, temporary + "/cache").out
    try_other_users(context, expected, outcome)
    ways = list(WAYS) + [None]
    random.Random(context.seed).shuffle(ways)

    def attempt(number, own):
        r = random.Random(f"{context.seed} {number}")
        way = ways[number % len(ways)]
        if way:
            try_way(context, way, r, expected, own)
        else:
            try_kills(context, r, expected, own)

    in_parallel(context, outcome, attempt, clock)
    outcome.tries = sum(outcome.figures.values())
