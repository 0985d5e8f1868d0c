"""Order, groups and verdicts are about the same queries, so that none of them contradicts another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rankgauge import Comparison, compare, compare_scores
from rankgauge.comparison.rows import System
from rankgauge.record import ScoredMeasure
from rankgauge.reports import report
from rankgauge.stats.settings import Settings
from rankgauge.stats.significance import TESTS
from rankgauge.words import say


def keys_of(found: Comparison) -> set[str]:
    return {note.key.removeprefix("comparison.") for note in found.notes}


def with_gaps(seed: int, systems: int, n: int = 60) -> dict[str, list[float | None]]:
    """Systems that skip hard or easy queries, so that means over their own queries mislead."""
    rng = np.random.default_rng(seed)
    base = np.sort(rng.random(n))
    scores: dict[str, list[float | None]] = {}
    for i in range(systems):
        own = np.clip(base + rng.normal(rng.choice([-0.1, 0.0, 0.1]), 0.05, n), 0, 1)
        skipped = rng.random(n) < (0.4 if i % 3 else 0.1) * (base if i % 2 else 1 - base) * 2
        scores[f"s{i}"] = [None if gone else float(value) for gone, value in zip(skipped, own, strict=True)]
    return scores


def check_agreement(found: Comparison, lower: bool = False) -> None:
    """Every verdict agrees with the order, the letters, the ranks and the means that are shown."""
    for name, shown in found.groups.items():
        place = {own.system: i for i, own in enumerate(shown)}
        by_name = {own.system: own for own in shown}
        rows = [row for row in found.rows if row.measure == name]
        assert len(rows) == len(shown) * (len(shown) - 1) // 2
        for row in rows:
            a, b = by_name[row.a], by_name[row.b]
            assert (a.mean, b.mean) == pytest.approx((row.mean_a, row.mean_b), abs=1e-12)
            assert b.mean - a.mean == pytest.approx(row.difference, abs=1e-12)
            differ = row.verdict in ("better", "worse")
            assert bool(set(a.letters) & set(b.letters)) == (not differ)
            if differ:
                winner, loser = (row.b, row.a) if row.verdict == "better" else (row.a, row.b)
                assert place[winner] < place[loser]
                assert by_name[winner].ranks[0] < by_name[loser].ranks[0]
                assert by_name[winner].ranks[1] < by_name[loser].ranks[1]
        for i, own in enumerate(shown):
            assert own.ranks[0] <= i + 1 <= own.ranks[1]
        means = [own.mean for own in shown]
        if "not_in_the_order_of_means" not in keys_of(found):
            assert means == sorted(means, reverse=not lower)


@pytest.mark.parametrize("test", list(TESTS))
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("systems", [2, 3, 5])
def test_no_verdict_contradicts_the_order(test: str, lower: bool, systems: int) -> None:
    for seed in range(6):
        scores = with_gaps(seed, systems)
        found = compare_scores(scores, test=test, lower_is_better=lower, samples=500, correction="none")
        common = [i for i in range(60) if all(own[i] is not None for own in scores.values())]
        assert {row.queries for row in found.rows} == {len(common)}
        assert len(common) < 60
        for own in found.groups["score"]:
            assert own.mean == pytest.approx(np.mean([scores[own.system][i] for i in common]), abs=1e-12)
        assert "circle" not in keys_of(found)
        check_agreement(found, lower)


QRELS = {f"q{i}": {"d1": 1, "d2": 0} for i in range(60)}


def runs_with_gaps() -> dict[str, dict[str, dict[str, float]]]:
    """C answers only what is easy, so its own mean is the best; where all answer, A is the better one."""
    good, bad = {"d1": 2.0, "d2": 1.0, "x": 1.0}, {"x": 3.0, "d2": 2.0, "y": 2.0, "d1": 1.0}
    easy, hard = range(30), range(30, 60)
    return {
        "A": {**{f"q{i}": good for i in easy}, **{f"q{i}": bad for i in hard}},
        "B": {**{f"q{i}": good for i in easy if i % 2}, **{f"q{i}": bad for i in hard}},
        "C": {f"q{i}": good if i % 3 else bad for i in easy},
    }


def test_a_system_that_skips_hard_queries_does_not_win() -> None:
    found = compare(QRELS, runs_with_gaps(), ["RR", "P@1"], missing="skip")
    means = {e.name: e.mean["RR"] for e in found.evaluations}
    assert means["C"] > means["A"]  # over their own queries
    shown = found.groups["RR"]
    assert {own.system: own.mean for own in shown}["C"] < {own.system: own.mean for own in shown}["A"]
    check_agreement(found)
    assert {row.queries for row in found.rows} == {15}
    assert not any(text.startswith("C ") for text in found.summary())
    excluded = [note.parameters for note in found.notes if note.key == "comparison.excluded_from_all"]
    assert excluded[0] == {"measure": "RR", "n": 45, "rest": 15}
    assert all(change.query in {f"q{i}" for i in range(1, 30, 2)} for c in found.changes() for change in c.gained)


@pytest.mark.parametrize("baseline", [None, "A"])
def test_ranges_are_about_the_queries_of_their_rows(baseline: str | None) -> None:
    found = compare(QRELS, runs_with_gaps(), ["RR", "P@1"], missing="skip", baseline=baseline)
    ranges = found.unjudged.rows
    assert len(ranges) == len(found.tied.rows) == len(found.rows)
    for row in (*ranges, *found.tied.rows):
        assert row.observed == pytest.approx(found.row(row.measure, row.a, row.b).difference, abs=1e-12)
        assert row.low - 1e-12 <= row.observed <= row.high + 1e-12


def test_systems_without_a_query_in_common_have_no_order() -> None:
    scores = {"a": [0.1, 0.2, 0, 0], "b": [0, 0.3, 0.4, 0], "c": [0, 0, 0.4, 0.5]}
    systems = {
        name: System(name, np.stack([own, own], axis=1), np.stack([own != 0, own >= 0], axis=1))
        for name, own in ((name, np.array(values, dtype=float)) for name, values in scores.items())
    }
    measures = [ScoredMeasure(name, "mean", False, None) for name in ("none", "some")]
    found = Comparison([f"q{i}" for i in range(4)], measures, systems, Settings.of())
    assert found.groups.keys() == {"some"}
    assert found.agreement[0].tau is None
    assert all(row.queries == 0 and row.verdict == "inconclusive" for row in found.rows if row.measure == "none")
    assert "no query" in found.summary()[0]
    assert found.summary("zh")
    record = found.record
    record.to_json()
    for form in ("terminal", "markdown", "csv", "latex"):
        assert "nan" not in report(record, format=form)


def test_equal_means_in_any_order_of_the_queries() -> None:
    """Equal means are equal whatever the order of the queries."""
    tenths = np.arange(60) / 10 % 1
    orders = {"a": tenths, "b": tenths[::-1], "c": np.roll(tenths, 7)}
    assert len({float(values.mean()) for values in orders.values()}) > 1  # by rounding alone
    scored = [ScoredMeasure(name, "mean", False, None) for name in ("one", "other")]
    systems = {
        name: System(name, np.stack([values, np.arange(60) * step], axis=1), np.ones((60, 2), dtype=bool))
        for (name, values), step in zip(orders.items(), (1, 2, 3), strict=True)
    }
    found = Comparison([str(i) for i in range(60)], scored, systems, Settings.of("t"))
    assert found.agreement[0].tau is None


def test_a_test_that_is_not_of_means_orders_by_its_verdicts() -> None:
    """b loses a little often and wins much rarely: its mean is the best, but the tests of ranks call it worse."""
    a = np.linspace(0.2, 0.6, 60)
    b = np.where(np.arange(60) < 50, a - 0.02, np.minimum(a + 0.35, 1))
    c = a - 0.15
    for test, moved in (("wilcoxon", True), ("sign", True), ("t", False)):
        found = compare_scores({"b": b, "a": a, "c": c}, test=test, correction="none")
        check_agreement(found)
        assert ("not_in_the_order_of_means" in keys_of(found)) == moved
        assert found.groups["score"][0].system == ("a" if moved else "b")


def test_a_circle_is_told() -> None:
    """Each of three systems beats another on two thirds of the queries."""
    ranks = [(3, 2, 1), (1, 3, 2), (2, 1, 3)]
    scores = {name: [ranks[q % 3][i] / 4 for q in range(300)] for i, name in enumerate("abc")}
    found = compare_scores(scores, test="sign")
    assert {row.verdict for row in found.rows} == {"worse", "better"}
    assert "circle" in keys_of(found)
    assert sorted(own.letters for own in found.groups["score"]) == ["a", "b", "c"]
    assert [own.ranks for own in found.groups["score"]] == [(2, 2)] * 3


def many_systems(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    base = rng.random(25)
    return {f"s{i:02}": base + i + rng.normal(0, 0.01, 25) for i in range(n)}


def test_ranks_where_letters_would_be_too_many() -> None:
    few, found = (compare_scores(many_systems(n), test="t") for n in (26, 27))
    assert [own.letters for own in few.groups["score"]] == list("abcdefghijklmnopqrstuvwxyz")
    assert [own.ranks for own in found.groups["score"]] == [(i, i) for i in range(1, 28)]
    assert {own.letters for own in found.groups["score"]} == {""}
    assert found.summary() == ["s26 is significantly better than all others (by score)."]
    assert "s26" in found.summary("zh")[0]
    record = found.record
    assert record.to_dict()["comparison"]["groups"]["score"][4] == {
        "system": "s22",
        "mean": pytest.approx(found.groups["score"][4].mean),
        "letters": "",
        "ranks": (5, 5),
    }
    for form in ("terminal", "markdown"):
        assert "too many groups for letters" in report(record, format=form, detail="evidence")
    page = report(record, format="html")
    assert say("report.ranks_hint", "en") in page
    assert '<th scope="row">s22</th>' in page
    text = report(few.record, detail="audit").partition("  mean  group\n")[2]
    assert [line.split()[-1] for line in text.splitlines()[1:27]] == list("abcdefghijklmnopqrstuvwxyz")


def test_ranks_span_what_is_not_different() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(40)
    scores = {f"s{i:02}": base + 0.02 * i + rng.normal(0, 0.03, 40) for i in range(42)}
    found = compare_scores(scores, test="t")
    shown = found.groups["score"]
    assert shown[0].letters == ""
    apart = {frozenset((row.a, row.b)) for row in found.rows if row.verdict in ("better", "worse")}
    for a, b in combinations(shown, 2):
        if a.ranks[1] >= b.ranks[0] and frozenset((a.system, b.system)) in apart:
            assert a.ranks[0] < b.ranks[0]
    assert any(own.ranks[0] < own.ranks[1] for own in shown)
    (text,) = found.summary()  # forty names would be no sentence
    assert text.startswith(f"{shown[0].system} leads")
    assert " more" in text
    wide = next(own for own in shown if own.ranks[0] < own.ranks[1])
    line = next(line for line in report(found.record).splitlines() if line.startswith(f"{wide.system}  "))
    assert line.split()[-1] == f"{wide.ranks[0]}-{wide.ranks[1]}"
