"""The parts of the speed page that need no device: calls as text, calls at other sizes, the choice of
cases, operands, what counts as wrong, the page's arithmetic and the comparison with a page that stands.
"""

import json
import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from speed import baseline, checks, choice, page, recorded, scaling, timing
from speed.case_text import Sparse, Tensor, Word, parsed, text_of
from speed.cases import Case, Wish, call_for, wishes
from speed.operands import Maker
from speed.table import Table


def scaled(text, goal):
    return text_of(scaling.scaled(parsed(text), goal))


def row(case, ratio, **more):
    return {"case": case, "overload": case.partition(":")[0], "family": "f", "ratio": ratio,
            "primset_s": 1.0, "pytorch_s": ratio, **more}


# --- calls as text --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    "self=T[2,3]{-4..4} dim=[-1] keepdim=true",
    'equation="ij,jk->ik" tensors=(T[3,4],i64[4]{0..7})',
    "self=csr(T[8,8],entries=6) other=none alpha=2.5 dtype=f32 device=here",
    "self=T[2,3]@transposed{special} value=1+2j",
])
def test_text_is_read_and_written(text):
    assert text_of(parsed(text)) == text


def test_values_of_a_text():
    read = parsed("a=T[]{1..4} b=coo(T[3,4]) c=none d=false e=[1,-2] f=-3 g=1e-5 h=f32 ->strided")
    assert list(read) == list("abcdefgh")
    assert read["a"] == Tensor("T", (), "1..4") and read["b"] == Sparse("coo", Tensor("T", (3, 4)))
    assert read["c"] is None and read["d"] is False and read["e"] == [1, -2]
    assert (read["f"], read["g"]) == (-3, 1e-5) and isinstance(read["h"], Word)


def test_a_list_says_how_often_a_tensor_comes():
    assert parsed("x=(3*T[5],T[2])")["x"] == (Tensor("T", (5,)),) * 3 + (Tensor("T", (2,)),)
    assert text_of({"x": (Tensor("T", (5,)),) * 32}) == "x=(32*T[5])"


# --- calls at other sizes -------------------------------------------------------------------------


def test_sizes_are_powers_of_two_and_multiply_to_the_goal():
    for rank in range(1, 6):
        sizes = scaling.even(list(range(3, 3 + rank)), 1 << 20)
        assert math.prod(sizes.values()) == 1 << 20


def test_dims_of_one_size_keep_one_size():
    assert scaled("self=T[5,5]{spd} other=T[5,3]", 1 << 20) == (
        "self=T[1024,1024]{spd} other=T[1024,614]")


def test_numbers_that_say_a_size_grow_with_it():
    assert scaled("input=T[6,37] normalized_shape=[37] weight=T[37] eps=1e-05", 1 << 16) == (
        "input=T[256,256] normalized_shape=[256] weight=T[256] eps=1e-05")


def test_indices_reach_as_far_as_before():
    assert scaled("self=T[4,7] dim=1 index=i64[4,5]{0..7}", 1 << 20) == (
        "self=T[1024,1024] dim=1 index=i64[1024,731]{0..1024}")
    assert scaled("self=T[4,7] index=i64[3]{-28..28}", 1 << 10).endswith("{-1024..1024}")


def test_shapes_are_taken_whole():
    assert scaled("self=T[6,37] dim=[-1]", "2^20 x 8") == "self=T[1048576,8] dim=[-1]"
    assert scaled("self=T[2,6,37]", "33 x 77 x 1021") == "self=T[33,77,1021]"
    assert scaling.scaled(parsed("self=T[37]"), "8 x 2^20") is None
    assert scaling.scaled(parsed("self=T[5,5]"), "8 x 2^20") is None


def test_long_lists_share_the_goal():
    assert scaled("self=(32*T[5]) scalars=T[32]", 1 << 20) == "self=(32*T[32768]) scalars=T[32]"


def test_another_dim_moves_what_belongs_to_it():
    call = parsed("self=T[7,5] dim=0 index=i64[9]{0..7} source=T[9,5]")
    assert text_of(scaling.with_dim(call, 0, -1)) == (
        "self=T[5,7] dim=-1 index=i64[9]{0..7} source=T[5,9]")


# --- which cases ----------------------------------------------------------------------------------

SUM = {"name": "sum", "family": "reduction", "dtypes": ["f32", "bf16", "i64"], "kind": "functional",
       "schema": "sum(Tensor self, int dim=-1) -> Tensor", "tags": []}


def test_a_reduction_is_timed_along_each_dim():
    asked = {(w.goal, w.dim) for w in wishes(SUM, "f32", True, False) if w.dim is not None}
    assert ("33 x 77 x 1021", 1) in asked and ("2^20 x 8", 0) in asked and len(asked) == 11
    template = recorded.Template("sum", "f32", parsed("self=T[6,37]"))
    call = call_for(SUM, template, Wish("33 x 77 x 1021", "f32", dim=1), "33 x 77 x 1021")
    assert text_of(call) == "self=T[33,77,1021] dim=1"


def test_only_claimed_element_types_are_asked_for():
    assert {w.dtype for w in wishes(SUM, "f32", False, True)} == {"f32", "bf16", "i64"}


def test_shards_are_disjoint_and_whole_and_a_slice_has_all_families():
    cases = [Case(f"op{i}", f"family{i % 7}", "2^20", "self=T[4]", "f32") for i in range(500)]
    parts = [choice.shard(cases, f"{i}/3") for i in range(3)]
    assert sorted(c.id for p in parts for c in p) == sorted(c.id for c in cases)
    part = choice.slice_of(cases)
    assert {c.family for c in part} == {c.family for c in cases}
    assert len(cases) / choice.SLICE <= len(part) < len(cases) / choice.SLICE + 7
    assert choice.slice_of(cases[::-1]) == part[::-1]


def test_values_of_a_domain_are_kept():
    storage = {"dtype": "f32", "sizes": [2], "strides": [1], "storage": 0, "offset": 1}
    data = ["0000c03f" + "0000003f" + "0000803f"]  # 1.5, 0.5, 1
    assert recorded._range(storage, data) == "0.5..1"


def test_each_line_of_the_table_is_a_call_with_a_name_of_its_own():
    table = Table.read()
    for overload in table.calls:
        operator = {"name": overload, "family": "f", "dtypes": [], "tags": []}
        cases = list(table.cases(operator))
        assert cases and len({c.id for c in cases}) == len(cases), overload
    assert table.reason("size", "query").startswith("answers a question")
    assert table.reason("add.Tensor", "pointwise_binary") is None


def test_some_results_are_compared_beside_a_cpu_alone():
    rule = Table.read().check({"name": "mode", "family": "reduction", "tags": []})
    assert checks.beside(rule, on_gpu=False) == "ties"
    assert checks.beside(rule, on_gpu=True) is None
    assert checks.beside("values", on_gpu=True) == "values"


# --- operands and results -------------------------------------------------------------------------


def made(text, dtype="f32", layout="contiguous"):
    torch = pytest.importorskip("torch")
    return Maker(torch, "cpu", dtype, layout).arguments(parsed(f"x={text}"))["x"]


def test_layouts_have_the_sizes_asked_for():
    for layout in ("transposed", "sliced", "broadcast"):
        x = made("T[3,4]", layout=layout)
        assert tuple(x.shape) == (3, 4) and x.stride() != (4, 1)


def test_fills():
    assert made("i64[1,1,2,3]{windows}").tolist() == [[[[0, 2, 4], [12, 14, 16]]]]
    assert made("i32[2,3]{ranks}").tolist() == [[1, 2, 3]] * 2
    assert made("i64[4]{counted*20}").tolist() == [0, 20, 40, 60]
    assert made("T[1000]{0.5..2}").min() >= 0.5 and made("T[1000]{0.5..2}").max() <= 2
    assert (made("i64[1000]{-2..3!0}") != 0).all()
    assert sorted(made("i64[9]{permutation}").tolist()) == list(range(9))
    share = (made("csr(T[100,100],entries=500)").to_dense() != 0).float().mean()
    assert 0.03 < share < 0.07


def test_an_element_that_is_not_written_is_wrong():
    torch = pytest.importorskip("torch")
    want = torch.arange(10000.0)
    got = want.clone()
    assert checks.complaint(torch, "values", [got], [want]) == ""
    got[-1] = float("nan")
    assert "at 9999 nan instead of 9999.0" in checks.complaint(torch, "values", [got], [want])
    whole = torch.zeros(10000, dtype=torch.int64)
    lost = whole.clone()
    lost[5] = checks.POISON
    assert checks.complaint(torch, "values", [lost], [whole]) != ""


def test_an_overflow_of_complex_numbers_has_any_parts():
    torch = pytest.importorskip("torch")
    want = torch.tensor([complex("inf-infj"), 1 + 1j])
    wrong = lambda *got: checks.complaint(torch, "values", [torch.tensor(got)], [want])
    assert wrong(complex("inf+nanj"), 1 + 1j) == ""
    assert wrong(complex("inf+nanj"), complex("nan")) != ""
    assert wrong(1j, 1j) != ""


def test_few_elements_may_be_on_the_other_side_of_a_jump():
    torch = pytest.importorskip("torch")
    want = torch.zeros(10000)
    got = want.clone()
    got[:5] = 1
    assert checks.complaint(torch, "values", [got], [want]) == ""
    got[:50] = 1
    assert checks.complaint(torch, "values", [got], [want]) != ""


def test_results_must_be_as_many_and_as_large():
    torch = pytest.importorskip("torch")
    x = torch.zeros(4)
    assert checks.complaint(torch, "shape", [x], [x, x]) == "1 results instead of 2"
    assert checks.complaint(torch, "shape", [x[:3]], [x]) == "result 0 is [3] instead of [4]"
    assert checks.complaint(torch, "shape", [x.double()], [x]) != ""
    assert checks.complaint(torch, "only 1", [x + 1, x], [x, x]) == ""
    assert checks.complaint(torch, "only 1", [x, x + 1], [x, x]) != ""


class Clock:
    """Time that passes by calls alone."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def takes(self, seconds):
        def call():
            self.now += seconds
        return call


def test_a_measurement_is_of_as_many_calls_as_fill_the_time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    assert timing.timed(clock.takes(0.003), lambda: None, 0.02) == pytest.approx(0.003)
    assert clock.now == pytest.approx(0.003 * (1 + 7))  # the first call alone is not counted
    assert timing.timed(clock.takes(0.0105), lambda: None, 0.02) == pytest.approx(0.0105)


def test_a_ratio_is_the_other_sides_time_over_ours(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    wait = lambda: None
    t = timing.in_turns(clock.takes(0.001), clock.takes(0.004), wait, wait, 0.02)
    assert (t["ratio"], t["primset_s"]) == (pytest.approx(4.0), pytest.approx(0.001))
    before = clock.now
    timing.in_turns(clock.takes(1.0), clock.takes(0.1), wait, wait, 0.02)
    assert clock.now - before == pytest.approx(1.1)  # what takes long is called once


# --- the page -------------------------------------------------------------------------------------


def test_means_are_geometric():
    assert page.mean([row("a", 0.5), row("b", 2.0)]) == pytest.approx(1.0)
    assert page.mean([row("a", 0.1), row("b", 0.4)]) == pytest.approx(0.2)


def test_shares_are_of_the_cases_below_a_bound():
    rows = [row(str(r), r) for r in (0.3, 0.4, 0.8, 1.0, 2.0)]
    assert [page.share(rows, b) for b in (0.4, 0.5, 1.0)] == [0.2, 0.4, 0.6]


def test_a_copy_rate_counts_cases_that_move_much():
    rows = [row("a", 1, bytes=1 << 30), row("b", 1, bytes=100)]
    assert page.of_copy(rows, 1 << 31) == pytest.approx(0.5)
    assert page.of_copy(rows[1:], 1 << 31) is None


def test_a_page_is_written_of_the_last_results(tmp_path):
    first = [row("add: 2^20, f32", 0.5), row("add: 2^20, f32", 2.0), row("mul: 2^20, f32", 0.25)]
    wrong = {"case": "sub: 2^20, f32", "overload": "sub", "family": "f", "wrong": "1 of 2 elements"}
    lines = [json.dumps(r) for r in [*first, wrong]]
    (tmp_path / "cpu_0.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "left_out.json").write_text('{"size": "computes nothing"}')
    assert page.write(tmp_path, tmp_path) == 0
    made = json.loads((tmp_path / "speed.json").read_text())
    cases = made["devices"]["cpu:0"]["cases"]
    assert cases["add: 2^20, f32"]["ratio"] == 2.0 and "ratio" not in cases["sub: 2^20, f32"]
    text = (tmp_path / "speed.md").read_text()
    assert "| cpu:0 | 2 | 2 | 0.71 | 50.0 % |" in text
    assert "Results that differ: 1" in text and "- sub: 2^20, f32: `1 of 2 elements`" in text
    assert "| computes nothing | 1: size |" in text


def test_only_first_calls_that_compile_count():
    rows = [row("a", 1, first_s=0.1, compiled=1), row("b", 1, first_s=9.0, compiled=0)]
    assert page.first_calls(rows)["all"] == {"calls": 1, "median_ms": 100.0, "p95_ms": 100.0}


# --- the baseline ---------------------------------------------------------------------------------


def test_what_became_slower_is_named_the_worst_first():
    kept = {"a": {"ratio": 1.0}, "b": {"ratio": 1.0}, "c": {"ratio": 1.0}, "d": {"ratio": 2.0}}
    rows = [row("a", 0.9), row("b", 0.7), row("c", 0.7, spread=[0.5, 1.1]), row("d", 0.5)]
    rows += [row("e", 0.1)]
    assert baseline.slower(rows, kept) == [("d", 0.5, 2.0), ("b", 0.7, 1.0)]


def test_a_case_that_fails_and_had_a_time_is_named(capsys):
    lost = {"case": "a", "overload": "a", "family": "f", "error": "boom"}
    assert baseline.broken([lost], {"a": {"ratio": 1.0}}) == ["a"]
    assert baseline.broken([lost], {"a": {"error": "boom"}}) == []
    kept = {"devices": {"cpu:0": {"cases": {"a": {"ratio": 1.0}}}}}
    assert baseline.report([lost], kept, "cpu:0") == 1
    assert baseline.report([row("a", 0.95)], kept, "cpu:0") == 0
    assert "wrong or failing  a" in capsys.readouterr().out


def test_who_measures_is_alone_and_those_who_prepare_are_not(tmp_path):
    path = tmp_path / "lock"
    waited = []

    class Turn(Exception):
        pass

    def give_up():
        waited.append(1)
        raise Turn

    with timing.among_others(path, give_up), timing.among_others(path, give_up):
        with pytest.raises(Turn), timing.alone(path, give_up):
            pass
    with timing.alone(path, give_up), pytest.raises(Turn), timing.among_others(path, give_up):
        pass
    assert len(waited) == 2
