"""Means and variances, and what is normalized by them, by torch.mean and torch.var: PyTorch's kernels
update a mean with each element, which makes NaN of an infinity, and multiply before they subtract, in
which large means cancel and large numbers overflow.

Each function takes ATen's arguments by name, without out=, and returns the first results."""

import torch


def _normalized(x, dims, eps, weight=None, bias=None, moments=None):
    """(x - mean) / sqrt(variance + eps), scaled and shifted: with its mean and the factor."""
    mean, variance = moments or (x.mean(dims, True), x.var(dims, correction=0, keepdim=True))
    factor = (variance + eps).rsqrt()
    y = (x - mean) * factor
    y = y if weight is None else y * weight
    return y if bias is None else y + bias, mean, factor


def _var_mean(self, dim=None, correction=None, keepdim=False, unbiased=True):
    """torch.var_mean: torch.var and torch.mean."""
    correction = int(unbiased) if correction is None else correction
    dim = list(range(self.dim())) if dim is None else dim
    return torch.var(self, dim, correction=correction, keepdim=keepdim), self.mean(dim, keepdim)


def _std_mean(self, **more):
    """torch.std_mean: torch.std and torch.mean."""
    variance, mean = _var_mean(self, **more)
    return variance.sqrt(), mean


def _native_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """torch.nn.LayerNorm: of the last dims."""
    dims = list(range(-len(normalized_shape), 0))
    return _normalized(input, dims, eps, weight, bias)


def _layer_norm(cudnn_enable=True, **given):
    return _native_layer_norm(**given)[0]


def _channels(t, x):
    """A vector beside tensors whose second dim is that of channels."""
    return None if t is None else t.view(1, -1, *[1] * (x.dim() - 2))


def _group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """torch.nn.GroupNorm: of the channels of a group."""
    x = input.reshape(input.size(0), num_groups, -1)
    y = _normalized(x, [-1], eps)[0].reshape(input.shape)
    y = y if weight is None else y * _channels(weight, input)
    return y if bias is None else y + _channels(bias, input)


def _native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    _, mean, factor = _normalized(input.reshape(N, group, -1), [-1], eps)
    y = _group_norm(input.reshape(N, C, -1), group, weight, bias, eps)
    return y.reshape(input.shape), mean.view(N, group), factor.view(N, group)


def _native_batch_norm(input, weight=None, bias=None, running_mean=None, running_var=None,
                       training=False, momentum=0.1, eps=1e-5):
    """torch.nn.BatchNorm1d: of each channel, in training; else by what it has seen."""
    x = input
    dims = [d for d in range(x.dim()) if d != 1]
    moments = None if training else (_channels(running_mean, x), _channels(running_var, x))
    y, mean, factor = _normalized(x, dims, eps, _channels(weight, x), _channels(bias, x), moments)
    return (y, mean.flatten(), factor.flatten()) if training else (y,)


def _batch_norm_with_update(**given):
    return _native_batch_norm(training=True, **given)


def _batch_norm_stats(input, eps):
    """The mean of each channel, and the factor."""
    x = input.float() if input.itemsize == 2 else input
    return _native_batch_norm(x, training=True, eps=eps)[1:]


def _batch_norm(cudnn_enabled=True, **given):
    return _native_batch_norm(**given)[0]


def _instance_norm(input, weight=None, bias=None, running_mean=None, running_var=None,
                   use_input_stats=True, momentum=0.1, eps=1e-5, cudnn_enabled=True):
    """torch.nn.InstanceNorm1d: of each channel of each element of a batch."""
    x = input
    dims = list(range(2, x.dim()))
    moments = None if use_input_stats else (_channels(running_mean, x), _channels(running_var, x))
    return _normalized(x, dims, eps, _channels(weight, x), _channels(bias, x), moments)[0]


# By ATen's base names.
EQUIVALENTS = {
    "var_mean": _var_mean,
    "std_mean": _std_mean,
    "native_layer_norm": _native_layer_norm,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "native_group_norm": _native_group_norm,
    "native_batch_norm": _native_batch_norm,
    "_native_batch_norm_legit": _native_batch_norm,
    "_batch_norm_with_update": _batch_norm_with_update,
    "batch_norm": _batch_norm,
    "batch_norm_stats": _batch_norm_stats,
    "instance_norm": _instance_norm,
}
