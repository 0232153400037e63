"""Results that are right in more than one way: which of equal elements an index names."""

import torch

from .calls import TorchArguments

# Operators without a promise about the order of equal elements, and which result is the index.
_INDEX = {"kthvalue": 1, "median": 1, "nanmedian": 1, "mode": 1, "topk": 1, "sort": 1, "argsort": 0}


def is_index(call, i):
    base, _, name = call.overload.partition(".")
    return _INDEX.get(base) == i and "stable" not in name


def same_elements(call, expected, actual):
    """Whether both indices name equal elements, and the actual ones no element twice."""
    given = named(call)
    self, dim = given["self"].resolve_conj().resolve_neg(), given.get("dim", -1)
    if self.dim() == 0:
        return torch.equal(expected, actual)
    if expected.dim() < self.dim():  # keepdim=False
        expected, actual = expected.unsqueeze(dim), actual.unsqueeze(dim)
    if int(actual.min()) < 0 or int(actual.max()) >= self.size(dim):
        return False
    order = actual.sort(dim)[0]
    twice = (order.narrow(dim, 1, order.size(dim) - 1)
             == order.narrow(dim, 0, order.size(dim) - 1)).any()
    e, a = self.gather(dim, expected), self.gather(dim, actual)
    return not twice and bool(((e == a) | ((e != e) & (a != a))).all())


def named(call):
    from .compare import schema

    arguments = TorchArguments(call)
    spec = schema(call.overload).arguments
    given = {a.name: a.default_value for a in spec if a.has_default_value()}
    given.update(zip((a.name for a in spec), arguments.args))
    given.update(arguments.kwargs)
    return given
