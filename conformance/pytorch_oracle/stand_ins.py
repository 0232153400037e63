"""What PyTorch's CPU has no kernel for, by operators of PyTorch for which it has one: as its
documentation, the formulas of its CUDA kernels or its decompositions (torch._decomp) have it. A call
is held against these instead, in values, dtypes and shapes.

Each function takes ATen's arguments by name, without out=, and returns the results; None for one
that nobody asked for or that means nothing."""

import math

import torch
import torch.nn.functional as F
from torch._decomp import decomposition_table


def of(overload):
    """The function that stands in for the overload, or for the one whose results its out= tensors are;
    None where there is none."""
    return _STAND_INS.get(overload.removesuffix(".out").removesuffix("_out"))


def _wide(*tensors):
    """As they are computed with: halves in f32."""
    return [t.float() if t is not None and t.itemsize == 2 else t for t in tensors]


# --- products ----------------------------------------------------------------------------------


def _in_dtype(function):
    """A product whose operands are of the dtype that its result has."""
    def product(out_dtype, **operands):
        return function(**{k: x.to(out_dtype) if isinstance(x, torch.Tensor) else x
                           for k, x in operands.items()})
    return product


def _conv_depthwise(self, weight, kernel_size, bias, stride, padding, dilation):
    """A convolution with a group for each channel."""
    dims = len(kernel_size)
    return torch.convolution(self, weight, bias, stride, padding, dilation, False, [0] * dims,
                             self.size(-dims - 1))


def _gradients(function, inputs, grad, wanted):
    """Those of `function` of the inputs, by autograd; None of one that is not wanted."""
    with torch.enable_grad():
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        chosen = [x for x, w in zip(leaves, wanted) if w]
        found = iter(torch.autograd.grad(function(*leaves), chosen, grad) if chosen else ())
    return [next(found) if w else None for w in wanted]


def _matmul_backward(grad, self, other, mask):
    return _gradients(torch.matmul, (self, other), grad, mask)


def _linear_backward(self, grad_output, weight, output_mask):
    bias = weight.new_zeros(weight.size(0))
    return _gradients(F.linear, (self, weight, bias), grad_output, output_mask)


def _segments(offsets, length):
    ends = offsets.tolist()
    if ends[-1] != length:
        raise NotImplementedError("what lies behind the last group means nothing")
    return [slice(a, b) for a, b in zip([0, *ends], ends)]


def _scaled_grouped_mm(self, mat2, scale_a, scale_b, offs=None, bias=None, out_dtype=None, **_):
    """torch.nn.functional.scaled_grouped_mm: the groups of a tensor of three dims are its matrices,
    of one of two dims the rows, columns or products that end at the offsets."""
    a, b = self.float(), mat2.float()
    if a.dim() == 3 and b.dim() == 3:
        made = (a * scale_a.unsqueeze(-1)) @ (b * scale_b.unsqueeze(-2))
    elif b.dim() == 3:
        a = a * scale_a.unsqueeze(-1)
        rows = zip(_segments(offs, len(a)), b, scale_b)
        made = torch.cat([a[s] @ (m * n) for s, m, n in rows])
    elif a.dim() == 3:
        b = b * scale_b
        columns = zip(_segments(offs, b.size(1)), a, scale_a)
        made = torch.cat([(m * n.unsqueeze(-1)) @ b[:, s] for s, m, n in columns], 1)
    else:
        n = len(offs)
        scales = zip(_segments(offs, len(b)), scale_a.view(n, -1, 1), scale_b.view(n, 1, -1))
        made = torch.stack([(a[:, s] * of_a) @ (b[s] * of_b) for s, of_a, of_b in scales])
    return made.to(out_dtype or torch.bfloat16)


def _scaled_grouped_mm_v2(self, mat2, scale_a, recipe_a, scale_b, recipe_b, **more):
    """By one scale for each row and column."""
    if list(recipe_a) != [1] or list(recipe_b) != [1]:  # ScalingType.RowWise
        raise NotImplementedError("another recipe than by rows")
    return _scaled_grouped_mm(self, mat2, scale_a[0], scale_b[0], **more)


# --- normalization -----------------------------------------------------------------------------


def _by_channel(t, x):
    """A vector beside tensors whose second dim is that of channels."""
    return t.view(1, -1, *[1] * (x.dim() - 2))


def _without_channels(x):
    return [d for d in range(x.dim()) if d != 1]


def _batch_norm_stats(input, eps):
    (x,) = _wide(input)
    variance, mean = torch.var_mean(x, _without_channels(x), correction=0)
    return mean, (variance + eps).rsqrt()


def _batch_norm_elemt(input, weight, bias, mean, invstd, eps):
    x, scale, shift = _wide(input, weight, bias)
    y = (x - _by_channel(mean, x)) * _by_channel(invstd, x)
    y = y if scale is None else y * _by_channel(scale, x)
    return (y if shift is None else y + _by_channel(shift, x)).to(input.dtype)


def _batch_norm_gather_stats_with_counts(mean, invstd, eps, counts, **_):
    """The mean and variance of the parts of a sample as those of the whole."""
    mean, invstd = _wide(mean, invstd)
    share = (counts / counts.sum()).unsqueeze(1)
    whole = (share * mean).sum(0)
    variance = (share * (invstd ** -2 - eps + (mean - whole) ** 2)).sum(0)
    return whole, (variance + eps).rsqrt()


def _batch_norm_gather_stats(mean, count, **more):
    return _batch_norm_gather_stats_with_counts(mean, counts=mean.new_full(mean.shape[:1], count),
                                                **more)


def _batch_norm_backward_reduce(grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g):
    grad, x = _wide(grad_out, input)
    dims = _without_channels(x)
    total, product = grad.sum(dims), (grad * (x - _by_channel(mean, x))).sum(dims)
    of_weight = (product * invstd).to((weight if weight is not None else invstd).dtype)
    of_bias = total.to(of_weight.dtype)
    total, product = total.to(mean.dtype), product.to(mean.dtype)
    return (*((total, product) if input_g else (None, None)), of_weight if weight_g else None,
            of_bias if bias_g else None)


def _batch_norm_backward_elemt(grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, count):
    grad, x, scale = _wide(grad_out, input, weight)
    n = count.sum()
    mean, invstd, of_mean, of_product = (
        _by_channel(t, x) for t in (mean, invstd, sum_dy / n, sum_dy_xmu / n))
    of_input = (grad - of_mean - (x - mean) * invstd ** 2 * of_product) * invstd
    return (of_input if scale is None else of_input * _by_channel(scale, x)).to(input.dtype)


# --- cells of recurrent networks, which keep what their gradients need -----------------------------


def _sum_of(*terms):
    return sum(t for t in terms if t is not None)


def _lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    """torch.nn.LSTMCell, of products that are there already."""
    gates = _sum_of(*_wide(input_gates, hidden_gates, input_bias, hidden_bias))
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    kept = torch.cat([i, f, g, o], 1)
    return [t.to(cx.dtype) for t in (o * cy.tanh(), cy, kept)]


def _lstm_cell_backward_impl(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    """The derivatives of sigmoid and tanh by their values, which are what was kept."""
    kept, state, new_state, of_y, of_state = _wide(workspace, cx, cy, grad_hy, grad_cy)
    i, f, g, o = kept.chunk(4, 1)
    of_y = torch.zeros_like(new_state) if of_y is None else of_y
    shape = new_state.tanh()
    of_state = _sum_of(of_y * o * (1 - shape ** 2), of_state)
    gates = torch.cat([of_state * g * i * (1 - i), of_state * state * f * (1 - f),
                       of_state * i * (1 - g ** 2), of_y * shape * o * (1 - o)], 1)
    of_bias = gates.to(workspace.dtype).sum(0) if has_bias else None
    return gates.to(workspace.dtype), (of_state * f).to(cx.dtype), of_bias


def _lstm_cell_backward(**given):
    gates, of_state, of_bias = _lstm_cell_backward_impl(**given)
    return gates, gates, of_state, of_bias, of_bias


def _gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    """torch.nn.GRUCell, of products that are there already."""
    of_input, of_state, state = _wide(input_gates, hidden_gates, hx)
    of_input, of_state = _sum_of(of_input, input_bias), _sum_of(of_state, hidden_bias)
    (r, z, n), (rh, zh, nh) = of_input.chunk(3, 1), of_state.chunk(3, 1)
    r, z = (r + rh).sigmoid(), (z + zh).sigmoid()
    n = (n + r * nh).tanh()
    kept = torch.cat([r, z, n, state, nh], 1)
    return [t.to(hx.dtype) for t in (n + z * (state - n), kept)]


def _gru_cell_backward(grad_hy, workspace, has_bias):
    grad, kept = _wide(grad_hy, workspace)
    r, z, n, state, nh = kept.chunk(5, 1)
    of_n = grad * (1 - z) * (1 - n ** 2)
    of_r, of_z = of_n * nh * r * (1 - r), grad * (state - n) * z * (1 - z)
    gates = [torch.cat([of_r, of_z, last], 1).to(workspace.dtype) for last in (of_n, of_n * r)]
    biases = [g.sum(0) if has_bias else None for g in gates]
    return *gates, (grad * z).to(grad_hy.dtype), *biases


# --- attention ---------------------------------------------------------------------------------


def _scores(query, key, bias, is_causal, scale):
    scores = query @ key.mT * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    scores = scores if bias is None else scores + bias
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not()
        scores = scores.masked_fill(hidden, -math.inf)
    return scores


def _attention(query, key, value, attn_bias=None, dropout_p=0.0, is_causal=False,
               return_debug_mask=False, scale=None):
    """torch.nn.functional.scaled_dot_product_attention, and what its gradient needs, in f32
    (torch/_meta_registrations.py)."""
    if dropout_p:
        raise NotImplementedError("which elements are dropped is by chance")
    if attn_bias is not None and attn_bias.dtype == torch.bool:
        attn_bias = torch.zeros(attn_bias.shape, dtype=query.dtype).masked_fill(~attn_bias, -math.inf)
    y = torch.ops.aten._scaled_dot_product_attention_math(
        query, key, value, attn_bias, 0.0, is_causal, None, scale=scale)[0]
    scores = _scores(*_wide(query, key, attn_bias), is_causal, scale)
    return y, scores.logsumexp(-1).float(), None, None, query.size(2), key.size(2), None, None, None


def _attention_backward(grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp,
                        dropout_p, is_causal, scale=None, rounded=False, **_):
    """Of softmax by its values, and by what the gradients of `out` come to with it: both, as factors of
    products, `rounded` to query's dtype as those of FlashAttention's kernels are."""
    if dropout_p:
        raise NotImplementedError("which elements are dropped is by chance")
    q, k, v, bias, grad, y = _wide(query, key, value, attn_bias, grad_out, out)
    factor = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    weights = (_scores(q, k, bias, is_causal, scale) - logsumexp.unsqueeze(-1)).exp()
    of_scores = weights * (grad @ v.mT - (grad * y).sum(-1, keepdim=True))
    if rounded:
        weights, of_scores = (x.to(query.dtype).to(q.dtype) for x in (weights, of_scores))
    found = (of_scores @ k * factor, of_scores.mT @ q * factor, weights.mT @ grad,
             of_scores.sum_to_size(bias.shape))
    kinds = (query, key, value, attn_bias)
    return [x.to(t.dtype) if wanted else None for x, t, wanted in zip(found, kinds, grad_input_mask)]


# --- others ------------------------------------------------------------------------------------


def _fused_dropout(self, p, generator=None):
    """Which elements are kept is by chance; the mask is one of bytes."""
    return torch.empty_like(self), torch.empty(self.shape, dtype=torch.uint8)


def _masked_scale(self, mask, scale):
    (x,) = _wide(self)
    return (x * mask * scale).to(self.dtype)


def _max_pool2d_backward(grad_output, self, **window):
    _, places = torch.ops.aten.max_pool2d_with_indices(self, **window)
    every = {"stride": [], "padding": 0, "dilation": 1, "ceil_mode": False, **window}
    return torch.ops.aten.max_pool2d_with_indices_backward(grad_output, self, indices=places, **every)


def _spsolve(A, B, left=True):
    return torch.linalg.solve(A.to_dense(), B, left=left)


def _sparse_broadcast_to_copy(self, size):
    return torch.ops.aten._sparse_broadcast_to(self, size).clone()


def rounded_attention_backward(**given):
    return _attention_backward(**given, rounded=True)


_STAND_INS = {
    "mm.dtype": _in_dtype(torch.ops.aten.mm),
    "bmm.dtype": _in_dtype(torch.ops.aten.bmm),
    "addmm.dtype": _in_dtype(torch.ops.aten.addmm),
    "baddbmm.dtype": _in_dtype(torch.ops.aten.baddbmm),
    "_conv_depthwise2d": _conv_depthwise,
    "conv_depthwise3d": _conv_depthwise,
    "matmul_backward": _matmul_backward,
    "linear_backward": _linear_backward,
    "_scaled_grouped_mm": _scaled_grouped_mm,
    "_scaled_grouped_mm_v2": _scaled_grouped_mm_v2,
    "_fused_rms_norm_backward": decomposition_table[torch.ops.aten._fused_rms_norm_backward.default],
    "batch_norm_stats": _batch_norm_stats,
    "batch_norm_elemt": _batch_norm_elemt,
    "batch_norm_gather_stats": _batch_norm_gather_stats,
    "batch_norm_gather_stats_with_counts": _batch_norm_gather_stats_with_counts,
    "batch_norm_backward_reduce": _batch_norm_backward_reduce,
    "batch_norm_backward_elemt": _batch_norm_backward_elemt,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward": _lstm_cell_backward,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward_impl,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward,
    "_fused_dropout": _fused_dropout,
    "_masked_scale": _masked_scale,
    "max_pool2d_backward": _max_pool2d_backward,
    "_spsolve": _spsolve,
    "_indices_copy": lambda self: self._indices().clone(),
    "_values_copy": lambda self: self._values().clone(),
    "indices_copy": lambda self: self.indices().clone(),
    "_sparse_broadcast_to_copy": _sparse_broadcast_to_copy,
}
