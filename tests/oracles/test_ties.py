"""Expected values over tied orders, against the mean over every order that the scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.measures import Definition, Measure, parse_measure
from tests.oracles import naive
from tests.oracles.cases import best_grades, by_subtopic, fast, judgments, measures, run_frame, runs, subtopic_frame
from tests.oracles.check import DIVERSE, PLAIN, Lists, Values, both_kinds, expect, of_family, oracle

SHORT = 5  # documents in a list; all orders of five tied ones are 120


def exact(definition: Definition) -> bool:
    return definition.ties == "exact"


def all_values(
    measure: Measure, scores: Mapping[str, float], grades: Mapping[str, float],
    subtopics: Any = None, depth: int | None = None,
) -> list[float]:
    return [oracle(measure, order[:depth], grades, subtopics) for order in naive.tied_orders(scores)]


def mean_values(chosen: Sequence[Measure], qrels: Lists, run: Lists, depth: int | None = None) -> Values:
    return {
        query: {str(m): naive.aggregate("mean", all_values(m, run[query], grades, depth=depth)) for m in chosen}
        for query, grades in qrels.items()
    }


def has_open_ties(run: Lists, qrels: Lists) -> bool:
    """Whether a judged document shares its score with another one."""
    return any(
        doc in grades and sum(other == score for other in run[query].values()) > 1
        for query, grades in qrels.items() for doc, score in run[query].items()
    )


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if exact(d)}))
@fast(30)
@given(data=st.data())
def test_exact(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    drawn = [data.draw(measures(d)) for d in of_family(family) if exact(d)]
    chosen = list(dict.fromkeys(m.with_values(judged_only=False) if m.get("judged_only") else m for m in drawn))
    result = both_kinds(qrels, run, chosen, ties="expected")
    expect(result, mean_values(chosen, qrels, run))
    assert not result.table.sampled


@fast(30)
@given(data=st.data())
def test_judged_documents_only(data: st.DataObject) -> None:
    """Dropping the unjudged documents of a tied group leaves its judged ones tied."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    texts = ("P(judged_only=True)@1", "AP(judged_only=True)", "nDCG(judged_only=True)@2", "RR(judged_only=True)")
    chosen = [parse_measure(text) for text in texts]
    expect(both_kinds(qrels, run, chosen, ties="expected"), mean_values(chosen, qrels, run))


@fast(30)
@given(data=st.data(), depth=st.integers(1, 4))
def test_depth(data: st.DataObject, depth: int) -> None:
    """A cut through a tied group keeps each of its documents with equal chance."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    texts = ("P@3", "R@5", "AP", "RR", "nDCG", "SetP", "NumRelRet", "Success@3", "Judged")
    chosen = [parse_measure(text) for text in texts]
    result = both_kinds(qrels, run, chosen, ties="expected", depth=depth)
    expect(result, mean_values(chosen, qrels, run, depth))


def test_context_budget() -> None:
    """Of two tied documents the relevant one fits only if it comes first: the other is too long for the budget."""
    qrels, run, length = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, {"a": 1, "b": 5}
    result = evaluate(qrels, run, ["R(budget=3)"], ties="expected", corpus={doc: "x" * n for doc, n in length.items()})
    values = [naive.recall_in_budget(order, qrels["q"], 1, 3, length) for order in naive.tied_orders(run["q"])]
    assert result.mean["R(budget=3)"] == pytest.approx(naive.aggregate("mean", values), abs=0.2)


def near(value: float, orders: Sequence[float]) -> bool:
    """256 draws: five standard errors of the most spread-out case are a sixth of the range."""
    return abs(value - sum(orders) / len(orders)) <= (max(orders) - min(orders)) / 5 + 1e-9


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if not exact(d)}))
@fast(5)
@given(data=st.data())
def test_sampled(family: str, data: st.DataObject) -> None:
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


@fast(5)
@given(data=st.data())
def test_sampled_diversity(data: st.DataObject) -> None:
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
