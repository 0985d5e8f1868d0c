"""Expected values over tied orders, against the mean over every order that the scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge import RankgaugeError, evaluate
from rankgauge.measures import Definition, Measure, parse_measure
from tests.oracles import naive
from tests.oracles.cases import (
    best_grades,
    by_subtopic,
    draw_measures,
    fast,
    judgments,
    run_frame,
    runs,
    subtopic_frame,
)
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
@fast(40)
@given(data=st.data(), depth=st.sampled_from((None, 1, 2, 3, 4)))
def test_exact(family: str, data: st.DataObject, depth: int | None) -> None:
    """Also where lists are cut through a tied group: each of its documents is inside with equal chance."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    drawn = draw_measures(data, filter(exact, of_family(family)))
    chosen = [m.with_values(judged_only=False) if m.get("judged_only") else m for m in drawn]
    chosen = [m for m in chosen if depth is None or (m.name != "SetAP" and m.get("ideal") != "retrieved")]
    assume(chosen)
    result = both_kinds(qrels, run, chosen, ties="expected", depth=depth)
    expect(result, mean_values(chosen, qrels, run, depth))
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


@pytest.mark.parametrize("text", ["SetAP", "nDCG(ideal='retrieved')"])
def test_a_cut_through_ties_where_the_score_is_no_sum(text: str) -> None:
    """A product of two chances, or a divisor that depends on what is inside, has no mean of its parts."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}
    measure = parse_measure(text)
    found = evaluate(qrels, run, [measure], ties="expected", depth=2)
    orders = all_values(measure, run["q"], qrels["q"], depth=2)
    if text in found.table.sampled:
        assert near(found.mean[text], orders)
    else:
        expect(found, mean_values([measure], qrels, run, depth=2))


def test_context_budget() -> None:
    """Which documents fit depends on their order, so there must be one."""
    corpus = {"a": "some", "b": "text"}
    with pytest.raises(RankgaugeError, match="order"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["R(budget=3)"], ties="expected", corpus=corpus)


def near(value: float, orders: Sequence[float]) -> bool:
    """256 draws: five standard errors of the most spread-out case are a sixth of the range."""
    return abs(value - sum(orders) / len(orders)) <= (max(orders) - min(orders)) / 5 + 1e-9


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if not exact(d)}))
@fast(6)
@given(data=st.data(), depth=st.sampled_from((None, 1, 2, 4)))
def test_sampled(family: str, data: st.DataObject, depth: int | None) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    assume(has_open_ties(run, qrels))
    chosen = draw_measures(data, (d for d in of_family(family) if not exact(d)))
    result = evaluate(qrels, run, chosen, ties="expected", depth=depth)
    if depth is None:  # a cut may lie above all ties
        assert list(result.table.sampled) == [str(m) for m in chosen]
    for i, (query, grades) in enumerate(qrels.items()):
        for j, measure in enumerate(chosen):
            orders = all_values(measure, run[query], grades, depth=depth)
            assert near(float(result.table.values[i, j]), orders), (query, str(measure))


@fast(5)
@given(data=st.data())
def test_sampled_diversity(data: st.DataObject) -> None:
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics), most=SHORT))
    assume(has_open_ties(run, {query: best_grades(subtopics) for query, subtopics in topics.items()}))
    chosen = draw_measures(data, DIVERSE)
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
