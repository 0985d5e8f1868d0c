"""Tau-AP and rank-biased overlap against naive definitions, in all orders of what ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats.agreement import rank_biased_overlap, tau_ap


def naive_tau_ap(truth: list[float], estimate: list[float]) -> float:
    """Over every order of the systems that agrees with the estimate; a pair that the truth ties is right by half."""
    found = []
    for order in permutations(range(len(truth))):
        if any(estimate[a] < estimate[b] for i, a in enumerate(order) for b in order[i + 1 :]):
            continue
        total = 0.0
        for i in range(1, len(order)):
            own = truth[order[i]]
            total += sum(1.0 if truth[j] > own else 0.5 if truth[j] == own else 0.0 for j in order[:i]) / i
        found.append(2 * total / (len(order) - 1) - 1)
    return sum(found) / len(found)


scores = st.lists(st.integers(0, 4).map(float), min_size=2, max_size=6)


@given(scores, st.data())
def test_tau_ap(truth: list[float], data: st.DataObject) -> None:
    estimate = data.draw(st.lists(st.integers(0, 4).map(float), min_size=len(truth), max_size=len(truth)))
    found = tau_ap(np.array(truth), np.array(estimate))
    if len(set(truth)) == 1 or len(set(estimate)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(naive_tau_ap(truth, estimate), abs=1e-12)


def test_mistakes_at_the_top_weigh_most() -> None:
    truth = np.array([5.0, 4, 3, 2, 1])
    assert tau_ap(truth, truth) == pytest.approx(1)
    assert tau_ap(truth, -truth) == pytest.approx(-1)
    top, bottom = np.array([4.0, 5, 3, 2, 1]), np.array([5.0, 4, 3, 1, 2])
    assert (tau_ap(truth, top) or 0) < (tau_ap(truth, bottom) or 0)


@given(st.permutations(range(6)), st.permutations(range(6)), st.sampled_from([0.5, 0.8, 0.9, 0.99]))
def test_overlap_by_its_definition(first: list[int], second: list[int], p: float) -> None:
    n = len(first)
    shared = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, n + 1)]
    expected = (1 - p) * sum(share * p**d for d, share in enumerate(shared)) + shared[-1] * p**n
    scores_of = [np.array([-order.index(i) for i in range(n)], dtype=float) for order in (first, second)]
    found = rank_biased_overlap(*scores_of, p)
    assert found == pytest.approx(expected)
    assert 0 <= found <= 1 + 1e-12
    assert rank_biased_overlap(scores_of[0], scores_of[0], p) == pytest.approx(1)
