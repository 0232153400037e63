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


def key(seed=42, offset=0):
    return primset.tensor([seed, offset], primset.uint64)


def philox(seed, offset):
    """The four words of one counter, by the paper's definition."""
    mask = 0xffffffff
    words, k = [offset & mask, offset >> 32, 0, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        low, high = words[0] * 0xd2511f53, words[2] * 0xcd9e8d57
        words = [high >> 32 ^ words[1] ^ k[0], high & mask, low >> 32 ^ words[3] ^ k[1], low & mask]
        k = [k[0] + 0x9e3779b9 & mask, k[1] + 0xbb67ae85 & mask]
    return words


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
    **{f"_standard_gamma of {a}": (lambda a=a: ops._standard_gamma(filled(a), generator()),
                                   stats.gamma(a)) for a in (0.3, 1.0, 2.5, 300.0)},
    "_standard_gamma in f64": (lambda: ops._standard_gamma(filled(0.7, primset.float64),
                                                           generator()), stats.gamma(0.7)),
    "_sample_dirichlet, first": (lambda: ops._sample_dirichlet(
        ops.full([SAMPLES, 3], 1.5), generator())[:, 0].contiguous(), stats.beta(1.5, 3.0)),
    "_philox_normal": (lambda: ops._philox_normal(filled(0), key(), 1.0, 2.0), stats.norm(1, 2)),
    "_philox_uniform": (lambda: ops._philox_uniform(filled(0), key(), -2.0, 3.0),
                        stats.uniform(-2, 5)),
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
    **{f"poisson of {r}": (lambda r=r: ops.poisson(filled(r), generator()), stats.poisson(r))
       for r in (0.2, 3.0, 9.5, 10.5, 2000.0)},
    "poisson in f64": (lambda: ops.poisson(filled(40.0, primset.float64), generator()),
                       stats.poisson(40)),
    **{f"binomial of {n}, {p}": (lambda n=n, p=p: ops.binomial(filled(n), filled(p), generator()),
                                 stats.binom(n, p))
       for n, p in ((5.0, 0.3), (40.0, 0.2), (40.0, 0.75), (100.0, 0.4), (3000.0, 0.9))},
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


def test_keys_are_derived_from_counters():
    seed, offset = 2**40 + 7, 2**33 + 1
    words = [philox(seed, offset + i) for i in range(3)]
    expected = [[w[0] | w[1] << 32, w[2] | w[3] << 32] for w in words]
    split = numbers(ops._philox_key_split(key(seed, offset), 3))
    assert split.tolist() == expected
    folded = numbers(ops._philox_key_fold_in(key(seed, offset), 2))
    assert folded.tolist() == expected[2]
    assert numbers(ops._philox_key_fold_in(ops._philox_key_split(key(seed), 2), 5)).shape == (2, 2)


def test_numbers_of_keys_are_those_of_their_words():
    seed = 42
    words = [w for i in range(3) for w in philox(seed, i)]
    unit = [(w & 0xffffff) / 2**24 for w in words]
    assert numbers(ops._philox_uniform(ops.zeros([11]), key(seed))).tolist() == unit[:11]
    u, v = words[0] / 2**32, words[1] / 2**32
    radius = math.sqrt(-2 * math.log(u))
    normal = numbers(ops._philox_normal(ops.zeros([3]), key(seed)))
    assert numpy.allclose(normal[:2], [radius * math.cos(2 * math.pi * v),
                                       radius * math.sin(2 * math.pi * v)], rtol=1e-5)
    # Each of two keys fills its row.
    keys = primset.tensor([[[seed, 0]], [[seed, 1]]], primset.uint64)
    rows = numbers(ops._philox_uniform(ops.zeros([2, 4]), keys))
    assert rows.tolist() == [unit[:4], unit[4:8]]


@pytest.mark.parametrize("steps", [1, 7, 64])
def test_sobol_points_are_pytorchs(steps):
    torch = pytest.importorskip("torch")
    engine = torch.quasirandom.SobolEngine(5, scramble=True, seed=3)
    points = engine.draw(steps + 3)
    quasi = primset.tensor(engine.shift.tolist(), primset.int64)
    state = primset.tensor(engine.sobolstate.tolist(), primset.int64)
    ahead = ops._sobol_engine_ff_(quasi.clone(), 2, state, 5, 0)
    drawn, last = ops._sobol_engine_draw(ahead, steps, state, 5, 2, primset.float32)
    assert numbers(drawn).tolist() == points[3:].tolist()
    assert numbers(last).tolist() == engine.quasi.tolist()
    torch.manual_seed(1)
    unscrambled = torch.quasirandom.SobolEngine(5).sobolstate
    matrices = torch.randint(2, (5, 30, 30)).tril()
    expected = torch.ops.aten._sobol_engine_scramble_(unscrambled.clone(), matrices, 5)
    ours = ops._sobol_engine_scramble_(primset.tensor(unscrambled.tolist(), primset.int64),
                                       primset.tensor(matrices.tolist(), primset.int64), 5)
    assert numbers(ours).tolist() == expected.tolist()


GAMMAS = [(0.1, 0.01), (0.5, 3.0), (2.0, 1.0), (5.0, 9.0), (50.0, 45.0), (900.0, 820.0),
          (0.01, 1e-9), (3.0, 40.0), (20000.0, 20300.0)]


@pytest.mark.parametrize("a, x", GAMMAS)
def test_derivative_of_a_gamma_sample(a, x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        slope = mpmath.diff(lambda s: mpmath.gammainc(s, 0, x, regularized=True), a)
        density = mpmath.mpf(x) ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)
        truth = float(-slope / density)
    for dtype, error in ((primset.float32, 2e-6), (primset.float64, 1e-9)):
        y = ops._standard_gamma_grad(primset.tensor([a], dtype), primset.tensor([x], dtype))
        given = (float(primset.tensor([a], dtype).item()), float(primset.tensor([x], dtype).item()))
        assert math.isclose(y.item(), truth, rel_tol=error if given == (a, x) else 2e-4)


@pytest.mark.parametrize("x, a, total", [(0.25, 2.0, 5.0), (0.75, 2.0, 5.0), (0.5, 50.0, 100.0),
                                         (0.375, 500.0, 1200.0), (0.9375, 3.0, 3.5)])
def test_derivative_of_a_beta_sample(x, a, total):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        b = mpmath.mpf(total) - a
        slope = mpmath.diff(lambda s: mpmath.betainc(s, b, 0, x, regularized=True), a)
        density = mpmath.mpf(x) ** (a - 1) * (1 - mpmath.mpf(x)) ** (b - 1) / mpmath.beta(a, b)
        truth = float(-slope / density / (1 - mpmath.mpf(x)))
    for dtype, error in ((primset.float32, 2e-6), (primset.float64, 1e-12)):
        y = ops._dirichlet_grad(*[primset.tensor([v], dtype) for v in (x, a, total)])
        assert math.isclose(y.item(), truth, rel_tol=error)
