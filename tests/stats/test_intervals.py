"""Intervals against scipy, and how often they cover the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankgauge.stats.intervals import mean_interval, student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 49, 150, 199, 200, 201, 500, 6979, 99999])
@pytest.mark.parametrize("p", [0.6, 0.9, 0.95, 0.975, 0.995, 0.9995])
def test_student_quantile(freedom: int, p: float) -> None:
    assert student_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9)


def test_t_interval_equals_scipy() -> None:
    values = np.random.default_rng(1).beta(2, 3, 40)
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert interval is not None
    assert (interval.low, interval.high, interval.method) == (pytest.approx(low), pytest.approx(high), "t")


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
