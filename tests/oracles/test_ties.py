"""Expected values over tied orders, against the mean over every order that the scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankgauge import RankgaugeError, evaluate
from rankgauge.measures import Definition, Measure
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
from tests.oracles.check import CLOSE, DIVERSE, PLAIN, Lists, Values, both_kinds, expect, of_family, oracle

SHORT = 5  # documents in a list; all orders of five tied ones are 120


def exact(definition: Definition) -> bool:
    return definition.ties == "exact"


def all_values(
    measure: Measure,
    scores: Mapping[str, float],
    grades: Mapping[str, float],
    subtopics: Any = None,
    depth: int | None = None,
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
        for query, grades in qrels.items()
        for doc, score in run[query].items()
    )


def near(value: float, orders: Sequence[float]) -> bool:
    """256 draws: five standard errors of the most spread-out case are a sixth of the range."""
    return abs(value - sum(orders) / len(orders)) <= (max(orders) - min(orders)) / 5 + 1e-9


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if exact(d)}))
@fast(25)
@given(data=st.data())
def test_exact(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = draw_measures(data, filter(exact, of_family(family)))
    result = both_kinds(qrels, run, chosen, ties="expected")
    expect(result, mean_values(chosen, qrels, run))
    assert not result.table.sampled


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN if exact(d)}))
@fast(10)
@given(data=st.data(), depth=st.integers(1, 4))
def test_lists_cut_within_a_tie(family: str, data: st.DataObject, depth: int) -> None:
    """Each document of the tied group is inside with equal chance; what is no sum over them has to be sampled."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = draw_measures(data, filter(exact, of_family(family)))
    result = both_kinds(qrels, run, chosen, ties="expected", depth=depth)
    wanted = mean_values(chosen, qrels, run, depth)
    for i, (query, grades) in enumerate(qrels.items()):
        for j, measure in enumerate(chosen):
            value = float(result.table.values[i, j])
            if str(measure) in result.table.sampled:
                assert measure.get("judged_only") or measure.name == "SetAP" or measure.get("ideal") == "retrieved"
                assert near(value, all_values(measure, run[query], grades, depth=depth)), (query, str(measure))
            else:
                assert value == pytest.approx(wanted[query][str(measure)], **CLOSE), (query, str(measure))


def test_context_budget() -> None:
    """Which documents fit depends on their order, so there must be one."""
    corpus = {"a": "some", "b": "text"}
    with pytest.raises(RankgaugeError, match="order"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["R(budget=3)"], ties="expected", corpus=corpus)


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
