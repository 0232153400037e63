"""Arguments of both libraries, made of a call's text.

PyTorch's are made first, on its device. Primset takes the same memory where that is the CPU's, and a
copy of it elsewhere, laid out alike.
"""

from __future__ import annotations

import math

from .case_text import ELEMENT_TYPES, Sparse, Tensor, Word

TORCH = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "i8": "int8",
         "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "bool": "bool", "c32": "complex32", "c64": "complex64",
         "c128": "complex128"}
_LAYOUTS = {"coo": "sparse_coo", "csr": "sparse_csr", "csc": "sparse_csc", "bsr": "sparse_bsr",
            "bsc": "sparse_bsc", "strided": "strided"}
_FORMATS = {"contiguous": "contiguous_format", "preserve": "preserve_format",
            "channels_last": "channels_last", "channels_last_3d": "channels_last_3d"}
_REAL = {"c32": "f16", "c64": "f32", "c128": "f64"}
_COMPLEX = {"f16": "c32", "bf16": "c64", "f32": "c64", "f64": "c128"}
_WIDER = {"f16": "f32", "bf16": "f32"}
STORED = 0.1  # of a sparse tensor's elements, unless the text says how many


def dtype_named(word, case):
    if word == "R":
        return _REAL.get(case, case)
    if word == "C":
        return _COMPLEX.get(case, case)
    if word == "A":
        return _WIDER.get(case, case)
    return case if word == "T" else str(word)


class Maker:
    """Makes PyTorch's arguments. `layout` is for tensors of two dims and more whose text names none."""

    def __init__(self, torch, device, dtype, layout="contiguous", seed=1):
        self.torch, self.device, self.dtype, self.layout = torch, device, dtype, layout
        self.random = torch.Generator(device=device)
        self.random.manual_seed(seed)

    def arguments(self, parsed):
        return {name: self.value(v) for name, v in parsed.items()}

    def value(self, v):
        if isinstance(v, Tensor):
            return self.tensor(v)
        if isinstance(v, Sparse):
            return self.sparse(v)
        if isinstance(v, (tuple, list)):
            return [self.value(x) for x in v]
        return self.word(v) if isinstance(v, Word) else v

    def word(self, v):
        if v in ELEMENT_TYPES or v in TORCH:
            return getattr(self.torch, TORCH[dtype_named(v, self.dtype)])
        if v == "here":
            return self.torch.device(self.device)
        for names in (_LAYOUTS, _FORMATS):
            if v in names:
                return getattr(self.torch, names[v])
        raise ValueError(f"'{v}' in a call: expected an element type, a layout, a memory format or "
                         "`here`")

    def tensor(self, t):
        dtype = getattr(self.torch, TORCH[dtype_named(t.dtype, self.dtype)])
        layout = t.layout or self.layout
        sizes = t.sizes
        if len(sizes) < 2 or layout in ("contiguous", "strided"):
            return self.filled(t.fill, sizes, dtype)
        if layout == "transposed":
            turned = (*sizes[:-2], sizes[-1], sizes[-2])
            return self.filled(t.fill, turned, dtype).transpose(-1, -2)
        if layout == "sliced":
            return self.filled(t.fill, (*sizes[:-1], sizes[-1] + 1), dtype)[..., 1:]
        if layout == "broadcast":
            return self.filled(t.fill, (1, *sizes[1:]), dtype).expand(sizes)
        if layout == "channels_last":
            return self.filled(t.fill, (sizes[0], *sizes[2:], sizes[1]), dtype).movedim(-1, 1)
        raise ValueError(f"'{layout}' in a call: expected the name of a layout")

    def sparse(self, s):
        """Dense, with zeros, and then PyTorch's own conversion."""
        options = dict(s.options)
        dense = self.tensor(s.tensor)
        share = float(options["entries"]) / s.tensor.elements if "entries" in options else STORED
        stored = self.torch.rand(dense.shape, generator=self.random, device=self.device) < share
        return self.as_layout(dense * stored, s.layout, block_of(options))

    def as_layout(self, dense, layout, block):
        return (dense.to_sparse() if layout == "coo"
                else getattr(dense, f"to_sparse_{layout}")(*([block] if block else [])))

    # --- what tensors are filled with -------------------------------------------------------------

    def filled(self, fill, sizes, dtype):
        if dtype.is_complex:
            part = self.torch.float64 if dtype.itemsize == 16 else self.torch.float32
            return self.torch.complex(self._real(fill, sizes, part),
                                      self._real(fill, sizes, part)).to(dtype)
        return self._real(fill, sizes, dtype)

    def _real(self, fill, sizes, dtype):
        name, *more = fill.replace("+nan", "").split("!")
        low, dots, high = name.partition("..")
        if dots:
            out = self._range(float(low), float(high), sizes, dtype)
        elif name[:1].isdigit() or name[:1] == "-":
            numbers = self.torch.tensor([float(x) for x in name.split(",")], device=self.device)
            count = max(1, -(-math.prod(sizes) // len(numbers)))
            out = numbers.repeat(count)[:math.prod(sizes)].reshape(sizes).to(dtype)
        else:
            name, _, times = name.partition("*")  # counted*20: 0, 20, 40
            out = getattr(self, f"_{name or 'normal'}")(sizes, dtype)
            out = out * int(times) if times else out
        if more:
            out = out.masked_fill(out == 0, 1)
        return out

    def _range(self, low, high, sizes, dtype):
        torch = self.torch
        if dtype == torch.bool:
            return torch.randint(0, 2, sizes, generator=self.random, device=self.device).bool()
        if dtype.is_floating_point:
            wide = dtype if dtype == torch.float64 else torch.float32
            out = torch.empty(sizes, dtype=wide, device=self.device)
            return out.uniform_(low, high, generator=self.random).to(dtype)
        if dtype == torch.uint8:
            low = max(low, 0)
        low = int(low)
        return torch.randint(low, max(int(high), low + 1), sizes, generator=self.random,
                             device=self.device).to(dtype)

    def _normal(self, sizes, dtype):
        if not dtype.is_floating_point:
            return self._range(-9, 10, sizes, dtype)
        wide = dtype if dtype == self.torch.float64 else self.torch.float32
        return self.torch.randn(sizes, generator=self.random, device=self.device, dtype=wide).to(dtype)

    _special = _special_outer = _special_inner = _nan = _bits = _normal

    def _positive(self, sizes, dtype):
        return self._range(*((0.1, 2) if dtype.is_floating_point else (1, 10)), sizes, dtype)

    def _unit(self, sizes, dtype):
        return self._range(*((0.01, 0.99) if dtype.is_floating_point else (0, 2)), sizes, dtype)

    def _ties(self, sizes, dtype):
        return self._range(0, 4, sizes, self.torch.int64).to(dtype)

    def _counted(self, sizes, dtype):
        return self.torch.arange(math.prod(sizes), device=self.device).reshape(sizes).to(dtype)

    def _ranks(self, sizes, dtype):
        """1, 2, ... along the last dim: the rows that a factorization without exchanges names."""
        return self.torch.arange(1, sizes[-1] + 1, device=self.device).expand(sizes).to(dtype).clone()

    def _windows(self, sizes, dtype):
        """Where windows of two elements a dim begin: the dims after the first two are halves."""
        out = self.torch.zeros(sizes[2:], dtype=self.torch.int64, device=self.device)
        for dim, n in enumerate(sizes[2:]):
            shape = [-1 if i == dim else 1 for i in range(len(sizes) - 2)]
            out = 2 * n * out + 2 * self.torch.arange(n, device=self.device).reshape(shape)
        return out.expand(sizes).to(dtype).clone()

    def _permutation(self, sizes, dtype):
        out = self.torch.randperm(math.prod(sizes), generator=self.random, device=self.device)
        return out.reshape(sizes).to(dtype)

    def _distinct(self, sizes, dtype):
        out = self._permutation(sizes, self.torch.int64)
        whole = out - math.prod(sizes) // 2
        return (whole / math.prod(sizes) * 8 if dtype.is_floating_point else whole).to(dtype)

    def _wrapped(self, sizes, dtype):
        out = self._permutation(sizes, self.torch.int64)
        return self.torch.where(out % 2 == 0, out, out - out.numel()).to(dtype)

    def _ordered(self, sizes, dtype):
        return self._range(-4, 4 if dtype.is_floating_point else 100, sizes, dtype).sort(-1)[0]

    def _zeros(self, sizes, dtype):
        return self.torch.zeros(sizes, dtype=dtype, device=self.device)

    def _ones(self, sizes, dtype):
        return self.torch.ones(sizes, dtype=dtype, device=self.device)

    def _spd(self, sizes, dtype):
        a = self._normal(sizes, self.torch.float32 if dtype.itemsize < 4 else dtype)
        return (a @ a.mT / sizes[-1] + self.torch.eye(sizes[-1], device=self.device)).to(dtype)

    def _symmetric(self, sizes, dtype):
        a = self._normal(sizes, dtype)
        return (a + a.mT) / 2

    def _triangular(self, sizes, dtype):
        a = self._normal(sizes, dtype).tril(-1) / sizes[-1]
        return a + 2 * self.torch.eye(sizes[-1], device=self.device, dtype=dtype)


def block_of(options):
    text = options.get("block", "")
    return tuple(int(x) for x in text.strip("[]").split(",")) if text else ()


def split(schema_arguments, values):
    """Positional and named arguments: those before the first that the text leaves out have no name.
    What has no default and is left out is none."""
    positional, named, gap = [], {}, False
    for a in schema_arguments:
        is_result = a.alias_info is not None and a.kwarg_only
        left_out = a.name not in values and (a.has_default_value() or is_result)
        gap |= a.kwarg_only or left_out
        if left_out:
            continue
        if gap:
            named[a.name] = values.get(a.name)
        else:
            positional.append(values.get(a.name))
    return positional, named


class Exchange:
    """PyTorch's arguments as Primset takes them, on its device."""

    def __init__(self, torch, primset, device):
        self.torch, self.primset, self.device = torch, primset, device
        self.shares = device.startswith("cpu")

    def value(self, x, text=None):
        if isinstance(text, Sparse):
            return self.sparse(x, text)
        if isinstance(x, self.torch.Tensor):
            return self.tensor(x)
        if isinstance(x, list):
            texts = text if isinstance(text, tuple) else [None] * len(x)
            return [self.value(y, t) for y, t in zip(x, texts)]
        if isinstance(x, (self.torch.dtype, self.torch.layout, self.torch.memory_format)):
            return getattr(self.primset, str(x).partition(".")[2])
        return self.device if isinstance(x, self.torch.device) else x

    def tensor(self, x):
        if self.shares and x.device.type == "cpu":
            return self.primset.from_dlpack(x)
        if x.numel() == 0 or x.dim() == 0:
            return self.primset.from_dlpack(x.cpu()).to(self.device)
        span = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
        memory = x.as_strided((span,), (1,), x.storage_offset()).cpu()
        moved = self.primset.from_dlpack(memory).to(self.device)
        return self.primset.ops.as_strided(moved, list(x.shape), list(x.stride()))

    def sparse(self, x, text):
        dense = self.tensor(x.to_dense())
        if text.layout == "coo":
            return dense.to_sparse()
        block = block_of(dict(text.options))
        return getattr(dense, f"to_sparse_{text.layout}")(*([list(block)] if block else []))

    def back(self, x):
        """Results as PyTorch's, on the CPU, sparse ones dense."""
        if isinstance(x, (list, tuple)):
            return [t for y in x for t in self.back(y)]
        if not isinstance(x, self.primset.Tensor):
            return []
        if x.layout != self.primset.strided:
            x = x.to_dense()
        return [self.torch.from_dlpack(x.to("cpu"))]
