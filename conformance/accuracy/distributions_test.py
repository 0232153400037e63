"""Random operators against the distributions that they promise: Kolmogorov and Smirnov's test for
continuous ones, the chi-square test for discrete ones, with fixed seeds."""

import math

import numpy
import primset
import pytest
from primset import ops
from scipy import stats

SAMPLES = 40000
# A right operator falls below it once in ten thousand seeds, and the seeds are fixed.
LEAST_PROBABILITY = 1e-4


def numbers(tensor):
    return numpy.from_dlpack(tensor)


def filled(value, dtype=primset.float32):
    return ops.full([SAMPLES], value, dtype=dtype)


def generator(seed=20):
    return primset.Generator(seed)


CONTINUOUS = {
    "rand": (lambda: ops.rand([SAMPLES], generator=generator()), stats.uniform()),
    "randn": (lambda: ops.randn([SAMPLES], generator=generator()), stats.norm()),
    "uniform_": (lambda: ops.uniform_(filled(0), -2.0, 3.0, generator=generator()),
                 stats.uniform(-2, 5)),
    "normal_": (lambda: ops.normal_(filled(0), 1.5, 2.0, generator=generator()), stats.norm(1.5, 2)),
    "normal_ in f64": (lambda: ops.normal_(filled(0, primset.float64), generator=generator()),
                       stats.norm()),
    "log_normal_": (lambda: ops.log_normal_(filled(0), 0.5, 0.75, generator=generator()),
                    stats.lognorm(0.75, scale=math.exp(0.5))),
    "exponential_": (lambda: ops.exponential_(filled(0), 2.5, generator=generator()),
                     stats.expon(scale=1 / 2.5)),
    "cauchy_": (lambda: ops.cauchy_(filled(0), 1.0, 2.0, generator=generator()), stats.cauchy(1, 2)),
}

DISCRETE = {
    "bernoulli": (lambda: ops.bernoulli(filled(0.3), generator=generator()), stats.bernoulli(0.3)),
    "bernoulli_": (lambda: ops.bernoulli_(filled(0), 0.85, generator=generator()),
                   stats.bernoulli(0.85)),
    "geometric_": (lambda: ops.geometric_(filled(0), 0.4, generator=generator()), stats.geom(0.4)),
    "randint": (lambda: ops.randint(-3, 8, [SAMPLES], generator=generator()),
                stats.randint(-3, 8)),
    "random_": (lambda: ops.random_(filled(0, primset.int64), 0, 13, generator=generator()),
                stats.randint(0, 13)),
    "multinomial": (lambda: ops.multinomial(primset.tensor([0.1, 0.2, 0.3, 0.4]), SAMPLES, True,
                                            generator=generator()),
                    stats.rv_discrete(values=([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4]))),
    "randperm, first": (lambda: primset.tensor([int(ops.randperm(6, generator=generator(s))[0].item())
                                                for s in range(3000)]), stats.randint(0, 6)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, truth = CONTINUOUS[name]
    x = numbers(draw()).astype(numpy.float64)
    assert x.size == SAMPLES and numpy.isfinite(x).all()
    probability = stats.kstest(x, truth.cdf).pvalue
    assert probability > LEAST_PROBABILITY, f"{name}: by chance once in {1 / probability:.3g} times"


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, truth = DISCRETE[name]
    x = numbers(draw()).astype(numpy.float64)
    low, high = truth.ppf(1e-3), truth.ppf(1 - 1e-3)
    values = numpy.arange(low, high + 1)
    observed = numpy.array([(x == v).sum() for v in values], dtype=float)
    expected = truth.pmf(values) * x.size
    # What is rarer than that goes into one class.
    observed = numpy.append(observed, x.size - observed.sum())
    expected = numpy.append(expected, x.size - expected.sum())
    if expected[-1] < 5:
        assert observed[-1] <= 5 * max(1.0, expected[-1]), f"{name}: values that cannot be"
        observed, expected = observed[:-1], expected[:-1]
        expected *= observed.sum() / expected.sum()
    probability = stats.chisquare(observed, expected).pvalue
    assert probability > LEAST_PROBABILITY, f"{name}: by chance once in {1 / probability:.3g} times"


def test_neighbours_are_independent():
    x = numbers(ops.randn([SAMPLES], generator=generator())).astype(numpy.float64)
    for lag in (1, 2, 4, 32):
        assert stats.pearsonr(x[:-lag], x[lag:]).pvalue > LEAST_PROBABILITY


def test_dropout_keeps_its_share_and_its_mean():
    y, mask = ops.native_dropout(ops.ones([SAMPLES]), 0.25, True)
    kept = numbers(mask)
    assert stats.binomtest(int(kept.sum()), SAMPLES, 0.75).pvalue > LEAST_PROBABILITY
    assert (numbers(y)[kept] == numpy.float32(1 / 0.75)).all()
    assert (numbers(y)[~kept] == 0).all()
