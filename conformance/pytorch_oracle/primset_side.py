"""A Call's arguments for Primset, and Primset's tensors seen by PyTorch without a copy."""

import primset
import torch

from .calls import (
    SPARSE_LAYOUTS,
    GeneratorRef,
    SparseRef,
    StorageRef,
    TensorRef,
    made_sparse,
    part_names,
)


def to_dtype(d):
    name = str(d).removeprefix("torch.")
    if not hasattr(primset, name):
        raise primset.NotImplementedError(f"there is no dtype {name}")
    return getattr(primset, name)


_FORMATS = {
    torch.contiguous_format: primset.MemoryFormat.contiguous_format,
    torch.preserve_format: primset.MemoryFormat.preserve_format,
    torch.channels_last: primset.MemoryFormat.channels_last,
    torch.channels_last_3d: primset.MemoryFormat.channels_last_3d,
}


LAYOUTS = {layout: getattr(primset.Layout, str(layout).removeprefix("torch."))
           for layout in (torch.strided, *SPARSE_LAYOUTS)}


def sparse_parts(t):
    """Of a sparse Primset tensor, in SparseRef's order."""
    layout = next(k for k, v in LAYOUTS.items() if v == t.layout)
    return [primset.invoke(name, t) for name in part_names(layout)]


def _is_sparse(t):
    return t.layout != primset.Layout.strided


class PrimsetArguments:
    """The call's arguments, on memory of their own."""

    def __init__(self, call):
        self.storages = [primset.tensor(data).storage() for data in call.storages]
        from .compare import schema

        # PyTorch takes a vector where a list of integers is expected.
        lists = [str(a.type) == "List[int]" for a in schema(call.overload).arguments]
        self.args = [self._integers(a) if wants and isinstance(a, TensorRef) else self.value(a)
                     for wants, a in zip(lists, call.args)]
        self.kwargs = {k: self.value(v) for k, v in call.kwargs.items()}

    def tensor(self, r):
        return primset.Tensor.from_storage(self.storages[r.storage], to_dtype(r.dtype), r.size,
                                           r.stride, r.offset, r.conj, r.neg)

    def sparse(self, r):
        parts = [self.tensor(p) for p in r.parts]
        if r.layout == torch.sparse_coo:
            return primset.invoke("_sparse_coo_tensor_unsafe", *parts, list(r.size),
                                  is_coalesced=r.coalesced)
        return primset.invoke("_sparse_compressed_tensor_unsafe", *parts, list(r.size),
                              layout=LAYOUTS[r.layout])

    def _integers(self, r):
        return to_torch(self.tensor(r)).tolist()

    def value(self, x):
        if isinstance(x, TensorRef):
            return self.tensor(x)
        if isinstance(x, SparseRef):
            return self.sparse(x)
        if isinstance(x, (list, tuple)):
            return type(x)(self.value(v) for v in x)
        if isinstance(x, GeneratorRef):
            return primset.Generator(x.seed)
        if isinstance(x, StorageRef):
            return self.storages[x.storage]
        if isinstance(x, torch.dtype):
            return to_dtype(x)
        if isinstance(x, torch.memory_format):
            return _FORMATS[x]
        if isinstance(x, torch.layout):
            if x not in LAYOUTS:
                raise primset.NotImplementedError(f"layout {x}")
            return LAYOUTS[x]
        if isinstance(x, torch.device):  # the CPU, for which the device of the scope stands
            return str(primset.current_device())
        return x

    def bytes(self, i):
        return bytes(_storage_bytes(self.storages[i]).numpy())


def _storage_bytes(storage):
    n = storage.nbytes
    if n == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.from_dlpack(primset.Tensor.from_storage(storage, primset.uint8, [n], [1]).cpu())


def to_torch(t):
    """As a PyTorch tensor: the same memory, or a copy of another device's."""
    if _is_sparse(t):
        layout = next(k for k, v in LAYOUTS.items() if v == t.layout)
        coalesced = layout == torch.sparse_coo and primset.invoke("is_coalesced", t)
        return made_sparse(layout, t.shape, [to_torch(p) for p in sparse_parts(t)], coalesced)
    dtype = getattr(torch, t.dtype.name)
    out = torch.empty(0, dtype=dtype)
    if t.numel() == 0:
        return out.set_(torch.UntypedStorage(0), 0, t.shape, t.stride())
    out.set_(_storage_bytes(t.storage()).untyped_storage(), t.storage_offset(), t.shape, t.stride())
    if t.is_conj():
        out = torch._conj(out)
    if t.is_neg():
        out = torch._neg_view(out)
    return out
