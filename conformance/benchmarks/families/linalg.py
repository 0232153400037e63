"""Factorizations, Fourier transforms and products with sparse matrices."""

import math

from .case import Case

ORDERS = ((64, 64), (128, 128), (256, 256), (512, 512), (1024, 1024), (1000, 16, 16))


def sized(name, shape):
    return f"{name} {'x'.join(map(str, shape))}"


def near(torch, a, b, scale=1.0):
    """Matrices that differ by what a factorization's roundings may."""
    size = float(torch.linalg.matrix_norm(b).max())
    allowed = 100 * scale * b.shape[-1] * torch.finfo(b.dtype).eps * size
    return float(torch.linalg.matrix_norm(a - b).max()) <= allowed


def condition(torch, a):
    return float(torch.linalg.cond(a).max())


def solved_least_squares(torch, a, r):
    normal = a[0].mH
    return near(torch, normal @ (a[0] @ r[0]), normal @ a[1], condition(torch, a[0]))


def unpacked(torch, factors):
    p, lower, upper = torch.lu_unpack(*factors)
    return p @ lower @ upper


def diagonalized(torch, a, r):
    return near(torch, a[0].to(r[1].dtype) @ r[1], r[1] * r[0].unsqueeze(-2), 10)


CHECKS = {
    "linalg_lu_factor": lambda torch, a, r: near(torch, unpacked(torch, r), a[0]),
    "linalg_qr": lambda torch, a, r: near(torch, r[0] @ r[1], a[0]),
    "linalg_svd": lambda torch, a, r: near(torch, r[0] * r[1].unsqueeze(-2) @ r[2], a[0]),
    "linalg_eigh": diagonalized,
    "linalg_solve": lambda torch, a, r: near(torch, a[0] @ r[0], a[1], condition(torch, a[0])),
    "linalg_cholesky": lambda torch, a, r: near(torch, r[0] @ r[0].mH, a[0]),
    "linalg_svdvals": lambda torch, a, r: near(
        torch, r[0].unsqueeze(-1), torch.linalg.svdvals(a[0]).unsqueeze(-1)
    ),
    "linalg_eig": diagonalized,
    "linalg_ldl_factor": lambda torch, a, r: near(
        torch, a[0] @ torch.linalg.ldl_solve(*r, a[0]), a[0], condition(torch, a[0])
    ),
    "linalg_lstsq": solved_least_squares,
}


def matrix_of(torch, overload, shape, dtype):
    a = torch.randn(shape, dtype=dtype)
    if overload in ("linalg_eigh", "linalg_ldl_factor"):
        return a + a.mH
    if overload == "linalg_cholesky":
        return a @ a.mH + shape[-1] * torch.eye(shape[-1], dtype=dtype)
    return a


def factorizations(torch, dtype, overloads):
    for overload in overloads:
        for shape in ORDERS:
            args = [matrix_of(torch, overload, shape, dtype)]
            if overload in ("linalg_solve", "linalg_lstsq"):
                args.append(torch.randn(*shape[:-1], 8, dtype=dtype))
            named = {"full_matrices": False} if overload == "linalg_svd" else {}
            name = sized(overload.removeprefix("linalg_"), shape)
            check = lambda a, r, overload=overload: CHECKS[overload](torch, a, r)
            yield Case(name, overload, args, named, check=check)


def factors(torch, dtype):
    yield from factorizations(torch, dtype, list(CHECKS)[:5])


def other_factors(torch, dtype):
    yield from factorizations(torch, dtype, list(CHECKS)[5:])


def transforms(torch, dtype):
    complex_type = torch.promote_types(dtype, torch.complex32)
    lengths = [1 << power for power in range(10, 23, 2)] + [1009, 10007, 1000003]
    sides = (256, 512, 1024, 2048)

    def same(args, r):
        want = torch.fft.fftn(args[0].to(torch.complex128))
        off = float((r[0] - want).abs().max())
        return off <= 100 * torch.finfo(dtype).eps * float(want.abs().max())

    for shape in [(n,) for n in lengths] + [(n, n) for n in sides]:
        x = torch.randn(shape, dtype=complex_type)
        yield Case(sized("fft", shape), "fft_fftn", [x], check=same)


def sparse_products(torch, dtype):
    n = 4096
    for density in (0.01, 0.1):
        a = torch.rand(n, n, dtype=dtype) * (torch.rand(n, n) < density)
        for width in (1, 64, 512):
            b = torch.rand(n, width, dtype=dtype)

            def same(args, r, a=a, b=b):
                return torch.allclose(r[0], a @ b, rtol=math.sqrt(torch.finfo(a.dtype).eps))

            name = f"csr x {n} x {width}, {1 - density:.0%} zeros"
            yield Case(name, "mm", [a.to_sparse_csr(), b], check=same)
