"""Every law that a measure declares, over the whole registry; and the laws that hold for all measures."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.errors import MeasureError
from rankgauge.measures import Law, Measure, all_definitions, parse_measure, parse_measures
from tests.laws.checks import CHECKS, SLACK, Listed, scale, scores
from tests.laws.settings import SETTINGS
from tests.oracles.cases import (
    GRADES,
    REAL_GRADES,
    by_subtopic,
    draw_measures,
    fast,
    judgments,
    qrels_frame,
    run_frame,
    runs,
    subtopic_frame,
)

BINARY = (-1, 0, 1)
MEASURES = [parse_measure(text) for texts in SETTINGS.values() for text in texts]
PLAIN = [m for m in MEASURES if not m.definition.needs & {"subtopics", "characters"}]
CHARACTERS = [m for m in MEASURES if "characters" in m.definition.needs]
DIVERSE = [m for m in MEASURES if "subtopics" in m.definition.needs]

JUDGED_ONLY = [m for m in PLAIN if m.get("judged_only")]
DEEP, ZERO, NONE = {"a": 0, "b": 0, "c": 0, "d": 1}, {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}, {"a": 1, "b": 1}

TOPICS = {"1": DEEP, "2": DEEP}
CROSSED = {"1": {"a": 2, "c": 2}, "2": {"a": 2}, "3": {"b": 2, "c": 2}, "4": {"b": 2}}

# Parameters under which a law that the definition declares cannot hold, with lists that show it.
BREAKS: dict[str, dict[str, tuple[Listed, ...]]] = {
    # The ideal list is built greedily, as ndeval does it; here c comes first, and a, b, c is better. Without a penalty
    # for what was seen before (alpha=0) the greedy list is the best one.
    Law.BOUNDED: {
        str(m): (Listed("abc", dict.fromkeys("abc", 2), CROSSED),)
        for m in DIVERSE
        if m.name in ("alpha_nDCG", "nERR_IA", "nNRBP") and m.get("alpha") != 0
    },
    Law.PERFECT: {
        # More relevant documents than the depth: the divisor stays R.
        "AP@3": (Listed("abcd", dict.fromkeys("abcd", 1)),),
        # More of them than the depth holds.
        **{
            str(m): (Listed("abcdefg", dict.fromkeys("abcdefg", 4)),)
            for m in MEASURES
            if m.name == "AllRel" and m.at is not None
        },
        # Grades below the top weigh less than 1, however well they are placed.
        "AP(grades='linear', max_grade=4)": (Listed("a", {"a": 1}),),
        # The cut lies beyond the last relevant document.
        "Rprec(mult=2)": (Listed("ab", {"a": 1}),),
        # Beyond the ideal list's end there is nothing left to overlap with.
        "Compat(normalize=False)": (Listed("ab", {"a": 1}),),
        # A document costs at least 1, also where it gains less.
        "G": (Listed("a", {"a": 0.5}),),
        "G(gain='exp')": (Listed("a", {"a": 0.5}),),
        "G(gains={3: 20, 4: 27})": (Listed("a", {"a": 0.5}),),
    },
    Law.GAIN: {
        # The ideal list is not fixed: it rises with what was retrieved.
        "nDCG(ideal='retrieved')@3": (Listed("ab", {"a": 1, "b": 0, "c": 2}), Listed("ab", {"a": 1, "b": 2, "c": 0})),
        # A grade below 0 lets a document be dropped; raised to 0 it takes a rank.
        "nDCG(judged_only=True)@2": (Listed("ab", {"a": -1, "b": 1, "c": 0}), Listed("ab", {"a": 0, "b": 1, "c": -1})),
        "DCG(judged_only=True)@2": (Listed("ab", {"a": -1, "b": 1, "c": 0}), Listed("ab", {"a": 0, "b": 1, "c": -1})),
    },
    # Documents below the depth move up when unjudged ones are dropped. Without a depth there is nothing below.
    Law.BLIND: {
        str(m): (Listed("xyzabcd", DEEP, TOPICS), Listed("xyzdabc", DEEP, TOPICS))
        for m in MEASURES
        if m.get("judged_only") and (m.at is not None or m.name == "Rprec")
    },
    # Telling judged from unjudged documents is what judged_only is for; recall without a depth is blind to it.
    Law.UNJUDGED: {
        str(m): (Listed(docs, ZERO), Listed(docs, NONE))
        for m in JUDGED_ONLY
        if m.name != "SetR"
        for docs in ["cdeab" if m.name in ("AllRel", "SetEM") else "cdea"]
    },
}


def declared(law: str, *, diverse: bool) -> list[Measure]:
    """Measures that declare a law, except under the parameters that break it."""
    chosen = DIVERSE if diverse else PLAIN
    return [m for m in chosen if law in m.definition.laws and str(m) not in BREAKS.get(law, {})]


def test_the_settings_cover_the_registry() -> None:
    assert sorted(SETTINGS) == sorted(d.name for d in all_definitions())
    for name, texts in SETTINGS.items():
        assert {parse_measure(text).name for text in texts} == {name}


def test_every_declared_law_is_checked() -> None:
    assert {law for d in all_definitions() for law in d.laws} <= set(CHECKS)


@pytest.mark.parametrize(
    ("law", "diverse"), [(law, kind) for kind in (False, True) for law in CHECKS if declared(law, diverse=kind)]
)
@fast(100)
@given(data=st.data(), grades=st.sampled_from((GRADES, REAL_GRADES, BINARY)))
def test_declared(law: str, diverse: bool, data: st.DataObject, grades: Sequence[float]) -> None:
    fitting = [m for m in declared(law, diverse=diverse) if scale(m) >= max(grades)]
    broken = CHECKS[law](data, fitting, grades, diverse)
    assert not broken, {str(m): why for m, why in broken.items()}


@pytest.mark.parametrize("law", [law for law in CHECKS if any(law in m.definition.laws for m in CHARACTERS)])
@fast(100)
@given(data=st.data())
def test_declared_of_characters(law: str, data: st.DataObject) -> None:
    """The same laws where documents are chunks that overlap, and relevant ones hold a gold passage."""
    broken = CHECKS[law](data, [m for m in CHARACTERS if law in m.definition.laws], BINARY, False)
    assert not broken, {str(m): why for m, why in broken.items()}


@pytest.mark.parametrize(("law", "text"), [(law, text) for law, texts in BREAKS.items() for text in texts])
def test_parameters_that_break_a_law(law: str, text: str) -> None:
    """The exceptions above are real ones: each has lists that break the law."""
    measure = parse_measure(text)
    values = scores([measure], BREAKS[law][text])[measure]
    if law == Law.BOUNDED:
        assert values[0] > 1 + SLACK
    elif law == Law.PERFECT:
        assert values[0] < 1 - SLACK
    elif law == Law.GAIN:
        assert values[1] < values[0] - SLACK
    else:
        assert abs(values[1] - values[0]) > SLACK


# --- laws of all measures ---------------------------------------------------------------------------------------------


def fitting_four(chosen: Sequence[Measure]) -> list[Measure]:
    return [m for m in chosen if scale(m) >= 4]


@fast(30)
@given(data=st.data())
def test_order_of_input_does_not_matter(data: st.DataObject) -> None:
    """Neither the order of dictionaries nor of rows: the score and the id alone decide the rank."""
    chosen = fitting_four(PLAIN)
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    values = evaluate(qrels, run, chosen).table.values.tolist()
    turned_qrels = {query: dict(reversed(docs.items())) for query, docs in qrels.items()}
    turned_run = {
        query: {doc: run[query][doc] for doc in data.draw(st.permutations(list(run[query])))}
        for query in data.draw(st.permutations(list(run)))
    }
    assert evaluate(turned_qrels, turned_run, chosen).table.values.tolist() == values
    rows = run_frame(run)
    mixed = rows[data.draw(st.permutations(range(len(rows))))]
    assert evaluate(qrels_frame(turned_qrels), mixed, chosen).table.values.tolist() == values


@fast(30)
@given(data=st.data())
def test_order_of_subtopics_does_not_matter(data: st.DataObject) -> None:
    topics = data.draw(by_subtopic())
    run = run_frame(data.draw(runs(list(topics))))
    rows = subtopic_frame(topics)
    result = evaluate(rows, run, DIVERSE).per_query.sort("query")
    mixed = rows[data.draw(st.permutations(range(len(rows))))]
    other = evaluate(mixed, run, DIVERSE).per_query.sort("query")
    assert other["query"].to_list() == result["query"].to_list()
    for name in result.columns[1:]:
        assert other[name].to_list() == pytest.approx(result[name].to_list(), abs=SLACK)


@fast(30)
@given(data=st.data())
def test_names_of_queries_do_not_matter(data: st.DataObject) -> None:
    """But for the last bit: scores are added in the order of the names."""
    chosen = fitting_four(PLAIN)
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    names = dict(zip(qrels, data.draw(st.permutations(("z", "a", "10"))), strict=False))
    renamed_qrels = {names[query]: docs for query, docs in qrels.items()}
    renamed_run = {names[query]: docs for query, docs in run.items()}
    means = pytest.approx(dict(evaluate(qrels, run, chosen).mean), rel=1e-12)
    assert dict(evaluate(renamed_qrels, renamed_run, chosen).mean) == means
    assert dict(evaluate(qrels_frame(renamed_qrels), run_frame(renamed_run), chosen).mean) == means


@fast(30)
@given(data=st.data())
def test_a_query_without_judgments_changes_nothing(data: st.DataObject) -> None:
    chosen = fitting_four(PLAIN)
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    more = {"nobody judged": {"d1": 1.0, "é": 1.0}, **run}
    for judged, listed, longer in (
        (qrels, run, more),
        (qrels_frame(qrels), run_frame(run), run_frame(more)),
    ):
        before, after = evaluate(judged, listed, chosen), evaluate(judged, longer, chosen)
        assert dict(after.mean) == dict(before.mean)
        assert after.per_query.equals(before.per_query)
        assert after.coverage.not_judged == 1
        assert before.coverage.not_judged == 0


@fast(100)
@given(data=st.data())
def test_names_parse_back(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([d.name for d in all_definitions()]))
    (measure,) = draw_measures(data, (d for d in all_definitions() if d.name == name))
    again = parse_measure(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)
    assert parse_measures([str(measure), measure]) == [measure]


@pytest.mark.parametrize("text", [text for texts in SETTINGS.values() for text in texts])
def test_settings_are_canonical(text: str) -> None:
    assert str(parse_measure(text)) == text


@fast(100)
@given(
    level=st.floats(0, 1),
    rel=st.floats(0, allow_infinity=False),
    gain=st.floats(-100, 100),
    grade=st.sampled_from((1, 2.5, 3)),
)
def test_names_keep_every_digit(level: float, rel: float, gain: float, grade: float) -> None:
    """Two measures that differ in the last digit are two measures, and their names tell them apart."""
    definitions = {d.name: d for d in all_definitions()}
    for measure in (
        definitions["IPrec"](level),
        definitions["P"](3, rel=rel),
        definitions["DCG"](None, gains={grade: gain}),
    ):
        assert parse_measure(str(measure)) == measure


def test_a_threshold_without_end_has_no_name() -> None:
    """1e999 is infinity, which cannot be written back: it is refused, or its name parses."""
    try:
        measure = parse_measure("P(rel=1e999)@3")
    except MeasureError:
        return
    assert parse_measure(str(measure)) == measure


def test_frames_of_any_kind_give_the_same_values() -> None:
    qrels, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"c": 3.0, "a": 2.0, "x": 2.0, "b": 1.0}}
    wanted = evaluate(qrels, run, ["nDCG", "AP"]).per_query
    judged, listed = qrels_frame(qrels), run_frame(run)
    for convert in (pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy):
        assert evaluate(convert(judged), convert(listed), ["nDCG", "AP"]).per_query.equals(wanted)
