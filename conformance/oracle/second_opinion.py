"""What PyTorch itself answers to a call in another way, for answers of its own that are less right:
its kernels for narrow dtypes round at each step, and some write out= tensors that are strided, or
that must grow, as if they were dense and of the right size."""

import functools

import torch

from .calls import TorchArguments
from .expectations import is_continuous

IN_DOUBLE, WITHOUT_OUT = "in double", "without out="


class SecondOpinion:
    """Asked for where answers differ, computed once."""

    def __init__(self, call):
        self.call, self.runs = call, None

    def result(self, i):
        """[(how, tensor)] for result i, all results in one row."""
        return [(how, results[i]) for how, results, _ in self._runs() if i < len(results)]

    def argument(self, name, i):
        """The same for tensor i of the argument, as the call left it."""
        return [(how, left[name][i]) for how, _, left in self._runs()
                if i < len(left.get(name, ()))]

    def _runs(self):
        if self.runs is None:
            runs = []
            if without_outs(self.call.overload):
                runs.append(self._run(WITHOUT_OUT, lambda x: x))
            if is_continuous(self.call):
                runs.append(self._run(IN_DOUBLE, _doubled))
            self.runs = [r for r in runs if r]
        return self.runs

    def _run(self, how, change):
        from .compare import flatten, out_names, schema, torch_overload

        arguments = TorchArguments(self.call)
        named = dict(zip((a.name for a in schema(self.call.overload).arguments), arguments.args))
        named = {k: change(x) for k, x in {**named, **arguments.kwargs}.items()}
        function, outs = without_outs(self.call.overload), {}
        if function:
            outs = {n: named.pop(n) for n in out_names(self.call.overload)}
        try:
            with torch.no_grad():
                found = (function or torch_overload(self.call.overload))(**named)
        except Exception:
            return None
        results = flatten(found)
        left = {k: flatten(x) for k, x in named.items()}
        following = iter(results)
        for name, given in outs.items():
            left[name] = [next(following, None) for _ in flatten(given)]
        return how, results, left


@functools.cache
def without_outs(overload):
    """The overload that returns what this one writes to out=; None where there is none."""
    from .compare import out_names, schema

    outs = out_names(overload)
    wanted = [(a.name, str(a.type)) for a in schema(overload).arguments if a.name not in outs]
    packet = getattr(torch.ops.aten, overload.partition(".")[0])
    for name in packet.overloads() if outs else ():
        other = getattr(packet, name)
        if [(a.name, str(a.type)) for a in other._schema.arguments] == wanted:
            return other
    return None


def _doubled(x):
    if isinstance(x, torch.Tensor):
        return x.to(_doubled(x.dtype)) if x.dtype != _doubled(x.dtype) else x
    if isinstance(x, (list, tuple)):
        return type(x)(_doubled(v) for v in x)
    if isinstance(x, torch.dtype):
        return (torch.complex128 if x.is_complex else
                torch.float64 if x.is_floating_point else x)
    return x
