"""Operators by ATen's name: `primset.ops.add(a, b)` picks the overload by the arguments,
`primset.ops.add.Tensor` is one."""

from . import _primset


def __getattr__(name):
    operator = None if name.startswith("__") else _primset._packet(name)
    if operator is None:
        raise AttributeError(_primset._unknown(name))
    globals()[name] = operator  # found at once the next time
    return operator


def __dir__():
    return sorted(_primset._bases())
