"""Memory shared with NumPy, PyTorch and whoever speaks DLPack or the buffer protocol."""

import array
import gc
import threading
import weakref

import numpy as np
import primset
import pytest
import torch

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
                "float16", "float32", "float64", "complex64", "complex128"]
TORCH_DTYPES = [*NUMPY_DTYPES, "bfloat16"]


def values(dtype):
    return torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_round_trip_with_torch_keeps_memory_dtype_and_values(dtype):
    theirs = values(dtype)
    ours = primset.from_dlpack(theirs)
    assert ours.data_ptr() == theirs.data_ptr()
    assert ours.dtype.name == dtype
    assert ours.tolist() == theirs.tolist()
    back = torch.from_dlpack(ours)
    assert back.data_ptr() == theirs.data_ptr()
    assert back.dtype == theirs.dtype
    assert torch.equal(back, theirs)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_round_trip_with_numpy_keeps_memory_dtype_and_values(dtype):
    theirs = values(dtype).numpy()
    ours = primset.from_dlpack(theirs)
    assert ours.data_ptr() == theirs.ctypes.data
    assert ours.dtype.name == dtype
    back = np.from_dlpack(ours)
    assert back.ctypes.data == theirs.ctypes.data
    assert back.dtype == theirs.dtype
    assert np.array_equal(back, theirs)


@pytest.mark.parametrize("view", [
    lambda t: t.T, lambda t: t[:, ::2], lambda t: t[1:], lambda t: t[:, 1:2], lambda t: t[0, 0],
    lambda t: t.expand(4, 2, 3), lambda t: t[:0]])
def test_strides_and_offsets_stay(view):
    theirs = view(values("float32"))
    ours = primset.from_dlpack(theirs)
    assert ours.shape == tuple(theirs.shape)
    if theirs.numel():
        assert ours.stride() == theirs.stride()
        assert ours.data_ptr() == theirs.data_ptr()
    assert ours.tolist() == theirs.tolist()
    assert torch.from_dlpack(ours).tolist() == theirs.tolist()


def test_writing_on_either_side_is_seen_on_the_other():
    theirs = torch.zeros(3)
    ours = primset.from_dlpack(theirs)
    theirs[0] = 1
    ours[1] = 2
    primset.ops.add_(ours, 10)
    assert theirs.tolist() == ours.tolist() == [11, 12, 10]


def test_a_view_of_ours_is_a_view_of_theirs():
    ours = primset.tensor([[1.0, 2.0], [3.0, 4.0]])
    theirs = torch.from_dlpack(ours[:, 1])
    assert theirs.stride() == (2,)
    theirs.fill_(0)
    assert ours.tolist() == [[1, 0], [3, 0]]


def test_copy_takes_memory_of_its_own():
    theirs = torch.ones(2)
    ours = primset.from_dlpack(theirs, copy=True)
    assert ours.data_ptr() != theirs.data_ptr()
    theirs.zero_()
    assert ours.tolist() == [1, 1]


# --- lifetimes -----------------------------------------------------------------------------------


def test_the_producers_memory_lives_as_long_as_a_consumer():
    theirs = np.arange(1000.0)
    watch = weakref.ref(theirs)
    ours = primset.from_dlpack(theirs)
    view = ours[10:20]
    del theirs, ours
    gc.collect()
    assert watch() is not None
    assert view.tolist() == list(range(10, 20))
    del view
    gc.collect()
    assert watch() is None


def test_our_memory_lives_as_long_as_a_consumer():
    ours = primset.ops.arange(1000, dtype=primset.float32)
    theirs = torch.from_dlpack(ours)
    array_view = ours.numpy()
    del ours
    gc.collect()
    primset.ops.full([1000], 7.0)  # would take freed memory over
    assert theirs[999].item() == 999
    assert array_view[998] == 998


def test_a_capsule_that_nobody_takes_lets_go():
    theirs = np.arange(10.0)
    watch = weakref.ref(theirs)
    ours = primset.from_dlpack(theirs)
    capsules = [ours.__dlpack__(), ours.__dlpack__(max_version=(1, 0))]
    del theirs, ours
    gc.collect()
    assert watch() is not None
    capsules.clear()
    gc.collect()
    assert watch() is None


def test_a_capsule_is_taken_once():
    capsule = primset.tensor([1.0]).__dlpack__()
    assert primset.from_dlpack(capsule).tolist() == [1]
    with pytest.raises(primset.TypeError, match="nobody took yet"):
        primset.from_dlpack(capsule)


def test_a_consumer_may_let_go_in_another_thread():
    theirs = np.arange(10.0)
    watch = weakref.ref(theirs)
    held = [primset.from_dlpack(theirs)]
    del theirs
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert watch() is None


# --- buffers -------------------------------------------------------------------------------------


def test_buffers_are_shared_both_ways():
    memory = array.array("f", [1, 2, 3])
    ours = primset.from_buffer(memory)
    assert ours.dtype is primset.float32
    primset.ops.mul_(ours, 2)
    assert list(memory) == [2, 4, 6]
    assert memoryview(ours).tolist() == [2, 4, 6]
    assert np.asarray(ours).ctypes.data == ours.data_ptr()


def test_a_tensor_from_data_copies():
    data = np.arange(4.0)
    ours = primset.tensor(data)
    data[0] = 9
    assert ours.tolist() == [0, 1, 2, 3]


# --- what is refused -----------------------------------------------------------------------------


def test_read_only_memory_is_refused_unless_copied():
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    with pytest.raises(primset.ValueError, match="read-only.*copy=True"):
        primset.from_dlpack(theirs)
    assert primset.from_dlpack(theirs, copy=True).tolist() == [0, 1, 2]
    with pytest.raises(Exception, match="(?i)read-only|writable"):
        primset.from_buffer(b"abcd")


def test_bits_that_dlpack_lacks_are_refused():
    conjugate = primset.ops.conj(primset.tensor([1 + 2j]))
    assert conjugate.is_conj()
    with pytest.raises(primset.RuntimeError, match="resolve_conj"):
        torch.from_dlpack(conjugate)
    assert torch.from_dlpack(primset.ops.resolve_conj(conjugate)).tolist() == [1 - 2j]


def test_what_is_no_tensor_is_refused():
    with pytest.raises(primset.TypeError, match="__dlpack__.*type int"):
        primset.from_dlpack(3)
