#!/usr/bin/env python3
"""A graph of small dependent operators on a GPU, against PyTorch's in a CUDA graph.

    conformance/benchmarks/measure_graph_overhead.py --device cuda:0

100 additions to 16 elements, each a launch of its own (no fusion), one after the other. The two take
turns; a ratio is PyTorch's time over Primset's in one turn. Needs PyTorch with CUDA and the program
primset_graph_overhead.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bin/primset_graph_overhead")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--peer-device", default="cuda:0")
    parser.add_argument("--operators", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7, help="turns")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    return parser.parse_args()


def ours(a):
    command = [a.program, a.device, str(a.operators), str(a.seconds)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Peer:
    """PyTorch's additions, eager and in a CUDA graph."""

    def __init__(self, a):
        import torch

        self.torch, self.operators, self.seconds = torch, a.operators, a.seconds
        self.x = torch.full((16,), 1.5, device=a.peer_device)
        with torch.no_grad():
            self.chain()
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.y = self.chain()
            self.graph.replay()
        assert self.y[7].item() == 1.5 + a.operators

    def chain(self):
        y = self.x
        for _ in range(self.operators):
            y = y + 1
        return y

    def microseconds(self, run):
        for _ in range(3):
            run()
        self.torch.cuda.synchronize()
        start, runs = time.perf_counter(), 0
        while time.perf_counter() - start < self.seconds:
            for _ in range(10):
                run()
            runs += 10
            self.torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6 / runs / self.operators


def main():
    a = parse_arguments()
    peer = Peer(a)
    rows = []
    for _ in range(a.repeats):
        mine = ours(a)
        theirs = {"eager": peer.microseconds(peer.chain),
                  "graph": peer.microseconds(peer.graph.replay)}
        rows.append((mine, theirs))
    print(f"{a.operators} additions to 16 elements, {a.repeats} turns; "
          f"{rows[-1][0]['replays']} of the graph's runs were played from a recording")
    print("| | Primset us an operator | PyTorch us | PyTorch / Primset |\n|---|---|---|---|")
    for kind in ("eager", "graph"):
        mine = [m[f"{kind}_us"] for m, _ in rows]
        theirs = [t[kind] for _, t in rows]
        ratios = sorted(t / m for t, m in zip(theirs, mine))
        print(f"| {kind} | {statistics.median(mine):.2f} | {statistics.median(theirs):.2f} | "
              f"**{statistics.median(ratios):.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")


if __name__ == "__main__":
    main()
