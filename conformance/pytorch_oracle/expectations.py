"""What of an operator's results is compared, declared in advance.

values        every element, within PyTorch's tolerance (the default)
none          shape, dtype and strides alone: the contents are undefined
distribution  random: dtype, shape and strides alone
properties    results that are right in more than one way: properties.py states what must hold
"""

import torch

from .calls import TorchArguments

# The contents are undefined.
UNDEFINED = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "resize_", "resize_as_", "resize", "resize_as", "_resize_output_",
    "_resize_output", "_efficientzerotensor_", "_sparse_compressed_tensor_with_dims",
}

# Their results jump, so that a value from unrounded operands is another one, not a better one.
JUMPS = {
    "ceil", "div", "divide", "fix", "floor", "floor_divide", "fmod", "frac", "frexp", "heaviside",
    "nextafter", "remainder", "round", "sgn", "sign", "special_round", "trunc",
    "fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine",
}


# They give self another size, which their schemas do not say.
CHANGES_GEOMETRY = {"resize_as_sparse_", "sparse_resize_", "sparse_resize_and_clear_"}

# What PyTorch says where it has no kernel for a dtype or device: nothing is claimed about the
# operator's semantics then.
_NO_KERNEL = ("not implemented for", "Low precision dtypes not supported",
              "not supported for", "NYI", "unsupported dtype",
              "does not support", "is not supported", "may not be a boolean tensor",
              "not yet supported", "INTERNAL ASSERT FAILED",
              "could not create a primitive", "Sparse to Sparse conversion not supported",
              "only sparse compressed tensors with the same number of specified elements",
              # of a sparse layout
              "unsupported tensor layout", "is unsupported for Sparse tensors",
              "(non-block) tensor layout but got", "sparse compressed layout must be SparseCsr",
              "expected sparse row compressed tensor layout but got",
              "result Tensor to be of format CSR",
              "addition does not currently support broadcasting",
              "Expected self to be a floating-point or complex tensor, but got")

# A padding is to be smaller than what it reflects (torch.nn.ReflectionPad2d). Where it is not these
# read and write outside of PyTorch's memory; that of one dim refuses it.
REFLECTS_UNCHECKED = {"reflection_pad2d_backward", "reflection_pad3d_backward"}

# Indices of rows and pointers to them that a caller has checked; PyTorch writes where they say.
ROWS_UNCHECKED = {"_convert_indices_from_coo_to_csr"}
POINTERS_UNCHECKED = {"_convert_indices_from_csr_to_coo"}

READS_INDICES_AS_DENSE = {"_sparse_sparse_matmul"}

# Strides that a caller has checked; PyTorch goes by them out of a tensor's memory.
ALIASES_UNCHECKED = {"_reshape_alias"}

# What PyTorch says where an operator does not take the one dtype of its tensors at all.
_NO_DTYPE = ("not implemented for",
             # in place, of a result of another kind
             "can't be cast to the desired output type", "but the operation's result requires dtype")


def is_for_want_of_kernel(call, error):
    """Whether it is for want of a kernel that PyTorch raised."""
    if isinstance(error, NotImplementedError) or any(t in str(error) for t in _NO_KERNEL):
        return True
    # Of tensors of one dtype that is not about their dtypes not being alike.
    return "expected scalar type" in str(error) and len({t.dtype for t in call.tensors()}) == 1


def lacks_kernel_of_dtype(call, error):
    """Whether PyTorch raised since the operator does not take the one dtype of all tensors."""
    return (len({t.dtype for t in call.tensors()}) == 1
            and any(t in str(error) for t in _NO_DTYPE))


def is_misread(call):
    """Whether PyTorch would go through the call's indices as if they had no gaps, and out of their
    memory: nothing can be learned from its answer."""
    if call.overload.split(".")[0] not in READS_INDICES_AS_DENSE:
        return False
    indices = [t.parts[0] for t in call.tensors() if getattr(t, "parts", ())]
    return any(len(i.size) == 2 and min(i.size) > 1 and i.stride != (i.size[1], 1) for i in indices)


def is_ruled_out(call):
    """Whether PyTorch's documentation rules the call out and PyTorch, which does not look, must not be
    asked: Primset is to refuse it."""
    base = call.overload.split(".")[0]
    if base in ALIASES_UNCHECKED:
        return _leaves_memory(call, *_first(call, "self", "size", "stride"))
    if base == "_pdist_backward":  # of pdist, whose input is a matrix
        return len(_first(call, "grad", "self")[1].size) != 2
    if base == "_cholesky_solve_helper":  # of cholesky_solve, whose factors are square
        factor = _first(call, "self", "A")[1]
        return len(factor.size) < 2 or factor.size[-1] != factor.size[-2]
    if base in ROWS_UNCHECKED:
        return _rows_out_of_range(call, *_first(call, "self", "size"))
    if base in POINTERS_UNCHECKED:
        return _pointers_astray(call, *_first(call, "crow_indices", "col_indices"))
    if base not in REFLECTS_UNCHECKED:
        return False
    _, reflected, padding = _first(call, "grad_output", "self", "padding")
    pairs = zip(padding[::2], padding[1::2])
    return any(max(pair) >= n for n, pair in zip(reversed(reflected.size), pairs))


def _first(call, *names):
    named = {**dict(zip(names, call.args)), **call.kwargs}
    return [named[n] for n in names]


def _rows_out_of_range(call, rows, size):
    return any(not 0 <= row < size for row in _numbers(call, rows))


def _pointers_astray(call, pointers, columns):
    """Whether those of a matrix do not begin with 0 and end with its entries, or leave these."""
    count, entries = pointers.size[-1] if pointers.size else 0, columns.size[-1:]
    found = _numbers(call, pointers)
    lists = [found[i:i + count] for i in range(0, len(found), count or 1)]
    return any((x[0], x[-1]) != (0, *entries) or not 0 <= min(x) <= max(x) <= entries[0]
               for x in lists if entries)


def _numbers(call, ref):
    t = TorchArguments(call.with_(args=(ref,), kwargs={})).args[0]
    return t.flatten().tolist() if t.dtype in (torch.int64, torch.int32) else []


def _leaves_memory(call, tensor, size, stride):
    last = tensor.offset + sum((n - 1) * s for n, s in zip(size, stride))
    within = (last + 1) * tensor.dtype.itemsize <= len(call.storages[tensor.storage])
    return 0 not in size and not within


def is_left_out(call, i, results):
    """Whether result i has no contents that mean anything: what an output mask leaves out, the factor
    of a matrix that has none (Primset's results say which)."""
    from .primset_side import to_torch
    from .second_opinion import named_arguments

    base = call.overload.split(".")[0]
    if base == "linalg_cholesky_ex":
        return i == 0 and bool(to_torch(results[1]).any())
    mask = named_arguments(call).get("output_mask")
    return mask is not None and i < len(mask) and not mask[i]


def comparator(call):
    op = call.overload.split(".")[0]
    if op in UNDEFINED:
        return "none"
    if is_random(call):
        return "distribution"
    return "values"


def is_continuous(call):
    """Whether the call's value in double stands for its value in narrower dtypes."""
    base = call.overload.split(".")[0].rstrip("_").removeprefix("_foreach_")
    return base not in JUMPS or (base in ("div", "divide") and "mode" not in call.overload)


def is_random(call):
    """Whether this very call draws numbers: dropout with p=0 or outside of training does not."""
    from .compare import torch_overload

    return torch.Tag.nondeterministic_seeded in torch_overload(call.overload).tags
