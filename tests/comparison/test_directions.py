"""Which way is better, and means below 0: every consumer tells the same of scores and of their mirror image."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from rankgauge import compare, compare_scores
from rankgauge.gating.targets import holds, parse_target
from rankgauge.measures import Definition, Measure
from rankgauge.measures.registry import all_definitions, register, unregister
from rankgauge.model.ranked import RankedGrades
from rankgauge.reports import report
from rankgauge.reports.charts import sign_of
from rankgauge.reports.page_data import data_of
from rankgauge.stats.noninferiority import non_inferiority
from rankgauge.stats.pareto import pareto_front
from rankgauge.stats.significance import TESTS
from rankgauge.words import say


def scores(seed: int, shift: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    base = rng.random(30)
    return {name: base + shift + rng.normal(step, 0.06, 30) for name, step in (("a", 0), ("b", 0.15), ("c", 0.01))}


@pytest.mark.parametrize("test", list(TESTS))
@pytest.mark.parametrize("shift", [1.0, 0.0, -0.5, -3.0])
def test_the_mirror_image_is_told_alike(test: str, shift: float) -> None:
    """Scores turned around with the direction turned around: the same winners, the other signs."""
    for seed in range(3):
        own = scores(seed, shift)
        plain = compare_scores(own, test=test, samples=500)
        mirrored = compare_scores({k: -v for k, v in own.items()}, test=test, samples=500, lower_is_better=True)
        for row, other in zip(plain.rows, mirrored.rows, strict=True):
            assert (row.verdict, row.wins, row.ties, row.losses) == (
                other.verdict,
                other.wins,
                other.ties,
                other.losses,
            )
            assert row.relative_change is not None
            assert (row.difference, row.relative_change) == pytest.approx(
                (-other.difference, -(other.relative_change or 0))
            )
            assert math.copysign(1, row.relative_change) == math.copysign(1, row.difference)
            assert abs(row.relative_change) == pytest.approx(abs(row.difference / row.mean_a))
        for standing, other in zip(plain.groups["score"], mirrored.groups["score"], strict=True):
            assert (standing.system, standing.letters, standing.ranks) == (other.system, other.letters, other.ranks)
        for changes, others in zip(plain.changes(), mirrored.changes(), strict=True):
            assert [c.query for c in changes.gained] == [c.query for c in others.gained]
            assert [c.query for c in changes.lost] == [c.query for c in others.lost]
        assert [entry.tau for entry in plain.agreement] == [entry.tau for entry in mirrored.agreement]
        for a, b in (("a", "b"), ("b", "a")):
            gate = non_inferiority(own[b], own[a], 0.05)
            turned = non_inferiority(-own[b], -own[a], 0.05, lower_is_better=True)
            assert (gate.status, gate.better) == (turned.status, turned.better)
            assert (gate.lower, gate.upper) == pytest.approx((turned.lower, turned.upper))
        points = [(float(v.mean()), float(t)) for v, t in zip(own.values(), (0.2, 0.1, 0.3), strict=True)]
        assert pareto_front(points) == pareto_front([(-q, t) for q, t in points], lower_is_better=True)


@pytest.mark.parametrize("base", [0.5, -0.5, 2.0, -2.0])
def test_a_relative_target_asks_for_more_of_what_is_better(base: float) -> None:
    for share in ("20%", "0.1"):
        goal = parse_target(f"X +{share}").goal(base)
        assert goal > base
        mirrored = parse_target(f"X -{share}").goal(-base)
        assert mirrored == pytest.approx(-goal)
        for value in (goal - 0.01, goal + 0.01):
            up, down = parse_target(f"X +{share}").compare(False), parse_target(f"X -{share}").compare(True)
            assert holds(value, up, goal) == holds(-value, down, mirrored)


def first_rank(ranked: RankedGrades, measure: Measure) -> np.ndarray:
    """The rank of the first judged document, 9 where there is none."""
    found = np.full(len(ranked), 9.0)
    np.minimum.at(found, ranked.owner, ranked.ranks.astype(float))
    return found


@pytest.fixture
def own_measures() -> Iterator[list[str]]:
    """A cost (less is better) whose mean is above 0, one whose mean is below, and a loss (more is better) below 0."""
    register(
        Definition("Cost", first_rank, "rank of the first judged document", lower_is_better=True),
        Definition("Owed", lambda r, m: first_rank(r, m) - 20, "rank - 20", lower_is_better=True),
        Definition("Loss", lambda r, m: -first_rank(r, m), "- rank of the first judged document"),
    )
    yield ["Cost", "Owed", "Loss"]
    for name in ("Cost", "Owed", "Loss"):
        unregister(name)


def runs() -> dict[str, dict[str, dict[str, float]]]:
    """b puts the judged documents first, a later, c last."""
    rng = np.random.default_rng(4)
    made: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}, "c": {}}
    for q in range(40):
        late = int(rng.integers(1, 3))
        for name, before in (("a", late), ("b", 0), ("c", late + 2)):
            docs = [*(f"u{i}" for i in range(before)), "d1", "d2", *(f"v{i}" for i in range(6))]
            made[name][f"q{q}"] = {doc: -float(rank) for rank, doc in enumerate(docs)}
    return made


QRELS = {f"q{i}": {"d1": 1, "d2": 1} for i in range(40)}


def test_every_measure_of_the_registry_that_is_better_when_lower(own_measures: list[str]) -> None:
    """b is better than a, and a than c, by each of them, and in every view."""
    lower = [
        str(definition(2) if definition.at_required else definition())
        for definition in all_definitions()
        if definition.lower_is_better and definition.aggregate == "mean"
    ]
    assert {"Unjudged@2", "Cost", "Owed"} <= set(lower)
    higher = ["RR", "Loss"]
    found = compare(QRELS, runs(), [*higher, *lower], test="t")
    record = found.to_record(lists=False)
    signs = {measure["name"]: measure["sign"] for measure in data_of(record, {}, "en")["measures"]}
    for name in [*higher, *lower]:
        sign = -1 if name in lower else 1
        assert signs[name] == sign_of(record, name) == sign
        better, worse = found.row(name, "a", "b"), found.row(name, "a", "c")
        if better.verdict == "inconclusive":
            assert better.difference == 0, name  # a coverage measure that the order does not change
            continue
        assert (better.verdict, worse.verdict) == ("better", "worse"), name
        assert better.wins == 40
        for row in (better, worse):
            assert row.relative_change is not None
            assert math.copysign(1, row.relative_change) == math.copysign(1, row.difference)
        assert (better.difference > 0) == (sign > 0)
        assert [own.system for own in found.groups[name]] == ["b", "a", "c"]
        gained = next(c for c in found.changes() if (c.measure, c.a, c.b) == (name, "a", "b"))
        assert gained.gained
        assert not gained.lost
    for entry in found.agreement:
        if entry.kind == "measures":
            assert entry.tau in (1.0, None), entry
    shown = report(record, detail="evidence").partition(say("report.agreement_measures", "en"))[2].partition("\n\n")[0]
    assert " −1.00" not in shown
    assert " 1.00" in shown
    two = compare(QRELS, {name: run for name, run in runs().items() if name != "c"}, ["RR", "Cost", "Owed", "Loss"])
    taus = [entry.tau for entry in two.agreement if entry.kind == "measures" and entry.of == "a"]
    assert taus == pytest.approx([1.0] * 6)
