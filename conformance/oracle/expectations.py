"""What of an operator's results is compared, declared in advance.

values        every element, within PyTorch's tolerance (the default)
none          shape, dtype and strides alone: the contents are undefined
distribution  random: dtype, shape and strides alone
properties    results that are right in more than one way: properties.py states what must hold
"""

import torch

# The contents are undefined.
UNDEFINED = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "resize_", "resize_as_", "resize", "resize_as", "_resize_output_",
    "_resize_output", "_efficientzerotensor_",
}

# Their results jump, so that a value from unrounded operands is another one, not a better one.
JUMPS = {
    "ceil", "div", "divide", "fix", "floor", "floor_divide", "fmod", "frac", "frexp", "heaviside",
    "nextafter", "remainder", "round", "sgn", "sign", "special_round", "trunc",
    "fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine",
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


def is_continuous(call):
    """Whether the call's value in double stands for its value in narrower dtypes."""
    base = call.overload.split(".")[0].rstrip("_").removeprefix("_foreach_")
    return base not in JUMPS or (base in ("div", "divide") and "mode" not in call.overload)


def is_random(call):
    """Whether this very call draws numbers: dropout with p=0 or outside of training does not."""
    from .compare import torch_overload

    return torch.Tag.nondeterministic_seeded in torch_overload(call.overload).tags
