"""Arguments of PyTorch's made of a scaled call, on a device of PyTorch's."""

import dataclasses

from . import scaling
from .templates import Dtype, TensorArg

TORCH_NAMES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16",
               "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
               "bool": "bool", "c32": "complex32", "c64": "complex64", "c128": "complex128"}
LAYOUTS = ("contiguous", "transposed", "sliced", "broadcast")


@dataclasses.dataclass(frozen=True)
class Request:
    """Which form a call is to take."""

    dtype: str  # of the tensors that have the template's dtype
    layout: str = "contiguous"
    seed: int = 0


def made(torch, template, scaled, request, device):
    """Positional and named arguments of torch.ops.aten's overload."""
    generator = torch.Generator(device="cpu").manual_seed(request.seed)
    make = lambda a: _argument(torch, template, a, request, device, generator)
    values = [make(a) for a in scaled.args]
    schema = getattr(_packet(torch, template.overload), _name(template.overload))._schema
    positional, named = [], {}
    for value, argument in zip(values, schema.arguments):
        if argument.kwarg_only:
            if value is not None:
                named[argument.name] = value
        else:
            positional.append(value)
    return positional, named


def function(torch, overload):
    return getattr(_packet(torch, overload), _name(overload))


def _packet(torch, overload):
    return getattr(torch.ops.aten, overload.partition(".")[0])


def _name(overload):
    return overload.partition(".")[2] or "default"


def _argument(torch, template, a, request, device, generator):
    if isinstance(a, TensorArg):
        dtype = request.dtype if a.dtype == template.dtype else a.dtype
        return _tensor(torch, a, getattr(torch, TORCH_NAMES[dtype]), request.layout, device, generator)
    if isinstance(a, list):
        return [_argument(torch, template, x, request, device, generator) for x in a]
    if isinstance(a, Dtype):
        return getattr(torch, TORCH_NAMES[request.dtype if a == template.dtype else a])
    return a


def _tensor(torch, a, dtype, layout, device, generator):
    """Values like the template's: its own, drawn again, each a little nearer to 0 than before."""
    rank = len(a.sizes)
    if layout == "broadcast" and rank > 1:
        return _filled(torch, a, (1, *a.sizes[1:]), dtype, device, generator).expand(a.sizes)
    if layout == "transposed" and rank > 1:
        sizes = (*a.sizes[:-2], a.sizes[-1], a.sizes[-2])
        return _filled(torch, a, sizes, dtype, device, generator).transpose(-1, -2)
    if layout == "sliced" and rank > 0:
        sizes = (*a.sizes[:-1], a.sizes[-1] + 1)
        return _filled(torch, a, sizes, dtype, device, generator)[..., 1:]
    return _filled(torch, a, a.sizes, dtype, device, generator)


def _filled(torch, a, sizes, dtype, device, generator):
    if device == "meta":
        return torch.empty(sizes, dtype=dtype, device=device)
    if not a.values:
        return torch.zeros(sizes, dtype=dtype, device=device)
    whole = not (dtype.is_floating_point or dtype.is_complex)
    pool = torch.tensor(a.values, dtype=torch.int64 if whole else torch.float64)
    place = torch.randint(len(pool), sizes, generator=generator)
    values = pool[place]
    if not whole:
        values = values * torch.empty(sizes, dtype=torch.float32).uniform_(0.9, 1, generator=generator)
    elif a.dtype in ("i64", "i32") and min(a.values) >= 0:
        top = max(a.values)
        values = torch.randint(top + 1, sizes, generator=generator) if top > 1 else values
        if list(a.values) == sorted(a.values) and len(a.values) > 2:  # offsets and boundaries
            values = values.sort(-1)[0]
    return values.to(dtype).to(device)
