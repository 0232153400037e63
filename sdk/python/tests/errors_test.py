"""What goes wrong arrives as an exception of the right class that says what, where and why."""

import primset
import pytest
from primset import ops

CLASSES = {
    "runtime": RuntimeError, "index": IndexError, "value": ValueError, "type": TypeError,
    "not_implemented": NotImplementedError,
}


@pytest.fixture
def a():
    return primset.tensor([[1.0, 2.0], [3.0, 4.0]])


def raises(code, text):
    class Expect:
        def __enter__(self):
            self.context = pytest.raises(primset.Error, match=text)
            self.info = self.context.__enter__()
            return self.info

        def __exit__(self, *error):
            result = self.context.__exit__(*error)
            assert self.info.value.code == code
            assert isinstance(self.info.value, CLASSES[code])
            return result

    return Expect()


def test_shapes_that_do_not_fit(a):
    with raises("runtime", r"mat1 and mat2 shapes cannot be multiplied \(2x2 and 1x1\)"):
        ops.mm(a, primset.tensor([[1.0]]))
    with raises("runtime", r"size of tensor a \(2\) must match the size of tensor b \(3\)"):
        ops.add(a, primset.tensor([1.0, 2.0, 3.0]))


def test_indices_and_dims_out_of_range(a):
    with raises("index", "Dimension out of range .* but got 2"):
        ops.sum(a, [2])
    with raises("index", "index 5 out of range for tensor of size .2, 2. at dimension 0"):
        a[5]
    with raises("index", "index 7 of 'indices' is out of bounds"):
        ops.embedding(a, primset.tensor([0, 7]))


def test_an_index_out_of_range_leaves_memory_alone(a):
    with raises("index", "out of"):
        ops.index_put_(a, [primset.tensor([0, 9])], primset.tensor(5.0))
    assert a.shape == (2, 2)
    assert a[1].tolist() == [3, 4]


def test_wrong_arguments_name_the_nearest_overloads(a):
    with raises("type", "type 'Scalar' or 'Tensor' for argument 'other'") as error:
        ops.add(a, "x")
    text = str(error.value)
    assert "but instead found type 'str'" in text
    assert "add.Scalar(Tensor self" in text
    with raises("type", "missing value for argument 'other'"):
        ops.add.Tensor(a)
    with raises("type", "beta"):
        ops.add.Tensor(a, a, beta=1)


def test_unknown_names(a):
    with raises("not_implemented", "no operator is called 'nosuch'"):
        primset.invoke("nosuch", a)
    with pytest.raises(AttributeError, match="no operator is called .nosuch."):
        _ = ops.nosuch
    with pytest.raises(AttributeError, match="nosuch"):
        _ = a.nosuch
    with pytest.raises(primset.PluginError, match="no plugin named nosuch; found: .*cpu"):
        a.to("nosuch:0")


def test_declared_operators_that_are_not_implemented_say_so(a):
    def takes_one_tensor(name):
        return primset.describe(name)["schema"] == f"{name}(Tensor self) -> Tensor"

    missing = sorted(set(primset.operators(all=True)) - set(primset.operators()))
    for name in filter(takes_one_tensor, missing):
        with raises("not_implemented", "declared but not implemented"):
            primset.invoke(name, a)


def test_conversions(a):
    with raises("runtime", "4 elements cannot be converted to Scalar"):
        float(a)
    with raises("runtime", "more than one value is ambiguous"):
        bool(a)
    with pytest.raises(TypeError, match="0-d"):
        len(primset.tensor(1))
    with raises("not_implemented", "no data"):
        ops.empty([2], device="meta").tolist()


def test_an_error_leaves_the_next_call_unharmed(a):
    for _ in range(3):
        with raises("runtime", "shapes"):
            ops.mm(a, primset.tensor([[1.0]]))
        assert ops.mm(a, a).tolist() == [[7, 10], [15, 22]]
