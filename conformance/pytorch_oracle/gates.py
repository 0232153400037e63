"""Functions with a logistic gate, by operators that they equal: of complex numbers PyTorch's sigmoid is
NaN where the exponential overflows, and all that is made of it.

Each function takes ATen's arguments by name, without out=, and returns the first results."""

import functools

import torch
import torch.nn.functional as F

# --- cells of recurrent networks ---------------------------------------------------------------


def _sigmoid(x):
    """The logistic function by torch.tanh, whose complex exponentials do not overflow."""
    return (torch.tanh(x / 2) + 1) / 2


def _lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """torch.nn.LSTMCell."""
    gates = F.linear(input, w_ih, b_ih) + F.linear(hx[0], w_hh, b_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = _sigmoid(f) * hx[1] + _sigmoid(i) * torch.tanh(g)
    return _sigmoid(o) * torch.tanh(c), c


def _gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """torch.nn.GRUCell."""
    of_input = F.linear(input, w_ih, b_ih).chunk(3, 1)
    of_state = F.linear(hx, w_hh, b_hh).chunk(3, 1)
    r, z = (_sigmoid(a + b) for a, b in zip(of_input[:2], of_state[:2]))
    n = torch.tanh(of_input[2] + r * of_state[2])
    return (1 - z) * n + z * hx


def _lstm_cell_gradients(grad_hy, grad_cy, input_gates, hidden_gates, input_bias, hidden_bias, cx, cy):
    """RNN.cpp, the gradient that can be differentiated: by sigmoid_backward and tanh_backward."""
    gates = sum(x for x in (input_gates, hidden_gates, input_bias, hidden_bias) if x is not None)
    i, f, g, o = (h(x) for h, x in zip((_sigmoid, _sigmoid, torch.tanh, _sigmoid), gates.chunk(4, 1)))
    bent = torch.tanh(cy)
    of_hy = torch.zeros_like(cx) if grad_hy is None else grad_hy
    of_cell = _of_tanh(of_hy * o, bent) + (0 if grad_cy is None else grad_cy)
    parts = [_of_sigmoid(of_cell * g, i), _of_sigmoid(of_cell * cx, f), _of_tanh(of_cell * i, g),
             _of_sigmoid(of_hy * bent, o)]
    of_gates = torch.cat(parts, 1)
    of_bias = of_gates.sum(0) if input_bias is not None else None
    return of_gates, of_gates, of_cell * f, of_bias, of_bias


def _gru_cell_gradients(grad_hy, input_gates, hidden_gates, hx, input_bias, hidden_bias):
    """The same of a GRU's."""
    given = (input_gates, input_bias), (hidden_gates, hidden_bias)
    of_input, of_state = ((x if b is None else x + b).chunk(3, 1) for x, b in given)
    r, z = (_sigmoid(a + b) for a, b in zip(of_input[:2], of_state[:2]))
    n = torch.tanh(of_input[2] + r * of_state[2])
    of_z = _of_sigmoid(grad_hy * (hx - n), z)
    of_n = _of_tanh(grad_hy * (1 - z), n)
    of_r = _of_sigmoid(of_n * of_state[2], r)
    found = [torch.cat([of_r, of_z, x], 1) for x in (of_n, of_n * r)]
    sums = [x.sum(0) if input_bias is not None else None for x in found]
    return *found, grad_hy * z, *sums


_of_sigmoid = torch.ops.aten.sigmoid_backward
_of_tanh = torch.ops.aten.tanh_backward

# --- activations -------------------------------------------------------------------------------


def _silu(self):
    """torch.nn.SiLU: x * sigmoid(x)."""
    return self * _sigmoid(self)


def _silu_backward(grad_output, self):
    """derivatives.yaml, infinitely_differentiable_silu_backward."""
    gate = _sigmoid(self)
    return grad_output * gate * (1 + self * (1 - gate))


def _glu_backward_jvp(grad_x, grad_glu, x, dgrad_glu, dx, dim):
    """GatedLinearUnit.cpp: the tangent of the gradients of a * sigmoid(b)."""
    (a, b), (da, db), of_a = x.chunk(2, dim), dx.chunk(2, dim), grad_x.chunk(2, dim)[0]
    gate = _sigmoid(b)
    slope = db - gate * db
    first = dgrad_glu * gate + of_a * slope
    second = first * (a - a * gate) + of_a * (da - da * gate - a * gate * slope)
    return torch.cat([first, second], dim)


def _of_complex(function):
    """For complex numbers alone: those of real ones lose digits by torch.tanh."""
    @functools.wraps(function)
    def of(**named):
        given = next(x for x in named.values() if isinstance(x, torch.Tensor))
        return function(**named) if given.is_complex() else None
    return of


EQUIVALENTS = {
    "lstm_cell": _lstm_cell,
    "gru_cell": _gru_cell,
    "_thnn_differentiable_lstm_cell_backward": _of_complex(_lstm_cell_gradients),
    "_thnn_differentiable_gru_cell_backward": _of_complex(_gru_cell_gradients),
    "sigmoid": _of_complex(lambda self: _sigmoid(self)),
    "special_expit": _of_complex(lambda self: _sigmoid(self)),
    "_foreach_sigmoid": lambda self: [_sigmoid(x) if x.is_complex() else None for x in self],
    "silu": _of_complex(_silu),
    "silu_backward": _of_complex(_silu_backward),
    "glu_backward_jvp": _of_complex(_glu_backward_jvp),
}
