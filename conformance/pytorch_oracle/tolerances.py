"""PyTorch's own tolerances: torch.testing's defaults, and what OpInfos declare beyond them."""

import functools

import torch

_DEFAULT = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}

# The test classes whose overrides are about the operator's values on the CPU, against a reference
# or against itself; others are about compilers, other devices or derivatives of derivatives.
_CLASSES = (None, "TestCommon", "TestMathBits", "TestUnaryUfuncs")


@functools.cache
def overrides():
    """{(ATen base name, dtype): (rtol, atol)}"""
    from torch.testing._internal.common_device_type import toleranceOverride
    from torch.testing._internal.common_methods_invocations import op_db

    out = {}
    for op in op_db:
        for d in op.decorators:
            if getattr(d, "cls_name", None) not in _CLASSES:
                continue
            if getattr(d, "device_type", None) not in (None, "cpu"):
                continue
            if "complex_half" in (getattr(d, "test_name", None) or ""):
                continue
            for o in getattr(d, "decorators", [d]):
                if not isinstance(o, toleranceOverride):
                    continue
                for dtype, t in o.d.items():
                    name = op.aten_name or op.name
                    key = (name.removeprefix("nn.functional.").replace(".", "_"), dtype)
                    r, a = out.get(key, (0.0, 0.0))
                    out[key] = (max(r, t.rtol), max(a, t.atol))
    return out


def tolerance(overload, dtype):
    """(rtol, atol) for a result of `dtype`; (0, 0) is equality."""
    rtol, atol = _DEFAULT.get(dtype, (0.0, 0.0))
    base = overload.split(".")[0]
    for name in {base, base.rstrip("_"), base.removesuffix("_backward")}:
        more = overrides().get((name, dtype))
        if more:
            rtol, atol = max(rtol, more[0]), max(atol, more[1])
    return rtol, atol


# Classes of values of which none is about 1, as PyTorch's absolute tolerances have it of its samples.
_OF_ANOTHER_SCALE = ("near_overflow", "near_underflow", "denormal")


def scale_of_class(values, greatest, dtype, atol):
    """What `atol` is multiplied by for a result of `dtype` whose `greatest` element is given, of a call
    with `values` of a class: else all that is as small as the tolerance would be right. Two units of
    the smallest number are allowed."""
    if values not in _OF_ANOTHER_SCALE or not atol:
        return 1.0
    info = torch.finfo(dtype)
    return max(greatest, 2 * info.tiny * info.eps / atol)


# Sums, and sums of products, that cancel in some elements, here or in PyTorch; of half types what is
# rounded on the way; exponentials of logarithms of long paths. By how ATen's names begin, and whole.
_FAMILIES_AS_A_WHOLE = (
    "_ctc_loss_backward", "_native_multi_head_attention", "_scaled_dot_product", "_scaled_mm",
    "matrix_exp", "linalg_matrix_exp", "convolution", "_convolution", "_slow_conv", "slow_conv",
    "conv_transpose", "conv1d", "conv2d", "conv3d", "linalg_solve", "_linalg_solve", "trapz",
    "trapezoid", "native_batch_norm_backward", "_softmax_backward", "_log_softmax_backward",
    "_thnn_differentiable_")
_AS_A_WHOLE = {
    "mm", "bmm", "addmm", "baddbmm", "addbmm", "dot", "vdot", "matmul", "linalg_matmul", "linear",
    "cov", "_trilinear", "sum", "nansum", "linalg_lu_solve", "lu_solve", "cholesky_solve",
    "triangular_solve", "ormqr", "orgqr", "linalg_householder_product", "_histogramdd_bin_edges",
    "histogramdd", "glu_backward_jvp",
}


def is_right_as_a_whole(overload, values):
    """Whether how far off PyTorch's results are as a whole says how far each may be: so it is also of
    what deviates from a large mean, which is rounded."""
    base = overload.partition(".")[0].removeprefix("_foreach_").rstrip("_")
    return (values == "large_mean" or base in _AS_A_WHOLE
            or overload.startswith(_FAMILIES_AS_A_WHOLE))


def adds_all_up(overload):
    """Whether each element of a result is a sum of all of a signal, as of a Fourier transform. An
    FFT of n elements is off by c log2(n) u |y| as a whole (Higham, Accuracy and Stability of
    Numerical Algorithms, theorem 24.2), whatever of it falls on which element: the rounding of a
    small one is that of what cancels in it. In the mean that is c log2(n) u of the result's root
    mean square, which is no more than its greatest element: with c of 1 to 2 and the 2^10 to 2^20
    elements of samples 10 to 40 u of that. PyTorch's rtol is 22 u for f32, and more for others."""
    return overload.removeprefix("_").startswith(("fft_", "stft", "istft"))
