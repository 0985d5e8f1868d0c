"""Every measure against its naive definition, for dictionaries and for frames, under every choice of the contract."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge import Contract, evaluate
from rankgauge.measures import Definition, Measure, all_definitions, parse_measure
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

PLAIN = [d for d in all_definitions() if "subtopics" not in d.needs]
DIVERSE = [d for d in all_definitions() if "subtopics" in d.needs]
FAMILIES = sorted({d.family for d in PLAIN})
CLOSE = {"rel": 1e-9, "abs": 1e-12}

Lists = Mapping[str, Mapping[str, float]]


def of_family(family: str) -> list[Definition]:
    return [d for d in PLAIN if d.family == family]


def oracle(measure: Measure, ranking: Sequence[str], grades: Mapping[str, float], subtopics: Any = None) -> float:
    parameters = {p.name: measure.get(p.name) for p in measure.definition.parameters}
    return naive.oracle(measure.name, measure.at, parameters, ranking, grades, subtopics)


def expect(result: Any, wanted: Mapping[str, Mapping[str, float]]) -> None:
    """Per-query values, and that no query and no measure is missing."""
    rows = {row["query"]: row for row in result.per_query.iter_rows(named=True)}
    assert list(rows) == list(wanted)
    for query, values in wanted.items():
        assert {name: value for name, value in rows[query].items() if name != "query"} == pytest.approx(values, **CLOSE)


def wanted_values(
    chosen: Sequence[Measure], qrels: Lists, run: Lists, order: Callable[[Mapping[str, float]], list[str]]
) -> dict[str, dict[str, float]]:
    return {
        query: {str(m): oracle(m, order(run.get(query, {})), grades) for m in chosen} for query, grades in qrels.items()
    }


def both_kinds(qrels: Lists, run: Lists, chosen: Sequence[Measure], **choices: Any) -> Any:
    """The result from dictionaries, after checking that frames give the very same numbers."""
    result = evaluate(qrels, run, chosen, **choices)
    from_frames = evaluate(qrels_frame(qrels), run_frame(run), chosen, **choices)
    assert result.table.values.tolist() == from_frames.table.values.tolist()
    assert dict(result.mean) == dict(from_frames.mean)
    return result


def test_every_measure_has_an_oracle() -> None:
    assert sorted([*naive.ORACLES, *naive.DIVERSITY]) == sorted(d.name for d in all_definitions())
    assert sorted(naive.DIVERSITY) == sorted(d.name for d in DIVERSE)


@pytest.mark.parametrize("family", FAMILIES)
@fast(50)
@given(data=st.data())
def test_measures(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    chosen = list(dict.fromkeys(data.draw(measures(d)) for d in of_family(family)))
    result = both_kinds(qrels, run, chosen)
    expect(result, wanted_values(chosen, qrels, run, naive.ranking_of))


@fast(60)
@given(data=st.data())
def test_diversity(data: st.DataObject) -> None:
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


@fast(40)
@given(data=st.data())
def test_subtopics_leave_other_measures_alone(data: st.DataObject) -> None:
    """Judgments by subtopic count with a document's best grade."""
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics)))
    chosen = [data.draw(measures(d)) for d in data.draw(st.lists(st.sampled_from(PLAIN), min_size=3, max_size=6))]
    chosen = list(dict.fromkeys(chosen))
    merged = {query: best_grades(subtopics) for query, subtopics in topics.items()}
    result = evaluate(subtopic_frame(topics), run_frame(run), chosen)
    assert result.table.values.tolist() == evaluate(merged, run, chosen).table.values.tolist()


SOME = [
    parse_measure(text)
    for text in (
        "P@3", "R(capped=True)@2", "F(beta=2)@4", "Judged@3", "Unjudged@3", "Rprec", "SetP", "NumRet", "NumRelRet",
        "Accuracy@5", "AP", "AP(norm='min')@3", "RR@2", "Bpref", "infAP", "IPrec@0.5", "nDCG@3", "nDCG",
        "nDCG(gain='exp', ideal='retrieved')@2", "nDCG(ideal='returned')", "ERR@3", "nERR@2", "RBP(p=0.5)", "RBPResidual",
        "G", "RnDCG", "nDCGRel", "BPM(max_rel=4)@4", "INST(max_rel=4)", "Compat", "P(judged_only=True)@2",
        "nDCG(judged_only=True)@3",
    )
]


@fast(40)
@given(data=st.data())
def test_order_given(data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    result = both_kinds(qrels, run, SOME, ties="given")
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores, "given")))


@fast(30)
@given(data=st.data())
def test_plain_lists_of_ids(data: st.DataObject) -> None:
    """A list without scores is in order already, whatever the tie rule."""
    qrels = data.draw(judgments())
    lists = {q: data.draw(st.permutations(DOCS))[: data.draw(st.integers(1, len(DOCS)))] for q in qrels}
    wanted = {q: {str(m): oracle(m, lists[q], grades) for m in SOME} for q, grades in qrels.items()}
    for ties in ("trec", "given", "expected"):
        expect(evaluate(qrels, lists, SOME, ties=ties), wanted)


@fast(40)
@given(data=st.data(), depth=st.integers(1, 9))
def test_depth(data: st.DataObject, depth: int) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    result = both_kinds(qrels, run, SOME, depth=depth)
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores)[:depth]))


@fast(40)
@given(data=st.data())
def test_float32_scores(data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), scores=NEAR_SCORES))
    result = both_kinds(qrels, run, SOME, contract=Contract(scores="float32"))
    expect(result, wanted_values(SOME, qrels, run, lambda scores: naive.ranking_of(scores, float32=True)))
    expect(both_kinds(qrels, run, SOME), wanted_values(SOME, qrels, run, naive.ranking_of))


@fast(40)
@given(data=st.data())
def test_drop_self(data: st.DataObject) -> None:
    """The document that is the query leaves the list; it stays among the judgments."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    run["q1"] = {**run["q1"], "q1": data.draw(st.sampled_from((0.5, 1.25, 9.0)))}
    kept = {query: {doc: score for doc, score in docs.items() if doc != query} for query, docs in run.items()}
    result = both_kinds(qrels, run, SOME, contract=Contract(drop_self=True))
    expect(result, wanted_values(SOME, qrels, kept, naive.ranking_of))


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
@fast(40)
@given(data=st.data())
def test_aggregates(missing: str, no_relevant: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)).map(lambda lists: {q: docs for q, docs in lists.items() if docs}))
    run["not judged"] = {"d1": 1.0}
    result = both_kinds(qrels, run, POLICIES, missing=missing, no_relevant=no_relevant)
    per_query = wanted_values(POLICIES, qrels, run, naive.ranking_of)
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


@fast(60)
@given(data=st.data(), rel=st.sampled_from((1, 2)), budget=st.integers(1, 30), ties=st.sampled_from(("trec", "given")))
def test_context_budget(data: st.DataObject, rel: int, budget: int, ties: str) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    length = {doc: data.draw(st.integers(0, 9)) for doc in DOCS}
    corpus = {doc: "x" * n for doc, n in length.items()}
    measure = parse_measure(f"R(rel={rel}, budget={budget})")
    wanted = {
        query: {str(measure): naive.recall_in_budget(naive.ranking_of(run[query], ties), grades, rel, budget, length)}
        for query, grades in qrels.items()
    }
    for judged, listed in ((qrels, run), (qrels_frame(qrels), run_frame(run))):
        expect(evaluate(judged, listed, [measure], corpus=corpus, ties=ties), wanted)
    half = evaluate(qrels, run, [measure], corpus=corpus, ties=ties, tokenizer=lambda text: len(text) * budget + 1)
    assert half.mean[str(measure)] == pytest.approx(
        naive.aggregate("mean", [
            naive.recall_in_budget(
                naive.ranking_of(run[query], ties), grades, rel, budget, {doc: n * budget + 1 for doc, n in length.items()}
            )
            for query, grades in qrels.items()
        ]), **CLOSE,
    )


# --- expected values over tied orders ---------------------------------------------------------------------------------

SHORT = 5  # documents in a list; all orders of five tied ones are 120


def all_values(
    measure: Measure, scores: Mapping[str, float], grades: Mapping[str, float], subtopics: Any = None, depth: int | None = None
) -> list[float]:
    return [oracle(measure, order[:depth], grades, subtopics) for order in naive.tied_orders(scores)]


def has_open_ties(run: Lists, qrels: Lists) -> bool:
    """Whether a judged document shares its score with another one."""
    return any(
        doc in grades and sum(other == score for other in run[query].values()) > 1
        for query, grades in qrels.items() for doc, score in run[query].items()
    )


def exact(definition: Definition) -> bool:
    return definition.ties == "exact"


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if exact(d)}))
@fast(40)
@given(data=st.data())
def test_expected_values_are_exact(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = [data.draw(measures(d)) for d in of_family(family) if exact(d)]
    chosen = list(dict.fromkeys(m.with_values(judged_only=False) if m.get("judged_only") else m for m in chosen))
    result = both_kinds(qrels, run, chosen, ties="expected")
    wanted = {}
    for query, grades in qrels.items():
        wanted[query] = {str(m): naive.aggregate("mean", all_values(m, run[query], grades)) for m in chosen}
    expect(result, wanted)
    assert not result.table.sampled


@fast(30)
@given(data=st.data())
def test_expected_values_of_judged_documents_only(data: st.DataObject) -> None:
    """Dropping the unjudged documents of a tied group leaves its judged ones tied."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = [parse_measure(text) for text in ("P(judged_only=True)@1", "AP(judged_only=True)", "nDCG(judged_only=True)@2")]
    result = both_kinds(qrels, run, chosen, ties="expected")
    wanted = {
        query: {str(m): naive.aggregate("mean", all_values(m, run[query], grades)) for m in chosen}
        for query, grades in qrels.items()
    }
    expect(result, wanted)


@fast(30)
@given(data=st.data(), depth=st.integers(1, 4))
def test_expected_values_with_a_depth(data: st.DataObject, depth: int) -> None:
    """A cut through a tied group keeps each of its documents with equal chance."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = [parse_measure(text) for text in ("P@3", "R@5", "AP", "RR", "nDCG", "SetP", "NumRelRet", "Success@3")]
    result = both_kinds(qrels, run, chosen, ties="expected", depth=depth)
    wanted = {
        query: {str(m): naive.aggregate("mean", all_values(m, run[query], grades, depth=depth)) for m in chosen}
        for query, grades in qrels.items()
    }
    expect(result, wanted)


def test_expected_value_with_a_context_budget() -> None:
    """Of two tied documents the relevant one fits only if it comes first: the other is too long for the budget."""
    qrels, run, length = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, {"a": 1, "b": 5}
    result = evaluate(qrels, run, ["R(budget=3)"], ties="expected", corpus={doc: "x" * n for doc, n in length.items()})
    orders = naive.tied_orders(run["q"])
    wanted = naive.aggregate("mean", [naive.recall_in_budget(order, qrels["q"], 1, 3, length) for order in orders])
    assert result.mean["R(budget=3)"] == pytest.approx(wanted)


def near(value: float, orders: Sequence[float]) -> bool:
    """256 draws: five standard errors of the most spread-out case are a sixth of the range."""
    return abs(value - sum(orders) / len(orders)) <= (max(orders) - min(orders)) / 5 + 1e-9


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if not exact(d)}))
@fast(4)
@given(data=st.data())
def test_expected_values_are_sampled_well(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    assume(has_open_ties(run, qrels))
    chosen = list(dict.fromkeys(data.draw(measures(d)) for d in of_family(family) if not exact(d)))
    result = evaluate(qrels, run, chosen, ties="expected")
    assert list(result.table.sampled) == [str(m) for m in chosen]
    for i, (query, grades) in enumerate(qrels.items()):
        for j, measure in enumerate(chosen):
            orders = all_values(measure, run[query], grades)
            assert near(float(result.table.values[i, j]), orders), (query, str(measure))


@fast(4)
@given(data=st.data())
def test_expected_values_of_diversity(data: st.DataObject) -> None:
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics), most=SHORT))
    assume(has_open_ties(run, {query: best_grades(subtopics) for query, subtopics in topics.items()}))
    chosen = [data.draw(measures(d)) for d in DIVERSE]
    result = evaluate(subtopic_frame(topics), run_frame(run), chosen, ties="expected")
    for i, (query, subtopics) in enumerate(topics.items()):
        for j, measure in enumerate(chosen):
            orders = all_values(measure, run[query], best_grades(subtopics), subtopics)
            assert near(float(result.table.values[i, j]), orders), (query, str(measure))


def test_sampling_is_seeded() -> None:
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": dict.fromkeys("abcdef", 1.0)}
    first, second = (evaluate(qrels, run, ["ERR", "Bpref", "nDCG"], ties="expected") for _ in range(2))
    assert dict(first.mean) == dict(second.mean)
    assert list(first.table.sampled) == ["ERR", "Bpref"]


# --- parameters that only a definition can settle ---------------------------------------------------------------------


def test_a_gain_equal_to_its_grade_still_overrides_the_exponential_one() -> None:
    measure = parse_measure("DCG(gain='exp', gains={2: 2})")
    result = evaluate({"q": {"a": 2}}, {"q": ["a"]}, [measure])
    assert list(result.mean.values()) == [2.0]


@fast(60)
@given(data=st.data())
def test_rows_of_a_frame_need_no_order(data: st.DataObject) -> None:
    """Lists may lie interleaved in a frame."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    frame = run_frame(run)
    mixed = frame[data.draw(st.permutations(range(len(frame))))]
    assert isinstance(mixed, pl.DataFrame)
    result = evaluate(qrels, mixed, SOME)
    assert result.table.values.tolist() == evaluate(qrels, run, SOME).table.values.tolist()
