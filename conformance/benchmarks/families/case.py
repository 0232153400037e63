"""A case of compare_families.py: a call that both sides make, and what its results must be."""

import dataclasses
from collections.abc import Callable


@dataclasses.dataclass
class Case:
    name: str
    overload: str
    args: list
    named: dict = dataclasses.field(default_factory=dict)
    # How many of the results are compared with PyTorch's; None: all.
    count: int | None = None
    # Says of arguments and results whether they are right, where factors are not unique.
    check: Callable | None = None

    def is_right(self, torch, got, want):
        if self.check:
            return self.check(self.args, got)
        return all(near(torch, a, b) for a, b in list(zip(got, want))[: self.count])


def near(torch, got, want):
    """Whether a result is PyTorch's but for roundings."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if not want.dtype.is_floating_point:
        # Rounding of u8 pixels may differ by one.
        apart = (got.long() - want.long()).abs()
        return apart.numel() == 0 or int(apart.max()) <= (want.dtype == torch.uint8)
    size = float(want.abs().max()) if want.numel() else 0.0
    return torch.allclose(got, want, rtol=1e-4, atol=2e-4 * size)
