"""Corrections, power and tau against statsmodels and scipy."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from rankgauge.errors import DataError
from rankgauge.stats.agreement import kendall_tau
from rankgauge.stats.corrections import corrected
from rankgauge.stats.power import detectable_difference, power_of, queries_needed, significant_spread


@pytest.fixture(scope="module", autouse=True)
def _no_garbage() -> None:
    """statsmodels collects garbage in each call; what the tests before left is not looked at."""
    gc.freeze()


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(p_values)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_holm_and_bh_are_statsmodels(p: list[float]) -> None:
    for ours, theirs in (("holm", "holm"), ("bh", "fdr_bh")):
        adjusted, factors = corrected(p, ours)
        expected = multipletests(p, method=theirs)[1]
        assert adjusted == pytest.approx(expected.tolist(), abs=1e-12)
        for value, factor, own in zip(adjusted, factors, p, strict=True):
            assert value == pytest.approx(min(1.0, own * factor), abs=1e-12)
    assert corrected(p, "none") == (p, [1.0] * len(p))


def test_what_was_not_tested_is_no_part_of_the_family() -> None:
    assert corrected([0.01, None, 0.04], "holm")[0] == [0.02, None, 0.04]


@pytest.mark.parametrize("difference", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("n", [5, 30, 500])
def test_power_is_statsmodels(difference: float, n: int) -> None:
    theirs = TTestPower().power(difference / 0.25, n, 0.05)
    if np.isnan(theirs):  # scipy's noncentral t gives up where the power is 1
        theirs = 1.0
    assert power_of(difference, 0.25, n) == pytest.approx(theirs, abs=1e-6)


def test_sizes_are_statsmodels() -> None:
    solve = TTestPower().solve_power
    assert queries_needed(0.02, 0.2) == int(np.ceil(solve(0.1, power=0.8, alpha=0.05)))
    assert queries_needed(0.05, 0.2, 0.01, 0.9) == int(np.ceil(solve(0.25, power=0.9, alpha=0.01)))
    assert detectable_difference(0.2, 150) == pytest.approx(0.2 * solve(nobs=150, power=0.8, alpha=0.05), rel=1e-5)
    assert detectable_difference(0.2, 1) is None
    with pytest.raises(DataError):
        queries_needed(0, 0.2)
    with pytest.raises(DataError):
        queries_needed(1e-9, 1.0)


def test_significant_spread_is_where_p_is_alpha() -> None:
    spread = significant_spread(0.04, 50)
    t = 0.04 / (spread / np.sqrt(50))
    assert 2 * scipy_stats.t.sf(t, 49) == pytest.approx(0.05, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=120))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_tau_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    ours = kendall_tau(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert ours is None
        return
    assert ours == pytest.approx(scipy_stats.kendalltau(x, y).statistic, abs=1e-12)
