"""The interval of the best of many settings holds although the setting was chosen on the same queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from rankgauge.stats import selection
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.selection import _joint_level, interval_of_best

TRIALS = 150
# A score from a number that is uniform between 0 and 1.
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "graded": lambda u: u,
    "sparse": lambda u: np.where(u < 0.85, 0, (u - 0.85) / 0.15),
    "nearly full": lambda u: np.where(u > 0.15, 1, u / 0.15),
    "rare success": lambda u: np.asarray(u > 0.9, dtype=float),
    "rare failure": lambda u: np.asarray(u > 0.1, dtype=float),
}


def settings(rng: np.random.Generator, shape: str, n: int, k: int, correlation: float) -> np.ndarray:
    """Scores of k settings that are equally good, so that choosing is nothing but luck."""
    shared, own = rng.standard_normal((1, n)), rng.standard_normal((k, n))
    return SHAPES[shape](stats.norm.cdf(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own))


def coverage(shape: str, n: int, k: int, correlation: float, trials: int = TRIALS) -> tuple[float, float]:
    """How often the true mean lies in the interval, and in the best setting's own."""
    rng = np.random.default_rng(n + k)
    truth = float(SHAPES[shape]((np.arange(100_000) + 0.5) / 100_000).mean())
    hits = np.zeros(2)
    for trial in range(trials):
        scores = settings(rng, shape, n, k, correlation)
        best = int(scores.mean(axis=1).argmax())
        counted = np.ones(scores.shape, dtype=bool)
        found = interval_of_best(scores, counted, best, bounds=(0.0, 1.0), seed=trial)
        own = mean_interval(scores[best], bounds=(0.0, 1.0), skewed=False)
        assert found is not None
        assert own is not None
        hits += [one.low <= truth <= one.high for one in (found, own)]
    return float(hits[0] / trials), float(hits[1] / trials)


@pytest.mark.parametrize(
    ("shape", "n", "k", "correlation"),
    [
        ("graded", 50, 20, 0.0),
        ("graded", 50, 20, 0.5),
        ("graded", 20, 5, 0.0),
        ("nearly full", 50, 20, 0.0),
        ("nearly full", 20, 5, 0.5),
        ("rare success", 50, 20, 0.0),
    ],
)
def test_coverage_where_choosing_is_luck(
    shape: str, n: int, k: int, correlation: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_DRAWS", 1000)
    found, own = coverage(shape, n, k, correlation)
    assert found >= 0.94
    assert own < 0.88  # a simulation in which nothing can go wrong would show nothing


@pytest.mark.parametrize(("shape", "n", "k"), [("sparse", 50, 20), ("rare failure", 20, 5), ("graded", 50, 2)])
def test_coverage_of_other_shapes(shape: str, n: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_DRAWS", 1000)
    assert coverage(shape, n, k, 0.0)[0] >= 0.94


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_the_joint_level_equals_scipy(correlation: float) -> None:
    """At that level all limits hold at once with the probability asked for."""
    rng = np.random.default_rng(1)
    scores = settings(rng, "graded", 40, 4, correlation)
    p = _joint_level(scores, np.ones(scores.shape, dtype=bool), 0.975, seed=0)
    together = stats.multivariate_normal.cdf([stats.norm.ppf(p)] * 4, cov=np.corrcoef(scores))
    assert together == pytest.approx(0.975, abs=0.004)


@pytest.mark.parametrize("k", [1, 2, 7, 60])
def test_equal_settings_count_as_one_and_unrelated_ones_as_many(k: int) -> None:
    rng = np.random.default_rng(0)
    same = np.tile(rng.random((1, 30)), (k, 1))
    everything = np.ones((k, 30), dtype=bool)
    assert _joint_level(same, everything, 0.975, seed=0) == pytest.approx(0.975, abs=0.005)
    alone = mean_interval(same[0])
    found = interval_of_best(same, everything, 0)
    assert found is not None
    assert alone is not None
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=0.01)
    apart = np.linalg.qr(rng.standard_normal((200, k)))[0].T
    level = _joint_level(apart - apart.mean(axis=1, keepdims=True), np.ones((k, 200), dtype=bool), 0.975, seed=0)
    assert 1 - level == pytest.approx(1 - 0.975 ** (1 / k), rel=0.25)


def test_less_is_better_is_the_mirror_image() -> None:
    scores = settings(np.random.default_rng(2), "graded", 25, 6, 0.2)
    counted = np.random.default_rng(3).random(scores.shape) < 0.9
    means = np.array([row[counts].mean() for row, counts in zip(scores, counted, strict=True)])
    more = interval_of_best(scores, counted, int(means.argmax()), bounds=(0.0, 1.0))
    less = interval_of_best(1 - scores, counted, int(means.argmax()), lower_is_better=True, bounds=(0.0, 1.0))
    assert more is not None
    assert less is not None
    assert (less.low, less.high) == pytest.approx((1 - more.high, 1 - more.low))
    assert more.low < means.max() < more.high


def test_only_queries_that_count_matter() -> None:
    scores = settings(np.random.default_rng(4), "graded", 30, 5, 0.0)
    counted = np.ones(scores.shape, dtype=bool)
    counted[:, ::3] = False
    other = np.where(counted, scores, 7.0)
    best = int(scores[:, counted[0]].mean(axis=1).argmax())
    kept = interval_of_best(scores[:, counted[0]], counted[:, counted[0]], best)
    assert interval_of_best(other, counted, best) == interval_of_best(scores, counted, best)
    assert interval_of_best(scores, counted, best) == kept


def test_the_luckiest_spread_is_not_believed() -> None:
    """A setting without a failure among others that have some: its own spread is 0, or almost."""
    scores = np.ones((10, 40))
    scores[1:, :4] = 0.2
    scores[0, 0] = 0.99
    found = interval_of_best(scores, np.ones(scores.shape, dtype=bool), 0, bounds=(0.0, 1.0))
    own = mean_interval(scores[0], bounds=(0.0, 1.0), skewed=False)
    assert found is not None
    assert own is not None
    assert own.low > 0.999
    assert found.low < 0.92


def test_too_few_queries_and_constant_scores() -> None:
    counted = np.ones((3, 2), dtype=bool)
    counted[1, 0] = False
    assert interval_of_best(np.ones((3, 2)), counted, 0) is None
    flat = np.full((3, 9), 0.5)
    assert interval_of_best(flat, np.ones((3, 9), dtype=bool), 0) is None
    wide = interval_of_best(flat, np.ones((3, 9), dtype=bool), 0, bounds=(0.0, 1.0))
    assert wide is not None
    assert wide.low < 0.4 < 0.6 < wide.high  # nine equal scores are no certainty
    bounded = interval_of_best(np.eye(9) * 0.9, np.ones((9, 9), dtype=bool), 0, bounds=(0.0, 1.0))
    assert bounded is not None
    assert bounded.low == 0.0
