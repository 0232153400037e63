"""Factorizations, which are unique up to signs, phases and the order of equal values: their results
are held against the property that defines them."""

import torch

# In units of n * eps * |A|; backward stable algorithms stay well within it.
ALLOWED = 30.0


def _eps(*tensors):
    """The greatest of their roundoffs: an out= tensor may be narrower than what was computed, or
    wider."""
    return max(torch.finfo(t.dtype).eps for t in tensors)


def _matrix(given):
    return given["A" if "A" in given else "self"]


def _double(x):
    return x.detach().resolve_conj().resolve_neg().to(torch.complex128)


def _near(a, b, size, eps):
    """Whether the matrices differ by no more than rounding in n steps of numbers like `size`."""
    if a.shape != b.shape:
        return False
    if a.numel() == 0:
        return True
    n = max(a.shape[-2:]) + 4
    allowed = ALLOWED * n * eps * size
    off = torch.linalg.matrix_norm(a - b)
    return bool((off <= allowed).all())  # NaN is not


def _size(a):
    return torch.linalg.matrix_norm(a) if a.numel() else a.new_zeros(a.shape[:-2]).real


def _orthonormal(q, eps):
    one = torch.eye(q.shape[-1], dtype=q.dtype)
    return _near(q.mH @ q, one.expand(*q.shape[:-2], *one.shape), 1.0, eps)


def _same_values(a, b, size, eps):
    """Real values in order."""
    return _near(a.unsqueeze(-1).to(torch.complex128), b.unsqueeze(-1).to(torch.complex128),
                 size, eps)


def _qr(given, q, r):
    mode = given.get("mode", "reduced" if given.get("some", True) else "complete")
    a, eps = _double(_matrix(given)), _eps(_matrix(given), q, r)
    q, r = _double(q), _double(r)
    if not torch.equal(r, r.triu()):
        return False
    if mode == "r":
        return _near(r.mH @ r, a.mH @ a, _size(a) ** 2, eps)
    return _near(q @ r, a, _size(a), eps) and _orthonormal(q, eps)


def _lu(given, p, lower, upper):
    """Which rows a singular matrix exchanges is by rounding."""
    a, eps = _double(_matrix(given)), _eps(_matrix(given), lower, upper)
    lower, upper = _double(lower), _double(upper)
    product = lower @ upper if p.numel() == 0 else _double(p) @ lower @ upper
    ones = lower.diagonal(dim1=-2, dim2=-1)
    triangles = torch.equal(lower, lower.tril()) and torch.equal(upper, upper.triu())
    size = _size(lower) * _size(upper)
    return triangles and bool((ones == 1).all()) and _near(product, a, size, eps)


def _svd(given, u, s, vh, transposed=False):
    a, eps = _double(_matrix(given)), _eps(_matrix(given), u, s, vh)
    values = torch.linalg.svdvals(a)
    if not _same_values(s, values, _size(a), eps):
        return False
    if not given.get("compute_uv", True):
        return not u.any() and not vh.any()
    u, vh = _double(u), _double(vh)
    vh = vh.mH if transposed else vh
    k = s.shape[-1]
    product = u[..., :k] @ (s.unsqueeze(-1).to(u.dtype) * vh[..., :k, :])
    return _near(product, a, _size(a), eps) and _orthonormal(u, eps) and _orthonormal(vh.mH, eps)


def _hermitian(given):
    a = _double(_matrix(given))
    upper = given.get("UPLO", "L").upper() == "U"
    strict = a.triu(1) if upper else a.tril(-1)
    return strict + strict.mH + torch.diag_embed(a.diagonal(dim1=-2, dim2=-1).real)


def _eigh(given, values, vectors):
    a, eps = _hermitian(given), _eps(_matrix(given), values, vectors)
    if not _same_values(values, torch.linalg.eigvalsh(a), _size(a), eps):
        return False
    if not given.get("compute_v", True):
        return vectors.numel() == 0
    v = _double(vectors)
    return (_near(a @ v, v * values.unsqueeze(-2), _size(a), eps) and _orthonormal(v, eps))


def _singular_values(given, values):
    a = _double(_matrix(given))
    return _same_values(values, torch.linalg.svdvals(a), _size(a), _eps(_matrix(given), values))


def _hermitian_eigenvalues(given, values):
    a = _hermitian(given)
    return _same_values(values, torch.linalg.eigvalsh(a), _size(a), _eps(_matrix(given), values))


def _power_sums(a, values, eps):
    """Eigenvalues in any order, by the traces of powers, which have no condition."""
    power, n = a, a.shape[-1]
    for k in (1, 2, 3):
        trace = power.diagonal(dim1=-2, dim2=-1).sum(-1)
        off = ((values ** k).sum(-1) - trace).abs()
        if not bool((off <= ALLOWED * n * k * eps * _size(a) ** k).all()):
            return False
        power = power @ a
    return True


def _eigvals(given, values):
    return _power_sums(_double(_matrix(given)), _double(values), _eps(_matrix(given), values))


def _eig(given, values, vectors):
    a, v, eps = _double(given["self"]), _double(vectors), _eps(_matrix(given), values, vectors)
    lengths = torch.linalg.vector_norm(v, dim=-2)
    unit = torch.allclose(lengths, torch.ones_like(lengths), atol=ALLOWED * eps)
    return (unit and _near(a @ v, v * _double(values).unsqueeze(-2), _size(a), eps)
            and _eigvals(given, values))


def _geqrf(given, packed, tau):
    a, eps = _double(given["self"]), _eps(_matrix(given), packed, tau)
    v, k = _double(packed), tau.shape[-1]
    q = torch.linalg.householder_product(v[..., :k], _double(tau))
    return _near(q @ v[..., :k, :].triu(), a, _size(a), eps) and _orthonormal(q, eps)


def _pinv(given, x):
    """As exact as the matrix is well conditioned; what counts is decided as in its own dtype."""
    own = given["self"]
    a, eps = _double(own), _eps(own, x)
    atol, rtol = given.get("atol"), given.get("rcond", given.get("rtol"))
    if rtol is None:
        rtol = max(own.shape[-2:]) * torch.finfo(own.dtype).eps
        if atol is not None:
            rtol = torch.where(torch.as_tensor(atol) > 0, 0.0, rtol)
    atol = 0.0 if atol is None else atol
    rtol, atol = (torch.as_tensor(t, dtype=torch.float64) for t in (rtol, atol))
    exact = torch.linalg.pinv(a, atol=atol, rtol=rtol, hermitian=given.get("hermitian", False))
    return _near(_double(x), exact, _size(a) * _size(exact) ** 2, eps)


def _tensorinv(given, x):
    """The inverse of a matrix with several dims on either side, as exact as it is well conditioned."""
    own, eps = given["self"], _eps(given["self"], x)
    rows = own.shape[:given.get("ind", 2)].numel()
    a = _double(own).reshape(rows, rows)
    exact = torch.linalg.inv(a)
    return _near(_double(x).reshape(rows, rows), exact, _size(a) * _size(exact) ** 2, eps)


def _by_columns(svd):
    return lambda given, u, s, v: svd(given, u, s, v, transposed=True)


PROPERTIES = {
    "geqrf": _geqrf,
    "linalg_pinv": _pinv,
    "linalg_tensorinv": _tensorinv,
    "pinverse": _pinv,
    "linalg_lu": _lu,
    "linalg_qr": _qr,
    "qr": _qr,
    "linalg_svd": _svd,
    "_linalg_svd": _svd,
    "svd": _by_columns(_svd),
    "linalg_svdvals": _singular_values,
    "linalg_eigh": _eigh,
    "linalg_eigvalsh": _hermitian_eigenvalues,
    "_linalg_eigh": _eigh,
    "linalg_eig": _eig,
    "linalg_eigvals": _eigvals,
    "_linalg_eigvals": _eigvals,
}
