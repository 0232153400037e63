"""Calls on sparse tensors: OpInfo's sparse samples, its dense ones made sparse where an operator is
said to take a layout and there is no sample of it, and calls of PyTorch's sparse functions, which
have no OpInfo."""

import itertools
import unittest

import torch

from .calls import SPARSE_LAYOUTS

MAX_SAMPLES = 4  # of an operator, layout and dtype
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.int64,
          torch.int32, torch.uint8, torch.bool)


# --- OpInfos -----------------------------------------------------------------------------------


def takes(op, layout):
    return op.supports_sparse_layout(layout) if hasattr(op, "supports_sparse_layout") else False


def samples(op, layout, dtype, grad):
    """The operator's own of the layout; else its dense ones with the first tensor made sparse."""
    try:
        return list(itertools.islice(
            op.sample_inputs_sparse(layout, "cpu", dtype, requires_grad=grad), MAX_SAMPLES))
    except (NotImplementedError, unittest.SkipTest):
        made = (_made_sparse(s, layout) for s in op.sample_inputs("cpu", dtype, requires_grad=grad))
        return list(itertools.islice((s for s in made if s is not None), MAX_SAMPLES))


def _made_sparse(sample, layout):
    x = sample.input
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        return None
    if layout != torch.sparse_coo and (x.dim() != 2 or x.numel() == 0):
        return None
    made = to_layout(x.detach(), layout).requires_grad_(x.requires_grad)
    return type(sample)(made, args=sample.args, kwargs=sample.kwargs)


def to_layout(x, layout):
    blocks = {"blocksize": (1, 1)} if layout in (torch.sparse_bsr, torch.sparse_bsc) else {}
    return x.to_sparse(layout=layout, **blocks)


# --- functions without an OpInfo ---------------------------------------------------------------


class Maker:
    """Random tensors of a dtype. Small numbers, so that sums of integers do not wrap."""

    def __init__(self, dtype):
        self.dtype = dtype

    def dense(self, *size):
        if self.dtype.is_floating_point or self.dtype.is_complex:
            return torch.randn(size, dtype=torch.complex64 if self.dtype.is_complex else
                               torch.float32).to(self.dtype)
        return torch.randint(0, 4, size).to(self.dtype)

    def holed(self, *size, share=0.5):
        return self.dense(*size) * (torch.rand(size) < share)

    def coo(self, *size, dense=0):
        x = self.holed(*size)
        return x.to_sparse(len(size) - dense)

    def repeated(self, *size, dense=0):
        """Entries in no order, some places twice."""
        sparse = size[:len(size) - dense]
        n = 9
        indices = torch.stack([torch.randint(0, s, (n,)) for s in sparse])
        return torch.sparse_coo_tensor(indices, self.dense(n, *size[len(size) - dense:]), size)

    def empty(self, *size):
        return torch.sparse_coo_tensor(size=size, dtype=self.dtype)

    def of(self, layout, *size):
        block = {"blocksize": (2, 2)} if layout in (torch.sparse_bsr, torch.sparse_bsc) else {}
        return self.holed(*size).to_sparse(layout=layout, **block)


def _coo_kinds(m):
    return [m.coo(4, 6), m.repeated(4, 6), m.empty(4, 6)]


def _hybrid(m):
    return [m.coo(4, 6, 2, dense=1), m.repeated(4, 6, 2, dense=1)]


def _layouts(m):
    return [m.of(layout, 4, 6) for layout in SPARSE_LAYOUTS]


def _csr(m):
    return [m.of(torch.sparse_csr, 4, 6)]


def _with_gradient(m):
    has = m.dtype in (torch.float32, torch.float64, torch.complex64)
    return [m.coo(4, 6).coalesce().requires_grad_()] if has else []


def _weight(m):
    return [m.dense(5, 3).requires_grad_()] if m.dtype.is_floating_point else []


def _strided(m):
    return [m.holed(4, 6)]


# What x is, and what is called with it. m makes other tensors of its dtype.
FUNCTIONS = {
    "parts": (lambda m: _coo_kinds(m) + _hybrid(m) + _layouts(m), """
        x._indices()
        x._values()
        x._nnz()
        x.sparse_dim()
        x.dense_dim()
        x.is_coalesced()
        x.coalesce()
        x.indices()
        x.values()
        x.crow_indices()
        x.col_indices()
        x.ccol_indices()
        x.row_indices()
        x.to_dense()
        x.clone()
        x.detach()
        x.to(torch.float64)"""),
    "conversions": (lambda m: _coo_kinds(m) + _layouts(m) + _strided(m), """
        x.to_sparse()
        x.to_sparse(1)
        x.to_sparse_csr()
        x.to_sparse_csc()
        x.to_sparse_bsr((2, 2))
        x.to_sparse_bsc((2, 3))"""),
    "reductions": (lambda m: _coo_kinds(m) + _hybrid(m), """
        torch.sum(x)
        torch.sparse.sum(x)
        torch.sparse.sum(x, dim=0)
        torch.sparse.sum(x, dim=1)
        torch.sparse.sum(x, dim=(0, 1))
        torch.sparse.sum(x, dim=-1)
        torch.sparse.sum(x, dim=1, dtype=torch.float64)
        torch.sparse.sum(x, dtype=torch.float64)
        x.coalesce().norm()
        torch.ops.aten.native_norm(x)
        torch.ops.aten.native_norm(x, 3)
        torch.ops.aten.native_norm(x, float("inf"))
        torch.ops.aten.native_norm.ScalarOpt_dim_dtype(x, None, [], False, None)
        torch.ops.aten.native_norm.ScalarOpt_dim_dtype(x, 1, list(range(x.dim())), False, x.dtype)
        torch.any(x)"""),
    "in_place": (_coo_kinds, """
        x.clone().mul_(2)
        x.clone().div_(2)
        x.clone().add_(m.coo(4, 6))
        x.clone().sub_(m.coo(4, 6))
        x.clone().mul_(m.coo(4, 6))
        x.clone().zero_()
        x.clone().copy_(m.coo(4, 6))
        m.dense(4, 6).add_(x)
        torch.zeros_like(x)
        torch.empty_like(x)
        x.clone().resize_as_sparse_(m.coo(3, 5))
        x.clone().sparse_resize_((8, 9), 2, 0)
        x.clone().sparse_resize_and_clear_((3, 2), 1, 1)
        x.coalesce().sqrt()
        x.coalesce().pow(2)"""),
    "shapes": (lambda m: _coo_kinds(m) + _hybrid(m), """
        x.t()
        x.transpose(0, 1)
        x.permute(*reversed(range(x.dim())))
        x.unsqueeze(0)
        x.unsqueeze(0).squeeze(0)
        x.index_select(0, torch.tensor([2, 0, 2]))
        x.index_select(1, torch.tensor([5, 0]))
        x.narrow_copy(1, 1, 3)
        x.select(0, 1)
        x.reshape(x.shape)
        torch.cat([x, x], 0)
        torch.cat([x, x], 1)
        torch.stack([x, x])
        torch.flip(x, (0,))
        torch.ops.aten._sparse_broadcast_to(x, [2, *x.shape])"""),
    "binary": (_coo_kinds, """
        x + m.coo(4, 6)
        x - m.coo(4, 6)
        x * m.coo(4, 6)
        x * 3
        x / 2
        x * m.dense(4, 6)
        m.dense(4, 6) + x
        torch.add(x, m.coo(4, 6), alpha=2)
        x.floor_divide(2)
        x.sparse_mask(m.coo(4, 6).coalesce())
        m.dense(4, 6).sparse_mask(x.coalesce())
        torch.is_same_size(x, m.coo(4, 6))"""),
    "compositions": (_coo_kinds, """
        torch.dist(x, m.coo(4, 6))
        torch.dist(x, m.coo(4, 6), 1)
        torch.float_power(x, 2)
        torch.float_power(x, 0.5)
        torch.trapz(x, dim=1)
        torch.trapezoid(x, dx=2.5, dim=0)
        torch.repeat_interleave(x, torch.tensor([1, 2, 0, 3]), 0)
        torch.flatten(x, 1, 1)
        x.sum_to_size(4, 6)
        m.dense(2, 3).resize_as_(x)
        torch.gru_cell(x, m.dense(4, 5), m.dense(15, 6), m.dense(15, 5), m.dense(15), m.dense(15))
        torch.lstm_cell(x, (m.dense(4, 5), m.dense(4, 5)), m.dense(20, 6), m.dense(20, 5))
        torch.rnn_relu_cell(x, m.dense(4, 5), m.dense(5, 6), m.dense(5, 5))
        torch.rnn_tanh_cell(x, m.dense(4, 5), m.dense(5, 6), m.dense(5, 5), m.dense(5), m.dense(5))
        torch.gru(x, torch.tensor([2, 2]), m.dense(1, 2, 5), (m.dense(15, 6), m.dense(15, 5)), \
            False, 1, 0.0, False, False)
        torch.lstm(x, torch.tensor([2, 2]), (m.dense(1, 2, 5), m.dense(1, 2, 5)), \
            (m.dense(20, 6), m.dense(20, 5)), False, 1, 0.0, False, False)"""),
    "products": (_coo_kinds, """
        torch.mm(x, m.dense(6, 3))
        torch.mm(x, m.coo(6, 5))
        torch.sparse.mm(x, m.dense(6, 3))
        torch.addmm(m.dense(4, 3), x, m.dense(6, 3), beta=2, alpha=3)
        torch.sparse.addmm(m.dense(4, 3), x, m.dense(6, 3), beta=2, alpha=3)
        torch.matmul(x, m.dense(6))
        torch.mv(x, m.dense(6))
        torch.hspmm(x, m.dense(6, 3))
        torch.smm(x, m.dense(6, 3))
        torch.sspaddmm(m.coo(4, 3), x, m.dense(6, 3), beta=2, alpha=3)
        torch.bmm(torch.stack([x, x]), m.dense(2, 6, 3))"""),
    "products_of_layouts": (_layouts, """
        torch.mm(x, m.dense(6, 3))
        torch.addmm(m.dense(4, 3), x, m.dense(6, 3), beta=2, alpha=3)
        torch.mv(x, m.dense(6))
        torch.mm(m.dense(3, 4), x)
        torch.mm(x, m.of(x.layout, 6, 4))"""),
    "csr": (_csr, """
        torch.sparse.sampled_addmm(x, m.dense(4, 3), m.dense(3, 6), beta=0.5, alpha=2)
        torch.sparse.mm(x, m.dense(6, 3), "sum")
        torch.sparse.mm(x, m.dense(6, 3), "mean")
        torch.sparse.mm(x, m.dense(6, 3), "amax")
        torch.sparse.mm(x, m.dense(6, 3), "amin")
        torch.ops.aten._sparse_csr_sum.dim_dtype(x, [0], True)
        torch.ops.aten._sparse_csr_sum.dim_dtype(x, [1], True)
        torch.ops.aten._sparse_csr_prod.dim_dtype(x, [1], True)
        x + x
        x * 2
        x.transpose(0, 1)
        x.select(0, 1)"""),
    "softmax": (_coo_kinds, """
        torch.sparse.softmax(x, 0)
        torch.sparse.softmax(x, 1)
        torch.sparse.log_softmax(x, 0)
        torch.sparse.log_softmax(x, 1)"""),
    "gradients": (_with_gradient, """
        backward(torch.sparse.mm(x, m.dense(6, 3).requires_grad_()))
        backward(torch.sparse.softmax(x, 1))
        backward(torch.sparse.log_softmax(x, 1))
        backward(torch.sparse.sum(x, dim=1))
        backward(torch.sparse.sum(x, dim=(0, 1)))
        backward(x.to_dense())
        backward(x * 2)
        backward(x.values())
        backward(m.dense(4, 6).requires_grad_().sparse_mask(x.detach()))"""),
    "embeddings": (_weight, """
        backward(torch.nn.functional.embedding(torch.tensor([[0, 2, 2], [4, 0, 1]]), x, sparse=True))
        backward(torch.nn.functional.embedding(torch.tensor([2, 2, 4]), x, 2, sparse=True))
        backward(torch.nn.functional.embedding_bag(torch.tensor([[0, 2, 2], [4, 0, 1]]), x, \
            mode="sum", sparse=True))
        backward(torch.gather(x, 0, torch.tensor([[0, 1, 2]]), sparse_grad=True))"""),
    "made": (_strided, """
        torch.sparse.spdiags(x[:3, :5], torch.tensor([-1, 0, 2]), (5, 6))
        torch.zeros(3, 4, dtype=x.dtype, layout=torch.sparse_coo)
        torch.empty(3, 4, dtype=x.dtype, layout=torch.sparse_csr)
        torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [1, 0, 1]]), x[0, :3])
        torch.sparse_csr_tensor(torch.tensor([0, 2, 3]), torch.tensor([0, 2, 1]), x[0, :3])"""),
}


def backward(y):
    y.backward(torch.ones_like(y) if y.layout == torch.strided else y.detach())


def steps(name, dtype):
    """Functions that each make one of the calls."""
    made, calls = FUNCTIONS[name]
    m = Maker(dtype)
    lines = calls.replace("\\\n", " ").split("\n")
    for x in made(m):
        for line in filter(None, map(str.strip, lines)):
            yield lambda: eval(line, {"torch": torch, "backward": backward, "m": m, "x": x})
