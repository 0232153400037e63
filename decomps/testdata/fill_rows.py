#!/usr/bin/env python3
"""Writes what PyTorch gives behind the rows that have no result yet.

    python fill_rows.py rows/indexing.txt ...

A row is a line as operators_test.cpp describes it.
"""
import re
import sys

import torch

TORCH = {'f32': torch.float32, 'f64': torch.float64, 'f16': torch.float16, 'bf16': torch.bfloat16,
         'i64': torch.int64, 'i32': torch.int32, 'i16': torch.int16, 'i8': torch.int8,
         'u8': torch.uint8, 'bool': torch.bool, 'c64': torch.complex64, 'c128': torch.complex128,
         'u64': torch.uint64}
NAME = {v: k for k, v in TORCH.items()}
CODES = [(torch.linalg.LinAlgError, 'linalg'), (IndexError, 'index'),
         (NotImplementedError, 'not_implemented'), (ValueError, 'value'), (TypeError, 'type'),
         (RuntimeError, 'runtime')]
TENSOR = re.compile(r'~?(\w+)\[([\d,]*)\](?:@\(([\d,]*)\))?\{([^}]*)\}')


def number(text, dtype):
    if text in ('true', 'false'):
        return text == 'true'
    if dtype.is_complex:
        parts = [float(p) for p in text.split(',')]
        return complex(*parts)
    return float(text) if dtype.is_floating_point else int(text)


def ints(text):
    return [int(v) for v in text.split(',')] if text else []


def tensor(match):
    dtype, shape = TORCH[match[1]], ints(match[2])
    values = torch.tensor([number(v, dtype) for v in match[4].split()], dtype=dtype).reshape(shape)
    if match[3] is None:
        return values
    strides = ints(match[3])
    room = 1 + sum((s - 1) * k for s, k in zip(shape, strides)) if values.numel() else 0
    out = torch.as_strided(torch.zeros(max(room, 1), dtype=dtype), shape, strides)
    return out.copy_(values)


def plain(word):
    if word == 'none':
        return None
    if word in ('true', 'false'):
        return word == 'true'
    if re.fullmatch(r'-?\d+', word):
        return int(word)
    if ',' in word:
        return complex(*[float(p) for p in word.split(',')])
    return float(word)


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def spaces(self):
        while self.at < len(self.text) and self.text[self.at] == ' ':
            self.at += 1

    def match(self, pattern):
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def value(self):
        if self.match(r'\('):
            out = []
            self.spaces()
            while not self.match(r'\)'):
                out.append(self.value())
                self.spaces()
            return out
        if found := self.match(r"'([^']*)'"):
            return found[1]
        if found := self.match(r':(\w+)'):
            return TORCH[found[1]]
        if found := self.match(TENSOR.pattern):
            return tensor(found)
        return plain(self.match(r'[^ )]+')[0])


def call(text):
    reader = Reader(text)
    name = reader.match(r'\S+')[0]
    op, _, overload = name.partition('.')
    args = {}
    reader.spaces()
    while reader.at < len(text):
        key = reader.match(r'(\w+)=')[1]
        args[key] = reader.value()
        reader.spaces()
    function = getattr(getattr(torch.ops.aten, op), overload or 'default')
    given = dict(args)
    positional = []
    for a in function._schema.arguments:
        if a.kwarg_only or a.name not in args:
            break
        positional.append(args.pop(a.name))
    result = function(*positional, **args)
    returned = [] if result is None else flat(result)
    written = [given[a.name] for a in function._schema.arguments
               if a.alias_info and a.alias_info.is_write]
    return returned + [t for t in flat(written) if not any(t is r for r in returned)]


def shown(value, dtype):
    if dtype.is_complex:
        return f'{shown(value.real, torch.float64)},{shown(value.imag, torch.float64)}'
    if dtype == torch.bool:
        return 'true' if value else 'false'
    if not dtype.is_floating_point:
        return str(value)
    digits = {torch.float64: 16, torch.float32: 8}.get(dtype, 5)
    return f'{value:.{digits}g}'.replace('nan', 'nan')


def result(t):
    values = t.resolve_conj().resolve_neg().contiguous().flatten()
    text = ' '.join(shown(v, t.dtype) for v in values.tolist())
    shape, strides = list(t.shape), list(t.stride())
    dense = [1] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        dense[d] = dense[d + 1] * max(shape[d + 1], 1)
    plain_strides = t.numel() == 0 or all(a == b or s == 1 for a, b, s in zip(strides, dense, shape))
    at = '' if plain_strides else '@(' + ','.join(map(str, strides)) + ')'
    return f'{NAME[t.dtype]}[{",".join(map(str, shape))}]{at}{{{text}}}'


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in flat(v)]


def answer(text):
    try:
        return ' '.join(result(t) for t in flat(call(text)))
    except Exception as e:  # what PyTorch throws is the answer
        code = next((c for k, c in CODES if isinstance(e, k)), None)
        if code is None:
            raise
        message = str(e).split('\n')[0]
        return f'!{code} "{message}"'


def filled(line):
    if ' -> ' in line or not line.strip() or line.startswith('#'):
        return line
    return f'{line.rstrip()} -> {answer(line)}'


for path in sys.argv[1:]:
    with open(path, encoding='utf-8') as file:
        lines = file.read().split('\n')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(filled(line) for line in lines))
