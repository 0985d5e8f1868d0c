"""Paired tests against scipy, and the agreement of interval and p-value."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from rankgauge.stats.bootstrap import bootstrap_tests
from rankgauge.stats.classical import sign_test, signed_rank_test, t_test
from rankgauge.stats.differences import Column
from rankgauge.stats.family import compare_columns
from rankgauge.stats.randomization import max_t_tests, randomization_tests
from rankgauge.stats.settings import Settings
from tests.stats.shapes import columns_of


def column(values: list[float] | np.ndarray) -> Column:
    return columns_of(np.asarray(values, dtype=float)[:, None])[0]


def mean_of(sample: np.ndarray, axis: int = 0) -> np.ndarray:
    return np.mean(sample, axis=axis)


@pytest.fixture(params=range(5))
def differences(request: pytest.FixtureRequest) -> np.ndarray:
    rng = np.random.default_rng(request.param)
    return rng.normal(0.03, 0.2, 20 + 11 * request.param)


def test_t_is_scipys(differences: np.ndarray) -> None:
    ours, theirs = t_test(column(differences)), scipy_stats.ttest_1samp(differences, 0)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    for alpha in (0.05, 0.01, 1e-6):
        assert ours.bounds(alpha) == pytest.approx(tuple(theirs.confidence_interval(1 - alpha)), rel=1e-9)


def test_wilcoxon_is_scipys(differences: np.ndarray) -> None:
    few = differences[:30]
    exact = scipy_stats.wilcoxon(few, method="exact").pvalue
    assert signed_rank_test(column(few)).p_value == pytest.approx(exact, rel=1e-10)
    tied = np.round(np.concatenate([differences + shift for shift in (0, 0.05, 0.1, 0.15, 0.2)]), 1)
    assert (tied != 0).sum() > 50
    theirs = scipy_stats.wilcoxon(tied, zero_method="wilcox", method="asymptotic").pvalue
    assert signed_rank_test(column(tied)).p_value == pytest.approx(theirs, rel=1e-9)


def test_wilcoxon_with_ties_is_exact() -> None:
    """All assignments of signs to the mid-ranks."""
    rng = np.random.default_rng(8)
    for n in (4, 7, 10):
        values = np.round(rng.normal(0.1, 0.3, n), 1)
        values[values == 0] = 0.1
        ranks = scipy_stats.rankdata(np.abs(np.round(values, 12)))
        sums = [sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=n)]
        least = min(ranks[values > 0].sum(), ranks[values < 0].sum())
        exact = min(1.0, 2 * float(np.mean(np.array(sums) <= least + 1e-9)))
        assert signed_rank_test(column(values)).p_value == pytest.approx(exact)


def test_the_wilcoxon_interval_lies_between_pairwise_means(differences: np.ndarray) -> None:
    for alpha in (0.05, 0.2):
        low, high = signed_rank_test(column(differences)).bounds(alpha)
        means = np.sort([(a + b) / 2 for a, b in itertools.combinations_with_replacement(differences, 2)])
        assert np.isclose(means, low, atol=1e-12).any()
        assert np.isclose(means, high, atol=1e-12).any()
        # Shifting by the bounds, a little inside and outside, is not rejected and rejected.
        width = 1e-7
        assert signed_rank_test(column(differences - low - width)).p_value >= alpha
        assert signed_rank_test(column(differences - low + width)).p_value < alpha
        assert signed_rank_test(column(differences - high + width)).p_value >= alpha
        assert signed_rank_test(column(differences - high - width)).p_value < alpha


def test_sign_is_the_binomial_test(differences: np.ndarray) -> None:
    differences[:3] = 0
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    ours = sign_test(column(differences))
    assert ours.p_value == pytest.approx(scipy_stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


def test_randomization_is_scipys_permutation_test() -> None:
    rng = np.random.default_rng(3)
    for n in (5, 8, 12):
        values = np.round(rng.normal(0.1, 0.2, n), 2)
        theirs = scipy_stats.permutation_test(
            (values,), mean_of, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert randomization_tests([column(values)])[0].p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    values = rng.normal(0.05, 0.2, 60)
    theirs = scipy_stats.permutation_test(
        (values,), mean_of, permutation_type="samples", n_resamples=50_000, vectorized=True, rng=1
    )
    assert randomization_tests([column(values)])[0].p_value == pytest.approx(theirs.pvalue, abs=0.006)


def test_bootstrap_is_near_scipys() -> None:
    """Two ways to bootstrap agree on the spread, up to their random draws."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.05, 0.2, 80)
    theirs = scipy_stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=1)
    ours = bootstrap_tests([column(values)], samples=20_000)[0]
    assert ours.bounds(0.05) == pytest.approx(tuple(theirs.confidence_interval), abs=0.004)
    assert ours.p_value == pytest.approx(scipy_stats.ttest_1samp(values, 0).pvalue, abs=0.02)


def test_the_seeds_ten_recalls() -> None:
    """Paired t of 41.022 and a relative_change of 19.1 % over the ten recalls of the first source document."""
    before = np.array([0.6, 0.7, 0.65, 0.68, 0.72, 0.63, 0.69, 0.71, 0.66, 0.70])
    after = np.array([0.75, 0.82, 0.78, 0.80, 0.85, 0.76, 0.81, 0.83, 0.79, 0.84])
    found = column(after - before)
    assert found.t == pytest.approx(scipy_stats.ttest_rel(after, before).statistic, rel=1e-12)
    assert round(found.t, 3) == 41.022
    assert round(100 * found.mean / before.mean(), 1) == 19.1


def test_randomization_is_reproducible_never_zero_and_one_for_identical_systems() -> None:
    values = np.random.default_rng(0).normal(1, 0.01, (100, 1))
    first, again = (randomization_tests(columns_of(values), seed=7)[0] for _ in range(2))
    assert first.p_value == again.p_value == pytest.approx(1 / 100_001)
    same = randomization_tests(columns_of(np.zeros((40, 1))))[0]
    assert same.p_value == 1
    assert same.bounds(0.05) == (-math.inf, math.inf)  # without limits, nothing bounds what was not seen
    assert randomization_tests(columns_of(-values), seed=7)[0].p_value == first.p_value


def test_equal_statistics_count_whatever_the_rounding() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point, yet its sign flips tie."""
    values = [0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.3]
    totals = [
        abs(sum(s * round(10 * v) for s, v in zip(signs, values, strict=True)))
        for signs in itertools.product((1, -1), repeat=7)
    ]
    expected = sum(total >= abs(sum(round(10 * v) for v in values)) for total in totals) / 2**7
    assert randomization_tests([column(values)])[0].p_value == expected


def test_exact_randomization_bounds_by_search() -> None:
    """Shifts inside the interval are not rejected, those outside are."""
    values = np.random.default_rng(2).normal(0.2, 0.3, 9)
    test = randomization_tests([column(values)], alpha=0.2)[0]
    for alpha in (0.2, 0.1, 0.05):
        low, high = test.bounds(alpha)
        for shift, inside in ((low + 1e-6, True), (low - 1e-6, False), (high - 1e-6, True), (high + 1e-6, False)):
            p = randomization_tests([column(values - shift)])[0].p_value
            assert (p >= alpha) is inside


def test_too_few_queries_to_reject_leave_the_interval_open() -> None:
    test = randomization_tests([column([0.1, 0.2, 0.3])])[0]
    assert test.p_value == 0.25
    assert test.bounds(0.05) == (-math.inf, math.inf)


def test_max_t_of_one_column_is_its_own_test() -> None:
    values = np.random.default_rng(4).normal(0.05, 0.2, (50, 1))
    _, adjusted, _ = max_t_tests(columns_of(values))
    assert adjusted[0] == pytest.approx(randomization_tests(columns_of(values))[0].p_value, abs=1e-12)


def test_max_t_is_the_joint_distribution() -> None:
    """All 2^8 assignments by hand."""
    values = np.random.default_rng(6).normal(0.15, 0.2, (8, 3))

    def t_of(x: np.ndarray) -> np.ndarray:
        return np.abs(x.mean(axis=0) / (x.std(axis=0, ddof=1) / np.sqrt(len(x))))

    largest = [t_of(values * np.array(signs)[:, None]).max() for signs in itertools.product((1, -1), repeat=8)]
    _, adjusted, _ = max_t_tests(columns_of(values))
    assert adjusted == pytest.approx([np.mean(np.array(largest) >= t * (1 - 1e-9)) for t in t_of(values)])


numbers = st.floats(-1, 1).map(lambda x: round(x, 2))


@given(
    st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=2, max_size=30),
    st.sampled_from(["randomization", "t", "wilcoxon", "sign", "bootstrap"]),
    st.sampled_from(["holm", "bh", "none", "max-t"]),
    st.sampled_from([0.05, 0.3]),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_interval_and_p_value_never_contradict(
    rows: list[list[float]], test: str, correction: str, alpha: float
) -> None:
    if correction == "max-t" and test != "randomization":
        return
    chosen = Settings.of(test, correction, alpha, samples=200)
    for found in compare_columns(columns_of(np.array(rows)), chosen):
        assert found.p_value is not None
        assert found.p_corrected is not None
        assert found.interval is not None
        assert 0 <= found.p_value <= 1
        assert found.p_corrected >= found.p_value * (1 - 1e-12) or correction == "max-t"
        outside = found.interval.low > 0 or found.interval.high < 0
        assert outside == (found.p_corrected < alpha)
        assert found.interval.low <= found.interval.high
        assert (found.verdict in ("better", "worse")) == outside
        assert found.detectable is None or math.isfinite(found.detectable)
