"""Torture tests: what a hostile or failing world does to a process that uses Primset.

    sdk/scripts/torture                      all kinds, a minute in all
    sdk/scripts/torture --full               ten minutes, and on until each kind has its least tries
    sdk/scripts/torture --minutes 30         as many tries as fit
    sdk/scripts/torture --only signals       one kind; --list says which there are
    sdk/scripts/torture --json results.json  the figures for a machine
    sdk/scripts/torture --program P/bin/primset --module P/lib/python    another build or an unpacked
                                             bundle; needs python3, and a C compiler for some kinds

Each kind makes tries until its share of the time is over, with other random numbers for another
--seed. A fault is a crash, a hang, a wrong value, a lost line, or memory or code that is not ours.
The exit code is 1 when there is one; each is printed with how to see it again.
"""

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

from torture.children import ROOT, Context, Outcome
from torture.preload import NoCompiler

# Kind: what it does; the share of the time that it gets.
KINDS = {
    "geometry": ("hostile sizes, strides and offsets", 4),
    "signals": ("a signal every millisecond or faster while operators run", 3),
    "kills": ("kills of conformance runs, their resumes and workers", 3),
    "allocations": ("each allocation fails, one at a time", 3),
    "full_disk": ("the disk is full after any number of bytes", 1),
    "cache": ("planted and damaged files in the kernel cache", 2),
    "threads": ("eight threads, and objects that end on others", 1),
    "host_state": ("rounding modes, locale, signal mask, folder, descriptors", 2),
    "processes": ("fork, and exits while threads run", 2),
    "growth": ("ever new plans and graphs", 2),
}
# With --full a kind goes on until its figure is this, for as much as FULL_LIMIT of its time.
GOALS = {"signals": ("signals", 1_000_000), "kills": ("kills", 500), "cache": ("files", 2000)}
# What needs the program alone.
OF_THE_PROGRAM = {"kills"}
FULL_MINUTES = 10
FULL_LIMIT = 10


def require_primset(parser, options):
    if not options.program.exists():
        parser.error(f"{options.program} is missing; --program or --build says where Primset is")
    if set(options.only or KINDS) <= OF_THE_PROGRAM:
        return
    done = subprocess.run([sys.executable, "-c", "import numpy, primset"], text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(options.module)})
    if done.returncode != 0:
        parser.error(f"{sys.executable} cannot import numpy and, from {options.module}, primset "
                     f"({done.stderr.strip().splitlines()[-1]}); --module says where the package is; "
                     f"--only {' --only '.join(sorted(OF_THE_PROGRAM))} needs the program alone")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--minutes", type=float, help=f"for all kinds; 1, with --full {FULL_MINUTES}")
    p.add_argument("--full", action="store_true", help="go on until the goals are reached")
    p.add_argument("--only", action="append", choices=list(KINDS), help="this kind; may be repeated")
    p.add_argument("--list", action="store_true", help="say which kinds there are")
    p.add_argument("--device", default="cpu")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="tries at once, where they can be")
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    p.add_argument("--program", type=pathlib.Path, help="bin/primset of another place")
    p.add_argument("--module", type=pathlib.Path, help="the folder with the Python package primset")
    p.add_argument("--json", type=pathlib.Path)
    options = p.parse_args()
    options.program = (options.program or options.build / "bin/primset").resolve()
    options.module = (options.module or options.build / "python").resolve()
    if options.module.name == "primset" and (options.module / "__init__.py").exists():
        options.module = options.module.parent
    if not options.list:
        require_primset(p, options)
    options.minutes = options.minutes or (FULL_MINUTES if options.full else 1)
    return options


def run_kind(kind, seconds, options):
    goal = GOALS.get(kind) if options.full else None
    outcome = Outcome()
    context = Context(options.program, options.module, options.device, seconds, options.seed,
                      max(1, options.jobs), goal, seconds * FULL_LIMIT, outcome)
    try:
        importlib.import_module(f"torture.{kind}").torture(context, outcome)
    except NoCompiler as e:
        outcome.fault(f"not tried: {e}")
    return outcome


def summary(results):
    """One table of all figures, as docs/reliability.md has them."""
    print(f"\n{'kind':12} {'tries':>8} {'faults':>6}  figures")
    for kind, r in results.items():
        figures = ", ".join(f"{v:,} {k}" for k, v in r["figures"].items())
        print(f"{kind:12} {r['tries']:8,} {len(r['faults']):6}  {figures}")


def main():
    options = arguments()
    if options.list:
        for kind, (what, _) in KINDS.items():
            print(f"{kind:12} {what}")
        return 0
    chosen = options.only or list(KINDS)
    shares = sum(KINDS[k][1] for k in chosen)
    results, faults = {}, 0
    for kind in chosen:
        what, share = KINDS[kind]
        print(f"{kind:12} {what} ...", end="", flush=True)
        begin = time.monotonic()
        outcome = run_kind(kind, options.minutes * 60 * share / shares, options)
        seconds = time.monotonic() - begin
        print(f"\r{kind:12} {what}: {seconds:.0f} s, {len(outcome.faults)} faults", flush=True)
        for fault in outcome.faults:
            print(f"  FAULT {fault}", flush=True)
        faults += len(outcome.faults)
        results[kind] = {"tries": outcome.tries, "seconds": round(seconds, 1), "faults": outcome.faults,
                         "figures": outcome.figures}
    summary(results)
    if options.json:
        options.json.write_text(json.dumps({"device": options.device, "seed": options.seed,
                                            "kinds": results}, indent=1) + "\n")
    print("no fault" if faults == 0 else f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
