"""Every measure against its naive definition, for dictionaries and for frames, under every choice of the contract."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Contract, RankgaugeError, evaluate
from rankgauge.measures import Measure, all_definitions, parse_measure
from tests.oracles import naive
from tests.oracles.cases import (
    DOCS,
    NEAR_SCORES,
    best_grades,
    by_subtopic,
    fast,
    judgments,
    measures,
    qrels_frame,
    run_frame,
    runs,
    subtopic_frame,
)
from tests.oracles.check import CLOSE, DIVERSE, PLAIN, both_kinds, expect, of_family, oracle, wanted_values

SOME = [
    parse_measure(text)
    for text in (
        "P@3", "R(capped=True)@2", "F(beta=2)@4", "Judged@3", "Unjudged@3", "Rprec", "SetP", "NumRet", "NumRelRet",
        "Accuracy@5", "AP", "AP(norm='min')@3", "RR@2", "Bpref", "infAP", "IPrec@0.5", "nDCG@3", "nDCG",
        "nDCG(gain='exp', ideal='retrieved')@2", "nDCG(ideal='returned')", "ERR@3", "nERR@2", "RBP(p=0.5)",
        "RBPResidual", "G", "RnDCG", "nDCGRel", "SDCG(max_rel=4)@4", "Compat", "P(judged_only=True)@2",
        "nDCG(judged_only=True)@3",
    )
]
"""What the choices of the contract are tried with."""


def test_every_measure_has_an_oracle() -> None:
    assert sorted([*naive.ORACLES, *naive.DIVERSITY]) == sorted(d.name for d in all_definitions())
    assert sorted(naive.DIVERSITY) == sorted(d.name for d in DIVERSE)


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN}))
@fast(40)
@given(data=st.data())
def test_measures(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    chosen = list(dict.fromkeys(data.draw(measures(d)) for d in of_family(family)))
    expect(both_kinds(qrels, run, chosen), wanted_values(chosen, qrels, run))


@fast(40)
@given(data=st.data())
def test_diversity(data: st.DataObject) -> None:
    """Only frames hold judgments by subtopic; the run may be a dictionary all the same."""
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics)))
    chosen = [data.draw(measures(d)) for d in DIVERSE]
    result = evaluate(subtopic_frame(topics), run_frame(run), chosen)
    wanted = {}
    for query, subtopics in topics.items():
        grades, ranking = best_grades(subtopics), naive.ranking_of(run[query])
        wanted[query] = {str(m): oracle(m, ranking, grades, subtopics) for m in chosen}
    expect(result, wanted)
    assert evaluate(subtopic_frame(topics), run, chosen).per_query.equals(result.per_query)


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
        "P@3", "AP", "AP(rel=2)", "nDCG@3", "ERR", "NumQ", "NumRet", "NumRet(rel=2)", "NumRel", "NumRelRet(rel=2)",
        "NumNonrelJudgedRet", "Utility", "GMAP", "GMAP(rel=2)", "GMBpref", "Judged@3", "Compat",
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
            per_query[query][str(measure)] for query, grades in qrels.items()
            if (missing == "zero" or query in run) and (no_relevant == "count" or has_relevant(measure, grades))
        ]
        wanted = naive.aggregate(measure.definition.aggregate, counted)
        assert result.mean[str(measure)] == pytest.approx(wanted, **CLOSE), str(measure)
    coverage = result.coverage
    assert coverage.judged_queries == len(qrels)
    assert coverage.missing == sum(query not in run for query in qrels)
    assert coverage.not_judged == 1
    assert coverage.run_queries == len(run)


def test_geometric_mean_of_nothing_found() -> None:
    """A query without a hit counts with the least value, not with 0."""
    result = evaluate({"a": {"x": 1}, "b": {"x": 1}}, {"a": ["x"], "b": ["y"]}, ["GMAP"])
    assert result.mean["GMAP"] == pytest.approx(math.sqrt(1 * naive.FLOOR), rel=1e-12)


@fast(40)
@given(data=st.data(), rel=st.sampled_from((1, 2)), budget=st.integers(1, 30), ties=st.sampled_from(("trec", "stable", "given")))
def test_context_budget(data: st.DataObject, rel: int, budget: int, ties: str) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    length = {doc: data.draw(st.integers(0, 9)) for doc in DOCS}
    corpus = {doc: "x" * n for doc, n in length.items()}
    measure = parse_measure(f"R(rel={rel}, budget={budget})")

    def wanted(length: Mapping[str, int]) -> dict[str, dict[str, float]]:
        ranked = {query: naive.ranking_of(run[query], ties) for query in qrels}
        return {
            query: {str(measure): naive.recall_in_budget(ranked[query], grades, rel, budget, length)}
            for query, grades in qrels.items()
        }

    for judged, listed in ((qrels, run), (qrels_frame(qrels), run_frame(run))):
        expect(evaluate(judged, listed, [measure], corpus=corpus, ties=ties), wanted(length))
    tokens = evaluate(qrels, run, [measure], corpus=corpus, ties=ties, tokenizer=lambda text: 2 * len(text) + 1)
    expect(tokens, wanted({doc: 2 * n + 1 for doc, n in length.items()}))


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


# --- parameters at the edge of what they allow ------------------------------------------------------------------------


def test_a_gain_equal_to_its_grade_still_overrides_the_exponential_one() -> None:
    measure = parse_measure("DCG(gain='exp', gains={2: 2})")
    result = evaluate({"q": {"a": 2}}, {"q": ["a"]}, [measure])
    assert list(result.mean.values()) == [2.0]


@pytest.mark.parametrize("text", ["INST(T=0)", "AP(grades='linear', max_grade=0)"])
def test_a_scale_of_nothing_is_refused_or_scored(text: str) -> None:
    """0 / 0 must not come out as a number, nor as a warning of numpy."""
    grade = 0 if "max_grade" in text else 1
    try:
        value = next(iter(evaluate({"q": {"a": grade}}, {"q": ["a"]}, [text]).mean.values()))
    except RankgaugeError:
        return
    assert 0 <= value <= 1
