"""What of an operator's results is compared, declared in advance.

values        every element, within PyTorch's tolerance (the default)
none          shape, dtype and strides alone: the contents are undefined
distribution  random: dtype, shape and strides alone
properties    results that are right in more than one way: properties.py states what must hold
"""

import math

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

# Products, quotients and powers of complex numbers. Where a step overflows its result may, though
# representable (PyTorch's notes on numerical accuracy, "Extremal values"); which part is infinite
# then and which NaN is by the order of the steps, in PyTorch by the length of the vector too.
OVERFLOWS = {
    "mul", "multiply", "div", "divide", "true_divide", "square", "pow", "float_power", "ldexp",
    "addcmul", "addcdiv", "add", "sub", "subtract", "rsub", "lerp", "prod", "cumprod", "gradient",
    "var", "std", "var_mean", "std_mean", "soft_margin_loss", "sinc", "special_sinc",
    "sigmoid_backward", "tanh_backward", "silu_backward",
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
              "unsupported tensor layout", "Sparse CSR tensors do not have strides",
              "is unsupported for Sparse tensors",
              "(non-block) tensor layout but got", "sparse compressed layout must be SparseCsr",
              "expected sparse row compressed tensor layout but got",
              "result Tensor to be of format CSR",
              "addition does not currently support broadcasting",
              "Expected self to be a floating-point or complex tensor, but got")

# What PyTorch says where an operator does not take the one dtype of its tensors at all.
_NO_DTYPE = ("not implemented for",
             # in place, of a result of another kind
             "can't be cast to the desired output type", "but the operation's result requires dtype",
             "In-place abs is not supported for complex tensors")


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
    """Whether PyTorch would go through the call's indices, sizes or results as if they had no gaps, and
    out of their memory: nothing can be learned from its answer."""
    of = _MISREAD.get(call.overload.split(".")[0])
    return of is not None and of(call, _given(call))


def is_ruled_out(call):
    """Whether PyTorch's documentation rules the call out and PyTorch, which does not look, must not be
    asked: Primset is to refuse it."""
    of = _RULED_OUT.get(call.overload.split(".")[0])
    return of is not None and of(call, _given(call))


def _given(call):
    """Its arguments by name."""
    from .compare import schema

    names = (a.name for a in schema(call.overload).arguments)
    return {**dict(zip(names, call.args)), **call.kwargs}


def _are_maxima_astray(call, grad_output, self, indices, **_):
    """Whether indices are not dense, not those of the gradient, or beyond the planes of the input."""
    rank = 3 if "3d" in call.overload else 2
    fits = (len(self.size) > rank and grad_output.size == indices.size
            and grad_output.size[:-rank] == self.size[:-rank])
    dense = indices.stride == torch.empty(indices.size, device="meta").stride()
    return not (fits and dense) or _rows_out_of_range(call, indices, math.prod(self.size[-rank:]))


def _are_rows_astray(call, rows):
    """Whether they have gaps, or do not ascend: pointers are where the row of one entry is not that of
    the entry before."""
    gaps = any(n > 1 and s != 1 for n, s in zip(rows.size[-1:], rows.stride[-1:]))
    found = _numbers(call, rows)
    return gaps or found != sorted(found)


def _have_gaps(places):
    return any(len(i.size) == 2 and min(i.size) > 1 and i.stride != (i.size[1], 1) for i in places)


def _narrows_astray(call, given):
    """By batch sizes; the overloads of a packed sequence have them."""
    batches = given.get("batch_sizes")
    return batches is not None and any(n > 1 and s != 1 for n, s in zip(batches.size, batches.stride))


def _rows_out_of_range(call, rows, size):
    return any(not 0 <= row < size for row in _numbers(call, rows))


def _pointers_astray(call, pointers, columns):
    """Whether those of a matrix do not begin with 0 and end with its entries, or leave these."""
    count, entries = pointers.size[-1] if pointers.size else 0, columns.size[-1:]
    found = _numbers(call, pointers) if count else []
    lists = [found[i:i + count] for i in range(0, len(found), count or 1)]
    return any((x[0], x[-1]) != (0, *entries) or not 0 <= min(x) <= max(x) <= entries[0]
               for x in lists if entries)


def _numbers(call, ref):
    t = TorchArguments(call.with_(args=(ref,), kwargs={})).args[0]
    is_index = not (t.is_floating_point() or t.is_complex() or t.dtype == torch.bool)
    return t.flatten().tolist() if is_index else []


def _leaves_memory(call, tensor, size, stride):
    last = tensor.offset + sum((n - 1) * s for n, s in zip(size, stride))
    within = (last + 1) * tensor.dtype.itemsize <= len(call.storages[tensor.storage])
    return 0 not in size and not within


def _reflects_too_much(call, given):
    """A padding is to be smaller than what it reflects (torch.nn.ReflectionPad2d). Where it is not
    these read and write outside of PyTorch's memory; that of one dim refuses it."""
    padding = given["padding"]
    pairs = zip(padding[::2], padding[1::2])
    return any(max(pair) >= n for n, pair in zip(reversed(given["self"].size), pairs))


def _is_of_no_product(call, given):
    """Of empty matrices alone PyTorch does not look."""
    a, b = given["self"].size, given["mat2"].size
    return 0 in (*a, *b) and a[-1:] != b[:1]


_MISREAD = {
    "_sparse_sparse_matmul": lambda call, x:
        _have_gaps([t.parts[0] for t in call.tensors() if getattr(t, "parts", ())]),
    "_convert_indices_from_coo_to_csr": lambda call, x: _are_rows_astray(call, x["self"]),
    **dict.fromkeys(["lstm", "gru", "rnn_tanh", "rnn_relu"], _narrows_astray),
    # They add a gradient where its index says, without a look at sizes, strides or ranges.
    **dict.fromkeys(["adaptive_max_pool3d_backward", "fractional_max_pool2d_backward",
                     "fractional_max_pool3d_backward"],
                    lambda call, x: _are_maxima_astray(call, **x)),
    # It writes a norm for each row into memory of g's strides, one after the other: where g repeats its
    # elements that memory is too small for them.
    "_weight_norm_interface": lambda call, x:
        any(n > 1 and s == 0 for n, s in zip(x["g"].size, x["g"].stride)),
}

_RULED_OUT = {
    "reflection_pad2d_backward": _reflects_too_much,
    "reflection_pad3d_backward": _reflects_too_much,
    # Strides that a caller has checked; PyTorch goes by them out of a tensor's memory.
    "_reshape_alias": lambda call, x: _leaves_memory(call, x["self"], x["size"], x["stride"]),
    # Indices of rows and pointers to them that a caller has checked; PyTorch writes where they say.
    "_convert_indices_from_coo_to_csr":
        lambda call, x: _rows_out_of_range(call, x["self"], x["size"]),
    "_convert_indices_from_csr_to_coo":
        lambda call, x: _pointers_astray(call, x["crow_indices"], x["col_indices"]),
    # It writes a row of the state for each dimension.
    "_sobol_engine_initialize_state_": lambda call, x: x["dimension"] > sum(x["self"].size[:1]),
    # It moves on a number for each dimension, and reads a row of the state for it.
    "_sobol_engine_ff_": lambda call, x:
        x["dimension"] > min(sum(x["self"].size[:1]), sum(x["sobolstate"].size[:1])),
    # Of pdist, whose input is a matrix.
    "_pdist_backward": lambda call, x: len(x["self"].size) != 2,
    # Of cholesky_solve, whose factors are square.
    "_cholesky_solve_helper": lambda call, x: len(set(x["A"].size[-2:])) != 1 or len(x["A"].size) < 2,
    # Of EmbeddingBag, whose bags are rows, of unfold, which adds a dim, of RMSNorm, whose input ends in
    # the shape that is normalized.
    "_embedding_bag_backward": lambda call, x: len(x["grad"].size) != 2,
    "unfold_backward": lambda call, x: len(x["grad_in"].size) != len(x["input_sizes"]) + 1,
    "_fused_rms_norm": lambda call, x:
        tuple(x["normalized_shape"]) != tuple(x["input"].size[-len(x["normalized_shape"]):]),
    "_scaled_mm_v2": _is_of_no_product,
    # It writes what it computes into the memory of an out= tensor of another dtype.
    "_logcumsumexp": lambda call, x: "out" in x and x["out"].dtype != x["self"].dtype,
}


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


# Distances by products of rows, the squares of which they are subtracted from, solutions by
# substitution, and gradients of what was normalized, less their part along it.
SUBTRACTS = {"native_group_norm_backward", "_weight_norm_interface_backward",
             "_weight_norm_differentiable_backward", "_euclidean_dist",
             "_cdist_forward", "cdist", "linalg_lu_solve", "lu_solve", "linalg_ldl_solve",
             "linalg_solve", "linalg_solve_triangular", "triangular_solve", "cholesky_solve"}


def may_overflow(overload, *dtypes):
    """Whether a result that is not finite is any that is not: of complex numbers, and of
    recurrences, distances and solutions, whose terms may overflow before they are subtracted."""
    base = overload.partition(".")[0].removeprefix("_foreach_").rstrip("_")
    return ("_polynomial_" in base or base in SUBTRACTS
            or base in OVERFLOWS and any(d.is_complex for d in dtypes))


def is_continuous(call):
    """Whether the call's value in double stands for its value in narrower dtypes."""
    base = call.overload.split(".")[0].rstrip("_").removeprefix("_foreach_")
    return base not in JUMPS or (base in ("div", "divide") and "mode" not in call.overload)


def is_random(call):
    """Whether this very call draws numbers: dropout with p=0 or outside of training does not."""
    from .compare import torch_overload

    return torch.Tag.nondeterministic_seeded in torch_overload(call.overload).tags
