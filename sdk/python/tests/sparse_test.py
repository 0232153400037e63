"""Tensors of sparse layouts: made of their parts, asked for them, and refused where memory of their
own is wanted."""

import primset
import pytest
import torch


def coo():
    indices, values = primset.tensor([[0, 1, 0], [1, 0, 1]]), primset.tensor([1.0, 2.0, 3.0])
    return primset.invoke("sparse_coo_tensor.indices_size", indices, values, [2, 2])


def test_layout_sizes_and_text():
    t = coo()
    assert t.layout == primset.Layout.sparse_coo
    assert (t.shape, t.dim(), t.numel(), t.dtype) == ((2, 2), 2, 4, primset.float32)
    assert repr(t).startswith("sparse_coo(indices=[[0, 1, 0],")
    assert repr(t).endswith("not coalesced")
    assert primset.tensor([1]).layout == primset.Layout.strided


def test_parts_and_conversions():
    t = coo().coalesce()
    assert t.is_coalesced()
    assert t.indices().tolist() == [[0, 1], [1, 0]]
    assert t.values().tolist() == [4, 2]
    assert t.to_dense().tolist() == [[0, 4], [2, 0]]
    csr = t.to_sparse_csr()
    assert csr.layout == primset.Layout.sparse_csr
    assert csr.crow_indices().tolist() == [0, 1, 2]
    assert csr.col_indices().tolist() == [1, 0]


def test_values_are_the_tensors_own_memory():
    t = coo().coalesce()
    t.values().mul_(2)
    assert t.to_dense().tolist() == [[0, 8], [4, 0]]


def test_out_shares_no_memory_with_an_argument():
    t = coo()
    out = primset.invoke("sparse_coo_tensor.size", [2, 2])
    primset.invoke("_coalesced.out", t, False, out=out)
    t._values().zero_()
    assert out.to_dense().tolist() == [[0, 4], [2, 0]]


@pytest.mark.parametrize("use", [
    lambda t: t.stride(), lambda t: t.storage(), lambda t: t.data_ptr(), lambda t: t.tolist(),
    lambda t: torch.from_dlpack(t), memoryview])
def test_what_wants_memory_is_refused(use):
    with pytest.raises(RuntimeError, match="a tensor of layout sparse_coo has no .*to_dense"):
        use(coo())


def test_sparse_tensors_of_pytorch_are_refused():
    with pytest.raises(BufferError, match="layout"):
        primset.from_dlpack(torch.eye(2).to_sparse())


def test_an_operator_without_sparse_layouts_names_the_argument():
    with pytest.raises(primset.NotImplementedError, match="cumsum.*sparse layouts, which 'self'"):
        primset.invoke("cumsum", coo(), 0)
