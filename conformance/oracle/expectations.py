"""What of an operator's results is compared, declared in advance.

values        every element, within PyTorch's tolerance (the default)
none          shape, dtype and strides alone: the contents are undefined
distribution  random: held against its distribution by distribution_test.py
properties    results that are right in more than one way: properties.py states what must hold
"""

import torch

# The contents are undefined.
UNDEFINED = {
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "_empty_affine_quantized", "resize_", "resize_as_", "resize", "resize_as", "_resize_output_",
    "_resize_output", "_efficientzerotensor_",
}


def comparator(call):
    op = call.overload.split(".")[0]
    if op in UNDEFINED:
        return "none"
    if is_random(call):
        return "distribution"
    return "values"


def is_random(call):
    """Whether this very call draws numbers: dropout with p=0 or outside of training does not."""
    from .compare import torch_overload

    return torch.Tag.nondeterministic_seeded in torch_overload(call.overload).tags
