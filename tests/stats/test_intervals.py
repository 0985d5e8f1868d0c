"""Intervals against scipy, and how often they cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankgauge.stats.intervals import mean_interval, normal_quantile, student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 49, 150, 199, 200, 201, 500, 6979, 99999])
@pytest.mark.parametrize("p", [0.6, 0.9, 0.95, 0.975, 0.995, 0.9995])
def test_student_quantile(freedom: int, p: float) -> None:
    assert student_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9)


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.025, 0.3, 0.5, 0.5000001, 0.6, 0.975, 0.9995, 1 - 1e-12])
def test_normal_quantile(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-12, abs=1e-15)


def test_t_interval_equals_scipy() -> None:
    half = np.random.default_rng(1).beta(2, 3, 20)
    values = np.r_[half, 1 - half]  # without skewness
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert interval is not None
    assert (interval.low, interval.high, interval.method) == (pytest.approx(low), pytest.approx(high), "t")


@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_scores_make_one_side_longer(sign: int) -> None:
    values = 0.5 + sign * np.random.default_rng(1).beta(1, 6, 40) / 2
    found = mean_interval(values)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    t = stats.t.ppf(0.975, 39)
    shift = stats.skew(values, bias=False) * values.std(ddof=1) * (1 + 2 * t * t) / 240
    assert found is not None
    assert shift * sign > 0
    assert (found.low, found.high) == (pytest.approx(low + min(0, shift)), pytest.approx(high + max(0, shift)))


SKEWED = {
    "3 % lose half": (lambda rng, n: 1 - 0.5 * (rng.random(n) < 0.03), 0.985),
    "5 % gain half": (lambda rng, n: 0.5 + 0.5 * (rng.random(n) < 0.05), 0.525),
    "5 % score at all": (lambda rng, n: (rng.random(n) < 0.05) * rng.random(n), 0.025),
    "30 % score at all": (lambda rng, n: (rng.random(n) < 0.3) * rng.beta(1.2, 1.5, n), 0.3 * 1.2 / 2.7),
    "most nearly 1": (lambda rng, n: 1 - rng.beta(0.3, 3, n), 1 - 0.3 / 3.3),
}


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("shape", SKEWED)
def test_intervals_of_skewed_scores_cover(shape: str, n: int) -> None:
    draw, truth = SKEWED[shape]
    rng = np.random.default_rng(n)
    found = [mean_interval(draw(rng, n), bounds=(0.0, 1.0)) for _ in range(1500)]
    assert np.mean([one.low <= truth <= one.high for one in found if one is not None]) >= 0.93


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (1, 20), (10, 20), (19, 20), (20, 20), (3, 500)])
def test_wilson_interval_equals_scipy(hits: int, n: int) -> None:
    values = np.array([1.0] * hits + [0.0] * (n - hits))
    interval = mean_interval(values)
    wanted = stats.binomtest(hits, n).proportion_ci(0.95, "wilson")
    assert interval is not None
    assert (interval.low, interval.high) == (
        pytest.approx(wanted.low, abs=1e-12),
        pytest.approx(wanted.high, abs=1e-12),
    )
    assert interval.method == "wilson"


def test_too_few_queries() -> None:
    assert mean_interval(np.array([0.5])) is None
    assert mean_interval(np.zeros(0)) is None


@pytest.mark.parametrize(
    ("draw", "truth", "least"),
    [
        (lambda rng: rng.beta(2, 2, 50), 0.5, 0.93),
        (lambda rng: (rng.random(50) < 0.97).astype(float), 0.97, 0.90),
        (lambda rng: (rng.random(30) < 0.5).astype(float), 0.5, 0.93),
    ],
)
def test_coverage(draw, truth: float, least: float) -> None:
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(2000):
        interval = mean_interval(draw(rng))
        assert interval is not None
        inside += interval.low <= truth <= interval.high
    assert least <= inside / 2000 <= 0.99
