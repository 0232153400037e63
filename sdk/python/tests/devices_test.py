"""Devices, the meta device, generators."""

import threading

import primset
import pytest
import torch
from primset import ops

DEVICES = [d.name for d in primset.devices() if not d.error]


def test_the_cpu_is_there_and_says_what_it_has():
    assert "cpu:0" in DEVICES
    cpu = next(d for d in primset.devices() if d.name == "cpu:0")
    assert cpu.title and cpu.kernel_format and cpu.memory_bytes > 0
    assert primset.float32 in cpu.dtypes or "float32" in map(str, cpu.dtypes) or cpu.dtypes
    assert primset.current_device() == "cpu"
    assert primset.Device("cpu") == primset.Device("cpu:0")
    assert hash(primset.Device("cpu")) == hash(primset.Device("cpu:0"))


@pytest.mark.parametrize("name", DEVICES)
def test_copies_and_calls_on_every_device(name):
    x = primset.tensor([[1.0, 2.0], [3.0, 4.0]], device=name)
    assert x.device == name
    y = ops.softmax(x @ x, -1) + x
    assert y.device == name
    expected = torch.softmax(torch.tensor([[7.0, 10.0], [15.0, 22.0]]), -1) + torch.tensor(
        [[1.0, 2.0], [3.0, 4.0]])
    torch.testing.assert_close(torch.from_dlpack(y.cpu()), expected, rtol=1e-5, atol=1e-6)
    primset.synchronize()


@pytest.mark.parametrize("name", DEVICES)
def test_the_scope_names_where_new_tensors_go(name):
    with primset.device(name):
        assert ops.zeros([2]).device == name
        assert primset.tensor([1]).device == name
    assert ops.zeros([2]).device == "cpu"


@pytest.mark.parametrize("name", [d for d in DEVICES if d != "cpu:0"])
def test_devices_do_not_mix(name):
    with pytest.raises(primset.RuntimeError, match="same device.*" + name.split(":")[0]):
        ops.add(ops.ones([2], device=name), ops.ones([2]))
    with pytest.raises(primset.RuntimeError, match="not the CPU's"):
        torch.from_dlpack(ops.ones([2], device=name))


# --- errors that a device finds while it computes -------------------------------------------------


def outcomes(reads):
    """What each read says, on a thread of its own: whose stream is none of the main thread's."""
    said = []

    def run():
        for read in reads:
            try:
                read()
                said.append("")
            except primset.IndexError as e:
                said.append(str(e))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return said


def failing(device):
    """A tensor whose values could not be computed, or the error itself where calls wait."""
    return ops.index_select(ops.ones([4], device=device), 0,
                            primset.tensor([9], dtype=primset.int64, device=device))


@pytest.mark.parametrize("name", [d for d in DEVICES if d != "cpu:0"])
@pytest.mark.parametrize("view", [lambda t: t, lambda t: t[:0]], ids=["whole", "empty"])
def test_whoever_reads_what_failed_sees_the_error(name, view):
    with pytest.raises(primset.IndexError, match="index_select.*index 9"):
        view(failing(name)).cpu()
    with pytest.raises(primset.IndexError, match="index_select.*index 9"):
        view(failing(name)).tolist()
    # Computed here, used and read on another stream; told once, and no later call is blamed.
    sum_of_failed = failing(name) + 1
    said = outcomes([lambda: view(sum_of_failed * 2).cpu(), lambda: ops.ones([1], device=name).cpu()])
    assert "index_select" in said[0] and said[1] == ""
    assert ops.ones([2], device=name).tolist() == [1, 1]


# --- meta ----------------------------------------------------------------------------------------


def test_meta_gives_dtype_shape_and_strides_without_data():
    x = ops.empty([4, 3], device="meta", dtype=primset.int32)
    tx = torch.empty([4, 3], device="meta", dtype=torch.int32)
    for ours, theirs in [
        (x / 2, tx / 2), (x.T.contiguous(), tx.T.contiguous()), (x[:, 1:], tx[:, 1:]),
        (x.sum(0), tx.sum(0)), (ops.argmax(x, 1), tx.argmax(1)), (x.T + 1, tx.T + 1),
        (ops.mm(x.to(primset.float32), x.to(primset.float32).T), tx.float() @ tx.float().T)]:
        assert ours.device == "meta"
        assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
        assert ours.shape == tuple(theirs.shape)
        assert ours.stride() == theirs.stride()


def test_meta_checks_what_values_are_not_needed_for():
    x = ops.empty([4, 3], device="meta")
    with pytest.raises(primset.RuntimeError, match="shapes cannot be multiplied"):
        ops.mm(x, x)


# --- generators ----------------------------------------------------------------------------------


def test_one_seed_gives_one_sequence_on_every_device():
    expected = None
    for name in DEVICES:
        g = primset.Generator(3)
        assert (g.initial_seed(), g.offset) == (3, 0)
        first = ops.rand([100], generator=g, device=name).cpu().tolist()
        second = ops.rand([100], generator=g, device=name).cpu().tolist()
        assert first != second and g.offset > 0
        g.manual_seed(3)
        assert ops.rand([100], generator=g, device=name).cpu().tolist() == first
        expected = expected or (first, second)
        assert (first, second) == expected


def test_an_offset_can_be_returned_to():
    g = primset.Generator(1)
    ops.randn([10], generator=g)
    offset = g.offset
    a = ops.randn([10], generator=g).tolist()
    g.offset = offset
    assert ops.randn([10], generator=g).tolist() == a


def test_the_default_generator_follows_manual_seed():
    primset.manual_seed(11)
    a = ops.randperm(20).tolist()
    primset.manual_seed(11)
    assert ops.randperm(20).tolist() == a
    assert sorted(a) == list(range(20))
    assert primset.default_generator().initial_seed() == 11
