"""Layers of networks: pooling, pictures, norms, bags of rows, an LSTM."""

from .case import Case


def pooling(torch, dtype):
    x = torch.randn(8, 32, 64, 64)
    window = ([3, 3], [2, 2], [1, 1])
    pooled, places = torch.ops.aten.max_pool2d_with_indices(x, *window)
    grad = torch.randn_like(pooled)
    small = torch.randn(8, 32, 7, 7)
    yield Case("max_pool2d", "max_pool2d_with_indices", [x, *window])
    yield Case(
        "max_pool2d_backward",
        "max_pool2d_with_indices_backward",
        [grad, x, *window, [1, 1], False, places],
    )
    yield Case("avg_pool2d", "avg_pool2d", [x, *window])
    yield Case("avg_pool2d_backward", "avg_pool2d_backward", [grad, x, *window, False, True, None])
    yield Case("adaptive_avg_pool2d even", "_adaptive_avg_pool2d", [x, [8, 8]])
    yield Case("adaptive_avg_pool2d uneven", "_adaptive_avg_pool2d", [x, [7, 7]])
    yield Case("adaptive_avg_pool2d_backward", "_adaptive_avg_pool2d_backward", [small, x])
    yield Case("adaptive_max_pool2d uneven", "adaptive_max_pool2d", [x, [7, 7]])


def upsampling(torch, dtype):
    x, wide = torch.randn(4, 8, 128, 128), torch.randn(4, 8, 256, 256)
    picture = torch.randint(0, 256, (4, 3, 256, 256), dtype=torch.uint8)
    sizes = [256, 256], [4, 8, 128, 128]
    yield Case("upsample_bilinear2d", "upsample_bilinear2d", [x, [256, 256], False])
    yield Case("upsample_bicubic2d", "upsample_bicubic2d", [x, [192, 192], False])
    yield Case("upsample_nearest2d", "upsample_nearest2d", [x, [256, 256]])
    yield Case(
        "upsample_bilinear2d_backward", "upsample_bilinear2d_backward", [wide, *sizes, False]
    )
    yield Case("upsample_nearest2d_backward", "upsample_nearest2d_backward", [wide, *sizes])
    yield Case("antialiased f32", "_upsample_bilinear2d_aa", [x, [60, 60], False])
    yield Case("antialiased u8", "_upsample_bilinear2d_aa", [picture, [100, 100], False])


def batch_norm(torch, dtype):
    x, grad = torch.randn(16, 64, 32, 32), torch.randn(16, 64, 32, 32)
    weight, bias = torch.rand(64) + 0.5, torch.randn(64)
    args = [x, weight, bias, None, None, True, 0.1, 1e-5]
    _, mean, rstd = torch.ops.aten.native_batch_norm(*args)
    yield Case("batch_norm", "native_batch_norm", args)
    yield Case(
        "batch_norm_backward",
        "native_batch_norm_backward",
        [grad, x, weight, None, None, mean, rstd, True, 1e-5, [True] * 3],
    )


def recurrent(torch, dtype):
    sizes = [(2048, 512), (2048, 512), (2048,), (2048,)]
    parameters = [0.05 * torch.randn(size) for size in sizes]
    state = [torch.zeros(1, 32, 512)] * 2
    x = torch.randn(128, 32, 512)
    yield Case("lstm", "lstm.input", [x, state, parameters, True, 1, 0.0, False, False, False])


def sampling(torch, dtype):
    x, grad = torch.randn(4, 8, 128, 128), torch.randn(4, 8, 128, 128)
    grid = torch.rand(4, 128, 128, 2) * 2.2 - 1.1
    yield Case("grid_sampler_2d", "grid_sampler_2d", [x, grid, 0, 0, False])
    yield Case(
        "grid_sampler_2d_backward",
        "grid_sampler_2d_backward",
        [grad, x, grid, 0, 0, False, [True, True]],
    )


def other_norms(torch, dtype):
    x, grad = torch.randn(16, 64, 32, 32), torch.randn(16, 64, 32, 32)
    weight, bias = torch.rand(64) + 0.5, torch.randn(64)
    group = [16, 64, 1024, 8]
    _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, bias, *group, 1e-5)
    yield Case("group_norm", "native_group_norm", [x, weight, bias, *group, 1e-5])
    yield Case(
        "group_norm_backward",
        "native_group_norm_backward",
        [grad, x, mean, rstd, weight, *group, [True] * 3],
    )
    for columns in (64, 1024):
        shape = (1 << 20) // columns, columns
        x, grad = torch.randn(shape), torch.randn(shape)
        weight, bias = torch.rand(columns) + 0.5, torch.randn(columns)
        args = [x, [columns], weight, bias, 1e-5]
        _, mean, rstd = torch.ops.aten.native_layer_norm(*args)
        yield Case(f"layer_norm {columns}", "native_layer_norm", args)
        yield Case(
            f"layer_norm_backward {columns}",
            "native_layer_norm_backward",
            [grad, x, [columns], mean, rstd, weight, bias, [True] * 3],
        )
    v = torch.randn(512, 512)
    yield Case("weight_norm", "_weight_norm_interface", [v, torch.rand(512, 1), 0])
    yield Case("var long rows", "var.correction", [torch.randn(8, 1 << 18), [1]])
    yield Case("var all", "var.correction", [torch.randn(1 << 20)])


def bags(torch, dtype):
    weight, indices = torch.randn(10000, 64), torch.randint(0, 10000, (20000,))
    offsets = torch.arange(0, 20000, 20)
    for mode, name in enumerate(("sum", "mean", "max")):
        args = [weight, indices, offsets, False, mode]
        yield Case(f"embedding_bag {name}", "_embedding_bag", args, count=1)
    grad = torch.randn(20000, 64)
    yield Case("embedding_backward", "embedding_dense_backward", [grad, indices, 10000, -1, False])
    data, lengths = torch.randn(20000, 64), torch.full((1000,), 20)
    for name in ("sum", "max"):
        named = {"lengths": lengths, "axis": 0, "unsafe": True}
        yield Case(f"segment_reduce {name}", "segment_reduce", [data, name], named)
