"""Expected values over tied orders, against the mean over every order that the scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Contract, Qrels, RankgaugeError, Run, evaluate
from rankgauge.engine.matching import match
from rankgauge.engine.orders import DRAWS, MOST_ORDERS, SEED, drawn_orders
from rankgauge.engine.virtual import blind_to_zero
from rankgauge.evaluation.notes import notes_of
from rankgauge.measures import Definition, Measure, parse_measure
from rankgauge.words import tell
from tests.laws.checks import scale
from tests.laws.settings import SETTINGS
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
FAMILIES = sorted({d.family for d in PLAIN})


def closed(definition: Definition) -> bool:
    """Whether the kernel knows a closed form; the others go through all orders."""
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


@pytest.mark.parametrize("family", FAMILIES)
@fast(20)
@given(data=st.data(), depth=st.sampled_from((None, None, 1, 2, 3, 4)))
def test_every_measure_is_exact(family: str, data: st.DataObject, depth: int | None) -> None:
    """Also where the list is cut within a tie."""
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), most=SHORT))
    chosen = draw_measures(data, of_family(family))
    result = both_kinds(qrels, run, chosen, ties="expected", depth=depth)
    expect(result, mean_values(chosen, qrels, run, depth))
    assert not result.table.sampled


@pytest.mark.parametrize("depth", [None, 3])
@fast(15)
@given(data=st.data())
def test_every_diversity_measure_is_exact(depth: int | None, data: st.DataObject) -> None:
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics), most=SHORT))
    chosen = draw_measures(data, DIVERSE)
    result = evaluate(subtopic_frame(topics), run_frame(run), chosen, ties="expected", depth=depth)
    assert not result.table.sampled
    for i, (query, subtopics) in enumerate(topics.items()):
        for j, measure in enumerate(chosen):
            orders = all_values(measure, run[query], best_grades(subtopics), subtopics, depth)
            wanted = pytest.approx(naive.aggregate("mean", orders), **CLOSE)
            assert float(result.table.values[i, j]) == wanted, (query, str(measure))


def test_few_relevant_documents_in_a_large_tie() -> None:
    """A constant score for 200 documents: at depth 3 only what stands within it matters."""
    docs = [f"d{i}" for i in range(200)]
    qrels, run = {"q": {"d3": 2, "d70": 2, "d9": 0}}, {"q": dict.fromkeys(docs, 1.0)}
    result = evaluate(qrels, run, ["ERR(max_grade=2)@3", "BPM(max_rel=2)@3", "Bpref"], ties="expected")
    assert list(result.table.sampled) == ["Bpref"]  # 200 * 199 * 198 / 2 orders
    stop, wanted, total = 0.75, 0.0, 0
    for one, two in combinations(range(1, 201), 2):
        inside = [rank for rank in (one, two) if rank <= 3]
        wanted += sum(stop * (1 - stop) ** i / rank for i, rank in enumerate(inside))
        total += 1
    assert result.mean["ERR(max_grade=2)@3"] == pytest.approx(wanted / total, **CLOSE)


def test_three_tied_documents() -> None:
    """The one that is not relevant stands before both others, between them or behind."""
    result = evaluate({"q": {"a": 1, "b": 0, "c": 1}}, {"q": dict.fromkeys("abc", 1.0)}, "Bpref", ties="expected")
    assert result.mean["Bpref"] == pytest.approx(0.5, abs=1e-15)


def test_context_budget() -> None:
    """Which documents fit depends on their order, so there must be one."""
    corpus = {"a": "some", "b": "text"}
    with pytest.raises(RankgaugeError, match="order"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["R(budget=3)"], ties="expected", corpus=corpus)


MANY = {"many": dict.fromkeys("abcdefghij", 1.0), "few": dict.fromkeys("abc", 1.0)}
GRADED = {"many": {"a": 3, "b": 2, "c": 1, "d": 0, "e": 4}, "few": {"a": 1, "b": 2}}


def test_orders_are_drawn_where_there_are_too_many() -> None:
    """10!/5! orders of five different grades among ten documents; the other query stays exact."""
    chosen = [m for m in draw_all() if m.at is None]
    result = evaluate(GRADED, MANY, chosen, ties="expected")
    # Judged documents alone are five, with 120 orders; to others the document of grade 0 is as good as unjudged.
    drawn = {str(m): 1 for m in chosen if not closed(m.definition) and not m.get("judged_only")}
    for text in [text for text in drawn if blind_to_zero(parse_measure(text))]:
        del drawn[text]  # 10!/6! is 5,040
    assert dict(result.table.sampled) == drawn
    assert drawn
    for j, measure in enumerate(chosen):
        values = all_values(measure, MANY["few"], GRADED["few"])
        assert float(result.table.values[1, j]) == pytest.approx(naive.aggregate("mean", values), **CLOSE), str(measure)


def draw_all() -> list[Measure]:
    return [
        measure
        for texts in SETTINGS.values()
        for measure in map(parse_measure, texts)
        if not measure.definition.needs & {"subtopics", "characters"} and scale(measure) >= 4
        if not measure.get("budget") and measure.get("threshold") is None  # the oracle sees no scores
    ]


def test_drawing_is_seeded_and_told() -> None:
    first, second = (evaluate(GRADED, MANY, ["Bpref", "nDCG"], ties="expected") for _ in range(2))
    assert dict(first.mean) == dict(second.mean)
    assert dict(first.table.sampled) == {"Bpref": 1}
    (note,) = [note for note in notes_of(first) if note.key == "evaluation.sampled"]
    said = tell(note, "en")
    assert all(part in said for part in ("Bpref (in 1 of 2", str(MOST_ORDERS), str(DRAWS), f"seed {SEED}"))


def test_as_many_orders_as_are_gone_through() -> None:
    """All orders of seven documents of different grades: 5,040, the last number of them that is exact."""
    grades, scores = {doc: i for i, doc in enumerate("abcdefg")}, dict.fromkeys("abcdefg", 1.0)
    result = evaluate({"q": grades}, {"q": scores}, ["infAP", "G"], ties="expected")
    assert not result.table.sampled
    for j, measure in enumerate(result.measures):
        orders = all_values(measure, scores, grades)
        assert len(orders) == MOST_ORDERS
        assert float(result.table.values[0, j]) == pytest.approx(sum(orders) / len(orders), **CLOSE)


def test_drawn_values_are_near() -> None:
    """Against the closed form: five standard errors of 256 draws."""
    ranked = match(Qrels(GRADED), Run(MANY), Contract(ties="expected")).ranked
    measure = parse_measure("DCG")
    drawn = np.array([measure.score(order)[0] for order in drawn_orders(ranked)])
    error = drawn.std() / len(drawn) ** 0.5
    assert len(drawn) == DRAWS
    assert abs(drawn.mean() - measure.score(ranked)[0]) < 5 * error
    assert error > 0
