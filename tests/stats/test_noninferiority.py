"""The test of non-inferiority: against a naive oracle and scipy, and calibrated by simulation.

The simulated losses are exactly the margin, so that every pass is a false pass and every regression a false alarm.
"""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rankgauge.errors import DataError
from rankgauge.stats.noninferiority import chance_to_pass, least_queries, non_inferiority
from tests.stats.shapes import SHAPES

ALPHA, MARGIN = 0.05, 0.05
TRIALS = 10_000
Arrays = tuple[np.ndarray, np.ndarray]


def oracle(new: np.ndarray, base: np.ndarray, margin: float = MARGIN, family: int = 1) -> Arrays:
    """Passes and regressions of many trials at once, one in each column; written from the formulas."""
    d = new - (1 - margin) * base
    n = len(d)
    mean, s = d.mean(axis=0), d.std(axis=0, ddof=1)
    s = np.where(s > 1e-12 * np.abs(d).max(axis=0), s, 0.0)
    third = ((d - mean) ** 3).sum(axis=0) * n / ((n - 1) * (n - 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        skew = np.where(s > 0, third / s**2, 0.0)
    t, u = stats.t.ppf(1 - ALPHA, n - 1), stats.t.ppf(1 - ALPHA / family, n - 1)
    lower = mean - t * s / math.sqrt(n) + np.minimum(0, skew * (1 + 2 * t * t) / (6 * n))
    upper = mean + u * s / math.sqrt(n) + np.maximum(0, skew * (1 + 2 * u * u) / (6 * n))
    passes = (lower > 0) | ~(new < base).any(axis=0)
    return passes, (upper < 0) & ~passes


def losing(kind: str, shape: str, n: int, trials: int, seed: int, loss: float = MARGIN) -> Arrays:
    """New and old scores whose true loss is exactly the margin, or another one."""
    rng, draw, size = np.random.default_rng(seed), SHAPES[shape], (n, trials)
    base = draw(rng, size)
    if kind == "other":  # another system, a little worse everywhere
        return draw(rng, size) * (1 - loss), base
    if kind == "failing":  # another system, as good, of which one query in twenty fails
        return np.where(rng.random(size) < loss, 0.0, draw(rng, size)), base
    if kind == "fifth":  # the same system, changed for one query in five
        return np.where(rng.random(size) < 0.2, draw(rng, size) * (1 - 5 * loss), base), base
    assert kind == "rare"  # the same system, of which one query in twenty fails
    return np.where(rng.random(size) < loss, 0.0, base), base


@pytest.mark.parametrize("n", [3, 10, 40])
@pytest.mark.parametrize("kind", ["other", "rare"])
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_formulas(shape: str, kind: str, n: int) -> None:
    new, base = losing(kind, shape, n, 100, seed=n)
    passes, regressions = oracle(new, base, family=3)
    for j in range(100):
        found = non_inferiority(new[:, j], base[:, j], MARGIN, family=3)
        assert (found.status == "pass") == passes[j]
        assert (found.status == "regression") == regressions[j]


def test_bounds_of_symmetric_differences_are_students() -> None:
    base = np.full(9, 0.5)
    new = 0.5 + np.array([-4, -3, -2, -1, 0, 1, 2, 3, 4]) / 50
    found = non_inferiority(new, base, 0.1, alpha=0.05, family=4)
    d = new - 0.9 * base
    low = stats.ttest_1samp(d, 0, alternative="greater").confidence_interval(0.95).low
    high = stats.ttest_1samp(d, 0, alternative="less").confidence_interval(1 - 0.05 / 4).high
    assert found.lower == pytest.approx(low)
    assert found.upper == pytest.approx(high)
    assert (found.status, found.worse, found.better) == ("pass", 4, 4)


def test_skewness_only_widens() -> None:
    base = np.full(40, 0.5)
    new = base.copy()
    new[:3] = 0.0  # a few fail
    found = non_inferiority(new, base, 0.2)
    d = new - 0.8 * base
    t = stats.t.ppf(0.95, 39) * d.std(ddof=1) / math.sqrt(40)
    assert found.lower < d.mean() - t
    assert found.upper == pytest.approx(d.mean() + t)


def test_three_answers() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.9, 200)
    noise = rng.normal(0, 0.02, 200)
    assert non_inferiority(base + noise, base, 0.05).status == "pass"
    assert non_inferiority(0.8 * base + noise, base, 0.05).status == "regression"
    assert non_inferiority(0.95 * base + 3 * noise, base, 0.05).status == "inconclusive"


def test_identical_and_nowhere_worse_pass() -> None:
    base = np.array([0.2, 0.9, 0.4])
    same = non_inferiority(base, base, 0.0)
    assert (same.status, same.reason) == ("pass", "identical")
    better = non_inferiority(base + np.array([0.0, 0.0, 0.6]), base, 0.0)
    assert better.lower < 0  # the bounds alone would not say so
    assert (better.status, better.reason, better.better) == ("pass", "nowhere worse", 1)


def test_lower_is_better_is_the_mirror() -> None:
    rng = np.random.default_rng(3)
    base, new = rng.uniform(1, 2, 50), rng.uniform(1, 2.2, 50)
    mirrored = non_inferiority(-new, -base, 0.1)
    found = non_inferiority(new, base, 0.1, lower_is_better=True)
    assert (found.status, found.lower, found.upper) == (mirrored.status, mirrored.lower, mirrored.upper)
    assert non_inferiority(base * 1.5, base, 0.1, lower_is_better=True).status == "regression"
    assert non_inferiority(base * 0.5, base, 0.1, lower_is_better=True).status == "pass"


def test_a_baseline_of_nothing_leaves_no_margin() -> None:
    nothing = np.zeros(30)
    assert non_inferiority(nothing, nothing).status == "pass"
    assert non_inferiority(np.r_[1.0, np.zeros(29)], nothing).reason == "nowhere worse"
    grown = np.r_[np.ones(20), np.zeros(10)]
    assert non_inferiority(grown, nothing, lower_is_better=True).status == "regression"


def test_needed_queries_settle_it() -> None:
    """With so many queries, the same mean and spread are settled in 80 % of the samples."""
    rng = np.random.default_rng(5)
    base = np.full(30, 0.5)
    new = 0.48 + 0.15 * np.linspace(-1.7, 1.7, 30)
    found = non_inferiority(new, base, 0.05)
    assert found.status == "inconclusive"
    assert found.needed is not None
    assert found.needed > 30
    d = rng.normal(found.mean, found.deviation, (found.needed, 4000))
    t = d.mean(axis=0) / (d.std(axis=0, ddof=1) / math.sqrt(found.needed))
    settled = float((t > stats.t.ppf(0.95, found.needed - 1)).mean())
    assert abs(settled - 0.8) < 0.03
    assert non_inferiority(base * np.tile([0.9, 1.0], 15), base, 0.05).needed is None  # exactly at the margin


def skewed(failing: float, gain: float) -> Arrays:
    """New and old scores of 60 queries of which a few fail, and the others gain a little."""
    base = np.full(60, 0.5)
    return np.where(np.arange(60) < failing * 60, 0.0, 0.5 + gain), base


@pytest.mark.parametrize(("failing", "gain"), [(0.05, 0.016), (0.1, 0.045), (0.05, 0.012), (0.02, 0.0)])
def test_needed_queries_settle_skewed_differences_too(failing: float, gain: float) -> None:
    """The correction for skewness takes its part: without it they settled only seven in ten."""
    new, base = skewed(failing, gain)
    found = non_inferiority(new, base, 0.05)
    assert found.status == "inconclusive"
    assert found.needed is not None
    d = (new - 0.95 * base)[np.random.default_rng(6).integers(0, 60, (found.needed, 4000))]
    passes, regressions = oracle(d + 0.95, np.ones_like(d))  # of scores that have these differences
    settled = float((passes if found.mean > 0 else regressions).mean())
    assert 0.77 < settled < 0.9


SPARSE = {
    **SHAPES,
    "a fifth scores": lambda rng, size: (rng.random(size) < 0.2).astype(float),
    "a tenth scores": lambda rng, size: (rng.random(size) < 0.1).astype(float),
    "70 % zeros": lambda rng, size: np.where(rng.random(size) < 0.7, 0.0, rng.beta(1.2, 1.5, size)),
}


@pytest.mark.parametrize("shape", SPARSE)
@pytest.mark.parametrize("margin", [0.05, 0.2])
def test_from_the_least_queries_on_a_loss_seldom_hides(shape: str, margin: float) -> None:
    """One query in 1 / margin fails: with the number named, the chance of a sure pass is about 1.4 alpha or less."""
    rng = np.random.default_rng(11)
    scores = SPARSE[shape](rng, (400, 1))[:, 0]
    n = least_queries(scores, margin, 0.07) or 0
    assert n > 0
    trials = 1_000_000 // n
    base = scores[rng.integers(0, 400, (n, trials))]
    passes, _ = oracle(np.where(rng.random(base.shape) < margin, 0.0, base), base, margin=margin)
    assert passes.mean() <= 0.09
    assert chance_to_pass(scores, margin, queries=max(2, n // 4)) > 0.07


@pytest.mark.parametrize("n", [30, 176])
@pytest.mark.parametrize("shape", SPARSE)
def test_the_chance_that_a_loss_passes(shape: str, n: int) -> None:
    """What the warning says agrees with the formulas on other samples of the same scores."""
    rng = np.random.default_rng(n)
    scores = SPARSE[shape](rng, (n, 1))[:, 0]
    base = scores[rng.integers(0, n, (n, TRIALS))]
    passes, _ = oracle(np.where(rng.random(base.shape) < MARGIN, 0.0, base), base)
    found = chance_to_pass(scores, MARGIN)
    assert abs(found - passes.mean()) < 0.035
    assert chance_to_pass(-scores, MARGIN) == found


@pytest.mark.parametrize(
    ("new", "base", "settings"),
    [([1.0], [1.0], {}), ([], [], {}), ([1.0, 2.0], [1.0], {}), ([1.0, 2.0], [1.0, 2.0], {"margin": 1.0})]
    + [([1.0, 2.0], [1.0, 2.0], {"alpha": alpha}) for alpha in (0.0, 1e-16, 0.5, math.nan)],
)
def test_what_cannot_be_tested(new: list[float], base: list[float], settings: dict[str, float]) -> None:
    with pytest.raises(DataError):
        non_inferiority(np.array(new), np.array(base), **settings)


# The most false passes over all shapes, in percent of 10,000 trials; the table in docs/how-to/gate.md shows them.
FALSE_PASSES: dict[str, dict[int, float]] = {
    "other": {10: 4.4, 25: 5.1, 50: 5.4, 200: 5.2},
    "failing": {10: 17.4, 25: 7.0, 50: 6.1, 200: 5.4},
    "fifth": {10: 30.9, 25: 13.2, 50: 9.1, 200: 6.4},
    "rare": {10: 73.7, 25: 46.1, 50: 21.8, 200: 7.0},
}


@pytest.mark.parametrize("n", [10, 25, 50, 200])
@pytest.mark.parametrize("kind", FALSE_PASSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_calibration(shape: str, kind: str, n: int) -> None:
    new, base = losing(kind, shape, n, TRIALS, seed=n)
    passes, regressions = oracle(new, base)
    false_passes, false_alarms = 100 * passes.mean(), 100 * regressions.mean()
    assert false_passes <= FALSE_PASSES[kind][n] + 0.05
    assert false_alarms <= 5 + 0.66  # three standard errors


# How often the default policy ends with status 0 at true losses of so many margins, in percent of 4,000 trials.
DEFAULT_POLICY: dict[str, dict[int, dict[int, float]]] = {
    "other": {
        1: {50: 51.6, 120: 51.9, 300: 50.0},
        2: {50: 38.9, 120: 30.9, 300: 20.2},
        3: {50: 25.0, 120: 14.4, 300: 5.1},
    },
    "fifth": {
        1: {50: 54.0, 120: 51.9, 300: 51.9},
        2: {50: 22.2, 120: 10.4, 300: 1.9},
        3: {50: 5.4, 120: 0.5, 300: 0.0},
    },
}


@pytest.mark.parametrize("n", [50, 120, 300])
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("kind", DEFAULT_POLICY)
def test_the_default_policy(kind: str, times: int, n: int) -> None:
    """Surely passed, or inconclusive and the loss seen is within the margin; the most over all shapes."""
    most = 0.0
    for shape in SHAPES:
        new, base = losing(kind, shape, n, 4000, seed=n, loss=times * MARGIN)
        passes, regressions = oracle(new, base)
        within = (new - (1 - MARGIN) * base).mean(axis=0) >= 0
        most = max(most, 100 * float((passes | (within & ~regressions)).mean()))
    assert most == pytest.approx(DEFAULT_POLICY[kind][times][n], abs=0.06)


@pytest.mark.parametrize("page", ["docs/how-to/gate.md", "docs/zh/how-to/gate.md"])
def test_the_documentation_shows_these_figures(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    rows = list(FALSE_PASSES.values())
    rows += [rates for losses in DEFAULT_POLICY.values() for rates in losses.values()]
    for rates in rows:
        few = "不到 1 %" if "zh" in page else "below 1 %"
        shown = [f"{rate:.0f} %" if rate >= 1 or rate == 0 else few for rate in rates.values()]
        assert " | " + " | ".join(shown) + " |" in text


def test_what_the_skewness_correction_is_for() -> None:
    """Student's t alone passes twice as many as it claims where a few of 200 queries fail."""
    new, base = losing("rare", "graded", 200, TRIALS, seed=1)
    d = new - (1 - MARGIN) * base
    plain = d.mean(axis=0) > stats.t.ppf(0.95, 199) * d.std(axis=0, ddof=1) / math.sqrt(200)
    assert plain.mean() > 0.095
    assert oracle(new, base)[0].mean() < 0.068


def test_rare_gains_cause_no_false_alarms() -> None:
    """The other skewness: a small loss everywhere, made up for by a few large gains."""
    rng = np.random.default_rng(9)
    base = np.full((100, TRIALS), 0.5)
    new = np.where(rng.random(base.shape) < 0.05, 0.95, 0.45)
    assert oracle(new, base)[1].mean() < 0.056


def test_families() -> None:
    """Several measures of the same queries: all must pass, and any may raise the alarm, at the stated level."""
    trials, n, m = 4000, 60, 5
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 0.1, (n, 1, trials))
    base = np.full((n, m, trials), 0.6)
    new = 0.57 + 0.7 * shared + 0.7 * rng.normal(0, 0.1, (n, m, trials))
    found = [oracle(new[:, j], base[:, j], family=m) for j in range(m)]
    assert np.all([passes for passes, _ in found], axis=0).mean() < 0.05
    assert np.any([regressions for _, regressions in found], axis=0).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
    new[:, 1:] += 0.2  # all others are far better: the one at the margin alone decides
    found = [oracle(new[:, j], base[:, j], family=m) for j in range(m)]
    false_passes = np.all([passes for passes, _ in found], axis=0).mean()
    assert 0.03 < false_passes < 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
