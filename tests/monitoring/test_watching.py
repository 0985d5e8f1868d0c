"""A system watched: measures, slices, latency, errors, limits, and queries that have to be left out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankgauge.model.contract import Contract
from rankgauge.model.series import SeriesKey
from rankgauge.model.testset import TestSet
from rankgauge.monitoring.detection.drift import drift_between, gold_of
from rankgauge.monitoring.detection.figures import Figures, Limit, Watching, figures_of
from rankgauge.monitoring.detection.watch import Event, SystemWatch
from rankgauge.record import Calls, Mean, Provenance, Record, ScoredMeasure, SystemResult
from rankgauge.stats.latency import Latency

QUERIES = [f"q{i}" for i in range(40)]
TAGS = {query: ["new"] if i % 4 == 0 else ["old"] for i, query in enumerate(QUERIES)}
rng = np.random.default_rng(0)
GOOD = dict(zip(QUERIES, rng.uniform(0.5, 1.0, len(QUERIES)).tolist(), strict=True))


def figures(scores: dict[str, float] = GOOD, **rest: object) -> Figures:
    given = {"tags": TAGS, "asked": 40, "latency": {"p50": 0.01, "p95": 0.02, "p99": 0.03}, **rest}
    return Figures({"nDCG@10": scores}, **given)  # type: ignore[arg-type]


def watch_all(watch: SystemWatch, checks: list[Figures], first: int = 1) -> tuple[SystemWatch, list[tuple[int, Event]]]:
    events = []
    for number, found in enumerate(checks, start=first):
        watch = SystemWatch.from_dict(json.loads(json.dumps(watch.to_dict())), watch.watching)
        events += [(number, event) for event in watch.update(number, found)]
    return watch, events


def lowered(by: float, among: list[str] = QUERIES) -> dict[str, float]:
    return {query: score - by if query in among else score for query, score in GOOD.items()}


def test_a_fall_is_told_by_the_measure_and_its_slices() -> None:
    watch, events = watch_all(SystemWatch("bm25", Watching()), [figures()] * 6 + [figures(lowered(0.1))] * 2)
    assert {event.key for _, event in events} == {SeriesKey("bm25", "nDCG@10", tag) for tag in (None, "new", "old")}
    number, event = next((n, e) for n, e in events if e.kind == "quality")
    assert (number, event.event, event.began) == (8, "alarm", 7)
    assert event.finding.before is not None
    assert event.finding.now is not None
    assert event.finding.before - event.finding.now == pytest.approx(0.1)
    assert watch.alarmed(["quality"]) == [SeriesKey("bm25", "nDCG@10")]
    assert [str(key) for key in watch.alarmed(["slice"])] == ["bm25 nDCG@10 [new]", "bm25 nDCG@10 [old]"]


def test_a_fall_of_one_slice_alone() -> None:
    new = [query for query in QUERIES if TAGS[query] == ["new"]]
    _, events = watch_all(SystemWatch("bm25", Watching()), [figures()] * 5 + [figures(lowered(0.035, new))] * 3)
    assert [(event.kind, event.key) for _, event in events] == [("slice", SeriesKey("bm25", "nDCG@10", "new"))]


def test_less_is_better_for_some_measures() -> None:
    lower = frozenset({"nDCG@10"})
    rise = {query: score + 0.1 for query, score in GOOD.items()}
    _, events = watch_all(
        SystemWatch("x", Watching(slices=False)), [figures(lower=lower)] * 5 + [figures(rise, lower=lower)] * 3
    )
    assert [event.event for _, event in events] == ["alarm"]
    _, events = watch_all(
        SystemWatch("x", Watching(slices=False)), [figures(lower=lower)] * 5 + [figures(lowered(0.1), lower=lower)] * 9
    )
    assert events == []


def test_a_measure_without_bounds_is_watched_by_its_share() -> None:
    large = {query: 100 * score for query, score in GOOD.items()}
    slightly = {query: 0.995 * score for query, score in large.items()}
    clearly = {query: 0.95 * score for query, score in large.items()}
    _, events = watch_all(SystemWatch("x", Watching(slices=False)), [figures(large)] * 5 + [figures(slightly)] * 50)
    assert events == []
    _, events = watch_all(SystemWatch("x", Watching(slices=False)), [figures(large)] * 5 + [figures(clearly)] * 3)
    assert len(events) == 1


def test_queries_with_drifted_gold_and_failed_ones_are_left_out_of_the_ranking() -> None:
    """Ten queries lose their gold documents and score 0: the rest is unchanged, so there is no regression."""
    lost = QUERIES[:10]
    scores = {query: 0.0 if query in lost else score for query, score in GOOD.items()}
    _, events = watch_all(
        SystemWatch("x", Watching()), [figures()] * 5 + [figures(scores, drifted=frozenset(lost))] * 20
    )
    assert events == []
    answered = {query: score for query, score in GOOD.items() if query != "q3"}
    _, events = watch_all(SystemWatch("x", Watching()), [figures()] * 5 + [figures(answered, failed=1)] * 3)
    assert events == []


def test_failing_queries_are_an_incident_of_their_own() -> None:
    answered = {query: score for query, score in GOOD.items() if query not in QUERIES[:2]}
    _, events = watch_all(SystemWatch("x", Watching()), [figures()] * 5 + [figures(answered, failed=2)] * 30)
    assert [event.kind for _, event in events] == ["errors"]


def test_latency_takes_three_checks_and_its_own_noise() -> None:
    noise = np.random.default_rng(1)
    quick = [figures(latency={"p95": 0.02 * float(np.exp(0.1 * noise.standard_normal()))}) for _ in range(300)]
    watch, events = watch_all(SystemWatch("x", Watching()), quick)
    assert events == []
    slow = [figures(latency={"p95": 0.06 * float(np.exp(0.1 * noise.standard_normal()))}) for _ in range(10)]
    peak = [figures(latency={"p95": 5.0}), *quick[:5]]
    watch, events = watch_all(watch, peak, 301)
    assert events == []
    _, events = watch_all(watch, slow, 307)
    assert [event.kind for _, event in events] == ["latency"]
    assert 309 <= events[0][0] <= 313
    assert (events[0][1].finding.now or 0) > 2 * (events[0][1].finding.before or 0)


def test_limits_of_today_apply_at_once() -> None:
    watch, _ = watch_all(SystemWatch("x", Watching()), [figures()] * 5)
    watch.watching = Watching(
        limits=(Limit("nDCG@10 < 0.99", "nDCG@10", "<", 0.99), Limit("p95 > 1ms", "p95", ">", 0.001))
    )
    watch, events = watch_all(watch, [figures()] * 3, 6)
    assert [(number, event.kind, event.event) for number, event in events] == [(6, "threshold", "alarm")] * 2
    watch.watching = Watching()
    watch, _ = watch_all(watch, [figures()], 9)
    assert watch.alarmed(["threshold"]) == []


def test_a_baseline_is_what_it_is_held_against() -> None:
    watch = SystemWatch.against("x", Watching(slices=False), {"nDCG@10": GOOD})
    _, events = watch_all(watch, [figures(lowered(0.08))] * 9)
    assert [(number, event.began) for number, event in events] == [(6, 1)]


def test_a_stream_has_new_queries_each_time() -> None:
    noise = np.random.default_rng(5)

    def new(number: int, level: float) -> Figures:
        scores = {f"{number}.{i}": float(noise.random() < level) for i in range(20)}
        return Figures({"Success@5": scores}, asked=20)

    watch = SystemWatch("x", Watching(stream=True))
    watch, events = watch_all(watch, [new(i, 0.8) for i in range(1, 101)])
    assert events == []
    _, events = watch_all(watch, [new(i, 0.5) for i in range(101, 131)], 101)
    assert events[0][1].event == "alarm"
    assert events[0][0] <= 115


def test_figures_of_a_record_leave_out_what_failed_or_does_not_count() -> None:
    record = Record(
        "evaluation",
        "2026-03-01T12:00:00+00:00",
        "1.0",
        None,
        Contract(),
        [ScoredMeasure("RR", "mean", False, (0.0, 1.0))],
        ["a", "b", "c"],
        [
            SystemResult(
                "s",
                {"RR": Mean(0.5, None, 2)},
                {"RR": [1.0, 0.5, 0.0]},
                {"RR": [True, False, True]},
                calls=Calls(10, 1, Latency(2, 1, 0.15, 0.1, 0.2, 0.3), 5.0, failed=["c"]),
            )
        ],
        Provenance(),
        tags={"a": ["t"]},
    )
    found = figures_of(record, "s")
    assert found.scores == {"RR": {"a": 1.0}}
    assert (found.asked, found.failed, found.latency["p95"]) == (3, 1, 0.2)
    assert found.fingerprint is None


def test_gold_documents_that_are_gone_or_changed() -> None:
    tests = TestSet.from_annotations(["one", "two", "three"], [["a"], ["b", "c"], ["never"]])
    first = gold_of(tests, {"a": "x", "b": "y", "c": "z"})
    assert not drift_between(first, first)
    now = drift_between(first, gold_of(tests, {"b": "Y", "c": "z", "never": "here now"}))
    assert (now.gone, now.changed, now.queries) == (["a"], ["b"], ["one", "two"])


def test_what_the_plan_no_longer_watches_is_dropped() -> None:
    watch, _ = watch_all(SystemWatch("x", Watching()), [figures()] * 5)
    watch.watching = Watching(latency=False, slices=False)
    watch, _ = watch_all(watch, [figures()], 6)
    assert set(watch.series) == {SeriesKey("x", "nDCG@10"), SeriesKey("x", "errors")}


def test_milliseconds_of_a_fast_retriever_are_no_incident() -> None:
    noise = np.random.default_rng(3)
    fast = [figures(latency={"p95": 0.0008 * float(np.exp(0.05 * noise.standard_normal()))}) for _ in range(40)]
    loaded = [figures(latency={"p95": 0.0018})] * 20
    _, events = watch_all(SystemWatch("x", Watching()), fast + loaded)
    assert events == []


def test_a_tag_may_look_like_anything() -> None:
    """Nothing is read back from a name."""
    odd = {query: ["a] b"] if i % 4 == 0 else ["errors"] for i, query in enumerate(QUERIES)}
    new = [query for query in QUERIES if odd[query] == ["a] b"]]
    fallen = figures(lowered(0.035, new), tags=odd)
    watch, events = watch_all(SystemWatch("x", Watching()), [figures(tags=odd)] * 5 + [fallen] * 3)
    assert [event.key for _, event in events] == [SeriesKey("x", "nDCG@10", "a] b")]
    assert watch.kind_of(SeriesKey("x", "nDCG@10", "errors")) == "slice"
    assert list(watch.fallen_tags("nDCG@10")) == ["a] b"]
