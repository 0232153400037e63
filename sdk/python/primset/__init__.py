"""The PyTorch operator surface on any accelerator.

    import primset
    a = primset.tensor([[1.0, 2.0], [3.0, 4.0]])
    primset.ops.softmax(a @ a, dim=-1)
    primset.invoke("add.Tensor", a, a, alpha=2)

Names, arguments, defaults and errors are ATen's. `primset.operators()` lists what there is.
"""

from . import _primset, ops
from ._primset import *  # noqa: F403

__all__ = [name for name in dir(_primset) if not name.startswith("_")] + ["ops"]
