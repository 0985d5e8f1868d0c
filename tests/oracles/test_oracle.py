"""Every measure against its naive definition, for dictionaries and for frames."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import RankgaugeError, evaluate
from rankgauge.measures import all_definitions, parse_measure
from tests.oracles import naive
from tests.oracles.cases import (
    DOCS,
    best_grades,
    by_subtopic,
    draw_measures,
    fast,
    judgments,
    qrels_frame,
    run_frame,
    runs,
    subtopic_frame,
)
from tests.oracles.check import CHARACTERS, DIVERSE, PLAIN, both_kinds, expect, of_family, oracle, wanted_values


def test_every_measure_has_an_oracle() -> None:
    known = [*naive.ORACLES, *naive.DIVERSITY, *naive.CHARACTERS]
    assert sorted(known) == sorted(d.name for d in all_definitions())
    assert sorted(naive.DIVERSITY) == sorted(d.name for d in DIVERSE)
    assert sorted(naive.CHARACTERS) == sorted(d.name for d in CHARACTERS)


@pytest.mark.parametrize("family", sorted({d.family for d in PLAIN}))
@fast(40)
@given(data=st.data())
def test_measures(family: str, data: st.DataObject) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    chosen = draw_measures(data, of_family(family))
    expect(both_kinds(qrels, run, chosen), wanted_values(chosen, qrels, run))


@fast(40)
@given(data=st.data())
def test_diversity(data: st.DataObject) -> None:
    """Only frames hold judgments by subtopic; the run may be a dictionary all the same."""
    topics = data.draw(by_subtopic())
    run = data.draw(runs(list(topics)))
    chosen = draw_measures(data, DIVERSE)
    result = evaluate(subtopic_frame(topics), run_frame(run), chosen)
    wanted = {}
    for query, subtopics in topics.items():
        grades, ranking = best_grades(subtopics), naive.ranking_of(run[query])
        wanted[query] = {str(m): oracle(m, ranking, grades, subtopics) for m in chosen}
    expect(result, wanted)
    assert evaluate(subtopic_frame(topics), run, chosen).per_query.equals(result.per_query)


@pytest.mark.parametrize("docs", list(permutations("abc")))
def test_ties_in_the_ideal_list(docs: tuple[str, str, str]) -> None:
    """Three documents of equal novelty, one of which spoils the rest: the greatest id goes first, as in ndeval."""
    one, two, crossing = docs
    subtopics = {"1": {one: 1, crossing: 1}, "2": {one: 1}, "3": {two: 1, crossing: 1}, "4": {two: 1}}
    measure = parse_measure("alpha_nDCG@2")
    value = evaluate(subtopic_frame({"q": subtopics}), {"q": ["a", "b"]}, [measure]).mean[str(measure)]
    assert value == pytest.approx(oracle(measure, ["a", "b"], {}, subtopics), rel=1e-12)


@fast(40)
@given(
    data=st.data(),
    rel=st.sampled_from((1, 2)),
    budget=st.integers(1, 30),
    ties=st.sampled_from(("trec", "stable", "given")),
)
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


def test_context_budget_of_judged_documents_only() -> None:
    """A prompt is filled with what was retrieved, judged or not."""
    with pytest.raises(RankgaugeError, match="judged_only"):
        parse_measure("R(judged_only=True, budget=10)")


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


@pytest.mark.parametrize("name", ["P(rel={rel})@2", "AP(rel={rel})", "infAP(rel={rel})", "Bpref(rel={rel})"])
def test_a_negative_threshold_is_refused_or_counts_no_negative_grade(name: str) -> None:
    """A negative grade is judged and not relevant, whatever the threshold."""
    qrels, run = {"q": {"a": 0, "b": -1}}, {"q": ["x", "b", "a"]}
    wanted = list(evaluate(qrels, run, [name.format(rel=0)]).mean.values())
    try:
        found = list(evaluate(qrels, run, [name.format(rel=-1)]).mean.values())
    except RankgaugeError:
        return
    assert found == wanted
