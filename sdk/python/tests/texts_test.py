"""The text of an error names the operator, the argument, what was found and what was expected."""

import re

import primset
import pytest
from primset import ops
from wrong_calls import CALLS


def text_of(source):
    with primset.device("cpu"):
        tensors = {
            "a": ops.ones([4, 5]), "b": ops.ones([3, 4]), "i": primset.tensor([1, 2]),
            "x": ops.ones([1, 3, 8, 8]), "w": ops.ones([4, 3, 3, 3]),
        }
        with pytest.raises(Exception) as error:
            eval(source, {"primset": primset, "ops": ops, **tensors})  # noqa: S307
    return str(error.value)


def operator_of(source):
    """The name that the call has for the operator."""
    called = re.match(r"ops\.(\w+)", source)
    return called.group(1) if called else {"a[9]": "select"}.get(source, "")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.source)
def test_a_wrong_call_is_told_exactly(call):
    text = text_of(call.source)
    first_line = text.split("\n")[0]
    assert first_line.startswith(call.text)
    assert first_line == call.text or call.text.endswith("no plugin named nosuch")
    for part in (operator_of(call.source), call.argument, call.found, call.expected):
        assert part in text


def test_the_table_is_long_enough():
    assert len({call.source for call in CALLS}) == len(CALLS) >= 60


def test_the_arguments_follow_on_a_line_of_their_own():
    assert text_of("ops.softmax(a, 3)").endswith("\n  in softmax.int(self=f32[4, 5], dim=3)")
    assert text_of("ops.cat([a, b])").endswith("\n  in cat(tensors=[f32[4, 5], f32[3, 4]])")
    many = text_of("ops.cat([a] * 20 + [b])")
    assert many.endswith(", f32[4, 5], ... 21 in all])")
    assert many.count("f32[4, 5]") == 8


def test_few_declarations_are_listed():
    text = text_of("ops.add(a, a, alhpa=2)")
    lines = text.split("\n  ")
    assert lines[1] == "in add(Tensor, Tensor, alhpa=int)"
    assert lines[2] == "expected add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert [line.startswith("or ") for line in lines[3:]] == [True] * 3
    assert lines[5] == "or 1 more; `primset ops --match add` lists them"


def test_an_out_overload_is_meant_only_with_out():
    assert "\n  expected relu(Tensor self) -> Tensor" in text_of("ops.relu(a, a)")
    assert "\n  expected add.out(" in text_of("ops.add(a, a, out=1)")


def test_a_list_that_holds_itself_has_a_kind():
    assert "List[List[List[List[List[]]]]]" in text_of("(l := [], l.append(l), ops.relu(l))")


def test_operators_are_listed():
    assert {"add", "softmax"} <= set(dir(ops))
    assert "Tensor" in ops.add.overloads()
