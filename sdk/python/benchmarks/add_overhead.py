"""The cost of one call: a 16-element add through Primset's module and through PyTorch's, in turns.

    python sdk/python/benchmarks/add_overhead.py
"""

import statistics
import timeit

import primset
import torch

ROUNDS, CALLS = 31, 20000


def best_of(statement, names):
    return timeit.Timer(statement, globals=names).timeit(CALLS) / CALLS * 1e6


def main():
    torch.set_num_threads(1)
    pairs = {
        "a + b": ("a + b", "x + y"),
        "ops.add(a, b)": ("add(a, b)", "torch_add(x, y)"),
        "invoke('add.Tensor', a, b)": ("invoke('add.Tensor', a, b)", "aten_add(x, y)"),
        "add_(b)": ("add_(a, b)", "x.add_(y)"),
    }
    # Small enough that add_ does not leave the range of f32.
    x, y = torch.rand(16), torch.rand(16) * 1e-6
    names = {
        "a": primset.from_dlpack(x.clone()), "b": primset.from_dlpack(y.clone()),
        "x": x, "y": y,
        "add": primset.ops.add, "add_": primset.ops.add_, "invoke": primset.invoke,
        "torch_add": torch.add, "aten_add": torch.ops.aten.add.Tensor,
    }
    assert torch.equal(torch.from_dlpack(names["a"] + names["b"]), x + y)
    print(f"{'':28} {'Primset':>9} {'PyTorch':>9}   ratio (median of {ROUNDS} pairs, spread)")
    with torch.no_grad():
        for label, (ours, theirs) in pairs.items():
            runs = [(best_of(ours, names), best_of(theirs, names)) for _ in range(ROUNDS)]
            ratios = sorted(a / b for a, b in runs)
            a, b = (statistics.median(r[i] for r in runs) for i in (0, 1))
            print(f"{label:28} {a:6.3f} us {b:6.3f} us   {ratios[ROUNDS // 2]:.2f} "
                  f"({ratios[ROUNDS // 10]:.2f} to {ratios[-ROUNDS // 10]:.2f})")


if __name__ == "__main__":
    main()
