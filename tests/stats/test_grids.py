"""Every test and interval over its whole domain: sizes, levels, and data that are tiny, huge, constant, binary, sparse,
negative or skewed.

No figure is NaN, intervals hold the estimate and never contradict their test, and what scipy has too is scipy's.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rankgauge import compare_scores
from rankgauge.stats.bootstrap import bootstrap_tests
from rankgauge.stats.classical import sign_test, signed_rank_test, t_test
from rankgauge.stats.constant import constant_bounds, constant_p
from rankgauge.stats.differences import Column
from rankgauge.stats.family import compare_columns
from rankgauge.stats.intervals import mean_interval, student_quantile
from rankgauge.stats.noninferiority import non_inferiority
from rankgauge.stats.onesided import equivalence_p
from rankgauge.stats.randomization import max_t_tests, randomization_tests
from rankgauge.stats.settings import Settings

ALPHAS = [0.2, 0.05, 0.01, 1e-3, 1e-4, 1e-6]
SIZES = [2, 3, 5, 8, 16, 17, 40, 300]
KINDS = {
    "normal": lambda rng, n: rng.normal(0.05, 0.2, n),
    "tiny": lambda rng, n: rng.normal(5e-14, 2e-13, n),
    "huge": lambda rng, n: rng.normal(5e98, 2e99, n),
    "constant": lambda rng, n: np.full(n, 0.1),
    "zero": lambda rng, n: np.zeros(n),
    "nearly constant": lambda rng, n: 1 + 1e-8 * rng.normal(size=n),
    "binary": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "three values": lambda rng, n: rng.integers(-1, 2, n).astype(float),
    "sparse": lambda rng, n: np.where(np.arange(n) == 0, -1.0, 0.0),
    "negative": lambda rng, n: -rng.uniform(1, 2, n),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
}
CASES = [(kind, n) for kind, n in itertools.product(KINDS, SIZES)]


def column(values: np.ndarray) -> Column:
    reach = float(np.abs(values).max()) or 1.0
    return Column(values, np.ones(len(values), dtype=bool), (-reach, reach))


def drawn(kind: str, n: int) -> np.ndarray:
    return KINDS[kind](np.random.default_rng(n), n)


@pytest.mark.parametrize("correction", ["holm", "max-t", "bh", "none"])
@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "bootstrap"])
@pytest.mark.parametrize("n", SIZES)
def test_all_kinds_of_data_get_figures_that_agree(test: str, correction: str, n: int) -> None:
    if correction == "max-t" and test != "randomization":
        return
    columns = [column(drawn(kind, n)) for kind in KINDS]
    for alpha in (0.2, 0.01):
        chosen = Settings.of(test, correction, alpha, samples=2000 if test in ("randomization", "bootstrap") else None)
        for kind, one, found in zip(KINDS, columns, compare_columns(columns, chosen), strict=True):
            assert found.p_value is not None
            assert found.p_corrected is not None
            assert found.interval is not None
            assert 0 <= found.p_value <= 1, kind
            assert 0 <= found.p_corrected <= 1, kind
            assert found.p_equivalent is not None
            assert 0 <= found.p_equivalent <= 1, kind
            low, high = found.interval.low, found.interval.high
            assert low <= high, kind  # NaN fails
            assert (low > 0 or high < 0) == (found.p_corrected < alpha), kind
            assert found.detectable is None or math.isfinite(found.detectable)
            if test not in ("wilcoxon", "sign"):  # whose intervals are not about means
                assert low <= one.mean * (1 + 1e-9) + 1e-300, kind
                assert high >= one.mean * (1 - 1e-9) - 1e-300, kind
                assert low < high, kind  # never certain


@pytest.mark.parametrize("alpha", ALPHAS)
def test_quantiles_are_scipys(alpha: float) -> None:
    for n in [2, 3, 4, 5, 7, 10, 25, 100, 201, 202, 203, 500, 2000, 20_000]:
        for share in (1, 3, 100, 5151):
            p = 1 - alpha / share / 2
            digits = max(2e-7, 1e-14 * share / alpha)  # those that 1 - p has left
            assert student_quantile(p, n - 1) == pytest.approx(stats.t.ppf(p, n - 1), rel=digits), (n, share)


@pytest.mark.parametrize(("kind", "n"), CASES)
def test_p_values_are_scipys(kind: str, n: int) -> None:
    values = drawn(kind, n)
    one = column(values)
    if not one.constant:
        theirs = stats.ttest_1samp(values / np.abs(values).max(), 0)
        assert t_test(one).p_value == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-300)
    decided = values[values != 0]
    if len(decided):
        wins = int((decided > 0).sum())
        assert sign_test(one).p_value == pytest.approx(stats.binomtest(wins, len(decided)).pvalue, rel=1e-9)
    if len(decided) > 1 and len(np.unique(np.abs(decided))) == len(decided):
        method = "exact" if len(decided) <= 50 else "asymptotic"
        theirs = stats.wilcoxon(decided / np.abs(decided).max(), method=method)
        if kind != "nearly constant":
            assert signed_rank_test(one).p_value == pytest.approx(theirs.pvalue, rel=1e-6)


@pytest.mark.parametrize("n", [2, 4, 8, 13])
@pytest.mark.parametrize("kind", KINDS)
def test_randomization_is_brute_force(kind: str, n: int) -> None:
    values = drawn(kind, n)
    scaled = values / (np.abs(values).max() or 1.0)
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=n)))
    sums = np.abs(signs @ scaled)
    expected = float((sums >= abs(scaled.sum()) - 1e-9 * np.abs(scaled).sum()).mean())
    assert randomization_tests([column(values)])[0].p_value == pytest.approx(expected, abs=1e-12)


# --- the sign test's interval


@pytest.mark.parametrize("n", [6, 7, 9, 10, 25, 50, 101])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
def test_the_sign_interval_is_scipys(n: int, alpha: float) -> None:
    values = np.sort(np.random.default_rng(n).normal(0.1, 1, n))
    low, high = sign_test(column(values)).bounds(alpha)
    theirs = stats.quantile_test(values, q=0, p=0.5).confidence_interval(1 - alpha)
    assert (low, high) == (pytest.approx(theirs.low), pytest.approx(theirs.high)) or math.isinf(low)
    assert math.isinf(low) == (2 * 0.5**n >= alpha)


def test_the_sign_interval_by_hand() -> None:
    assert sign_test(column(np.arange(1, 11) / 10)).bounds(0.05) == (0.2, 0.9)


@pytest.mark.parametrize("n", [8, 10, 15, 30, 100])
@pytest.mark.parametrize(
    ("test", "draw"),
    [
        (sign_test, lambda rng, n: rng.exponential(1, n) - math.log(2)),  # median 0
        (sign_test, lambda rng, n: rng.standard_cauchy(n)),
        (signed_rank_test, lambda rng, n: rng.laplace(0, 1, n)),
        (signed_rank_test, lambda rng, n: rng.uniform(-1, 1, n)),
    ],
)
def test_intervals_of_medians_cover(test, draw, n: int) -> None:  # type: ignore[no-untyped-def]
    rng, trials = np.random.default_rng(n), 600 if test is sign_test else 300
    bounds = [test(column(draw(rng, n) + 0.3)).bounds(0.05) for _ in range(trials)]
    missed = float(np.mean([not low <= 0.3 <= high for low, high in bounds]))
    assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)


# --- constant differences


@pytest.mark.parametrize("test", ["t", "bootstrap", "randomization"])
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("difference", [0.1, -0.1, 1.0])
def test_few_constant_differences_are_inconclusive(test: str, n: int, difference: float) -> None:
    one = Column(np.full(n, difference), np.ones(n, dtype=bool), (-1.0, 1.0))
    found = compare_columns([one], Settings.of(test), [(-1.0, 1.0)])[0]
    assert found.verdict == "inconclusive"
    assert found.interval is not None
    assert found.interval.low < 0 < found.interval.high


def test_many_constant_differences_decide() -> None:
    """From all wrong to all right on 50 queries is better by every test of means, but not certainly by 1."""
    one = Column(np.ones(50), np.ones(50, dtype=bool), (-1.0, 1.0))
    for test in ("t", "bootstrap", "randomization"):
        found = compare_columns([one], Settings.of(test), [(-1.0, 1.0)])[0]
        assert found.verdict == "better"
        assert found.interval is not None
        assert 0.8 < found.interval.low < 0.95


@pytest.mark.parametrize("n", [2, 5, 10, 40, 300])
@pytest.mark.parametrize("c", [0.01, 0.1, 0.5, 1.0])
def test_the_p_value_of_a_constant_is_the_worst_case(n: int, c: float) -> None:
    """No distribution between -1 and 1 with mean 0 gives n times c more often than half of it."""
    one = Column(np.full(n, c), np.ones(n, dtype=bool), (-1.0, 1.0))
    worst = max(((1 - share) if share * c - (1 - share) <= 0 else 0, share**n)[1] for share in np.linspace(0, 1, 2001)
                if share * c - (1 - share) <= 1e-12)  # fmt: skip
    assert constant_p(one) >= min(1.0, worst)
    assert constant_p(one) == pytest.approx(min(1.0, 2 * (1 / (1 + c)) ** n))
    for alpha in ALPHAS:
        low, high = constant_bounds(one, alpha)
        assert -1 <= low <= c <= high <= 1
        assert (low > 0) == (constant_p(one) < alpha)


@pytest.mark.parametrize("n", [5, 20, 60, 200])
@pytest.mark.parametrize("rare", [0.005, 0.02, 0.1, 0.3])
def test_intervals_of_scores_that_are_seldom_other(n: int, rare: float) -> None:
    """Scores of 0.5 and now and then 0: where all are alike, the interval still allows for the rare ones."""
    rng = np.random.default_rng(n)
    truth = 0.5 * (1 - rare)
    missed = 0
    for _ in range(500):
        values = np.where(rng.random(n) < rare, 0.0, 0.5)
        if (values == values[0]).all() and values[0]:
            found = mean_interval(values, bounds=(0.0, 1.0))
            assert found is not None
            assert found.method == "constant"
            missed += not found.low <= truth <= found.high
    assert missed / 500 <= 0.05


def test_a_constant_without_bounds_has_no_interval() -> None:
    assert mean_interval(np.full(20, 7.0)) is None
    found = mean_interval(np.full(20, 0.5), bounds=(0.0, 1.0))
    assert found is not None
    assert 0.3 < found.low < 0.5 < found.high < 0.7


@pytest.mark.parametrize("scale", [1e-8, 1e-6, 1e-3])
def test_the_bootstrap_of_nearly_constant_differences(scale: float) -> None:
    """Sums of squares around 0 cancel; around the mean they do not."""
    values = 1 + scale * np.random.default_rng(2).normal(size=30)
    found, apart = (
        bootstrap_tests([column(v)], samples=2000)[0] for v in (values, values - values.mean() + 10 * scale)
    )
    assert found.p_value == pytest.approx(1 / 2001)
    low, high = found.bounds(0.05)
    near_low, near_high = apart.bounds(0.05)
    assert high - low == pytest.approx(near_high - near_low, rel=1e-4)


# --- equivalence


def losing(kind: str, rng: np.random.Generator, n: int, margin: float) -> np.ndarray:
    """Differences whose mean is exactly the margin lost."""
    if kind == "rare":
        return np.where(rng.random(n) < margin, -1.0, 0.0)
    if kind == "rare and noise":
        return np.where(rng.random(n) < margin, -1.0, rng.normal(0, 0.02, n))
    if kind == "halves":
        return np.where(rng.random(n) < 2 * margin, -0.5, 0.0)
    if kind == "gains":
        return np.where(rng.random(n) < 0.1, 0.1, 0.0) - (rng.random(n) < margin + 0.01)
    return rng.normal(-margin, 0.1, n)


@pytest.mark.parametrize("kind", ["rare", "rare and noise", "halves", "gains", "normal"])
@pytest.mark.parametrize(
    ("margin", "n"),
    [(0.01, 25), (0.01, 100), (0.01, 299), (0.01, 450), (0.01, 1000), (0.05, 25), (0.05, 60), (0.05, 200)],
)
def test_a_loss_of_the_margin_is_seldom_called_equivalent(kind: str, margin: float, n: int) -> None:
    rng, trials = np.random.default_rng(n), 400
    passed = 0
    for _ in range(trials):
        values = np.clip(losing(kind, rng, n, margin), -1, 1)
        both = [equivalence_p(Column(sign * values, np.ones(n, dtype=bool), (-1.0, 1.0)), margin) for sign in (1, -1)]
        assert both[0] == pytest.approx(both[1])
        passed += both[0] < 0.05
    assert passed / trials <= 0.07 + 2.5 * math.sqrt(0.07 * 0.93 / trials)


def test_equivalence_is_found_where_it_can_be() -> None:
    rng = np.random.default_rng(0)
    found = [equivalence_p(column_of(rng.normal(0, 0.05, 500)), 0.01) for _ in range(200)]
    assert np.mean([p < 0.05 for p in found]) > 0.9
    assert equivalence_p(column_of(np.zeros(299)), 0.01) < 0.05 < equivalence_p(column_of(np.zeros(298)), 0.01)


def column_of(values: np.ndarray) -> Column:
    return Column(values, np.ones(len(values), dtype=bool), (-1.0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_equivalence_is_easier_with_a_wider_margin(kind: str, n: int) -> None:
    one = column(drawn(kind, n))
    found = [equivalence_p(one, margin * one.limits[1]) for margin in np.linspace(0, 1.5, 40)]
    assert all(0 <= p <= 1 for p in found)
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(found))
    assert found[0] == 1 or one.mean == 0
    assert found[-1] < 0.5 or n < 5 or kind == "heavy"


# --- non-inferiority


@pytest.mark.parametrize(("kind", "n"), [case for case in CASES if case[0] != "huge"])
def test_non_inferiority_is_monotone_and_finite(kind: str, n: int) -> None:
    base = np.abs(drawn("normal", n)) + 0.1
    change = drawn(kind, n)
    statuses = []
    for margin in (0.0, 0.01, 0.05, 0.2, 0.5, 0.9):
        found = non_inferiority(base + change, base, margin)
        assert all(map(math.isfinite, (found.mean, found.lower, found.upper, found.deviation)))
        assert found.lower <= found.mean <= found.upper
        assert found.needed is None or found.needed > n
        statuses.append({"regression": 0, "inconclusive": 1, "pass": 2}[found.status])
    assert statuses == sorted(statuses)
    lows = [non_inferiority(base + change, base, 0.05, alpha=alpha).lower for alpha in ALPHAS]
    assert lows == sorted(lows, reverse=True)


# --- max-t beside slices of a few queries


def sliced(rng: np.random.Generator, effect: float, few: int) -> list[Column]:
    """Two columns of 40 queries, the first with an effect, and a slice of some queries of each."""
    values = rng.normal(0, 0.2, (40, 2)) + np.array([effect, 0.0])
    whole = [Column(values[:, j], np.ones(40, dtype=bool), (-1.0, 1.0)) for j in range(2)]
    inside = np.arange(40) < few
    return whole + [Column(np.where(inside, values[:, j], 0.0), inside, (-1.0, 1.0)) for j in range(2)]


@pytest.mark.parametrize("few", [2, 3, 4, 5, 8, 12])
def test_max_t_keeps_its_power_beside_a_slice(few: int) -> None:
    rng = np.random.default_rng(few)
    trials = [sliced(rng, 0.12, few) for _ in range(150)]
    alone = [max_t_tests(columns[:2], samples=1000)[1][0] < 0.05 for columns in trials]
    beside = [max_t_tests(columns, samples=1000)[1][0] < 0.05 for columns in trials]
    assert np.mean(alone) > 0.8
    assert np.mean(beside) > np.mean(alone) - 0.15  # four comparisons instead of two cost something


@pytest.mark.parametrize("few", [2, 5, 8, 12])
def test_max_t_keeps_its_level_beside_a_slice(few: int) -> None:
    rng, trials = np.random.default_rng(few), 400
    false = sum(min(max_t_tests(sliced(rng, 0.0, few), samples=1000)[1]) < 0.05 for _ in range(trials))
    assert false / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)


def test_max_t_intervals_agree_beside_a_slice() -> None:
    rng = np.random.default_rng(3)
    for few, alpha in itertools.product((2, 5, 9, 14, 20), (0.05, 0.2)):
        columns = sliced(rng, 0.2, few)
        for found in compare_columns(columns, Settings.of(correction="max-t", alpha=alpha, samples=2000)):
            assert found.interval is not None
            assert found.p_corrected is not None
            assert (found.interval.low > 0 or found.interval.high < 0) == (found.p_corrected < alpha)


# --- draws and families


def test_a_large_family_gets_the_draws_it_needs() -> None:
    usual, many = (Settings.of().for_family(50, rows) for rows in (10, 5151))
    assert usual.samples == 100_000
    assert many.samples is not None
    assert 5151 / (many.samples + 1) < 0.05
    assert Settings.of(correction="max-t").for_family(50, 5151).samples == 100_000
    assert Settings.of(samples=150).for_family(50, 5151).samples == 150
    rng = np.random.default_rng(0)
    columns = [column(rng.normal(0.5, 0.1, 25)) for _ in range(250)]
    few = compare_columns(columns, Settings.of(samples=4000))
    assert all(found.verdict == "inconclusive" for found in few)  # 4,000 draws cannot say so for 250 rows
    assert all(found.verdict == "better" for found in compare_columns(columns, Settings.of(samples=6000)))


# --- columns of different sizes


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("correction", ["holm", "max-t", "bh", "none"])
def test_missing_scores_never_turn_a_verdict(correction: str, lower: bool) -> None:
    """Systems with few common queries beside others with more: no traceback, the verdict on the side of the mean."""
    rng = np.random.default_rng(1)
    for _ in range(120):
        n = int(rng.integers(2, 14))
        scores = {name: np.round(rng.uniform(0, 0.5, n), 1) for name in "abc"}
        scores["b"][rng.random(n) < 0.4] = np.nan
        scores["c"] = scores["a"] + 0.1 if rng.random() < 0.5 else scores["c"]
        for row in compare_scores(scores, baseline="a", correction=correction, samples=300, lower_is_better=lower).rows:
            assert row.verdict in ("better", "worse", "equivalent", "inconclusive")
            if row.interval is not None:
                assert row.interval.low <= row.difference + 1e-12
                assert row.interval.high >= row.difference - 1e-12
            if row.verdict in ("better", "worse"):
                assert (row.verdict == "better") == ((row.difference > 0) != lower)


def test_no_queries_in_common_by_max_t() -> None:
    scores = {"a": [0.1, 0.2, None], "b": [None, None, 0.2], "c": [0.3, 0.1, 0.2]}
    rows = compare_scores(scores, baseline="a", correction="max-t").rows
    assert (rows[0].queries, rows[0].verdict) == (0, "inconclusive")


def test_scores_that_lie_close_together_do_not_prove_a_margin() -> None:
    """What was seen is no bound of what can be: two queries are never equivalent."""
    for scores, margin in (({"A": [0.5, 0.502], "B": [0.501, 0.5]}, 0.01), ({"A": [100, 200], "B": [150, 190]}, 100)):
        assert compare_scores(scores, equivalence_margin=margin).rows[0].verdict == "inconclusive"


@pytest.mark.parametrize("now", [0.4, 0.474, 0.49, 0.6])
def test_a_gate_is_not_certain_from_equal_changes_of_two_queries(now: float) -> None:
    found = non_inferiority(np.full(2, now), np.full(2, 0.5))
    assert found.status == ("pass" if now > 0.5 else "inconclusive")
    many = non_inferiority(np.full(400, now), np.full(400, 0.5))
    assert many.lower < many.upper
    assert many.status == {0.4: "regression", 0.6: "pass", 0.49: "pass"}.get(now, "inconclusive")
    if found.needed is not None:
        enough = non_inferiority(np.full(found.needed, now), np.full(found.needed, 0.5))
        assert enough.status != "inconclusive"


def test_lift_and_record_of_scores_far_apart() -> None:
    found = compare_scores({"a": [1e-300, 0, 0], "b": [1e20, 2e20, 1e20]})
    assert found.rows[0].relative_change is None
    found.to_json()


def test_tests_of_many_rows_hold_no_more_than_they_need() -> None:
    """Thousands of rows with 100,000 draws each would fill the memory if a row held its draws."""
    found = randomization_tests([column(np.random.default_rng(0).normal(size=40))], samples=20_000)[0]
    assert [(side.base, len(side)) for side in (found.below, found.above)] == [(None, 1000)] * 2


def test_a_bound_of_nothing_is_no_negative_number() -> None:
    """One win among ties: the interval begins at 0, not at what rounding leaves below it."""
    for others in (29, 40, 134):
        found = compare_scores({"a": [0.0] * (others + 1), "b": [1 / 3] + [0.0] * others}).rows[0]
        assert found.interval is not None
        assert math.copysign(1, found.interval.low) > 0
