"""The choices of the contract: orders, depths, precision of scores, dropped and repeated documents, and who counts."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Contract, Qrels, evaluate
from rankgauge.measures import Measure, parse_measure
from tests.oracles import naive
from tests.oracles.cases import (
    DOCS,
    NEAR_SCORES,
    best_grades,
    by_subtopic,
    fast,
    judgments,
    qrels_frame,
    run_frame,
    runs,
    subtopic_frame,
)
from tests.oracles.check import CLOSE, both_kinds, expect, oracle, wanted_values

SOME = [
    parse_measure(text)
    for text in (
        "P@3",
        "R(capped=True)@2",
        "F(beta=2)@4",
        "Judged@3",
        "Unjudged@3",
        "Rprec",
        "SetP",
        "NumRet",
        "NumRelRet",
        "Accuracy@5",
        "AP",
        "AP(norm='min')@3",
        "RR@2",
        "Bpref",
        "infAP",
        "IPrec@0.5",
        "nDCG@3",
        "nDCG",
        "nDCG(gain='exp', ideal='retrieved')@2",
        "nDCG(ideal='returned')",
        "ERR@3",
        "nERR@2",
        "RBP(p=0.5)",
        "RBPResidual",
        "G",
        "RnDCG",
        "nDCGRel",
        "SDCG(max_rel=4)@4",
        "Compat",
        "P(judged_only=True)@2",
        "nDCG(judged_only=True)@3",
    )
]
"""What the choices of the contract are tried with."""


@fast(25)
@given(data=st.data())
def test_subtopics_leave_other_measures_alone(data: st.DataObject) -> None:
    """Judgments by subtopic count with a document's best grade."""
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics)))
    merged = {query: best_grades(subtopics) for query, subtopics in topics.items()}
    result = evaluate(subtopic_frame(topics), run_frame(run), SOME)
    assert result.table.values.tolist() == evaluate(merged, run, SOME).table.values.tolist()


@pytest.mark.parametrize("ties", ["given", "stable"])
@fast(25)
@given(data=st.data())
def test_order_of_the_list(ties: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    result = both_kinds(qrels, run, SOME, ties=ties)
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores, ties)))


@fast(25)
@given(data=st.data())
def test_plain_lists_of_ids(data: st.DataObject) -> None:
    """A list without scores is in order already, whatever the tie rule."""
    qrels = data.draw(judgments())
    lists = {q: data.draw(st.permutations(DOCS))[: data.draw(st.integers(1, len(DOCS)))] for q in qrels}
    wanted = {q: {str(m): oracle(m, lists[q], grades) for m in SOME} for q, grades in qrels.items()}
    for ties in ("trec", "stable", "given", "expected"):
        expect(evaluate(qrels, lists, SOME, ties=ties), wanted)


@fast(25)
@given(data=st.data(), depth=st.integers(1, 9))
def test_depth(data: st.DataObject, depth: int) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    result = both_kinds(qrels, run, SOME, depth=depth)
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores)[:depth]))


@fast(25)
@given(data=st.data())
def test_float32_scores(data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), scores=NEAR_SCORES))
    result = both_kinds(qrels, run, SOME, contract=Contract(scores="float32"))
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores, float32=True)))
    expect(evaluate(qrels, run, SOME), wanted_values(SOME, qrels, run))


def test_scores_beyond_float32() -> None:
    """They are infinite in float32, so they tie, and nothing else happens."""
    run = {"q": {"a": 1e300, "b": 1e200, "c": 1.0}}
    result = both_kinds({"q": {"a": 1}}, run, [parse_measure("RR")], contract=Contract(scores="float32"))
    assert result.mean["RR"] == 0.5


@fast(25)
@given(data=st.data())
def test_drop_self(data: st.DataObject) -> None:
    """The document that is the query leaves the list; it stays among the judgments."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    run["q1"] = {**run["q1"], "q1": data.draw(st.sampled_from((0.5, 1.25, 9.0)))}
    kept = {query: {doc: score for doc, score in docs.items() if doc != query} for query, docs in run.items()}
    result = both_kinds(qrels, run, SOME, contract=Contract(drop_self=True))
    expect(result, wanted_values(SOME, qrels, kept))


def test_drop_self_with_numbers_as_ids() -> None:
    """Ids that are numbers, and nothing left to find once the query's own document is gone."""
    qrels, run = {"1": {"1": 1}, "2": {"1": 1}}, {"1": {"1": 1.0, "2": 0.5}, "2": {"2": 1.0}}
    result = both_kinds(qrels, run, [parse_measure("AP")], contract=Contract(drop_self=True))
    assert result.mean["AP"] == 0.0


POLICIES = [
    parse_measure(text)
    for text in (
        "P@3",
        "AP",
        "AP(rel=2)",
        "nDCG@3",
        "ERR",
        "NumQ",
        "NumRet",
        "NumRet(rel=2)",
        "NumRel",
        "NumRelRet(rel=2)",
        "NumNonrelJudgedRet",
        "Utility",
        "GMAP",
        "GMAP(rel=2)",
        "GMBpref",
        "Judged@3",
        "Compat",
    )
]


def has_relevant(measure: Measure, grades: Mapping[str, float]) -> bool:
    """A measure of binary relevance looks at its threshold, one of gains at grades above 0."""
    if measure.definition.relevance:
        return any(grade >= measure.get("rel") for grade in grades.values())
    return any(grade > 0 for grade in grades.values())


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("no_relevant", ["count", "skip"])
@fast(25)
@given(data=st.data())
def test_aggregates(missing: str, no_relevant: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)).map(lambda lists: {q: docs for q, docs in lists.items() if docs}))
    run["not judged"] = {"d1": 1.0}
    result = both_kinds(qrels, run, POLICIES, missing=missing, no_relevant=no_relevant)
    per_query = wanted_values(POLICIES, qrels, run)
    expect(result, {q: values for q, values in per_query.items() if missing == "zero" or q in run})
    for measure in POLICIES:
        counted = [
            per_query[query][str(measure)]
            for query, grades in qrels.items()
            if (missing == "zero" or query in run) and (no_relevant == "count" or has_relevant(measure, grades))
        ]
        wanted = naive.aggregate(measure.definition.aggregate, counted)
        assert result.mean[str(measure)] == pytest.approx(wanted, **CLOSE), str(measure)
    coverage = result.coverage
    assert coverage.judged_queries == len(qrels)
    assert coverage.missing == sum(query not in run for query in qrels)
    assert coverage.not_judged == 1
    assert coverage.run_queries == len(run)
    assert coverage.no_relevant == sum(max(grades.values()) < 1 for grades in qrels.values())
    tied = [tied_documents(run.get(query, {}), grades) for query, grades in qrels.items()]
    assert coverage.tied_documents == sum(tied)
    assert coverage.tied_queries == sum(n > 0 for n in tied)


def tied_documents(scores: Mapping[str, float], grades: Mapping[str, float]) -> int:
    """Judged documents that share their score with another one of the list."""
    values = list(scores.values())
    return sum(doc in grades and values.count(score) > 1 for doc, score in scores.items())


def test_geometric_mean_of_nothing_found() -> None:
    """A query without a hit counts with the least value, not with 0."""
    result = evaluate({"a": {"x": 1}, "b": {"x": 1}}, {"a": ["x"], "b": ["y"]}, ["GMAP"])
    assert result.mean["GMAP"] == pytest.approx(math.sqrt(1 * naive.FLOOR), rel=1e-12)


@pytest.mark.parametrize("ties", ["trec", "stable", "given"])
@fast(25)
@given(data=st.data())
def test_repeated_documents(ties: str, data: st.DataObject) -> None:
    """Of a document that stands twice the better ranked one counts. Only a frame can hold it twice."""
    qrels = data.draw(judgments())
    row = st.tuples(st.sampled_from(DOCS), st.sampled_from((1.0, 2.0, 3.0)))
    rows = data.draw(st.lists(row, min_size=1, max_size=9))
    frame = pl.DataFrame({"query": ["q1"] * len(rows), "doc": [doc for doc, _ in rows], "score": [s for _, s in rows]})
    kept: dict[str, float] = {}
    for doc, score in rows:
        if ties == "given":
            kept.setdefault(doc, score)
        elif score > kept.get(doc, 0):
            kept.pop(doc, None)  # its place among ties is that of the better row
            kept[doc] = score
    result = evaluate(qrels, frame, SOME, ties=ties, duplicates="first")
    expect(result, wanted_values(SOME, qrels, {"q1": kept}, lambda scores: naive.ranking_of(scores, ties)))


SHAPES = {
    "few judged, lists in order": (30, 100, 2, True),
    "few judged, lists out of order": (30, 100, 2, False),
    "many judged, lists in order": (4, 150, 60, True),
    "many judged, lists out of order": (4, 150, 60, False),
    "short lists, many judged": (40, 12, 10, False),
    "one long list": (1, 400, 200, False),
}


@pytest.mark.parametrize("ties", ["trec", "stable", "given"])
@pytest.mark.parametrize("shape", SHAPES)
def test_long_lists(shape: str, ties: str) -> None:
    """Ranks are found in several ways, whichever is cheapest for the shape of the data."""
    queries, length, judged, in_order = SHAPES[shape]
    chosen = [parse_measure(text) for text in ("P@10", "R@20", "AP", "RR", "nDCG@20", "nDCG", "NumRelRet", "Judged@5")]
    for seed in range(4):
        rng = random.Random(seed)
        docs = [f"{rng.choice('aBé文')}{i}" for i in range(2 * length)]
        digits = seed % 2  # few different scores, or many
        qrels, run = {}, {}
        for number in range(queries):
            size = length if seed > 1 else rng.randint(1, length)
            found = {doc: round(rng.gauss(0, 1), digits + 1) for doc in rng.sample(docs, size)}
            if in_order:
                found = {doc: found[doc] for doc in sorted(found, key=lambda doc: -found[doc])}
            run[f"q{number}"] = found
            qrels[f"q{number}"] = {doc: rng.choice((-1, 0, 1, 2)) for doc in rng.sample(docs, judged)}
        result = both_kinds(qrels, run, chosen, ties=ties)
        expect(result, wanted_values(chosen, qrels, run, lambda scores: naive.ranking_of(scores, ties)))


@fast(25)
@given(data=st.data())
def test_judgments_serve_several_runs(data: st.DataObject) -> None:
    """What is kept with judgments for the next run does not depend on the run before."""
    qrels = data.draw(judgments())
    judged = Qrels(qrels_frame(qrels))
    for ties in ("trec", "given", "stable"):
        run = data.draw(runs(list(qrels)))
        again = evaluate(judged, run, SOME, ties=ties).table.values.tolist()
        assert again == evaluate(qrels, run, SOME, ties=ties).table.values.tolist()


@fast(40)
@given(data=st.data())
def test_rows_of_a_frame_need_no_order(data: st.DataObject) -> None:
    """Lists may lie interleaved in a frame."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    frame = run_frame(run)
    mixed = frame[data.draw(st.permutations(range(len(frame))))]
    assert isinstance(mixed, pl.DataFrame)
    assert evaluate(qrels, mixed, SOME).table.values.tolist() == evaluate(qrels, run, SOME).table.values.tolist()
