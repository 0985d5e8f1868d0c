"""How the queries of a measure are put together (mean, sum, geometric mean) belongs to the measure, wherever scores are
put together: in comparisons of records, sweeps, checks of records and the monitor."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import compare, compare_scores, evaluate, sweep
from rankgauge.comparison.stored_scores import compare_records, compare_stored
from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError, FormatError, MeasureError
from rankgauge.live.sweep import _best
from rankgauge.measures import all_definitions, parse_measure
from rankgauge.measures.measure import AGGREGATES
from rankgauge.model.series import SeriesKey
from rankgauge.model.testset import Query, TestSet
from rankgauge.monitoring.detection.figures import Limit, Watching, figures_of
from rankgauge.monitoring.detection.streams import mean_of, unit_of
from rankgauge.monitoring.detection.watch import SystemWatch
from rankgauge.record import Calls, Record
from tests.cli.command import run_command

NOT_MEANS = [str(about()) for about in all_definitions() if about.aggregate != "mean" and not about.at_required]
# Two systems: t is better on average, s in the geometric mean.
GRADES = {f"q{i}": {"d": 1} for i in range(8)}
S = {query: ["x", "d"] for query in GRADES}
T = {query: ["d"] if i < 6 else ["y"] for i, query in enumerate(GRADES)}
MEASURES = ("AP", "GMAP", "NumRelRet", "nDCG@10")


def record(run: Any, measures: Any = MEASURES, name: str = "s") -> Record:
    return evaluate(GRADES, run, measures, name=name).record


def test_what_the_aggregates_are() -> None:
    scores = np.array([0.5, 0.25, 0.0])
    assert aggregate("mean", scores) == 0.25
    assert aggregate("sum", scores) == 0.75
    assert aggregate("geometric", scores) == pytest.approx((0.5 * 0.25 * 1e-5) ** (1 / 3))
    for how in AGGREGATES:
        assert aggregate(how, np.array([])) == 0.0
    with pytest.raises(MeasureError, match="'median'; known are: mean, sum, geometric"):
        aggregate("median", scores)
    assert "GMAP" in NOT_MEANS
    assert "NumRelRet" in NOT_MEANS


@pytest.mark.parametrize("name", NOT_MEANS)
def test_what_is_no_mean_is_compared_nowhere(name: str, tmp_path: Path) -> None:
    """Its differences, query by query, can point the other way: here the better mean AP has the worse GMAP."""
    refused = pytest.raises(MeasureError, match="no mean over queries")
    with refused:
        compare(GRADES, {"s": S, "t": T}, name)
    records = [record(run, ["AP", name], system) for run, system in ((S, "s"), (T, "t"))]
    with refused:
        compare_records(records, ["a", "b"], measure=name)
    with refused:
        compare_records([record(S, name, "s"), record(T, name, "t")], ["a", "b"])
    with refused:
        compare_scores({"s": [0.5, 0.5], "t": [1.0, 0.0]}, measure=name)
    rows = "".join(f"q{i},{system},{i / 9},{name}\n" for i in range(4) for system in "st")
    (tmp_path / "scores.csv").write_text("query,system,value,measure\n" + rows)
    with refused:
        compare_stored([str(tmp_path / "scores.csv")])
    found = compare_records(records, ["a", "b"])
    assert [row.measure for row in found.rows] == ["AP"]
    assert [(note.key, note.parameters) for note in found.remarks] == [("comparison.no_means", {"names": [name]})]


def test_gmap_fell_and_nobody_says_it_rose() -> None:
    """t has the better mean AP and the worse GMAP."""
    found = [evaluate(GRADES, run, MEASURES) for run in (S, T)]
    assert found[0].mean["AP"] < found[1].mean["AP"]
    assert found[0].mean["GMAP"] > found[1].mean["GMAP"]
    rows = compare_records([record(S, name="s"), record(T, name="t")], ["a", "b"]).rows
    assert [row.measure for row in rows] == ["AP", "nDCG@10"]
    for row in rows:
        assert (row.mean_a, row.mean_b) == (found[0].mean[row.measure], found[1].mean[row.measure])


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    for run, name in ((S, "s"), (T, "t")):
        record(run, name=name).save(f"{name}.json")
    run_command("history", "add", "s.json", "t.json")
    for command in (("compare-scores", "s.json", "t.json"), ("history", "diff", "1", "2")):
        shown = json.loads(run_command(*command, "--json").stdout)["comparison"]
        assert {row["measure"] for row in shown["rows"]} == {"AP", "nDCG@10"}
        (left,) = [note["parameters"] for note in shown["notes"] if note["key"] == "comparison.no_means"]
        assert left["names"] == ["GMAP", "NumRelRet"]
        refused = run_command(*command, "-m", "gm_map", status=2)
        assert "GMAP is no mean over queries" in refused.stderr


@pytest.mark.parametrize("name", ["AP", "GMAP", "NumRelRet", "NumQ"])
def test_a_record_whose_value_is_not_its_scores(name: str) -> None:
    whole = record(T, name).to_dict()
    assert Record.from_dict(whole).to_dict() == whole
    whole["systems"][0]["means"][name]["value"] += 0.01
    with pytest.raises(FormatError, match=f"'s', {name}: the .* is .*, its scores' .*: the record is damaged"):
        Record.from_dict(whole)


def foreign(values: list[float], system: str, **about: Any) -> Record:
    """A record of a measure that is not known here."""
    made = record(S, "AP", system).to_dict()
    made["measures"] = [{"name": "usefulness [0-10]", **about}]
    (entry,) = made["systems"]
    entry["means"] = {"usefulness [0-10]": {**entry["means"]["AP"], "value": float(np.mean(values))}}
    entry["per_query"], entry["counted"] = {"usefulness [0-10]": values}, {}
    return Record.from_dict(made)


FULL = {"aggregate": "mean", "lower_is_better": False, "bounds": [0, 10]}
LOW, HIGH = [1.0, 2, 1, 2, 1, 2, 1, 2], [8.0, 9, 7, 9, 8, 9, 7, 8]


@pytest.mark.parametrize("asked", [None, "usefulness [0-10]"])
def test_a_measure_from_elsewhere(asked: str | None) -> None:
    found = compare_records([foreign(LOW, "s", **FULL), foreign(HIGH, "t", **FULL)], ["a", "b"], measure=asked)
    (row,) = found.rows
    assert (row.verdict, row.difference, found.remarks) == ("better", pytest.approx(53 / 8), [])
    assert found.measures[0].bounds == (0, 10)
    assert found.measures[0].widest == (-10, 10)
    with pytest.raises(DataError, match="has no measure 'kindness'"):
        compare_records([foreign(LOW, "s", **FULL), foreign(HIGH, "t", **FULL)], ["a", "b"], measure="kindness")


def test_the_record_says_the_direction_and_the_bounds() -> None:
    less = FULL | {"lower_is_better": True, "bounds": [0, 9.5]}
    found = compare_records([foreign(LOW, "s", **less), foreign(HIGH, "t", **less)], ["a", "b"])
    assert found.rows[0].verdict == "worse"
    assert found.rows[0].interval.high <= 9.5
    unlike = compare_records([foreign(LOW, "s", **less), foreign(HIGH, "t", **less | {"bounds": None})], ["a", "b"])
    assert unlike.measures[0].bounds is None


@pytest.mark.parametrize("key", ["aggregate", "lower_is_better", "bounds"])
def test_what_a_record_does_not_say_of_a_measure_is_not_assumed(key: str) -> None:
    with pytest.raises(FormatError, match=f"measures.*`{key}`"):
        foreign(LOW, "s", **{name: value for name, value in FULL.items() if name != key})


def test_records_that_contradict_each_other() -> None:
    for key, other, told in (("aggregate", "median", "mean and as median"), ("lower_is_better", True, "better")):
        records = [foreign(LOW, "s", **FULL), foreign(HIGH, "t", **FULL | {key: other})]
        with pytest.raises(DataError, match=f"not comparable .usefulness.*{told}"):
            compare_records(records, ["a", "b"])
    with pytest.raises(MeasureError, match="no mean over queries"):
        compare_records([foreign(LOW, "s", **FULL | {"aggregate": "median"})] * 2, ["a", "b"])


def test_bounds_are_never_guessed_from_a_name() -> None:
    """Scores in percent that bear a known name: a difference of 40 is not cut to 1."""
    records = [foreign(values, system, **FULL | {"bounds": None}) for values, system in ((LOW, "s"), (HIGH, "t"))]
    renamed = [Record.from_dict(json.loads(r.to_json().replace("usefulness [0-10]", "nDCG@10"))) for r in records]
    (row,) = compare_records(renamed, ["a", "b"]).rows
    assert row.interval.low > 1


def test_every_record_says_what_its_measures_are() -> None:
    names = [str(about()) for about in all_definitions() if not about.at_required and not about.needs]
    names = [name for name in names if parse_measure(name).get("budget") is None]
    made = record(S, [name for name in names if "alpha" not in name])
    for about in made.measures:
        measure = parse_measure(about.name)
        known = measure.definition.aggregate, measure.definition.lower_is_better, measure.bounds
        assert (about.aggregate, about.lower_is_better, about.bounds) == known
    assert Record.from_dict(json.loads(made.to_json())) == made
    scores = json.loads(compare_scores({"s": LOW, "t": HIGH}, measure="kindness", lower_is_better=True).to_json())
    (about,) = scores["measures"]
    assert (about["aggregate"], about["lower_is_better"], about["bounds"]) == ("mean", True, None)


@pytest.mark.parametrize(
    "broken", [{"name": 3}, {"aggregate": 1}, {"lower_is_better": "no"}, {"bounds": [1, 0]}, {"bounds": ["a", "b"]}]
)
def test_a_damaged_measure_is_named(broken: dict[str, Any]) -> None:
    made = record(S, "AP").to_dict()
    made["measures"][0] |= broken
    with pytest.raises(FormatError, match="damaged"):
        Record.from_dict(made)


def test_scores_of_a_measure_of_which_less_is_better() -> None:
    assert compare_scores({"s": LOW, "t": HIGH}, measure="RBPResidual").rows[0].verdict == "worse"
    assert compare_scores({"s": LOW, "t": HIGH}, measure="anything").rows[0].verdict == "better"


class Choosing:
    """Answers with the lists of one setting."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        self.lists = lists

    def search(self, query: str, k: int) -> list[str]:
        return self.lists[query][:k]


def tuned(n: int, versions: int, seed: int) -> tuple[TestSet, list[dict[str, list[str]]]]:
    """Queries of which every third has no relevant document, and the lists of each setting."""
    random = np.random.default_rng(seed)
    texts = [f"some text {i}" for i in range(n)]
    queries = [Query(text, {f"{i}/{d}": float(i % 3 != 0) for d in range(3)}) for i, text in enumerate(texts)]
    lists = [
        {text: [f"{i}/{d}" for d in random.permutation(8)[: random.integers(0, 7)]] for i, text in enumerate(texts)}
        for _ in range(versions)
    ]
    return TestSet(queries), lists


SWEPT = ["RR", "nDCG@10", "R@3", "Utility", "Unjudged@5", "RBPResidual", *NOT_MEANS]


@pytest.mark.parametrize("no_relevant", ["count", "skip"])
@pytest.mark.parametrize("name", SWEPT)
def test_a_sweep_chooses_by_the_measure_itself(name: str, no_relevant: str) -> None:
    """Best and held out, against plain evaluations of the folds' queries."""
    test_set, lists = tuned(30, 4, seed=3)
    found = sweep(
        lambda number: Choosing(lists[number]),
        {"number": [0, 1, 2, 3]},
        test_set,
        measure=name,
        no_relevant=no_relevant,
        folds=3,
        seed=1,
    )
    measure = parse_measure(name)
    sign = -1 if measure.definition.lower_is_better else 1
    judged = {query.id: dict(query.grades) for query in test_set}

    def value(number: int, queries: list[str]) -> float:
        run = {query: lists[number][query] for query in queries}
        return evaluate({q: judged[q] for q in queries}, run, name, no_relevant=no_relevant).mean[name]

    everything = list(judged)
    assert [version.mean for version in found.versions] == pytest.approx([value(i, everything) for i in range(4)])
    assert found.best.mean == sign * max(sign * version.mean for version in found.versions)
    counting = [q for q in everything if no_relevant == "count" or any(judged[q].values())]
    held: dict[str, Any] = {}
    for part in np.array_split(np.random.default_rng(1).permutation(len(counting)), 3):
        apart = [counting[i] for i in part]
        others = [query for query in counting if query not in apart]
        choice = max(range(4), key=lambda number: sign * value(number, others))
        held |= {query: lists[choice][query] for query in apart}
    alone = {query: judged[query] for query in counting}
    assert found.held_out.mean == pytest.approx(evaluate(alone, held, name).mean[name])
    assert found.optimism == pytest.approx(found.best.mean - found.held_out.mean)
    assert (found.held_out.interval is None) == (measure.definition.aggregate != "mean")
    if found.held_out.interval is not None:
        assert found.held_out.interval.low <= min(found.held_out.mean, found.best.mean)
        assert found.held_out.interval.high >= max(found.held_out.mean, found.best.mean)
    assert found.result.lower_is_better == measure.definition.lower_is_better


def test_a_version_of_which_no_query_counts_is_never_the_best() -> None:
    for lower in (False, True):
        assert _best([math.nan, -3.0, math.nan], lower) == 1
    assert _best([math.nan, math.nan], lower=True) == 0
    assert (_best([1.0, 2.0, 2.0], lower=False), _best([2.0, 1.0, 1.0], lower=True)) == (1, 1)


@pytest.mark.parametrize("name", ["GMAP", "NumRelRet", "AP"])
def test_the_monitor_shows_the_measure_itself(name: str) -> None:
    before, after = record(S, name), record(T, name)
    limit = Limit(f"{name} < 0.001", name, "<", 0.001)
    watch = SystemWatch("s", Watching(limits=(limit,)))
    watch.update(1, figures_of(before, "s"))
    watch.update(2, figures_of(after, "s"))
    shown = watch.last[SeriesKey("s", name)]
    assert shown.value == pytest.approx(after.systems[0].means[name].value)
    assert shown.reference == pytest.approx(before.systems[0].means[name].value)


def test_a_limit_is_held_against_the_measure_itself() -> None:
    """GMAP of t is below 0.1, its mean AP is 0.75."""
    watch = SystemWatch("s", Watching(limits=(Limit("GMAP < 0.1", "GMAP", "<", 0.1),)))
    events = [event for number in range(1, 6) for event in watch.update(number, figures_of(record(T, "GMAP"), "s"))]
    assert [event.kind for event in events] == ["threshold"]
    assert events[0].finding.now == pytest.approx(evaluate(GRADES, T, "GMAP").mean["GMAP"])


def test_a_sum_of_some_queries_breaks_no_limit_for_all() -> None:
    whole = record(S, "NumRelRet")
    calls = Calls(10, 1, None, None, failed=["q0", "q1"])
    failing = replace(whole, systems=[replace(whole.systems[0], calls=calls)])
    watch = SystemWatch("s", Watching(limits=(Limit("NumRelRet < 8", "NumRelRet", "<", 8),)))
    checks = [whole, *[failing] * 6]
    events = [event for i, check in enumerate(checks, 1) for event in watch.update(i, figures_of(check, "s"))]
    assert not [event for event in events if event.kind in ("threshold", "quality")]


def test_a_measure_below_zero_is_watched_as_closely() -> None:
    """A change is a share of the mean size of the scores, whatever their sign."""
    point = {f"q{i}": -20.0 for i in range(8)}
    up = {query: -value for query, value in point.items()}
    units = [unit_of(list(own), mean_of([abs(x) for x in own])) for own in (point.values(), up.values(), [0.5])]
    assert units == [20.0, 20.0, 1.0]
