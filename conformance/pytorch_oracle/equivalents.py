"""Operators by others of PyTorch that they equal, as its documentation or source has it: what those
answer in the same dtype is PyTorch's answer too, and a better one where a kernel rounds after each
term of a sum in a narrow dtype, or reads complex numbers as if they were real.

Each function takes ATen's arguments by name, without out=, and returns the first results."""

import math

import torch
import torch.nn.functional as F

from . import gates

# --- sums of products --------------------------------------------------------------------------


def _linear_combination(input, coefficients):
    """FunctionOfAMatrixUtilsKernel.cpp: out[m] += in[n] * coefficients[m, n], over all n. It takes
    the coefficients for real numbers."""
    return torch.tensordot(coefficients.to(input.dtype), input, 1)


def _addbmm(self, batch1, batch2, beta=1, alpha=1):
    """torch.addbmm: beta * input + alpha * (the sum over b of batch1[b] @ batch2[b]), which is
    torch.addmm of the matrices of batch1 side by side and those of batch2 one below the other."""
    beside, below = batch1.transpose(0, 1).flatten(1), batch2.flatten(0, 1)
    return torch.addmm(self, beside, below, beta=beta, alpha=alpha)


def _scaled_mm(self, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, **_):
    """torch._scaled_mm: the product of the scaled matrices, by one scale for each, or for each row of
    the first and each column of the second."""
    a, b = (x.float() if x.itemsize == 1 else x for x in (self, mat2))
    product = (a * scale_a) @ (b * scale_b)
    product = product if bias is None else product + bias
    return (product if scale_result is None else product * scale_result).to(out_dtype or self.dtype)


def _scaled_mm_v2(self, mat2, scale_a, recipe_a, scale_b, recipe_b, bias=None, out_dtype=None, **_):
    """torch.nn.functional.scaled_mm, by one scale for each row of the first matrix and each column of
    the second: the product of the scaled matrices."""
    if list(recipe_a) != [1] or list(recipe_b) != [1]:  # ScalingType.RowWise
        return None
    a, b = (x.float() if x.itemsize == 1 else x for x in (self, mat2))
    product = (a * scale_a[0]) @ (b * scale_b[0])
    return (product if bias is None else product + bias).to(out_dtype)


def _weight_int8pack_mm(self, mat2, scales):
    """By rows of eight-bit weights, each of one scale."""
    return F.linear(self, mat2.to(self.dtype)) * scales


# --- numbers scaled by powers of two ---------------------------------------------------------------


def _ldexp(self, other):
    """torch.ldexp: input * 2**other, of complex numbers by parts: a power is multiplied by as a complex
    number, and an infinite one then makes NaN of both."""
    if not self.is_complex() or other.is_complex():
        return None
    return torch.complex(torch.ldexp(self.real, other), torch.ldexp(self.imag, other))


# --- convolutions ------------------------------------------------------------------------------


def _per_dim(x, dims):
    """A number for each dim, where one may stand for all."""
    return [x] * dims if isinstance(x, int) else list(x) * dims if len(x) == 1 else list(x)


def _conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                    dilation=1, **_):
    """torch.nn.ConvTranspose2d: the gradient of Conv2d with respect to its input, also known as a
    fractionally-strided convolution. It inserts stride - 1 zeros between the elements of the input,
    and pads it by dilation * (kernel_size - 1) - padding."""
    dims = weight.dim() - 2
    if input.dim() == dims + 1:
        one = _conv_transpose(input[None], weight, bias, stride, padding, output_padding, groups,
                              dilation)
        return one[0]
    stride, padding, output_padding, dilation = (
        _per_dim(x, dims) for x in (stride, padding, output_padding, dilation))
    kernel = weight.shape[2:]
    between = [(n - 1) * s + 1 for n, s in zip(input.shape[2:], stride)]
    spread = input.new_zeros(*input.shape[:2], *between)
    spread[(..., *(slice(None, None, s) for s in stride))] = input
    margins = []
    for n, d, p, more in reversed(list(zip(kernel, dilation, padding, output_padding))):
        margin = d * (n - 1) - p
        margins += [margin, margin + more]
    turned = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1).flip(
        *range(2, dims + 2))
    return torch.convolution(F.pad(spread, margins), turned, bias, [1] * dims, [0] * dims, dilation,
                             False, [0] * dims, groups)


def _slow_conv_transpose(self, weight, kernel_size, **more):
    """ConvTranspose2d's kernel where no library has one."""
    return _conv_transpose(self, weight, **more)


def _convolution(input, weight, bias, transposed, **more):
    """conv_transpose2d and convolution by transposed=True are one."""
    return _conv_transpose(input, weight, bias, **more) if transposed else None


def _weight_gradient(grad_output, input, weight, stride, padding, dilation, groups):
    """torch/nn/utils/_expanded_weights/conv_utils.py, conv_group_weight_grad_sample: the input
    convolved with the gradient of the output, stride and dilation in each other's place."""
    dims = weight.dim() - 2
    found = [
        torch.convolution(x.transpose(0, 1), g.transpose(0, 1), None, dilation, padding, stride,
                          False, [0] * dims, 1).transpose(0, 1)
        for x, g in zip(input.chunk(groups, 1), grad_output.chunk(groups, 1))
    ]
    return torch.cat(found)[(..., *(slice(n) for n in weight.shape[2:]))]


def _convolution_backward(grad_output, input, weight, stride, padding, dilation, transposed,
                          output_padding, groups, **_):
    """The gradients of the input, by _conv_transpose's identity, of the weight and of the bias."""
    dims = weight.dim() - 2
    stride, padding, dilation = (_per_dim(x, dims) for x in (stride, padding, dilation))
    of_bias = grad_output.sum((0, *range(2, dims + 2)))
    if transposed:
        of_input = torch.convolution(grad_output, weight, None, stride, padding, dilation, False,
                                     [0] * dims, groups)
        return of_input, _weight_gradient(input, grad_output, weight, stride, padding, dilation,
                                          groups), of_bias
    reached = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in
               zip(grad_output.shape[2:], stride, padding, dilation, weight.shape[2:])]
    left = [n - r for n, r in zip(input.shape[2:], reached)]
    of_input = _conv_transpose(grad_output, weight, None, stride, padding, left, groups, dilation)
    return of_input, _weight_gradient(grad_output, input, weight, stride, padding, dilation,
                                      groups), of_bias


def _slow_conv2d_backward(grad_output, self, weight, stride, padding, **_):
    """derivatives.yaml: the gradient of a convolution that is not dilated and has one group."""
    return _convolution_backward(grad_output, self, weight, stride, padding, 1, False, 0, 1)


def _conv_tbc(self, weight, bias, pad=0):
    """torch.nn.functional.conv_tbc: a convolution of one dim, of (time, batch, channels)."""
    return F.conv1d(self.permute(1, 2, 0), weight.permute(2, 1, 0), bias,
                    padding=pad).permute(2, 0, 1)


# --- gradients of copies -----------------------------------------------------------------------


def _gradient_of_copy(copy, size, grad):
    """The gradient with respect to a tensor of `size` of what `copy` makes of its elements: each has
    the sum of the gradients of its copies, as derivatives.yaml and Autograd mechanics (vector-
    Jacobian products) have it. Element i + 1 tells where i went, 0 is no copy."""
    count = size.numel()
    numbers = torch.arange(1, count + 1, dtype=torch.float64).view(size)
    places = copy(numbers).flatten().long()
    order = places.argsort(stable=True)
    times = places.bincount(minlength=count + 1)
    first = times.cumsum(0) - times
    copies = grad.new_zeros(count + 1, int(times.max()))
    at = places[order]
    copies[at, torch.arange(len(at)) - first[at]] = grad.flatten()[order]
    return copies[1:].sum(1).view(size)


def _pad_backward(mode):
    def backward(grad_output, self, padding):
        return _gradient_of_copy(lambda x: F.pad(x, padding, mode), self.shape, grad_output)
    return backward


def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    """torch.nn.Fold: each value is the sum of those of all blocks that contain it."""
    blocks = (kernel_size, dilation, padding, stride)
    channels = self.shape[-2] // (kernel_size[0] * kernel_size[-1])
    size = torch.Size([*self.shape[:-2], channels, *output_size])
    return _gradient_of_copy(lambda x: F.unfold(x, *blocks), size, self)


def _unfold_backward(grad_in, input_sizes, dim, size, step):
    return _gradient_of_copy(lambda x: x.unfold(dim, size, step), torch.Size(input_sizes), grad_in)


# --- gradients of embeddings -------------------------------------------------------------------


def _row_gradients(rows, indices, num_weights, padding_idx, scale_grad_by_freq):
    """torch.nn.Embedding: the gradient of a row is the sum of those of its copies, none of which is
    that of padding_idx; scale_grad_by_freq scales by the inverse of how often the row occurs. In
    double: integers have no inverse, and halves would be rounded at each copy."""
    whole = not rows.is_floating_point()
    rows, flat = rows.flatten(0, -2).double(), indices.flatten().long()
    if scale_grad_by_freq:
        rows = rows / flat.bincount(minlength=num_weights)[flat].unsqueeze(1)
        rows = rows.trunc() if whole else rows
    rows = rows * (flat != padding_idx).unsqueeze(1)
    return rows.new_zeros(num_weights, rows.shape[1]).index_add(0, flat, rows)


def _embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, **_):
    return _row_gradients(grad, indices, num_weights, padding_idx, scale_grad_by_freq).to(grad.dtype)


def _embedding_dense_backward(grad_output, **more):
    return _embedding_backward(grad_output, **more)


def _embedding_bag_backward(grad, indices, offset2bag, bag_size, num_weights, scale_grad_by_freq,
                            mode, per_sample_weights=None, padding_idx=-1, **_):
    """torch.nn.EmbeddingBag: the embeddings of a bag are summed, weighted or not, or their mean is
    taken; the greatest are not copies alone."""
    if mode not in (0, 1):
        return None
    rows = grad[offset2bag.long()].double()
    if mode == 1:
        rows = rows / bag_size[offset2bag.long()].unsqueeze(1)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    return _row_gradients(rows, indices, num_weights, padding_idx, scale_grad_by_freq).to(grad.dtype)


# --- attention ---------------------------------------------------------------------------------


def _hidden(mask, mask_type):
    """at::native::MaskType: 0 for [queries, keys], 1 for [batch, keys], 2 for all four dims."""
    return mask.bool()[:, None, None] if mask_type == 1 else mask.bool()


def _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias,
                                 proj_weight, proj_bias, mask=None, need_weights=True,
                                 average_attn_weights=True, mask_type=None):
    """torch.nn.MultiheadAttention, of batches first. Halves are rounded where it hands on tensors of
    theirs: projections, weights and heads, and not between."""
    wide = torch.float if query.itemsize == 2 else query.dtype
    projections = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))
    q, k, v = (F.linear(x, w, b).unflatten(2, (num_head, -1)).transpose(1, 2).to(wide)
               for x, w, b in projections)
    scores = q @ k.mT / math.sqrt(embed_dim // num_head)
    if mask is not None:
        scores = scores.masked_fill(_hidden(mask, mask_type), -math.inf)
    weights = scores.softmax(-1).to(query.dtype)
    heads = (weights.to(v.dtype) @ v).to(query.dtype).transpose(1, 2).flatten(2)
    y = F.linear(heads, proj_weight, proj_bias)
    if not need_weights:
        return y, None
    return y, weights.mean(1) if average_attn_weights else weights


# --- losses ------------------------------------------------------------------------------------


def _mean(x):
    """Of complex numbers by parts: PyTorch divides by a complex count, and makes NaN of an infinite
    sum's other part."""
    return torch.complex(x.real.mean(), x.imag.mean()) if x.is_complex() else x.mean()


_REDUCTIONS = (lambda x: x, _mean, torch.sum)


def _soft_margin_loss(self, target, reduction=1):
    """torch.nn.SoftMarginLoss: log(1 + exp(-y * x)), which is torch.nn.Softplus of -y * x."""
    return _REDUCTIONS[reduction](F.softplus(-target * self))


# By ATen's base names.
EQUIVALENTS = {
    "_compute_linear_combination": _linear_combination,
    "addbmm": _addbmm,
    "conv_transpose1d": _conv_transpose,
    "conv_transpose2d": _conv_transpose,
    "conv_transpose3d": _conv_transpose,
    "slow_conv_transpose2d": _slow_conv_transpose,
    "slow_conv_transpose3d": _slow_conv_transpose,
    "convolution": _convolution,
    "_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_slow_conv2d_backward": _slow_conv2d_backward,
    "conv_tbc": _conv_tbc,
    **{f"reflection_pad{n}d_backward": _pad_backward("reflect") for n in (1, 2, 3)},
    **{f"replication_pad{n}d_backward": _pad_backward("replicate") for n in (1, 2, 3)},
    "col2im": _col2im,
    "unfold_backward": _unfold_backward,
    "embedding_backward": _embedding_backward,
    "embedding_dense_backward": _embedding_dense_backward,
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_backward,
    "_scaled_mm": _scaled_mm,
    "_scaled_mm_v2": _scaled_mm_v2,
    "ldexp": _ldexp,
    "_weight_int8pack_mm": _weight_int8pack_mm,
    "_native_multi_head_attention": _native_multi_head_attention,
    "soft_margin_loss": _soft_margin_loss,
    **gates.EQUIVALENTS,
}


def of(overload):
    """The function that says what the overload equals; None where there is none."""
    return EQUIVALENTS.get(overload.partition(".")[0].rstrip("_"))
