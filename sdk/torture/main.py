"""Torture tests: what a hostile or failing world does to a process that uses Primset.

    sdk/scripts/torture                      all kinds, a minute in all
    sdk/scripts/torture --minutes 30         as many tries as fit
    sdk/scripts/torture --only signals       one kind; --list says which there are
    sdk/scripts/torture --json results.json  the figures for a machine

Each kind makes tries until its share of the time is over, with other random numbers for another
--seed. A fault is a crash, a hang, a wrong value, a lost line, or memory or code that is not ours.
The exit code is 1 when there is one; each is printed with how to see it again.
"""

import argparse
import importlib
import json
import pathlib
import sys
import time

from torture.children import ROOT, Context

# Kind: what it does; the share of the time that it gets.
KINDS = {
    "geometry": ("hostile sizes, strides and offsets", 4),
    "signals": ("a signal every millisecond or faster while operators run", 3),
    "cache": ("planted and damaged files in the kernel cache", 2),
    "host_state": ("rounding modes, locale, signal mask, folder, descriptors", 2),
    "processes": ("fork, and exits while threads run", 2),
    "growth": ("ever new plans and graphs", 2),
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--minutes", type=float, default=1)
    p.add_argument("--only", action="append", choices=list(KINDS), help="this kind; may be repeated")
    p.add_argument("--list", action="store_true", help="say which kinds there are")
    p.add_argument("--device", default="cpu")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    p.add_argument("--json", type=pathlib.Path)
    return p.parse_args()


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
        seconds = options.minutes * 60 * share / shares
        begin = time.monotonic()
        outcome = importlib.import_module(f"torture.{kind}").torture(
            Context(options.build.resolve(), options.device, seconds, options.seed))
        figures = ", ".join(f"{v} {k}" for k, v in outcome.figures.items())
        print(f"\r{kind:12} {outcome.tries} tries in {time.monotonic() - begin:.0f} s, "
              f"{len(outcome.faults)} faults ({figures})", flush=True)
        for fault in outcome.faults:
            print(f"  FAULT {fault}", flush=True)
        faults += len(outcome.faults)
        results[kind] = {"tries": outcome.tries, "faults": outcome.faults, **outcome.figures}
    if options.json:
        options.json.write_text(json.dumps({"device": options.device, "seed": options.seed,
                                            "kinds": results}, indent=1) + "\n")
    print("no fault" if faults == 0 else f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
