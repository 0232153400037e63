"""Whether results are right, as far as speed needs it: conformance and the oracle hold digits.

A check is named by a case:
    values    elements agree; a few may not, where roundings lead to different sides of a jump
    ties      the same, but integers are free: which of equal elements an index names is
    shape     shapes and element types agree: random numbers, memory that is not written
    absolute  magnitudes agree: the signs of eigenvectors are free
    only N    the N-th result agrees, from 0, the others are free: factors that are not unique
    cpu ...   beside a CPU one of these, beside a GPU nothing is compared
"""

from __future__ import annotations

BOUNDS = {"bfloat16": 3e-2, "float16": 5e-3, "float64": 1e-5, "complex128": 1e-5}
BOUND = 2e-3
JUMPS = 1e-3  # the share of elements that may be on the other side of one
POISON = 77  # what memory of integers is filled with before a call; else NaN


def beside(check, on_gpu):
    """The check that a case names, beside this device; None where nothing is compared."""
    if not check.startswith("cpu "):
        return check
    return None if on_gpu else check.removeprefix("cpu ")


def complaint(torch, check, ours, theirs):
    """Why results are wrong; "" where they are right."""
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if tuple(a.shape) != tuple(b.shape):
            return f"result {i} is {list(a.shape)} instead of {list(b.shape)}"
        if a.dtype != b.dtype:
            return f"result {i} is {a.dtype} instead of {b.dtype}"
        if check == "shape" or (check.startswith("only") and i != int(check.split()[1])):
            continue
        why = _of_values(torch, check, a, b)
        if why:
            return f"result {i}: {why}"
    return ""


def _of_values(torch, check, a, b):
    inexact = b.dtype.is_floating_point or b.dtype.is_complex
    if b.numel() == 0 or (check == "ties" and not inexact):
        return ""
    if check == "absolute":
        a, b = a.abs(), b.abs()
    off = _apart(torch, a, b) if inexact else a != b
    count = int(off.sum())
    if count == 0:
        return ""
    where = int(off.reshape(-1).to(torch.uint8).argmax())
    first = a.reshape(-1)[where], b.reshape(-1)[where]
    if count > max(JUMPS * b.numel(), 1 if b.numel() > 1 else 0) or _is_poison(torch, first[0]):
        return (f"{count} of {b.numel()} elements, at {where} {first[0].item()} "
                f"instead of {first[1].item()}")
    return ""


def _apart(torch, a, b):
    """Where elements differ by more than roundings, measured by the greatest."""
    bound = BOUNDS.get(str(b.dtype).partition(".")[2], BOUND)
    wide = torch.complex128 if b.dtype.is_complex else torch.float64
    out = torch.empty(b.shape, dtype=torch.bool, device=b.device)
    finite = b.isfinite()
    scale = float(b.abs().to(torch.float64)[finite].max()) if bool(finite.any()) else 0.0
    flat_a, flat_b, flat = a.reshape(-1), b.reshape(-1), out.reshape(-1)
    step = 1 << 24  # f64 of all would take much memory
    for at in range(0, flat.numel(), step):
        x, y = flat_a[at:at + step].to(wide), flat_b[at:at + step].to(wide)
        near = torch.isclose(x, y, rtol=bound, atol=bound * scale, equal_nan=True)
        if wide.is_complex:  # which part of an overflow is infinite and which NaN is free
            near |= ~x.isfinite() & ~y.isfinite()
        flat[at:at + step] = ~near
    return out


def _is_poison(torch, x):
    return bool(x.isnan()) if x.dtype.is_floating_point or x.dtype.is_complex else int(x) == POISON


def poison(primset, tensors):
    """Fills memory with what no result is: an element that is not written shows it."""
    for t in tensors:
        if t.numel() == 0 or t.layout != primset.strided:
            continue
        kind = str(t.dtype).rpartition(".")[2]
        inexact = "float" in kind or "complex" in kind
        primset.ops.fill_(t, float("nan") if inexact else 1 if "bool" in kind else POISON)
