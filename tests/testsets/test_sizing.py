"""How large a test set has to be: the power of each option by its definition and by simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import RankgaugeError, evaluate, plan_size
from rankgauge.stats.power import detectable_difference, queries_needed
from rankgauge.stats.prediction_powered import prediction_powered
from rankgauge.testsets.size_options import SizeOption
from tests.cli.command import run_command

Grades = dict[str, dict[str, float]]


def made(seed: int = 0, queries: int = 40, each: int = 30) -> tuple[Grades, Grades, dict[str, Any]]:
    """Labels by people, those of a judge that is mostly right, and two runs."""
    rng = np.random.default_rng(seed)
    people: Grades = {f"q{i}": {f"d{j}": float(rng.binomial(2, 0.2)) for j in range(each)} for i in range(queries)}
    judge = {
        q: {d: float(rng.integers(0, 3)) if rng.random() < 0.1 else g for d, g in docs.items()}
        for q, docs in people.items()
    }
    runs = {
        name: {q: {d: right * g + rng.normal() for d, g in own.items()} for q, own in people.items()}
        for name, right in (("a", 0.6), ("b", 1.0))
    }
    return people, judge, runs


PEOPLE, JUDGE, RUNS = made()


def differences(grades: Grades, measure: str = "nDCG@10") -> np.ndarray:
    first, second = (evaluate(grades, run, [measure]).per_query[measure].to_numpy() for run in RUNS.values())
    return np.asarray(second - first)


def cut(grades: Grades, depth: int) -> Grades:
    first = {q: {d for run in RUNS.values() for d in sorted(run[q], key=lambda d: -run[q][d])[:depth]} for q in grades}
    return {q: {d: g for d, g in own.items() if d in first[q]} for q, own in grades.items()}


def option(options: list[SizeOption], by: str, depth: int | None) -> SizeOption:
    return next(one for one in options if (one.by, one.depth) == (by, depth))


def test_people_alone_is_the_power_of_the_t_test() -> None:
    found = plan_size(PEOPLE, RUNS, difference=0.05)
    for depth in (5, 10, None):
        own = option(found.options, "people", depth)
        spread = differences(PEOPLE if depth is None else cut(PEOPLE, depth)).std(ddof=1)
        assert own.queries == own.checked == queries_needed(0.05, spread)
        assert own.detectable == pytest.approx(detectable_difference(spread, own.queries))
    whole = option(found.options, "people", None)
    assert (whole.shift, whole.same_verdict, whole.labels_per_query) == (0, True, 30)
    assert whole.people_labels == whole.queries * 30 == whole.cost


def test_fewer_labels_are_tried_by_scoring_again() -> None:
    found = plan_size(PEOPLE, RUNS, difference=0.05)
    for depth in (5, 10, 20):
        own = option(found.options, "people", depth)
        assert own.shift == pytest.approx(differences(cut(PEOPLE, depth)).mean() - differences(PEOPLE).mean())
        pooled = cut(PEOPLE, depth)
        assert own.labels_per_query == pytest.approx(sum(map(len, pooled.values())) / len(pooled))
    best = found.recommended
    assert best is not None
    assert best.cost == min(one.cost for one in found.options if one.enough and one.trusted(0.05))
    assert not any(one.trusted(0.05) for one in found.options if abs(one.shift) > 0.0125)


def test_labels_that_change_the_answer_are_never_recommended() -> None:
    """The deep documents are what makes b better: to judge five turns the verdict."""
    people = {f"q{i}": {f"d{j}": float(j >= 5) for j in range(12)} for i in range(30)}
    lists = [f"d{j}" for j in range(12)]
    runs: dict[str, Any] = {"a": {q: [*lists[:5], "x1", "x2"] for q in people}}
    runs["b"] = {q: lists if i % 3 else lists[:6] for i, q in enumerate(people)}
    found = plan_size(people, runs, "AP", difference=0.05)
    shallow = option(found.options, "people", 5)
    assert not shallow.same_verdict
    assert found.options[0].depth != 5
    assert found.options[-1] == shallow


@pytest.mark.parametrize("quality", [0.0, 0.6, 0.95])
def test_a_judge_whom_people_check_has_the_power_that_is_told(quality: float) -> None:
    """By simulation: so many queries, of which so many are checked, find the difference as often as they should."""
    from rankgauge.testsets.size_options import Asked, PooledLabels, by_judge

    rng = np.random.default_rng(1)

    def drawn(n: int, difference: float) -> tuple[np.ndarray, np.ndarray]:
        y = difference + rng.normal(0, 0.2, n)
        return quality * (y - difference) + rng.normal(0, 0.2 * (1 - quality**2) ** 0.5, n) + 0.1, y

    f, y = drawn(20_000, 0.0)
    known = prediction_powered(f, y)
    asked = Asked(0.05, None, 1.0, 0.02, 0.8, 0.05, 400)
    best = by_judge(PooledLabels(None, 10, y, known), known, asked)
    assert best is not None
    assert best.enough
    hits = 0
    for _ in range(400):
        f, y = drawn(best.queries, best.detectable)
        y[rng.permutation(best.queries)[best.checked :]] = np.nan
        hits += prediction_powered(f, y).interval.low > 0
    assert abs(hits / 400 - 0.8) < 0.06


def test_a_better_judge_saves_more() -> None:
    prices = {"difference": 0.03, "label_price": 1.0, "call_price": 0.001}
    silent = {q: dict.fromkeys(docs, 0.0) for q, docs in PEOPLE.items()}
    own = {
        name: option(plan_size(PEOPLE, RUNS, judge=labels, **prices).options, "judge", None)
        for name, labels in (("good", JUDGE), ("perfect", PEOPLE), ("silent", silent))
    }
    assert own["perfect"].cost < own["good"].cost < own["silent"].cost
    alone = option(plan_size(PEOPLE, RUNS, **prices).options, "people", None)
    assert own["silent"].checked == pytest.approx(alone.queries, rel=0.1), "one that says nothing saves nothing"
    assert own["good"].checked < alone.queries * 2 / 3


def test_a_budget_is_kept() -> None:
    found = plan_size(PEOPLE, RUNS, difference=0.001, budget=500, judge=JUDGE, label_price=0.5, call_price=0.01)
    assert all(one.cost <= 500 + 1e-9 for one in found.options)
    trusted = [one.detectable for one in found.options if one.trusted(0.001)]
    assert trusted == sorted(trusted)
    assert found.recommended is None
    assert found.lead.key == "sizing.lead_short"
    enough = plan_size(PEOPLE, RUNS, difference=0.5, budget=500)
    assert enough.recommended is not None
    with pytest.raises(RankgaugeError, match="does not pay for 10 queries"):
        plan_size(PEOPLE, RUNS, budget=1.0)


def test_of_options_at_the_same_cost_the_one_of_fewest_queries_is_first() -> None:
    """A judge that costs nothing is no reason to ask it 1,000 queries where 10 find the difference."""
    found = plan_size(PEOPLE, RUNS, judge=JUDGE, difference=0.5)
    assert found.recommended is not None
    assert found.recommended.queries == 10


def test_an_option_that_cannot_do_it_is_shown_at_its_best() -> None:
    """Not with the fewest queries that were tried, as if the judge found next to nothing."""
    found = plan_size(PEOPLE, RUNS, difference=0.001, judge=JUDGE, label_price=0.5, call_price=0.01)
    assert found.recommended is None
    for depth in (5, 10, None):
        judge, people = (option(found.options, by, depth) for by in ("judge", "people"))
        assert not judge.enough
        assert judge.queries == judge.checked == people.queries == 1000
        assert judge.detectable == pytest.approx(people.detectable, rel=0.15)
    trusted = [one.detectable for one in found.options if one.trusted(0.001)]
    assert trusted == sorted(trusted), "the one that finds most first"


def test_the_difference_to_be_found() -> None:
    seen = plan_size(PEOPLE, RUNS)
    assert seen.difference == pytest.approx(abs(differences(PEOPLE).mean()))
    assert "sizing.as_seen" in [note.key for note in seen.notes]
    near = {"a": RUNS["a"], "b": RUNS["a"] | {"q0": RUNS["b"]["q0"]}}
    assert plan_size(PEOPLE, near).difference == 0.01
    none = plan_size(PEOPLE, RUNS, difference=0.001)
    assert none.lead.key == "sizing.lead_none"
    assert not any(one.enough for one in none.options)
    several = plan_size(PEOPLE, {"x": RUNS["a"] | {"q1": []}, **RUNS}, difference=0.1)
    assert {several.a, several.b} == set(RUNS) or "x" in (several.a, several.b)
    assert len(several.others) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"difference": 0}, "above 0"),
        ({"budget": -1}, "does not pay|above 0"),
        ({"label_price": -1}, "from 0 on"),
        ({"power": 2}, "power"),
        ({"difference": -1.5}, "scores of nDCG@10 differ by 1 at most"),
        ({"budget": -5}, "must be a number above 0"),
        ({"runs": {"a": RUNS["a"]}}, "give 2 runs or more"),
        ({"runs": {"a": RUNS["a"], "b": RUNS["a"]}}, "score alike on every query"),
        ({"judgments": {"q0": {"d0": 1}}}, "two queries or more"),
        ({"judge": {"q0": PEOPLE["q0"]}}, "labelled 1 of the queries wholly"),
        ({"measure": ["AP", "RR"]}, "one measure"),
        ({"most_queries": 5}, "most_queries"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        plan_size(**{"judgments": PEOPLE, "runs": RUNS, **options})


def test_the_command(tmp_path: Path) -> None:
    files: list[Any] = []
    for name, grades in (("people", PEOPLE), ("judge", JUDGE)):
        files.append(tmp_path / f"{name}.txt")
        lines = (f"{q} 0 {d} {g:.0f}\n" for q, own in grades.items() for d, g in own.items())
        files[-1].write_text("".join(lines))
    runs = []
    for name, run in RUNS.items():
        runs.append(tmp_path / f"{name}.run")
        runs[-1].write_text("".join(f"{q} Q0 {d} 0 {s:.9f} x\n" for q, own in run.items() for d, s in own.items()))
    given = ("testset", "size", files[0], *runs, "--difference", 0.05, "--judge", files[1], "--call-price", 0.001)
    found = plan_size(PEOPLE, RUNS, difference=0.05, judge=JUDGE, call_price=0.001)
    for language in ("en", "zh"):
        lines = run_command(*given, "--lang", language).stdout.splitlines()
        assert "".join(lines[:2]).replace(" ", "").startswith(found.lead.sentence(language)[:60].replace(" ", ""))  # type: ignore[arg-type]
        assert len(lines) <= 25
    as_json = json.loads(run_command(*given, "--json").stdout)
    assert as_json["options"][0]["queries"] == found.options[0].queries
    assert run_command("testset", "size", files[0], *runs, "--difference", 0.0001, status=1).stdout
    assert "give 2 runs" in run_command("testset", "size", files[0], runs[0], status=2).stderr
