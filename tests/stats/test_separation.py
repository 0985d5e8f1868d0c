"""AUROC, its interval, and thresholds that are chosen on one part of the queries and judged on another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from rankgauge.stats.separation import (
    auroc,
    auroc_interval,
    balanced_accuracy,
    best_threshold,
    held_out_accuracy,
)
from tests.oracles.cases import fast

SCORES = (-math.inf, -2.0, -1.0, 0.0, 0.5, 0.5000001, 3.0, 1e300, -1e308, 1e308)
scores = st.lists(st.sampled_from(SCORES), min_size=1, max_size=9).map(np.array)


@fast(200)
@given(a=scores, b=scores)
def test_auroc_is_the_share_of_pairs(a: np.ndarray, b: np.ndarray) -> None:
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for x, y in itertools.product(a.tolist(), b.tolist())]
    assert auroc(a, b) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert auroc(b, a) == pytest.approx(1 - auroc(a, b), abs=1e-12)


@fast(40)
@given(a=scores, b=scores)
def test_auroc_is_sklearns(a: np.ndarray, b: np.ndarray) -> None:
    roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score
    known = np.unique(np.concatenate((a, b)), return_inverse=True)[1]  # it refuses what is not finite
    labels = np.repeat([1, 0], [len(a), len(b)])
    assert auroc(a, b) == pytest.approx(roc_auc_score(labels, known), abs=1e-12)


@fast(200)
@given(a=scores, b=scores, level=st.sampled_from((0.5, 0.9, 0.95, 0.999)))
def test_intervals_are_sound(a: np.ndarray, b: np.ndarray, level: float) -> None:
    found, value = auroc_interval(a, b, level), auroc(a, b)
    assert 0 <= found.low <= value + 1e-12
    assert value - 1e-12 <= found.high <= 1
    assert found.low < found.high
    turned = auroc_interval(b, a, level)
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-9)
    wider = auroc_interval(a, b, (1 + level) / 2)
    assert wider.low <= found.low
    assert wider.high >= found.high


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 1000])
def test_no_overlap_is_not_certainty(n: int) -> None:
    """The interval shrinks with the queries, and is never a point."""
    found = auroc_interval(np.arange(n) + 1.0, -np.arange(n) - 1.0)
    assert found.method == "newcombe"
    assert found.low < found.high == 1
    assert found.low > auroc_interval(np.ones(1), np.zeros(1)).low or n == 1


@pytest.mark.parametrize("empty", [0.0, 0.7])
@pytest.mark.parametrize(("m", "n", "truth"), [(12, 6, 0.7), (50, 12, 0.8), (100, 30, 0.95), (400, 40, 0.95)])
def test_coverage(m: int, n: int, truth: float, empty: float) -> None:
    """About 95 % of the intervals hold the true value, also where lists of the second kind are often empty."""
    rng, samples = np.random.default_rng(0), 600
    shift = norm.ppf(truth) * math.sqrt(2)
    whole = (1 - empty) * truth + empty  # an empty list is below every score
    held = 0
    for _ in range(samples):
        a, b = rng.normal(shift, 1, m), rng.normal(0, 1, n)
        b[rng.random(n) < empty] = -np.inf
        found = auroc_interval(a, b)
        held += found.low <= whole <= found.high
    assert 0.935 <= held / samples <= 0.998


def brute_force(values: np.ndarray, answerable: np.ndarray) -> float:
    """The greatest balanced accuracy over every finite score as the threshold."""
    cuts = [cut for cut in values.tolist() if math.isfinite(cut)]
    return max(balanced_accuracy(values >= cut, answerable) for cut in cuts)


@fast(200)
@given(a=scores, b=scores)
def test_the_best_threshold_is_the_best(a: np.ndarray, b: np.ndarray) -> None:
    values, answerable = np.concatenate((a, b)), np.repeat([True, False], [len(a), len(b)])
    found = best_threshold(values, answerable)
    if found is None:
        assert not np.isfinite(values).any()
        return
    assert math.isfinite(found)
    assert balanced_accuracy(values >= found, answerable) == pytest.approx(brute_force(values, answerable), abs=1e-12)
    held = held_out_accuracy(values, answerable)
    assert (held is None) == (min(len(a), len(b)) < 2)
    assert held is None or 0 <= held[0] <= 1


def test_neighbouring_floats_are_told_apart() -> None:
    low, high = 1.0, np.nextafter(1.0, 2.0)
    assert best_threshold(np.array([high, low]), np.array([True, False])) == high


def test_noise_has_no_good_threshold() -> None:
    """Chosen and judged on the same queries, a threshold of noise looks good; held out, it is worth nothing."""
    rng = np.random.default_rng(1)
    answerable = np.arange(40) < 28
    drawn = [rng.normal(size=40) for _ in range(60)]
    naive = [balanced_accuracy(v >= best_threshold(v, answerable), answerable) for v in drawn]
    held = [held_out_accuracy(v, answerable)[0] for v in drawn]
    assert np.mean(naive) > 0.6
    assert abs(np.mean(held) - 0.5) < 0.03


def test_held_out_accuracy_is_that_of_new_queries() -> None:
    """Of thresholds chosen as they are, on queries that had no part in the choice."""
    rng = np.random.default_rng(2)
    answerable, fresh = np.arange(60) < 45, np.arange(4000) < 3000
    held, new = [], []
    for _ in range(60):
        values = rng.normal(answerable * 1.5, 1)
        held.append(held_out_accuracy(values, answerable)[0])
        later = rng.normal(fresh * 1.5, 1)
        new.append(balanced_accuracy(later >= best_threshold(values, answerable), fresh))
    assert np.mean(held) == pytest.approx(np.mean(new), abs=0.02)


def test_held_out_accuracy_is_seeded_and_blind_to_scale() -> None:
    values, answerable = np.random.default_rng(3).normal(size=30), np.arange(30) % 3 > 0
    assert held_out_accuracy(values, answerable) == held_out_accuracy(values, answerable)
    assert held_out_accuracy(8 * values, answerable) == held_out_accuracy(values, answerable)
