"""A table of calls that need some dozens of kernels; prints the bits of their results."""

import primset
from primset import ops


def main():
    x = ops.arange(0, 600, dtype=primset.float32) / 100
    g = ops.reshape(x, [20, 30])
    unary = ["exp", "log1p", "sin", "cos", "tanh", "sqrt", "abs", "neg", "floor", "erf", "gelu", "relu",
             "sigmoid", "square", "silu"]
    binary = ["add", "sub", "mul", "div", "maximum", "minimum", "atan2"]
    reductions = ["sum", "mean", "amax", "amin", "prod", "argmax", "std"]
    for name in unary:
        print(name, getattr(ops, name)(x).tolist())
    for name in binary:
        print(name, getattr(ops, name)(x, x + 1).tolist())
    for name in reductions:
        print(name, getattr(ops, name)(g).tolist())
    print("softmax", ops.softmax(g, 1).tolist())
    print("cumsum", ops.cumsum(g, 1).tolist())
    print("sort", ops.sort(g, 1)[0].tolist())
    print("mm", ops.mm(g, ops.t(g)).tolist())
    print("gather", ops.index_select(g, 0, ops.arange(0, 20, 3)).tolist())


if __name__ == "__main__":
    main()
