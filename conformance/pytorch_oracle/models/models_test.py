"""Small models, forward and backward; what a model's own numbers must be and what must be found."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the models are PyTorch's, which is not here")

import primset

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from pytorch_oracle.models import lockstep, networks, tape

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", networks.MODELS)
def test_every_call_and_every_gradient_is_pytorchs(name):
    c = lockstep.compare(networks.make(name, small=True), name)
    assert c.problems == []
    assert c.agreeing + len(c.explained) == c.calls > 30
    assert len(c.outputs) > 2
    assert 0 < c.drift < 1e-3


class Probe:
    """A run of a few calls, with views, calls in place and another object for the same tensor."""

    def __init__(self):
        self.x = torch.arange(6.0).reshape(2, 3)

    def __call__(self):
        y = self.x * 2
        y.transpose_(0, 1)
        y[1].add_(y.detach()[0])
        return {"y": y}

    def double(self):
        twin = Probe()
        twin.x = self.x.double()
        return twin


def test_a_tape_has_views_and_calls_in_place_as_they_were():
    recorded = tape.record(Probe())
    assert [s.overload for s in recorded.steps] == [
        "mul.Tensor", "transpose_", "select.int", "detach", "select.int", "add_.Tensor"]
    assert recorded.storages.count(None) == 1  # all after x is on the product's memory
    c = lockstep.compare(Probe(), "probe")
    assert c.problems == [] and c.outputs == {"y": lockstep.Difference(0.0, 0.0, 0.0)}


def test_a_wrong_number_is_found(monkeypatch):
    right = primset.invoke

    def wrong(name, *args, **kwargs):
        result = right(name, *args, **kwargs)
        return right("mul.Tensor", result, 1.001) if name == "mul.Tensor" else result

    monkeypatch.setattr(primset, "invoke", wrong)
    c = lockstep.compare(Probe(), "probe")
    assert any("mul.Tensor" in p and "differ" in p for p in c.problems)
    assert any("y is off by" in p for p in c.problems)


def test_an_error_of_primset_ends_the_run_but_not_the_comparison(monkeypatch):
    right = primset.invoke

    def failing(name, *args, **kwargs):
        if name == "select.int":
            raise primset.RuntimeError("no such view")
        return right(name, *args, **kwargs)

    monkeypatch.setattr(primset, "invoke", failing)
    c = lockstep.compare(Probe(), "probe")
    assert sum("no such view" in p for p in c.problems) == 3  # twice alone, once in its place
    assert c.outputs == {} and c.agreeing == 4


def test_random_calls_are_refused():
    with pytest.raises(tape.NotRecordable, match="bernoulli_.float draws random numbers"):
        tape.record(lambda: {"x": torch.empty(3).bernoulli_(0.5)})
