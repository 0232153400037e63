"""Calling operators: overloads, keywords, out=, in-place, methods, arithmetic, indexing."""

import primset
import pytest
import torch
from primset import ops


def same(ours, theirs):
    got = torch.from_dlpack(ours)
    assert got.dtype == theirs.dtype
    assert got.shape == theirs.shape
    torch.testing.assert_close(got, theirs, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.fixture
def a():
    return primset.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


@pytest.fixture
def ta():
    return torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


# --- overloads -----------------------------------------------------------------------------------


def test_the_arguments_pick_the_overload(a, ta):
    same(ops.add(a, 2), ta + 2)
    same(ops.add(a, a, alpha=3), torch.add(ta, ta, alpha=3))
    same(ops.sum(a), ta.sum())
    same(ops.sum(a, [0]), ta.sum(0))
    same(ops.sum(a, 1, keepdim=True), ta.sum(1, keepdim=True))
    same(ops.sum(a, dim=[0, 1], dtype=primset.float64), ta.sum((0, 1), dtype=torch.float64))
    values, indices = ops.max(a, 1)
    same(values, ta.max(1).values)
    same(indices, ta.max(1).indices)
    same(ops.max(a), ta.max())
    same(ops.max(a, a * 2), torch.max(ta, ta * 2))


def test_one_overload_can_be_named(a, ta):
    same(ops.add.Tensor(a, a), ta + ta)
    same(ops.sum.dim_IntList(a, [1]), ta.sum(1))
    same(primset.invoke("sub.Tensor", a, a, alpha=2), ta - 2 * ta)
    schema = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert ops.add.Tensor.schema == schema
    assert "Scalar" in ops.add.overloads()


def test_every_overload_that_is_listed_can_be_described():
    names = primset.operators()
    assert len(names) == len(set(names)) > 1000
    for name in names:
        described = primset.describe(name)
        assert described["implemented"]
        assert described["schema"].startswith(name)
        assert described["family"]


def test_arguments_by_name_and_defaults(a, ta):
    same(ops.softmax(a, dim=-1), torch.softmax(ta, -1))
    same(ops.clamp(a, max=2), ta.clamp(max=2))
    same(ops.clamp(a, min=0, max=2), ta.clamp(0, 2))
    same(ops.addmm(input_ := a[:, :2], a, a.T), torch.addmm(ta[:, :2], ta, ta.T))
    assert input_.shape == (2, 2)
    same(ops.div(a, 2, rounding_mode="floor"), torch.div(ta, 2, rounding_mode="floor"))


def test_lists_of_tensors_and_several_results(a, ta):
    same(ops.cat([a, a], 1), torch.cat([ta, ta], 1))
    for ours, theirs in zip(ops.split(a, 2, 1), ta.split(2, 1), strict=True):
        same(ours, theirs)
    for ours, theirs in zip(ops._foreach_add([a, a], 1), [ta + 1, ta + 1], strict=True):
        same(ours, theirs)


def test_none_leaves_an_optional_tensor_out(a, ta):
    same(ops.linear(a, a, None), torch.nn.functional.linear(ta, ta))


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64", "bool"])
def test_promotion(a, ta, dtype):
    ours = ops.add(a.to(getattr(primset, dtype)), primset.tensor([1, 2, 3]))
    same(ours, ta.to(getattr(torch, dtype)) + torch.tensor([1, 2, 3]))


# --- in place and out= ---------------------------------------------------------------------------


def test_in_place_returns_the_same_memory(a, ta):
    before = a.data_ptr()
    result = a.add_(1)
    assert result.is_alias_of(a) and result.data_ptr() == before
    same(a, ta + 1)
    a *= 2
    assert a.data_ptr() == before
    same(a, (ta + 1) * 2)
    ops.relu_(a[0])
    expected = (ta + 1) * 2
    expected[0].relu_()
    same(a, expected)


def test_out_is_written_and_returned(a, ta):
    out = primset.tensor([[0.0] * 3] * 2)
    pointer = out.data_ptr()
    result = ops.add(a, a, out=out)
    assert result.is_alias_of(out) and out.data_ptr() == pointer
    same(out, ta + ta)
    grown = ops.empty([0])
    ops.mul(a, 3, out=grown)
    same(grown, ta * 3)
    strided = ops.zeros([3, 2])
    ops.neg(a, out=strided.T)
    same(strided, -ta.T)


def test_a_wrong_out_is_refused(a):
    with pytest.raises(primset.RuntimeError, match="can't be cast|dtype"):
        ops.add(a, a, out=ops.empty([2, 3], dtype=primset.int32))


def test_memory_that_overlaps_is_refused():
    x = ops.zeros([1]).expand([4])
    with pytest.raises(primset.RuntimeError, match="single memory location"):
        ops.add_(x, 1)


# --- methods, arithmetic, indexing ---------------------------------------------------------------


def test_methods_and_arithmetic(a, ta):
    same(a.abs().sum(1), ta.abs().sum(1))
    same(-a + 2 * a - a / 2, -ta + 2 * ta - ta / 2)
    same(2 - a, 2 - ta)
    same(1 / a, 1 / ta)
    same(a @ a.T, ta @ ta.T)
    same(a**2, ta**2)
    same(a > 0, ta > 0)
    same((a > 0) & (a < 4), (ta > 0) & (ta < 4))
    same(a // 2, ta // 2)
    same(a % 2, ta % 2)


def test_indexing_reads_and_writes_like_torch(a, ta):
    same(a[1], ta[1])
    same(a[..., 1], ta[..., 1])
    same(a[:, 1:], ta[:, 1:])
    same(a[None, :, ::2], ta[None, :, ::2])
    same(a[primset.tensor([1, 0, 1])], ta[[1, 0, 1]])
    same(a[a > 0], ta[ta > 0])
    a[0, 1:] = 7
    ta[0, 1:] = 7
    a[a < 0] = 0
    ta[ta < 0] = 0
    same(a, ta)
    assert a[0].is_alias_of(a)


def test_numbers_come_out(a):
    assert a.sum().item() == 5
    assert float(a[0, 0]) == 1
    assert int(primset.tensor(3)) == 3
    assert bool(primset.tensor(True)) is True
    assert complex(primset.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][primset.tensor(1)] == 20
    assert len(a) == 2
    assert [row.tolist() for row in a] == [[1, -2, 3], [4, 5, -6]]
    assert hash(a) == hash(a)


def test_a_tensor_shows_values_dtype_shape_and_device(a):
    assert repr(a) == "[[1, -2, 3], [4, 5, -6]]  f32[2, 3] on cpu"
    assert repr(primset.tensor(True)) == "true  bool[] on cpu"
    assert repr(ops.empty([2], device="meta")) == "f32[2] on meta"
