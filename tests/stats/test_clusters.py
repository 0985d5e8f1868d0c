"""Conversations: exact where that can be counted out, calibrated elsewhere, and nothing new for single queries."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.api import OLS

from rankgauge.errors import DataError
from rankgauge.stats import noninferiority
from rankgauge.stats.bootstrap import bootstrap_tests
from rankgauge.stats.classical import sign_test, signed_rank_test, t_test
from rankgauge.stats.clusters import cluster_numbers, clustered, design_effect
from rankgauge.stats.differences import Column
from rankgauge.stats.family import compare_columns
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.noninferiority import non_inferiority
from rankgauge.stats.onesided import equivalence_p
from rankgauge.stats.power import power_of
from rankgauge.stats.randomization import max_t_tests, randomization_tests
from rankgauge.stats.selection import interval_of_best
from rankgauge.stats.settings import Settings
from tests.stats.conversations import clusters_of, differences, lengths, scores

ALPHA = 0.05


def column_of(values: np.ndarray, counted: np.ndarray | None = None) -> Column:
    mask = np.ones(len(values), dtype=bool) if counted is None else counted
    return Column(np.where(mask, values, 0.0), mask, (-1.0, 1.0))


def by_hand(values: np.ndarray, clusters: np.ndarray) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for value, own in zip(values.tolist(), clusters.tolist(), strict=True):
        found.setdefault(own, []).append(value)
    return found


drawn = st.lists(st.tuples(st.integers(0, 6), st.integers(-8, 8)), min_size=4, max_size=24).filter(
    lambda rows: len({own for own, _ in rows}) > 1
)


def test_numbers_of_conversations() -> None:
    told = {"a": "x", "b": "x", "d": "y"}
    numbers = cluster_numbers(["a", "b", "c", "d"], told)
    assert numbers is not None
    assert numbers.tolist() == [0, 0, 1, 2]
    assert cluster_numbers(["a", "c", "d"], told) is None  # no conversation has two of them
    assert cluster_numbers(["a", "b"], {}) is None
    alone = cluster_numbers(["x", "a", "b"], told)  # a query may have the name of a conversation
    assert alone is not None
    assert alone.tolist() == [0, 1, 1]


@given(drawn)
def test_mean_and_error_are_cluster_robust(rows: list[tuple[int, int]]) -> None:
    clusters, values = np.array([own for own, _ in rows]), np.array([value / 8 for _, value in rows])
    unit, groups, n = clustered(column_of(values), clusters), by_hand(values, clusters), len(values)
    mean = math.fsum(values) / n
    residuals = [math.fsum(own) - len(own) * mean for own in groups.values()]
    error = math.sqrt(len(groups) / (len(groups) - 1) * math.fsum(e * e for e in residuals)) / n
    assert unit.n == len(groups)
    assert unit.mean == pytest.approx(mean, abs=1e-12)
    assert unit.error == pytest.approx(error, abs=1e-9)
    sums = sorted(math.fsum(own) * len(groups) / n for own in groups.values())
    assert unit.weights is not None
    own = unit.own - unit.mean + unit.weights[unit.counted] * unit.mean
    assert sorted(own.tolist()) == pytest.approx(sums, abs=1e-9)
    means = sorted(math.fsum(own) / len(own) for own in groups.values())
    assert sorted(unit.averages.tolist()) == pytest.approx(means, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(drawn)
def test_signs_are_turned_by_conversation(rows: list[tuple[int, int]]) -> None:
    """Every assignment of signs to conversations, counted out; and each bound turns the same test."""
    clusters, values = np.array([own for own, _ in rows]), np.array([value / 8 for _, value in rows])
    groups = list(by_hand(values, clusters).values())

    def p_of(shift: float) -> float:
        sums = [math.fsum(own) - shift * len(own) for own in groups]
        observed = abs(math.fsum(sums))
        draws = list(itertools.product((-1, 1), repeat=len(sums)))
        return sum(abs(math.fsum(s * x for s, x in zip(d, sums, strict=True))) >= observed - 1e-9 for d in draws) / len(
            draws
        )

    unit = clustered(column_of(values), clusters)
    level = 0.3
    (found,) = randomization_tests([unit], alpha=level)
    assert found.p_value == pytest.approx(p_of(0.0))
    if unit.constant:
        return
    low, high = found.bounds(level)
    for bound, outwards in ((low, -1), (high, 1)):
        if math.isfinite(bound):
            assert p_of(bound + outwards * 1e-6) < level + 1e-9
            assert p_of(bound - outwards * 1e-6) >= level - 1e-9


def test_max_t_draws_are_cluster_robust() -> None:
    rng = np.random.default_rng(3)
    clusters = clusters_of(np.array([1, 4, 2, 3, 1, 2, 5, 2]))
    columns = [clustered(column_of(values), clusters) for values in differences(rng, clusters, 0.3, "graded", 3).T]
    _, corrected, largest = max_t_tests(columns)
    assert len(largest) == 2**8
    expected = []
    for signs in itertools.product((-1.0, 1.0), repeat=8):
        turned = []
        for column in columns:
            z = column.values - column.mean + column.weights * column.mean
            drawn = np.array(signs) * z
            mean = drawn.sum() / 8
            error = math.sqrt(((drawn - column.weights * mean) ** 2).sum() / 7 / 8)
            turned.append(abs(mean) / error if error > 1e-9 else math.inf)
        expected.append(max(turned))
    # The bits of a draw count from the first conversation on, so the order is another one.
    assert sorted(largest.tolist()) == pytest.approx(sorted(expected))
    for column, p in zip(columns, corrected, strict=True):
        assert p == pytest.approx(np.mean(np.array(expected) >= abs(column.t) * (1 - 1e-9)))


def test_single_queries_have_today_s_numbers() -> None:
    """A conversation of one query is that query, in every test."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.1, 0.3, (30, 3))
    alone = np.arange(30)
    plain = [column_of(own) for own in values.T]
    assert clustered(plain[0], None) is plain[0]
    units = [clustered(column, alone) for column in plain]
    for a, b in zip(plain, units, strict=True):
        np.testing.assert_allclose(a.values, b.values, atol=1e-15)
        assert a.freedom == b.freedom
        for test in (t_test, sign_test, signed_rank_test):
            assert test(a).p_value == pytest.approx(test(b).p_value, rel=1e-9)
        assert equivalence_p(a, 0.2) == pytest.approx(equivalence_p(b, 0.2), rel=1e-9)
    for correction in ("holm", "max-t"):
        chosen = Settings.of(correction=correction, samples=2000)
        for a, b in zip(compare_columns(plain, chosen), compare_columns(units, chosen), strict=True):
            assert a.p_corrected == b.p_corrected
            assert a.interval is not None
            assert b.interval is not None
            assert (a.interval.low, a.interval.high) == pytest.approx((b.interval.low, b.interval.high))
            assert a.detectable == pytest.approx(b.detectable)
    scored = rng.random(30)
    assert mean_interval(scored, clusters=alone) == mean_interval(scored)
    ones = (scored > 0.4).astype(float)
    assert mean_interval(ones, clusters=alone) == mean_interval(ones)


def test_one_conversation_tells_nothing() -> None:
    values = np.random.default_rng(0).random(12)
    assert mean_interval(values, clusters=np.zeros(12, dtype=np.int64)) is None
    unit = clustered(column_of(values), np.zeros(12, dtype=np.int64))
    assert t_test(unit).p_value is None
    with pytest.raises(DataError, match="one conversation"):
        non_inferiority(values, values + 0.1, clusters=np.zeros(12, dtype=np.int64))


def test_design_effect_of_copies() -> None:
    """Every query asked k times is worth one: the design effect is k, and intervals stay as they were."""
    values = np.random.default_rng(1).random(40)
    copied, clusters = np.repeat(values, 5), np.repeat(np.arange(40), 5)
    column = column_of(copied)
    unit = clustered(column, clusters)
    assert design_effect(column, unit) == pytest.approx(5 * 199 / 195)  # and the degrees of freedom
    one, many = mean_interval(values), mean_interval(copied, clusters=clusters)
    assert one is not None
    assert many is not None
    assert (one.low, one.high) == pytest.approx((many.low, many.high))


def simulated(conversations: int, icc: float, shape: str, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    clusters = clusters_of(lengths(rng, conversations))
    return clusters, differences(rng, clusters, icc, shape, trials)


def at_most(rate: float, nominal: float, trials: int, slack: float = 0.0) -> bool:
    return rate <= nominal + slack + 3 * math.sqrt(nominal * (1 - nominal) / trials)


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("shape", ["graded", "reciprocal", "few fail"])
def test_levels(shape: str, icc: float) -> None:
    """The exact test holds its level; t may exceed it by a point with 25 conversations of very unequal length."""
    trials = 600
    clusters, drawn = simulated(25, icc, shape, trials, seed=7)
    units = [clustered(column_of(values), clusters) for values in drawn.T]
    for found, slack in (
        (randomization_tests(units, samples=2000, seed=1), 0.0),
        ([t_test(unit) for unit in units], 0.01),
        (bootstrap_tests(units, samples=1000, seed=1), 0.01),
        ([signed_rank_test(unit) for unit in units], 0.0),
        ([sign_test(unit) for unit in units], 0.0),
    ):
        rate = float(np.mean([test.p_value is not None and test.p_value < ALPHA for test in found]))
        assert at_most(rate, ALPHA, trials, slack), (found[0].method, rate)


def test_ignoring_conversations_fails() -> None:
    """What the tests above would show without conversations: a false alarm in a third of all comparisons."""
    _, drawn = simulated(25, 0.7, "graded", 300, seed=7)
    rate = np.mean([t_test(column_of(values)).p_value < ALPHA for values in drawn.T])
    assert rate > 0.25


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(
    ("shape", "conversations"), [("graded", 20), ("reciprocal", 25), ("binary", 25), ("few fail", 60)]
)
def test_intervals_of_means_hold(shape: str, conversations: int, icc: float) -> None:
    rng, trials = np.random.default_rng(11), 500
    clusters = clusters_of(lengths(rng, conversations))
    values, mean = scores(rng, clusters, icc, shape, trials)
    found = [mean_interval(own, bounds=(0.0, 1.0), clusters=clusters) for own in values.T]
    held = float(np.mean([one is not None and one.low <= mean <= one.high for one in found]))
    assert at_most(1 - held, ALPHA, trials, slack=0.015), held


@pytest.mark.parametrize("icc", [0.0, 0.7])
def test_gate_seldom_passes_a_loss(icc: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A true loss of exactly the margin: passed as sure in no more than alpha of the samples."""
    monkeypatch.setattr(noninferiority, "_needed", lambda *_: None)  # which takes most of the time
    rng, trials = np.random.default_rng(13), 400
    clusters = clusters_of(lengths(rng, 40))
    base, _ = scores(rng, clusters, icc, "graded", trials)
    shift, _ = scores(rng, clusters, icc, "graded", trials)
    new = base - 0.05 * 0.5 + 0.3 * (shift - 0.5)
    found = [non_inferiority(new[:, i], base[:, i], 0.05, clusters=clusters) for i in range(trials)]
    rate = np.mean([one.status == "pass" for one in found])
    assert at_most(float(rate), ALPHA, trials, slack=0.01), rate
    assert found[0].conversations == 40


def test_power_is_that_of_conversations() -> None:
    """The spread of a large sample predicts how often 40 conversations find a difference."""
    rng, trials = np.random.default_rng(17), 500
    long = clusters_of(np.full(4000, 4))
    seen = clustered(column_of(differences(rng, long, 0.5, "graded", 1)[:, 0]), long)
    clusters = clusters_of(np.full(40, 4))
    units = [clustered(column_of(own + 0.08), clusters) for own in differences(rng, clusters, 0.5, "graded", trials).T]
    rate = np.mean([t_test(unit).p_value < ALPHA for unit in units])
    assert rate == pytest.approx(power_of(0.08, seen.deviation, 40), abs=0.07)


def test_the_best_of_settings_in_conversations() -> None:
    rng = np.random.default_rng(19)
    clusters = clusters_of(lengths(rng, 30))
    values = scores(rng, clusters, 0.7, "graded", 4)[0].T
    counted = np.ones_like(values, dtype=bool)
    best = int(values.mean(axis=1).argmax())
    plain = interval_of_best(values, counted, best, bounds=(0.0, 1.0))
    wide = interval_of_best(values, counted, best, bounds=(0.0, 1.0), clusters=clusters)
    assert plain is not None
    assert wide is not None
    assert wide.high - wide.low > 1.3 * (plain.high - plain.low)


def test_error_is_statsmodels() -> None:
    rng = np.random.default_rng(23)
    clusters = clusters_of(lengths(rng, 15))
    values = scores(rng, clusters, 0.4, "graded")[0][:, 0]
    fitted = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert clustered(column_of(values), clusters).error == pytest.approx(float(fitted.bse[0]))
