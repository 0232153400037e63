"""Runs cases in workers. One that dies or hangs costs the case it had, and is started anew."""

from __future__ import annotations

import json
import os
import queue
import selectors
import subprocess
import sys
import threading
import time

from . import environment

SAY_EVERY = 10.0  # seconds


class Ended(Exception):
    """A worker gave no answer. `steps`: what it had said."""

    def __init__(self, why, steps, seconds):
        super().__init__(why)
        self.steps, self.seconds = steps, seconds


class Process:
    def __init__(self, options, cache):
        self.command = [sys.executable, "-m", "speed.worker", options.device, options.peer,
                        str(options.threads), str(options.out / "timing.lock"),
                        "1" if options.first_call else "0"]
        self.environment = environment.of_worker(options.build, options.threads, cache)
        self.limit, self.process = options.limit, None
        self.errors = open(options.out / "workers.log", "ab")

    def ask(self, request):
        """The row that a worker answers; raises Ended."""
        fresh = self.process is None
        if fresh:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, bufsize=0,
                                            stdout=subprocess.PIPE, stderr=self.errors,
                                            env=self.environment)
            self.rest = b""
        started, steps = time.monotonic(), {}
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            while True:
                line = json.loads(self._line(self.limit + 60 if fresh and not steps else self.limit))
                if "row" in line:
                    if leaves_harm(line["row"]):
                        self.close()
                    return line["row"]
                steps.update(line)
        except (TimeoutError, EOFError, BrokenPipeError) as e:
            self.close()
            why = str(e) or f"the process ended with {self.status}"
            raise Ended(why, steps, time.monotonic() - started) from None

    def _line(self, seconds):
        while b"\n" not in self.rest:
            with selectors.DefaultSelector() as s:
                s.register(self.process.stdout, selectors.EVENT_READ)
                if not s.select(seconds):
                    raise TimeoutError(f"no answer for {seconds:.0f} s")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.status = self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def leaves_harm(row):
    """Whether a device may be lost to the process: after an index that CUDA finds out of range, say,
    all that follows fails."""
    return "error" in row or "CUDA" in row.get("peer_error", "")


class Driver:
    def __init__(self, options, path, cache=None):
        self.options, self.cache, self.results = options, cache, open(path, "a")
        self.lock, self.started, self.shown = threading.Lock(), time.monotonic(), 0.0
        self.done = self.total = 0

    def copy_rates(self):
        process = Process(self.options, self.cache)
        try:
            self._write({"case": "copy of 2^26 bytes", "copy_rates": process.ask("copy rates")})
        except Ended as e:
            print(f"run: the copy rate was not measured: {e}; see {self.options.out / 'workers.log'}")
        process.close()

    def run(self, cases):
        self.total = len(cases)
        waiting = queue.SimpleQueue()
        for c in cases:
            waiting.put(c)
        threads = [threading.Thread(target=self._work, args=(waiting,), daemon=True)
                   for _ in range(self.options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    def _work(self, waiting):
        process = Process(self.options, self.cache)
        while True:
            try:
                case = waiting.get_nowait()
            except queue.Empty:
                process.close()
                return
            try:
                self._write(process.ask(case.as_json()))
            except Ended as e:
                self._write(ended_row(case, e))

    def _write(self, row):
        with self.lock:
            self.results.write(json.dumps(row) + "\n")
            self.results.flush()
            self.done += 1
            now = time.monotonic()
            if now - self.shown > SAY_EVERY and self.total:
                self.shown, spent = now, now - self.started
                left = spent / self.done * (self.total - self.done)
                print(f"{self.done}/{self.total}, {spent:.0f} s, {left / 60:.0f} min to go: "
                      f"{row['case']}", flush=True)


def ended_row(case, e):
    """Where PyTorch had answered, Primset takes at least the time that it was given: that counts."""
    row = {"case": case.id, "overload": case.overload, "family": case.family, "dtype": case.dtype,
           "label": case.label, "text": case.text}
    theirs = e.steps.get("peer_first_s")
    if theirs is None:
        return {**row, "peer_error": f"PyTorch: {e}"}
    if "no answer" not in str(e):
        where = "being timed" if "first_s" in e.steps else "its first call"
        return {**row, "error": f"{e}, {where}"}
    if "first_s" in e.steps:
        return {**row, "unmeasured": f"the first call takes {e.steps['first_s']:.1f} s"}
    return {**row, "stopped": True, "primset_s": e.seconds - theirs, "pytorch_s": theirs,
            "ratio": theirs / (e.seconds - theirs)}
