import primset
from primset import Tensor, ops


def mlp(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    y = ops.addmm(b, x, w)
    return ops.relu(y) + 1.5

x = primset.tensor([[1.0, 2.0], [3.0, 4.0]])
y: Tensor = mlp(x, x.T, x[0])
z: Tensor = -y * 2 / x - 3
values, indices = ops.topk(y, 1)
n: float = float(values.sum(dim=[0]).item().real)
s: tuple[int, ...] = y.shape
flag: bool = y.is_contiguous()
u = primset.invoke("add.Tensor", x, y, alpha=2)
g = primset.Graph.capture(lambda a: ops.mm(a, a), x)
(r,) = g(x)
try:
    ops.mm(x, x[0])
except primset.RuntimeError as e:
    print(e.code)
