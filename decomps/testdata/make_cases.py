#!/usr/bin/env python3
"""Writes the literals of engine_oracle_test.cpp: what PyTorch gives for the calls listed here.

    python make_cases.py [name ...]     # all files, or those named
"""
import json
import math
import os
import random
import sys

import torch

TORCH = {'f32': torch.float32, 'f64': torch.float64, 'f16': torch.float16, 'bf16': torch.bfloat16,
         'i64': torch.int64, 'i32': torch.int32, 'i16': torch.int16, 'i8': torch.int8,
         'u8': torch.uint8, 'bool': torch.bool, 'c64': torch.complex64, 'c128': torch.complex128}
NAME = {v: k for k, v in TORCH.items()}
CODES = {IndexError: 'index', NotImplementedError: 'not_implemented', ValueError: 'value',
         TypeError: 'type', RuntimeError: 'runtime', torch.linalg.LinAlgError: 'linalg'}


def number(v):
    if isinstance(v, bool) or isinstance(v, int):
        return v
    if isinstance(v, complex):
        return [number(v.real), number(v.imag)]
    if math.isnan(v):
        return 'nan'
    if math.isinf(v):
        return 'inf' if v > 0 else '-inf'
    return v


def tensor(t):
    flat = t.resolve_conj().resolve_neg().contiguous().flatten().tolist()
    return {'dtype': NAME[t.dtype], 'shape': list(t.shape), 'stride': list(t.stride()),
            'data': [number(v) for v in flat]}


def argument(v, kind):
    if v is None:
        return {}
    if isinstance(v, torch.Tensor):
        return {'tensor': tensor(v)}
    if 'Tensor?' in kind and isinstance(v, (list, tuple)):
        return {'optional_tensors': [None if t is None else tensor(t) for t in v]}
    if kind.startswith('List[Tensor'):
        return {'tensors': [tensor(t) for t in v]}
    if isinstance(v, torch.dtype):
        return {'dtype': NAME[v]}
    if isinstance(v, torch.memory_format):
        return {'memory_format': {torch.contiguous_format: 0, torch.preserve_format: 1,
                                  torch.channels_last: 2}[v]}
    if isinstance(v, str):
        return {'str': v}
    if isinstance(v, bool) and 'number' not in kind:
        return {'bool': v}
    if 'number' in kind and isinstance(v, (list, tuple)):
        return {'scalars': [argument(x, 'number') for x in v]}
    if 'number' in kind:
        k = 'b' if isinstance(v, bool) else 'i' if isinstance(v, int) else 'c' if isinstance(v, complex) else 'f'
        return {'scalar': number(v), 'kind': k}
    if isinstance(v, (list, tuple)):
        return {'ints': [int(x) for x in v]}
    if 'float' in kind:
        return {'float': number(float(v))}
    return {'int': int(v)}


def full_kind(a):
    return str(a.type).replace('Optional[Tensor]', 'Tensor?') if 'List' in str(a.type) else str(a.type)


def overload(name):
    op, _, ov = name.partition('.')
    return getattr(getattr(torch.ops.aten, op), ov or 'default')


def case(name, *args, note='', **extra):
    kwargs = extra.pop('kwargs', {})
    f = overload(name)
    schema = f._schema
    out = {'op': name, 'args': [], 'note': note, **extra}
    given = list(args)
    for i, a in enumerate(schema.arguments):
        if a.name in kwargs:
            v = kwargs[a.name]
        elif i < len(given):
            v = given[i]
        else:
            v = a.default_value
            if isinstance(v, int) and str(a.type) == 'Optional[int]' and a.name == 'dtype':
                v = None
        if a.name in ('dtype', 'out_dtype') and isinstance(v, int):
            v = {4: torch.int64}.get(v)
        if a.name == 'memory_format' and isinstance(v, int):
            v = [torch.contiguous_format, torch.preserve_format, torch.channels_last][v]
        if a.name in ('layout', 'device', 'pin_memory', 'generator'):
            v = None
        out['args'].append(argument(v, full_kind(a)))
    self0 = next((x for x in given if isinstance(x, torch.Tensor)), None)
    base = self0
    try:
        if extra.get('meta'):
            raise RuntimeError('unreachable')
        result = f(*args, **kwargs)
    except tuple(CODES) as e:
        out['error'] = str(e).split('\n')[0]
        out['code'] = next(c for t, c in CODES.items() if type(e) is t)
        return out
    results = [result] if isinstance(result, torch.Tensor) else list(result or [])
    flat = []
    for r in results:
        flat.extend(r if isinstance(r, (list, tuple)) else [r])
    out['out'] = []
    for r in flat:
        j = tensor(r)
        shares = base is not None and r.numel() > 0 and r.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        if r.numel() == 0:
            pass
        elif shares and r is not base:
            j['alias'] = 'view'
            scale = base.element_size() / r.element_size()
            if r.dtype == base.dtype or True:
                j['offset'] = int(r.storage_offset() - base.storage_offset() * scale)
        elif r is base:
            j['alias'] = 'argument'
        else:
            j['alias'] = 'fresh'
        out['out'].append(j)
    return out


random.seed(0)
torch.manual_seed(0)
inf, nan = math.inf, math.nan


def ints(*shape, dtype='i64', low=-5, high=6):
    return torch.randint(0 if dtype in ('u8', 'bool') else low, 2 if dtype == 'bool' else high, shape).to(TORCH[dtype])


def floats(*shape, dtype='f32', scale=1.0):
    if dtype in ('c64', 'c128'):
        return torch.complex(torch.randn(shape, dtype=torch.float64), torch.randn(shape, dtype=torch.float64)).to(TORCH[dtype])
    return (torch.randn(shape, dtype=torch.float64) * scale).to(TORCH[dtype])


def some(*shape, dtype):
    return floats(*shape, dtype=dtype) if dtype[0] in 'fc' or dtype == 'bf16' else ints(*shape, dtype=dtype)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, -7.25, 1e-6, 30.0, -30.0, 100.0, -100.0, inf, -inf, nan]


def special(dtype='f32'):
    return torch.tensor(SPECIAL, dtype=torch.float64).to(TORCH[dtype])


def layouts():
    """Operands of many layouts, for the strides of results."""
    x = torch.arange(24.0)
    y = torch.arange(120.0)
    return [x.view(4, 6), x.view(4, 6).t(), x.view(2, 3, 4), x.view(2, 3, 4).permute(2, 0, 1), x.view(2, 3, 4).permute(1, 2, 0),
            x.view(2, 3, 4).transpose(1, 2), x.view(4, 6)[:, ::2], x.view(4, 6)[1:3], x.view(4, 6).t()[::2], x[:6].view(1, 6), x[:6].view(6, 1),
            x[:6].view(6, 1).t(), x[:6].view(1, 6).t(), x[:1], x[:3].expand(4, 3), x[:3].view(3, 1).expand(3, 4), x.view(2, 3, 4)[:, 1:2],
            x.view(2, 3, 4)[:, 1:2].permute(2, 1, 0), y.view(2, 3, 4, 5), y.view(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
            y.view(2, 3, 4, 5).permute(3, 1, 2, 0), y.view(2, 3, 4, 5)[:, :1], y[:24].view(2, 3, 4, 1).contiguous(memory_format=torch.channels_last),
            y.view(2, 3, 4, 5)[:, :, ::2], y.view(2, 60).as_strided((2, 3, 1, 1), (3, 1, 3, 3)), y.view(2, 3, 20).permute(0, 2, 1), x.view(24)[::3], torch.tensor(1.5)]


def strides():
    out = []
    shapes = layouts()
    for x in shapes:
        out.append(case('relu', x, note=f'stride {tuple(x.shape)} {x.stride()}'))
        out.append(case('clone', x))
        for y in shapes:
            try:
                torch.broadcast_shapes(x.shape, y.shape)
            except RuntimeError:
                continue
            if random.random() < 0.5 or x.shape == y.shape:
                out.append(case('add.Tensor', x, y, note=f'stride {tuple(x.shape)} {x.stride()} + {tuple(y.shape)} {y.stride()}'))
    for x in shapes:
        out.append(case('add.Scalar', x, 2))
    return out


UNARY = 'abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad erf erfc exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not neg rad2deg reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc angle nan_to_num bitwise_not conj_physical absolute arccos fix negative relu relu6 gelu silu leaky_relu elu celu selu hardtanh hardsigmoid hardswish softplus mish log_sigmoid hardshrink softshrink isnan'.split()


def unary():
    out = []
    for op in UNARY:
        for d in ('f32', 'bf16', 'f64', 'f16', 'i32', 'bool', 'u8', 'c64'):
            x = special(d) if d in ('f32', 'f64', 'f16', 'bf16') else some(4, dtype=d)
            if op == 'silu' and d == 'c64' or op == 'conj_physical' and d != 'c64':
                continue
            if op == 'gelu' and (d[0] == 'f' or d == 'bf16'):
                x = x[x.abs() < inf]
            c = case(op, x, slack=4.0)
            if c.get('code') == 'not_implemented' or 'error' in c and d in ('c64', 'bool', 'u8', 'i32'):
                continue
            out.append(c)
    out.append(case('neg', torch.tensor([True])))
    out.append(case('gelu', floats(8), kwargs={'approximate': 'tanh'}))
    out.append(case('round.decimals', special(), kwargs={'decimals': 1}))
    out.append(case('round.decimals', special(), kwargs={'decimals': -1}))
    out.append(case('logit', torch.tensor([0.1, 0.9, 0.0, 1.0]), 0.2))
    out.append(case('nan_to_num', special(), 1.0, 2.0, 3.0))
    for op in ('threshold',):
        out.append(case(op, special(), 0.5, 9.0))
    out.append(case('exp_', floats(3)))
    out.append(case('exp_', ints(3)))
    out.append(case('round_', special()))
    return out


BINARY = 'add.Tensor sub.Tensor mul.Tensor div.Tensor floor_divide remainder.Tensor fmod.Tensor pow.Tensor_Tensor maximum minimum fmin fmax atan2 hypot copysign.Tensor gcd lcm bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_left_shift.Tensor bitwise_right_shift.Tensor logical_and logical_or logical_xor xlogy.Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor logaddexp logaddexp2 heaviside true_divide.Tensor rsub.Tensor float_power.Tensor_Tensor ldexp.Tensor isclose __and__.Tensor'.split()


def promoted_pairs():
    """Every operator with pairs of dtypes; a third of the mixed ones are left out at random."""
    out = []
    for op in BINARY:
        for a in ('f32', 'bf16', 'f64', 'i64', 'i32', 'bool', 'u8', 'c64'):
            for b in ('f32', 'f16', 'i64', 'bool', 'i8'):
                if random.random() < 0.35 and a != b:
                    continue
                x, y = some(2, 3, dtype=a), some(3, dtype=b)
                if op in ('floor_divide', 'remainder.Tensor', 'fmod.Tensor') and b in ('i64', 'i8', 'bool'):
                    y = y.abs() + 1 if b != 'bool' else torch.ones(3, dtype=torch.bool)
                if 'shift' in op or 'pow' in op and b in ('i64', 'i8'):
                    y = y.abs() if b != 'bool' else y
                if 'logaddexp' in op and 'c64' in (a, b):
                    continue
                c = case(op, x, y, slack=8.0)
                if 'error' in c and (c['code'] == 'not_implemented' or 'c64' in (a, b) or 'Sub' not in c['error']):
                    continue
                out.append(c)
    return out


def special_pairs():
    """Every operator on zeros of both signs, infinities and NaN."""
    out = []
    grid = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, inf, -inf, nan])
    for op in BINARY:
        if 'bitwise' in op or '__' in op or op in ('gcd', 'lcm', 'ldexp.Tensor', 'heaviside'):
            continue
        out.append(case(op, grid.view(-1, 1), grid, slack=4.0, note='special'))
    return out


def scalar_operands():
    """A tensor and a Scalar."""
    out = []
    for op in ('add.Scalar', 'sub.Scalar', 'mul.Scalar', 'div.Scalar', 'floor_divide.Scalar', 'remainder.Scalar', 'fmod.Scalar', 'pow.Tensor_Scalar', 'eq.Scalar', 'lt.Scalar', 'rsub.Scalar'):
        for d in ('f32', 'bf16', 'i32', 'u8'):
            for s in (3, 2.5):
                out.append(case(op, some(4, dtype=d), s, slack=4.0))
    return out


def arithmetic():
    """alpha, rounding modes, in-place calls and shapes that do not fit."""
    out = []
    for d in ('f32', 'bf16', 'i64'):
        out.append(case('add.Tensor', some(3, dtype=d), some(3, dtype=d), kwargs={'alpha': 3}))
        out.append(case('add.Tensor', some(3, dtype=d), some(3, dtype=d), kwargs={'alpha': 2.3}))
        out.append(case('add_.Tensor', some(2, 3, dtype=d), some(3, dtype=d)))
        out.append(case('add_.Tensor', some(3, dtype=d), some(2, 3, dtype=d)))
        out.append(case('add_.Tensor', some(3, dtype=d), some(3, dtype='f32')))
        for mode in ('trunc', 'floor', None, 'x'):
            out.append(case('div.Tensor_mode', some(3, dtype=d), torch.tensor([2, -3, 4]).to(TORCH[d]), kwargs={'rounding_mode': mode}))
            out.append(case('div.Scalar_mode', some(3, dtype=d), 2, kwargs={'rounding_mode': mode}))
    out.append(case('add.Tensor', torch.tensor([True]), torch.tensor([True]), kwargs={'alpha': True}))
    out.append(case('add.Tensor', torch.tensor([True]), torch.tensor([1]), kwargs={'alpha': True}))
    out.append(case('add.Tensor', floats(3), floats(4)))
    out.append(case('add.Tensor', floats(2, 3), floats(2, 4)))
    out.append(case('add.Tensor', floats(3), torch.tensor(2.0, dtype=torch.float64)))
    out.append(case('add.Tensor', ints(3), torch.tensor(2.5)))
    out.append(case('sub.Tensor', torch.tensor([True]), torch.tensor([True])))
    out.append(case('sub.Tensor', torch.tensor([True]), torch.tensor([1])))
    out.append(case('remainder.Tensor', ints(3), torch.tensor(0)))
    out.append(case('pow.Tensor_Scalar', ints(3), -1))
    out.append(case('mul.Tensor', floats(0, 3), floats(3)))
    out.append(case('pow.Scalar', 2, ints(4).abs()))
    out.append(case('pow.Scalar', 2.5, floats(4)))
    return out


def clamps_and_blends():
    """clamp, where, addcmul, addcdiv and lerp."""
    out = []
    for d in ('f32', 'f16', 'i64'):
        out.append(case('clamp', some(5, dtype=d), -1, 2))
        out.append(case('clamp', some(5, dtype=d), None, 0.5))
        out.append(case('clamp_min', some(5, dtype=d), 1))
        out.append(case('clamp.Tensor', some(2, 3, dtype=d), some(3, dtype=d), some(1, dtype=d)))
        out.append(case('where.self', ints(3, dtype='bool'), some(3, dtype=d), some(1, dtype='f32')))
        out.append(case('addcmul', some(3, dtype=d), some(3, dtype=d), some(1, dtype=d), kwargs={'value': 2}))
    out.append(case('clamp', special(), 0.0, nan))
    out.append(case('clamp', floats(3), None, None))
    out.append(case('addcdiv', floats(3), floats(3), floats(2, 3), kwargs={'value': 0.3}))
    out.append(case('lerp.Scalar', floats(3), floats(3), 0.3))
    out.append(case('lerp.Tensor', floats(3), floats(3), torch.tensor([0.1, 0.5, 0.9])))
    out.append(case('where.ScalarOther', ints(3, dtype='bool'), floats(3), 2))
    return out


def gradients():
    """Backward formulas of activations."""
    out = []
    for op in ('silu_backward', 'gelu_backward', 'hardswish_backward', 'hardsigmoid_backward', 'mish_backward', 'sigmoid_backward', 'tanh_backward'):
        out.append(case(op, floats(8), floats(8, scale=3.0), slack=8.0))
    out.append(case('threshold_backward', floats(8), floats(8), 0.1))
    out.append(case('leaky_relu_backward', floats(8), floats(8), 0.1, False))
    out.append(case('elu_backward', floats(8), 1.5, 1.1, 0.9, False, floats(8)))
    out.append(case('elu_backward', floats(8), 1.5, 1.1, 0.9, True, floats(8)))
    out.append(case('hardtanh_backward', floats(8), floats(8), -1, 1))
    out.append(case('softplus_backward', floats(8), floats(8), 1, 20))
    out.append(case('hardshrink_backward', floats(8), floats(8), 0.5))
    return out


def softmaxes():
    """softmax and its gradient, glu and prelu."""
    out = []
    for d in ('f32', 'f16'):
        out.append(case('softmax.int', some(3, 4, dtype=d), 1, slack=2.0))
        out.append(case('softmax.int', some(3, 4, dtype=d), -2, torch.float32, slack=2.0))
        out.append(case('log_softmax.int', some(3, 4, dtype=d), 0, slack=2.0))
        out.append(case('glu', some(3, 4, dtype=d)))
    out.append(case('softmax.int', ints(3), 0))
    out.append(case('softmax.int', floats(3), 2))
    out.append(case('prelu', floats(2, 3, 2), floats(3)))
    out.append(case('prelu', floats(2, 3, 2), floats(1)))
    out.append(case('_softmax_backward_data', floats(2, 3), floats(2, 3), 1, torch.float32))
    return out


def binary():
    # In this order: all of them draw from one generator.
    parts = (promoted_pairs, special_pairs, scalar_operands, arithmetic, clamps_and_blends, gradients,
             softmaxes)
    return [c for part in parts for c in part()]


def views():
    out = []
    x, y = torch.arange(24.0).view(2, 3, 4), torch.arange(24.0).view(4, 6).t()
    for v in (x, y, x.permute(2, 0, 1), torch.tensor(3.0), torch.arange(6)[::2]):
        r = v.dim()
        for op, *a in (('t',), ('squeeze',), ('unsqueeze', 0), ('unsqueeze', -1), ('unsqueeze', 7), ('detach',), ('alias',), ('view', [-1]), ('view', [24]),
                       ('reshape', [-1]), ('reshape', [4, 6]), ('reshape', [5, -1]), ('flatten.using_ints', 0, -1), ('ravel',), ('permute', list(range(r))[::-1]), ('permute', [0]),
                       ('transpose.int', 0, 1), ('transpose.int', -1, 0), ('select.int', 0, 1), ('select.int', -1, -1), ('select.int', 0, 100), ('slice.Tensor', 0, 1, 3, 1),
                       ('slice.Tensor', -1, None, None, 2), ('slice.Tensor', 0, -1, 100, 1), ('narrow', 0, 1, 1), ('narrow', 0, 1, 90), ('expand', [2] + list(v.shape)),
                       ('expand', [-1] * r), ('expand', [7]), ('chunk', 2), ('chunk', 3, -1), ('split.Tensor', 2), ('split.Tensor', 1, -1), ('split_with_sizes', [1, 1]),
                       ('unbind.int',), ('unbind.int', -1), ('unfold', 0, 2, 1), ('diagonal',), ('diagonal', 1), ('diagonal', -1), ('movedim.int', 0, -1), ('as_strided', [2, 2], [1, 2]),
                       ('contiguous',), ('mT',), ('numpy_T',), ('tensor_split.sections', 2), ('tensor_split.indices', [1, 2]), ('view.dtype', torch.int32), ('view.dtype', torch.float64),
                       ('view.dtype', torch.int16), ('real',), ('to.dtype', torch.float32), ('to.dtype', torch.float64), ('to.dtype', torch.float32, False, True), ('unflatten.int', 0, [-1, 1]),
                       ('atleast_2d',), ('atleast_3d',), ('broadcast_to', [2] + list(v.shape)), ('hsplit.int', 2), ('squeeze.dim', 0), ('squeeze.dims', [0, 1]),
                       ('permute_copy', list(range(r))[::-1]), ('t_copy',), ('unsqueeze_copy', 0), ('view_copy', [-1]), ('clone',), ('_to_copy',), ('select_copy.int', 0, 0)):
            if op in ('mT',) and r < 2 or op == 'ravel' and False:
                continue
            if op in ('as_strided', 'unflatten.int') and v.numel() < 4:
                continue
            try:
                out.append(case(op, v, *a, note=str(tuple(v.shape)) + str(a)))
            except Exception as e:
                print('skipped', op, a, e)
    z = floats(2, 3, dtype='c64')
    for op in ('real', 'imag', 'view_as_real', 'conj', '_conj', 'adjoint', 'resolve_conj'):
        c = case(op, z)
        if op not in ('conj', '_conj', 'adjoint'):
            out.append(c)
    out.append(case('view_as_complex', floats(3, 2)))
    out.append(case('view_as_complex', floats(3, 3)))
    # Strides by which nobody steps, and such as somebody does.
    for size, stride in (((1, 2), (3, 1)), ((3, 1, 2), (6, 5, 1)), ((2, 2), (3, 1)), ((0, 2), (3, 1))):
        out.append(case('view_as_complex', torch.arange(20.0).as_strided(size, stride)))
    out.append(case('imag', floats(3)))
    out.append(case('unfold', torch.arange(10.0), 0, 3, 2))
    out.append(case('unfold', torch.arange(10.0), 0, 30, 2))
    out.append(case('diagonal_backward', floats(3), [3, 4], 0, 0, 1))
    out.append(case('slice_backward', floats(2), [5], 0, 1, 5, 2))
    out.append(case('select_backward', floats(3), [2, 3], 0, 1))
    out.append(case('unfold_backward', floats(4, 3), [9], 0, 3, 2))
    out.append(case('contiguous', floats(2, 3, 4, 5), kwargs={'memory_format': torch.channels_last}))
    return out


def reductions():
    out = []
    for d in ('f32', 'f64', 'bf16', 'i64', 'i32', 'bool', 'u8', 'c64'):
        x = some(2, 3, 4, dtype=d)
        full = ('sum', 'prod', 'mean', 'any', 'all', 'amax', 'amin', 'aminmax', 'max', 'min', 'argmax', 'argmin', 'std', 'var', 'std_mean', 'var_mean', 'norm.Scalar', 'count_nonzero', 'nansum', 'linalg_vector_norm')
        for op in full:
            c = case(op, x, slack=4.0)
            if c.get('code') != 'not_implemented':
                out.append(c)
        for op, *a in (('sum.dim_IntList', [1]), ('sum.dim_IntList', [0, -1], True), ('sum.dim_IntList', None), ('sum.dim_IntList', []), ('prod.dim_int', 1), ('mean.dim', [2]), ('any.dim', 1), ('all.dim', -1, True),
                       ('any.dims', [0, 1]), ('all.dims', []), ('amax', [1]), ('amin', [0, 2], True), ('max.dim', 1), ('min.dim', -1, True), ('argmax', 1), ('argmin', 2, True), ('std.correction', [1]),
                       ('var.correction', [0, 1]), ('var.dim', [1], False), ('var_mean.correction', [2]), ('logsumexp', [1]), ('logsumexp', [0, 1], True), ('count_nonzero', 1), ('norm.ScalarOpt_dim', 3, [1]),
                       ('cumsum', 1), ('cumprod', -1), ('cummax', 1), ('cummin', 2), ('logcumsumexp', 0), ('sum.dim_IntList', [5]), ('sum.dim_IntList', [0, 0]), ('sort', 1), ('sort', 2, True), ('argsort', 0), ('topk', 2),
                       ('topk', 2, 1, False), ('topk', 9), ('kthvalue', 2, 1), ('kthvalue', 9), ('msort',), ('flip', [0, 2]), ('roll', [1, -1], [0, 2]), ('roll', [5]), ('rot90', 1, [0, 2]), ('rot90', 3, [1, 2]), ('tril',), ('triu', 1), ('tril', -1),
                       ('repeat', [2, 1, 3]), ('repeat', [2, 2, 1, 1]), ('tile', [2]), ('constant_pad_nd', [1, 2]), ('constant_pad_nd', [1, -1, 0, 2], 3), ('diag_embed',), ('diag_embed', 1, 0, 2), ('sum_to_size', [1, 4]),
                       ('repeat_interleave.self_int', 2, 1), ('repeat_interleave.self_int', 2), ('fliplr',), ('flipud',), ('mean', ), ('nanmean', [1])):
            if op in ('kthvalue', 'topk', 'sort', 'argsort', 'argmax', 'argmin', 'max.dim', 'min.dim', 'cummax', 'cummin', 'msort') and d in ('bool', 'i64', 'i32', 'u8') and op not in ('sort', 'msort') and not op.startswith('cum'):
                y = torch.randperm(24).view(2, 3, 4).to(TORCH[d])
                if d == 'bool':
                    continue
            else:
                y = x
            if d == 'c64' and 'sumexp' in op:
                continue
            if op in ('sort', 'argsort') and d in ('bool', 'i64', 'i32', 'u8'):
                c = case(op.replace('sort', 'sort.stable'), y, stable=0, kwargs={'stable': True, 'dim': a[0], 'descending': len(a) > 1}) if False else None
                continue
            c = case(op, y, *a, slack=8.0, note=str(a))
            if c.get('code') == 'not_implemented' or 'error' in c and d in ('c64', 'bool', 'u8', 'i32'):
                continue
            out.append(c)
    z = torch.tensor([1.0, nan, 3.0, -inf, 0.0, -0.0, inf])
    for op in ('sum', 'amax', 'amin', 'max', 'min', 'argmax', 'argmin', 'nansum', 'any', 'all', 'mean', 'count_nonzero'):
        out.append(case(op, z))
        out.append(case(op, torch.tensor(3.5)))
    for op in ('cumsum', 'cumprod', 'cummax', 'cummin', 'logcumsumexp', 'softmax.int', 'log_softmax.int'):
        out.append(case(op, z, 0))
        out.append(case(op, torch.tensor(3.5), -1))
    out.append(case('sort', z))
    out.append(case('sort', z, 0, True))
    for op in ('max', 'argmax', 'amax', 'sum', 'prod', 'mean', 'any', 'aminmax'):
        out.append(case(op, torch.empty(0, 3)))
    out.append(case('argmax', torch.empty(0, 3), 0))
    out.append(case('amax', torch.empty(0, 3), [0]))
    out.append(case('max.dim', torch.empty(0, 3), 0))
    out.append(case('sum', ints(3), kwargs={'dtype': torch.float32}))
    out.append(case('sum', floats(3), kwargs={'dtype': torch.float64}))
    for p in (0, 1, 2, 3, inf, -inf, -1, 0.5):
        out.append(case('linalg_vector_norm', floats(2, 3), p, [1], slack=8.0))
    out.append(case('std', floats(3, dtype='f16'), False, slack=2.0))
    out.append(case('sum_to_size', floats(3, 4), [1, 4]))
    out.append(case('trace', floats(3, 4)))
    out.append(case('trace', ints(3, 4)))
    return out


def networks():
    out = []
    for d in ('f32', 'bf16', 'f64'):
        x, w, b = some(2, 3, 4, dtype=d), some(4, dtype=d), some(4, dtype=d)
        out.append(case('native_layer_norm', x, [4], w, b, 1e-5, slack=4.0))
        out.append(case('native_layer_norm', x, [3, 4], None, None, 1e-5, slack=4.0))
        out.append(case('layer_norm', x, [4], w, None, slack=4.0))
        out.append(case('rms_norm', x, [4], w, slack=4.0))
        y = some(2, 4, 3, dtype=d)
        out.append(case('native_group_norm', y, w, b, 2, 4, 3, 2, 1e-5, slack=8.0))
        out.append(case('group_norm', y, 2, w, b, slack=8.0))
        out.append(case('native_batch_norm', y, w, b, some(4, dtype=d), some(4, dtype=d).abs(), False, 0.1, 1e-5, slack=4.0))
        if d == 'f32':
            out.append(case('_native_batch_norm_legit_functional', y, w, b, some(4, dtype=d), some(4, dtype=d).abs(), True, 0.1, 1e-5, slack=8.0))
        for op, *a in (('mm', some(2, 3, dtype=d), some(3, 4, dtype=d)), ('bmm', some(2, 2, 3, dtype=d), some(2, 3, 4, dtype=d)), ('matmul', some(3, dtype=d), some(3, dtype=d)), ('matmul', some(2, 3, dtype=d), some(3, dtype=d)),
                       ('matmul', some(3, dtype=d), some(3, 2, dtype=d)), ('matmul', some(2, 2, 3, dtype=d), some(3, 2, dtype=d)), ('matmul', some(2, 3, dtype=d), some(2, 3, 2, dtype=d)), ('matmul', some(4, 1, 2, 3, dtype=d), some(2, 3, 2, dtype=d)),
                       ('mv', some(2, 3, dtype=d), some(3, dtype=d)), ('dot', some(3, dtype=d), some(3, dtype=d)), ('outer', some(3, dtype=d), some(2, dtype=d)), ('linear', some(2, 2, 3, dtype=d), some(4, 3, dtype=d), some(4, dtype=d)), ('linear', some(3, dtype=d), some(4, 3, dtype=d)),
                       ('addmm', some(4, dtype=d), some(2, 3, dtype=d), some(3, 4, dtype=d)), ('addmv', some(2, dtype=d), some(2, 3, dtype=d), some(3, dtype=d)), ('baddbmm', some(2, 1, 4, dtype=d), some(2, 2, 3, dtype=d), some(2, 3, 4, dtype=d)),
                       ('addbmm', some(2, 4, dtype=d), some(2, 2, 3, dtype=d), some(2, 3, 4, dtype=d)), ('addr', some(3, 2, dtype=d), some(3, dtype=d), some(2, dtype=d)), ('inner', some(2, 3, dtype=d), some(4, 3, dtype=d)), ('tensordot', some(2, 3, dtype=d), some(3, 4, dtype=d), [1], [0]),
                       ('kron', some(2, 2, dtype=d), some(1, 3, dtype=d)),
                       ('conv1d', some(2, 3, 8, dtype=d), some(4, 3, 3, dtype=d), some(4, dtype=d)), ('conv2d', some(2, 4, 6, 5, dtype=d), some(4, 2, 3, 3, dtype=d), some(4, dtype=d), [2, 1], [1, 1], [1, 1], 2),
                       ('conv2d', some(4, 6, 5, dtype=d), some(4, 4, 3, 3, dtype=d)), ('conv2d', some(1, 2, 8, 8, dtype=d), some(3, 2, 3, 3, dtype=d), None, [1, 1], [2, 2], [2, 2]), ('conv3d', some(1, 2, 4, 4, 4, dtype=d), some(2, 2, 2, 2, 2, dtype=d)),
                       ('conv2d.padding', some(1, 2, 5, 5, dtype=d), some(3, 2, 3, 2, dtype=d), None, [1, 1], 'same'), ('conv_transpose1d', some(1, 2, 4, dtype=d), some(2, 3, 3, dtype=d), some(3, dtype=d), [2], [1], [1]),
                       ('conv_transpose2d.input', some(1, 4, 3, 3, dtype=d), some(4, 2, 3, 3, dtype=d), None, [2, 2], [1, 1], [0, 0], 2),
                       ('scaled_dot_product_attention', some(1, 2, 3, 4, dtype=d), some(1, 2, 5, 4, dtype=d), some(1, 2, 5, 4, dtype=d)), ('scaled_dot_product_attention', some(1, 2, 5, 4, dtype=d), some(1, 2, 5, 4, dtype=d), some(1, 2, 5, 4, dtype=d), None, 0.0, True),
                       ('scaled_dot_product_attention', some(1, 2, 3, 4, dtype=d), some(1, 2, 5, 4, dtype=d), some(1, 2, 5, 4, dtype=d), some(3, 5, dtype=d))):
            out.append(case(op, *a, slack=8.0, any_stride=op[:4] in ('conv', 'scal')))
    for d in ('i64', 'c64'):
        out.append(case('mm', some(2, 3, dtype=d), some(3, 4, dtype=d)))
        out.append(case('addmm', some(4, dtype=d), some(2, 3, dtype=d), some(3, 4, dtype=d), kwargs={'beta': 2, 'alpha': 3}, slack=4.0))
        out.append(case('matmul', some(2, 2, 3, dtype=d), some(3, dtype=d), slack=4.0))
    out.append(case('addmm', torch.full((2, 2), nan), floats(2, 3), floats(3, 2), kwargs={'beta': 0}))
    for a in (('mm', floats(2, 3), floats(2, 3)), ('mm', floats(3), floats(3, 2)), ('mm', floats(2, 3), floats(3, 2, dtype='f64')), ('matmul', floats(2, 3), floats(2, 3)), ('matmul', torch.tensor(1.0), floats(3)), ('bmm', floats(2, 2, 3), floats(2, 2, 3)),
              ('dot', floats(3), floats(4)), ('conv2d', floats(1, 3, 5, 5), floats(2, 2, 3, 3)), ('native_layer_norm', floats(2, 3), [4], None, None, 1e-5)):
        out.append(case(*a))
    a = floats(2, 3, 3, dtype='f64')
    spd = a @ a.mT + torch.eye(3, dtype=torch.float64)
    out.append(case('linalg_cholesky_ex', spd, any_stride=True))
    out.append(case('linalg_cholesky_ex', spd, kwargs={'upper': True}, any_stride=True))
    return out


def creations():
    out = []
    for op, *a in (('zeros', [2, 3]), ('ones', [2]), ('full', [2, 2], 3), ('full', [2], 2.5), ('full', [2], True), ('arange', 5), ('arange', 2.5), ('arange.start', 2, 7), ('arange.start_step', 1, 8, 3), ('arange.start_step', 5, 0, -2), ('arange.start_step', 0.0, 1.0, 0.25),
                   ('arange.start_step', 0, 5, -1), ('linspace', 0, 1, 5), ('linspace', 3, -3, 4), ('linspace', 2, 9, 1), ('eye', 3), ('eye.m', 2, 3), ('scalar_tensor', 3), ('zeros', [-1])):
        out.append(case(op, *a))
    for d in ('f32', 'i64', 'bf16'):
        x = some(2, 3, dtype=d).t()
        for op, *a in (('zeros_like',), ('ones_like',), ('full_like', 2), ('new_zeros', [2]), ('new_full', [2], 3), ('new_ones', [1, 2]), ('fill.Scalar', 3), ('fill_.Scalar', 2.5), ('zero',), ('zero_',), ('clone',), ('copy', floats(3, 2)), ('copy_', floats(2)), ('fill.Tensor', torch.tensor(2.0))):
            out.append(case(op, x, *a))
        out.append(case('_to_copy', x, kwargs={'dtype': torch.float64}))
        out.append(case('cat', [some(2, 3, dtype=d), floats(1, 3)]))
        out.append(case('cat', [some(2, 3, dtype=d), some(2, 1, dtype=d), torch.empty(0)], 1))
        out.append(case('stack', [some(3, dtype=d), some(3, dtype=d)], -1))
        out.append(case('hstack', [some(2, 1, dtype=d), some(2, 2, dtype=d)]))
        out.append(case('vstack', [some(2, dtype=d), some(3, 2, dtype=d)]))
        out.append(case('dstack', [some(2, 2, dtype=d), some(2, 2, dtype=d)]))
        out.append(case('column_stack', [some(2, dtype=d), some(2, 2, dtype=d)]))
        out.append(case('select_scatter', some(2, 3, dtype=d), some(3, dtype=d), 0, 1))
        out.append(case('slice_scatter', some(5, 2, dtype=d), some(2, 2, dtype=d), 0, 1, 4, 2))
        out.append(case('diagonal_scatter', some(3, 3, dtype=d), some(3, dtype=d)))
        out.append(case('pixel_shuffle', some(1, 8, 2, 3, dtype=d), 2))
        out.append(case('pixel_unshuffle', some(1, 2, 4, 6, dtype=d), 2))
        out.append(case('channel_shuffle', some(1, 6, 2, dtype=d), 3, any_stride=True))
        for op, *a in (('_foreach_add.List', [some(3, dtype=d), some(2, 2, dtype=d)], [some(3, dtype=d), some(2, 2, dtype=d)]), ('_foreach_add.Scalar', [some(3, dtype=d)], 2), ('_foreach_mul.ScalarList', [some(3, dtype=d), some(2, dtype=d)], [2, 3]),
                       ('_foreach_abs', [some(3, dtype=d)]), ('_foreach_sqrt', [some(3, dtype=d).abs()]), ('_foreach_mul_.List', [some(3, dtype=d)], [some(3, dtype=d)]), ('_foreach_addcmul.Scalar', [some(3, dtype=d)], [some(3, dtype=d)], [some(3, dtype=d)], 2), ('_foreach_maximum.List', [some(3, dtype=d)], [some(3, dtype=d)])):
            out.append(case(op, *a, slack=2.0))
    for a in (('cat', [floats(2, 3), floats(3, 2)]), ('cat', [torch.tensor(1.0)]), ('stack', [floats(2), floats(3)]), ('complex', floats(2), floats(2)), ('polar', floats(2).abs(), floats(2))):
        out.append(case(*a))
    return [c for c in out if not (c['op'].endswith('_.List') and 'error' not in c and not c['out'])]


FILES = {'reductions': reductions, 'networks': networks, 'creations': creations, 'strides': strides, 'unary': unary, 'binary': binary, 'views': views}


def main():
    sys.path.insert(0, os.path.dirname(__file__))
    names = sys.argv[1:] or list(FILES)
    for name in names:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + '.json')
        cases = FILES[name]()
        with open(path, 'w') as f:
            f.write('[\n' + ',\n'.join(json.dumps(c, separators=(',', ':')) for c in cases) + '\n]\n')
        print(name, len(cases))


if __name__ == '__main__':
    main()
