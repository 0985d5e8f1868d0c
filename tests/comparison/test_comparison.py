"""Comparisons: rows, verdicts, groups, slices, rerank; against plain scipy; and bad input."""

import json
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

import rankgauge
from rankgauge import compare, compare_scores
from rankgauge.comparison import summary_notes
from rankgauge.comparison.rerank import rerank_of
from rankgauge.errors import DataError, MeasureError, RankgaugeError
from rankgauge.measures import Definition, Measure
from rankgauge.measures.registry import register, unregister
from rankgauge.model.ranked import RankedGrades
from rankgauge.words import LANGUAGES, tell

SEED_BEFORE = [0.6, 0.7, 0.65, 0.68, 0.72, 0.63, 0.69, 0.71, 0.66, 0.70]
SEED_AFTER = [0.75, 0.82, 0.78, 0.80, 0.85, 0.76, 0.81, 0.83, 0.79, 0.84]


def many(n: int, better: float, seed: int = 0) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    base = rng.random(n) * 0.8
    return {"a": base.tolist(), "b": np.clip(base + rng.normal(better, 0.05, n), 0, 1).tolist()}


def test_the_seeds_figures() -> None:
    (row,) = compare_scores({"base": SEED_BEFORE, "improved": SEED_AFTER}, test="t").rows
    theirs = scipy_stats.ttest_rel(SEED_AFTER, SEED_BEFORE)
    assert round(100 * row.relative_change, 1) == 19.1
    assert row.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (row.wins, row.ties, row.losses, row.queries) == (10, 0, 0, 10)
    assert row.effect == pytest.approx(theirs.statistic / math.sqrt(10))
    assert row.verdict == "better"
    assert (row.interval.low, row.interval.high) == pytest.approx(tuple(theirs.confidence_interval()))


def test_the_decision_table() -> None:
    better = compare_scores(many(100, 0.05)).rows[0]
    worse = compare_scores(dict(reversed(many(100, 0.05).items()))).rows[0]
    same = compare_scores(many(1000, 0.0)).rows[0]
    few = compare_scores({"a": [0.1, 0.9, 0.4], "b": [0.2, 0.8, 0.7]}).rows[0]
    assert [row.verdict for row in (better, worse, same, few)] == ["better", "worse", "equivalent", "inconclusive"]
    assert better.p_corrected < 0.05 <= same.p_corrected
    assert few.detectable is not None or "no difference" in few.sentence()
    assert same.p_equivalent < 0.05
    loose = compare_scores(many(100, 0.05), equivalence_margin=0.2, alpha=1e-6, samples=200).rows[0]
    assert loose.verdict != "better"  # 5 % higher alone is never called better


def test_lower_can_be_better() -> None:
    scores = many(100, 0.05)
    row = compare_scores(scores, lower_is_better=True, measure="latency").rows[0]
    assert row.verdict == "worse"
    assert row.losses > row.wins


def test_identical_systems() -> None:
    found = compare_scores({"a": [0.5, 0.7, 0.1] * 10, "b": [0.5, 0.7, 0.1] * 10})
    (row,) = found.rows
    assert (row.p_value, row.p_corrected, row.difference, row.effect) == (1, 1, 0, 0)
    assert row.interval.low < 0 < row.interval.high  # 30 queries do not show what the next one does
    assert row.verdict == "inconclusive"
    assert "same on every one" in row.sentence()
    assert "same on every one" in found.summary()[0]
    assert "NaN" not in found.to_json()
    assert compare_scores({"a": [0.5, 0.7, 0.1] * 200, "b": [0.5, 0.7, 0.1] * 200}).rows[0].verdict == "equivalent"


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "bootstrap"])
@pytest.mark.parametrize(
    "scores",
    [
        {"a": [0.5], "b": [0.7]},
        {"a": [0.5, 0.5], "b": [0.7, 0.7]},
        {"a": [1.0] * 30, "b": [1.0] * 30},
        {"a": [0.1] * 30, "b": [0.2] * 30},
        {"a": [0.1, None, 0.3], "b": [0.2, 0.4, float("nan")]},
        {"a": [0.0, 0.0], "b": [0.0, 0.5]},
    ],
)
def test_degenerate_scores_give_words_not_nan(test: str, scores: dict[str, list[float]]) -> None:
    found = compare_scores(scores, test=test)
    text = found.to_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    for row in found.rows:
        for language in ("en", "zh"):
            assert row.sentence(language)
            assert "nan" not in row.sentence(language)
    assert found.summary("zh")


def test_missing_scores_leave_the_query_out() -> None:
    found = compare_scores({"a": [0.1, None, 0.3, 0.2], "b": [0.2, 0.4, float("nan"), 0.4]})
    assert found.rows[0].queries == 2
    assert any("2 queries without a score" in warning for warning in found.warnings)


def test_groups_are_no_false_ranking() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(200) * 0.5
    systems = {
        name: np.clip(base + rng.normal(shift, 0.05, 200), 0, 1)
        for name, shift in (("weak", 0.0), ("good", 0.2), ("twin", 0.2))
    }
    found = compare_scores(systems)
    letters = {own.system: own.letters for own in found.groups["score"]}
    assert set(letters["good"]) & set(letters["twin"])
    assert not set(letters["weak"]) & set(letters["good"])
    assert len(found.rows) == 3
    assert len(compare_scores(systems, baseline="weak").rows) == 2
    assert compare_scores(systems, baseline="weak").groups == {}


def test_the_correction_covers_the_rows_shown() -> None:
    rng = np.random.default_rng(2)
    systems = {name: rng.random(40) for name in "abcd"}
    every, some = compare_scores(systems, test="t"), compare_scores(systems, test="t", baseline="a")
    lowest = min(every.rows, key=lambda row: row.p_value)
    assert lowest.p_corrected == pytest.approx(min(1, 6 * lowest.p_value))
    lowest = min(some.rows, key=lambda row: row.p_value)
    assert lowest.p_corrected == pytest.approx(min(1, 3 * lowest.p_value))


QRELS = {f"q{i}": {"d1": 1, "d2": 0, "d3": 2} for i in range(20)}


def run(order: list[str], n: int = 20) -> dict[str, dict[str, float]]:
    return {f"q{i}": {doc: float(len(order) - r) for r, doc in enumerate(order)} for i in range(n)}


def test_compare_runs_in_python() -> None:
    found = compare(QRELS, {"a": run(["d2", "d1", "d3"]), "b": run(["d3", "d1", "d2"])}, ["nDCG@10", "P@1"])
    assert [(row.measure, row.verdict) for row in found.rows] == [("nDCG@10", "better"), ("P@1", "better")]
    assert found.row("P@1", "a", "b").difference == 1
    assert "Take b" in found.summary()[0]
    assert "采用 b" in found.summary("zh")[0]
    record = json.loads(found.to_json())
    assert record["kind"] == "comparison"
    assert record["comparison"]["rows"][0]["verdict"] == "better"
    assert record["lists"]["q0"]["b"][0] == {"doc": "d3", "score": 3.0, "grade": 2.0}


def test_changed_queries_and_agreement() -> None:
    b = {**run(["d2", "d1", "d3"]), "q3": {"d3": 2.0, "d1": 1.0}, "q5": {"d2": 1.0}}
    found = compare(QRELS, {"a": run(["d2", "d1", "d3"]), "b": b}, "nDCG@10")
    (changes,) = found.changes(3)
    assert [change.query for change in changes.gained] == ["q3"]
    assert [change.query for change in changes.lost] == ["q5"]
    assert {entry.kind for entry in found.agreement} == {"systems"}


def test_slices_by_tag_are_corrected_together() -> None:
    texts = [f"question {i}" for i in range(40)]
    tags = [["long"] if i % 2 else ["short", "code"] for i in range(40)]
    test_set = rankgauge.TestSet.from_annotations(texts, [["d1"]] * 40, tags=tags)
    rng = np.random.default_rng(0)
    runs = {
        name: {
            text: {doc: float(score) for doc, score in zip(("d1", "x", "y"), rng.random(3), strict=True)}
            for text in texts
        }
        for name in ("a", "b")
    }
    found = compare(test_set, runs, ["RR", "P@1"], test="t")
    assert len(found.slices) == 3 * 2
    assert {part.tag for part in found.slices} == {"code", "long", "short"}
    assert all(part.row.queries == 20 for part in found.slices)
    lowest = min(found.slices, key=lambda part: part.row.p_value).row
    assert lowest.p_corrected == pytest.approx(min(1, 6 * lowest.p_value))
    with pytest.raises(DataError, match="tags"):
        _ = compare(QRELS, {"a": run(["d1"]), "b": run(["d2"])}, "RR").slices


def test_rerank_splits_the_change() -> None:
    qrels = {f"q{i}": {"d1": 1, "d9": 1, "d2": 0} for i in range(10)}
    before, after = run(["x", "d2", "d1"], 10), run(["x", "d1", "d2"], 10)
    found = rerank_of(compare(qrels, {"before": before, "after": after}, ["RR", "R@10"]))
    rr, recall = found.rows
    assert (rr.before, rr.after, rr.ceiling, rr.perfect) == pytest.approx((1 / 3, 1 / 2, 1, 1))
    assert rr.share == pytest.approx(0.25)
    assert (recall.ceiling, recall.perfect, recall.share) == (0.5, 1, None)
    assert found.recall == 0.5
    assert found.not_candidates == 0
    strange = rerank_of(compare(qrels, {"before": before, "after": run(["d9", "d1"], 10)}, "RR"))
    assert (strange.not_candidates, strange.not_candidate_queries) == (10, 10)
    assert any("not among the candidates" in text for text in strange.sentences())
    with pytest.raises(DataError, match="exactly two"):
        rerank_of(compare(qrels, {"a": before, "b": after, "c": before}, "RR"))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"runs": {"a": run(["d1"])}}, "at least two"),
        ({"runs": {}}, "at least two"),
        ({"runs": [run(["d1"])]}, "by name"),
        ({"baseline": "c"}, "not among the systems"),
        ({"test": "z"}, "unknown significance test 'z'; known are: randomization"),
        ({"test": ["t"]}, "unknown significance test"),
        ({"correction": "tukey"}, "not one of"),
        ({"test": "t", "correction": "max-t"}, "randomization"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"equivalence_margin": -1}, "margin"),
        ({"samples": 3}, "samples"),
        ({"seed": -1}, "seed"),
        ({"measures": "GMAP"}, "no mean"),
        ({"measures": "NumRelRet"}, "no mean"),
        ({"runs": {"a": run(["d1"]), "b": {"other": {"d1": 1.0}}}}, "no query in common"),
    ],
)
def test_bad_requests(change: dict, error: str) -> None:
    request = {"qrels": QRELS, "runs": {"a": run(["d1"]), "b": run(["d2", "d1"])}, "measures": "RR", **change}
    with pytest.raises(RankgaugeError, match=error):
        compare(**request)


@pytest.mark.parametrize(
    "scores",
    [
        {},
        {"a": [1.0]},
        {"a": [1.0, 2.0], "b": [1.0]},
        {"a": ["x"], "b": ["y"]},
        {"a": [math.inf], "b": [1.0]},
        {"a": 3, "b": 4},
    ],
)
def test_bad_scores(scores: dict) -> None:
    with pytest.raises(RankgaugeError):
        compare_scores(scores)


def test_an_unknown_measure_is_named() -> None:
    with pytest.raises(MeasureError, match="nDCG"):
        compare(QRELS, {"a": run(["d1"]), "b": run(["d2"])}, "nDGC@10")


def test_disjoint_queries_under_skip() -> None:
    a = {f"q{i}": {"d1": 1.0} for i in range(10)}
    b = {f"q{i}": {"d1": 1.0} for i in range(10, 20)}
    with pytest.raises(DataError, match="no query counts for both of a, b, so there is nothing to compare"):
        compare(QRELS, {"a": a, "b": b}, "RR", missing="skip")
    with pytest.raises(DataError, match="no query counts for all of a, b, c"):
        compare(QRELS, {"a": a, "b": b, "c": {**a, **b}}, "RR", missing="skip")
    found = compare(QRELS, {"a": a, "b": b, "c": {**a, **b}}, "RR", missing="skip", baseline="a")
    row = next(row for row in found.rows if row.b == "b")
    assert (row.queries, row.verdict, row.p_value) == (0, "inconclusive", None)
    assert "a and b are compared on 0 queries, too few" in row.sentence()
    assert "NaN" not in found.to_json()


def test_wilcoxon_is_exact_with_ties() -> None:
    for n in (4, 5, 6, 7):
        row = compare_scores({"a": [0.0] * n, "b": [1.0] * n}, test="wilcoxon").rows[0]
        assert row.p_value == pytest.approx(2 / 2**n)


def test_too_few_queries_find_nothing() -> None:
    found = compare_scores({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.4, 0.6]})
    assert found.rows[0].detectable is None
    assert "too few to find any difference significant" in found.summary()[0]
    assert any("all 8 assignments" in tell(note, "en") for note in found.notes)


def test_a_constant_shift_is_constant_whatever_rounding_did() -> None:
    a = [0, 0.25, 0.5, 0.125, 0.375, 0.5, 0.625]
    for shift in (0.25, 0.1):
        for test in ("bootstrap", "t"):
            row = compare_scores({"a": a, "b": [x + shift for x in a]}, test=test).rows[0]
            assert row.p_value == pytest.approx(min(1, 2 * (1 / (1 + shift)) ** 7))  # scores lie between 0 and 1
            assert row.verdict == "inconclusive"


def test_no_advice_against_the_means() -> None:
    found = compare_scores({"a": [0.5] * 40, "b": [0.53] * 34 + [0.0] * 6}, test="wilcoxon")
    assert found.rows[0].verdict == "better"
    assert found.rows[0].difference < 0
    assert "means point the other way" in found.summary()[0]
    assert "mean difference is −" in found.rows[0].sentence()


@pytest.mark.parametrize("size", [1e155, 1e200, 1e308])
def test_scores_whose_squares_are_no_numbers(size: float) -> None:
    with pytest.raises(DataError, match="larger than"):
        compare_scores({"a": [size, 1.0], "b": [-size, 2.0]})


def test_smaller_is_better_is_said() -> None:
    found = compare_scores(many(30, 0.05), lower_is_better=True, measure="latency")
    assert any(tell(note, "en") == "smaller is better: latency" for note in found.notes)


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign", "bootstrap"])
def test_thousands_of_queries(test: str) -> None:
    row = compare_scores(many(3000, 0.01), test=test, samples=300).rows[0]
    assert row.verdict == "better"
    assert 0 < row.detectable < 0.01


def test_an_undefined_measure_is_named() -> None:
    """A measure from elsewhere that is NaN for a query: an error, not a NaN in a table or a record."""

    def undefined(ranked: RankedGrades, measure: Measure) -> np.ndarray:
        values = np.ones(len(ranked))
        values[3] = np.nan
        return values

    register(Definition("Undefined", undefined, "0 / 0"))
    try:
        for work in (
            lambda: compare(QRELS, {"a": run(["d1"]), "b": run(["d2"])}, ["RR", "Undefined"]),
            lambda: rankgauge.evaluate(QRELS, run(["d1"]), "Undefined"),
        ):
            with pytest.raises(MeasureError, match="Undefined is no finite number for query 'q3'"):
                work()
    finally:
        unregister("Undefined")


def test_systems_that_score_alike_do_not_make_the_queries_too_few() -> None:
    """Beside a significant difference it would be wrong to say that these queries can find none."""
    qrels = {f"q{i}": {"d": 1} for i in range(40)}
    good, bad = {q: ["d"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    found = compare(qrels, {"bad": bad, "same": bad, "good": good}, "RR", baseline="bad")
    assert [row.verdict for row in found.rows] == ["inconclusive", "better"]
    for language in ("en", "zh"):
        text = rankgauge.report(found, language=language)
        assert "too few" not in text
        assert "太少" not in text
    runs = {"bad": bad, "good": good, "other": {**good, "q1": ["x"]}}
    few = compare({q: qrels[q] for q in list(qrels)[:3]}, runs, "RR")
    assert "too few to find any difference" in rankgauge.report(few, language="en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_ids_that_match_nothing_give_no_verdict(language: str) -> None:
    """Chunks that nobody merged lost to documents, and the first sentence said which to keep."""
    judged = {f"q{i}": {f"d{i}": 1} for i in range(12)}
    run = {query: [*docs, "x"] for query, docs in judged.items()}
    chunks = {query: [f"{doc}#0" for doc in docs] for query, docs in judged.items()}
    found = compare(judged, {"whole": run, "chunks": chunks}, "RR")
    assert found.rows[0].verdict == "worse"
    assert [note.key for note in summary_notes(found.record)] == ["comparison.no_ids"]
    (said,) = found.summary(language)
    assert "chunks" in said
    assert "whole" not in said
    few = compare(dict(list(judged.items())[:9]), {"whole": run, "chunks": chunks}, "RR")
    assert summary_notes(few.record)[0].key != "comparison.no_ids"  # so few queries may find nothing


def test_of_several_systems_those_with_other_ids_enter_no_decision() -> None:
    judged = {f"q{i}": {f"d{i}": 1} for i in range(24)}
    run = {query: [*docs, "x"] for query, docs in judged.items()}
    late = {query: ["y", *docs] for query, docs in judged.items()}
    chunks = {query: [f"{doc}#0" for doc in docs] for query, docs in judged.items()}
    runs = {"whole": run, "chunks": chunks, "late": late}
    for baseline in (None, "whole"):
        decision, other = summary_notes(compare(judged, runs, ["RR", "R@1"], baseline=baseline).record)
        assert (other.key, other.parameters["systems"]) == ("comparison.no_ids", ["chunks"])
        assert "late" in tell(decision, "en")
        assert "chunks" not in tell(decision, "en")
    (only,) = summary_notes(compare(judged, runs, "RR", baseline="chunks").record)
    assert only.key == "comparison.no_ids"
    more = {**runs, "later": {query: ["y", "z", *docs] for query, docs in judged.items()}}
    found = compare(judged, more, "RR")
    decision, other = summary_notes(found.record)
    assert other.key == "comparison.no_ids"
    assert decision.parameters["best"] == "whole"
    shown = rankgauge.report(found, language="en")
    assert shown.index("whole") < shown.index("No verdict on chunks") < shown.index("system ")
