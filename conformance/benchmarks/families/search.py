"""Elements that are alike, in the middle or near each other."""

from .case import Case


def unique(torch, dtype):
    whole = torch.randint(0, 1000, (1 << 20,))
    yield Case("unique, few values", "_unique2", [whole, True, True, True])
    yield Case("unique alone", "_unique2", [whole])
    yield Case("unique, many values", "_unique2", [torch.randint(0, 1 << 40, (1 << 20,))])
    yield Case("unique f32", "_unique2", [torch.randn(1 << 20), True, True, True])


def median(torch, dtype):
    x = torch.randn(1 << 20)
    yield Case("median", "median", [x])
    yield Case("median rows", "median.dim", [x.reshape(1024, 1024), 1], count=1)


def cdist(torch, dtype):
    a, b = torch.randn(1000, 64), torch.randn(1000, 64)
    yield Case("cdist", "_cdist_forward", [a, b, 2.0, None])
    yield Case("cdist p=1", "_cdist_forward", [a[:500], b[:500], 1.0, None])


def counting(torch, dtype):
    x, whole = torch.randn(1 << 20), torch.randint(0, 1000, (1 << 20,))
    yield Case("histc", "histc", [x, 100, -3, 3])
    yield Case("histogram", "histogram.bin_ct", [x, 100], {"range": [-3.0, 3.0]})
    runs = whole.sort()[0] // 4
    yield Case("unique_consecutive", "unique_consecutive", [runs, True, True])
    yield Case("mode rows", "mode", [whole.reshape(1024, 1024), 1], count=1)
