"""The laws as functions: each builds lists that a law compares, and tells which measures break it.

A list is (ranking, grades, subtopics). All lists of one example are scored in one evaluation, as queries of one run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import assume
from hypothesis import strategies as st

from rankgauge import Chunk, Chunks, Query, Span, TestSet, evaluate
from rankgauge.measures import Law, Measure
from tests.oracles.cases import DOCS, SUBTOPICS, best_grades, judged, subtopic_frame

SLACK = 1e-9


@dataclass(frozen=True)
class Listed:
    """One ranked list with its judgments."""

    ranking: Sequence[str]
    grades: Mapping[str, float]
    subtopics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def ranked(self, ranking: Sequence[str]) -> Listed:
        return Listed(ranking, self.grades, self.subtopics)

    def judged(self, grades: Mapping[str, float]) -> Listed:
        return Listed(self.ranking, grades)


def scores(measures: Sequence[Measure], lists: Sequence[Listed]) -> dict[Measure, list[float]]:
    """A value of each measure for each list."""
    names = [f"list {i}" for i in range(len(lists))]
    run = {
        name: {doc: float(len(one.ranking) - i) for i, doc in enumerate(one.ranking)}
        for name, one in zip(names, lists, strict=True)
    }
    judged: object = dict(zip(names, (one.grades for one in lists), strict=True))
    if any("subtopics" in measure.definition.needs for measure in measures):
        judged = subtopic_frame({name: one.subtopics for name, one in zip(names, lists, strict=True)})
    if any("characters" in measure.definition.needs for measure in measures):
        table = evaluate(_with_passages(names, lists), run, measures, chunks=CHUNKS).table
    else:
        table = evaluate(judged, run, measures).table
    rows = {query: table.values[i].tolist() for i, query in enumerate(table.queries)}
    nothing = [0.0] * len(measures)  # a frame cannot hold a list without a single judgment
    return {measure: [rows.get(name, nothing)[j] for name in names] for j, measure in enumerate(measures)}


CHUNKS = Chunks({doc: Chunk("text", 10 * i, 10 * i + 14) for i, doc in enumerate(DOCS)})


def _with_passages(names: Sequence[str], lists: Sequence[Listed]) -> TestSet:
    """A passage for each relevant document, which begins in its chunk and may end in the next one."""
    spans = {
        doc: (Span("text", 10 * i + 3, 10 * i + 12), Span("text", 10 * i + 9, 10 * i + 16))
        for i, doc in enumerate(DOCS)
    }
    return TestSet(
        Query(name, {}, name, spans=tuple(s for doc, grade in one.grades.items() if grade > 0 for s in spans[doc]))
        for name, one in zip(names, lists, strict=True)
    )


def scale(measure: Measure) -> float:
    """The greatest grade that the measure takes."""
    tops = [measure.get(name) for name in ("max_rel", "max_grade") if measure.get(name) is not None]
    return min(tops, default=math.inf)


def worth(measure: Measure, grade: float | None) -> bool:
    """Whether a document of this grade adds to the score; None is an unjudged one."""
    if grade is None:
        return False
    if measure.definition.parameter("gain"):
        return dict(measure.get("gains") or ()).get(grade, grade) > 0
    if measure.definition.relevance and measure.get("grades") != "scaled":
        return grade >= measure.get("rel")
    return grade > (measure.get("min_rel") or 0)


def relevant_anywhere(measure: Measure, one: Listed) -> bool:
    """Whether there is something to find; some measures of gains ask for a relevant document besides."""
    found = any(worth(measure, grade) for grade in one.grades.values())
    least = measure.get("rel") if measure.definition.relevance else None
    return found and (least is None or any(grade >= least for grade in one.grades.values()))


def depth(measure: Measure, one: Listed) -> int | None:
    """Documents the measure looks at, where it has a depth."""
    if measure.name == "Rprec":
        total = sum(worth(measure, grade) for grade in one.grades.values())
        return math.floor(measure.get("mult") * total + 0.9)
    return measure.at if isinstance(measure.at, int) else None


# --- random lists -----------------------------------------------------------------------------------------------------


@st.composite
def listed(draw: st.DrawFn, grades: Sequence[float], *, diverse: bool = False, empty: bool = False) -> Listed:
    ranking = draw(st.permutations(DOCS))[: 0 if empty else draw(st.integers(1, len(DOCS)))]
    if not diverse:
        return Listed(ranking, draw(judged(grades)))
    subtopics = {name: draw(judged(grades)) for name in SUBTOPICS[: draw(st.integers(2, len(SUBTOPICS)))]}
    return Listed(ranking, best_grades(subtopics), subtopics)


# --- the laws ---------------------------------------------------------------------------------------------------------

Broken = dict[Measure, str]


def bounded(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    lists = [data.draw(listed(grades, diverse=diverse)) for _ in range(3)]
    found = scores(measures, lists)
    return {m: f"{v}" for m, values in found.items() for v in values if not -SLACK <= v <= 1 + SLACK}


def empty_zero(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    other = data.draw(listed(grades, diverse=diverse))  # a run without any document is refused
    found = scores(measures, [data.draw(listed(grades, diverse=diverse, empty=True)), other])
    return {m: f"{values[0]}" for m, values in found.items() if values[0] != 0}


def perfect(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    """All judged documents, best first, and the unjudged ones behind them in case the depth goes on."""
    drawn = data.draw(listed(grades, diverse=diverse))
    order = sorted(drawn.grades, key=lambda doc: -drawn.grades[doc])
    best = drawn.ranked(order + [doc for doc in DOCS if doc not in order and data.draw(st.booleans())])
    asked = [m for m in measures if relevant_anywhere(m, best)]
    assume(asked)
    found = scores(asked, [best])
    return {m: f"{values[0]} for {best}" for m, values in found.items() if abs(values[0] - 1) > SLACK}


def monotone(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    """Swap each relevant document with the non-relevant one right above it."""
    one = data.draw(listed(grades, diverse=diverse))
    assume(len(one.ranking) > 1)
    swapped = []
    for i in range(1, len(one.ranking)):
        order = list(one.ranking)
        order[i - 1], order[i] = order[i], order[i - 1]
        swapped.append(one.ranked(order))
    found = scores(measures, [one, *swapped])
    broken = {}
    for m, (before, *after) in found.items():
        for i, value in enumerate(after, start=1):
            above, below = (one.grades.get(doc) for doc in one.ranking[i - 1 : i + 1])
            if worth(m, below) and not worth(m, above) and value < before - SLACK:
                broken[m] = f"{before} fell to {value} after raising rank {i + 1} of {one}"
    return broken


def gain(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    """Give a retrieved document the higher grade of one that was not retrieved: the ideal list stays the same."""
    assert not diverse, "say first what the ideal list of a diversity measure is"
    drawn = data.draw(listed(grades))
    inside = [doc for doc in drawn.ranking if doc in drawn.grades]
    outside = [doc for doc in drawn.grades if doc not in drawn.ranking]
    assume(inside and outside)
    a, b = data.draw(st.sampled_from(inside)), data.draw(st.sampled_from(outside))
    assume(drawn.grades[b] > drawn.grades[a])
    raised = drawn.judged({**drawn.grades, a: drawn.grades[b], b: drawn.grades[a]})
    found = scores(measures, [drawn, raised])
    return {m: f"{x} fell to {y}: {drawn} to {raised}" for m, (x, y) in found.items() if y < x - SLACK}


def blind(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    one = data.draw(listed(grades, diverse=diverse))
    shuffled = [one.ranked([*one.ranking[:k], *data.draw(st.permutations(one.ranking[k:]))]) for k in range(len(DOCS))]
    found = scores(measures, [one, *shuffled])
    broken = {}
    for m, (before, *after) in found.items():
        k = depth(m, one)
        if k is not None and k < len(after) and abs(after[k] - before) > SLACK:
            broken[m] = f"{before} became {after[k]}: {one} to {shuffled[k]}"
    return broken


def unjudged(data: st.DataObject, measures: Sequence[Measure], grades: Sequence[float], diverse: bool) -> Broken:
    """Forget the judgments that say no more than "not relevant", for each threshold that a measure has."""
    one = data.draw(listed(grades, diverse=diverse))
    assume(any(relevant_anywhere(m, one) for m in measures))
    forgotten = {m: _without_nonrelevant(m, one) for m in measures}
    variants = list({repr(variant): variant for variant in forgotten.values()}.values())
    places = {m: 1 + variants.index(variant) for m, variant in forgotten.items()}
    broken = {}
    for m, values in scores(measures, [one, *variants]).items():
        if abs(values[0] - values[places[m]]) > SLACK:
            broken[m] = f"{values[0]} became {values[places[m]]}: {one} to {forgotten[m]}"
    return broken


def _without_nonrelevant(measure: Measure, one: Listed) -> Listed:
    def kept(grades: Mapping[str, float]) -> dict[str, float]:
        return {doc: grade for doc, grade in grades.items() if worth(measure, grade)}

    return Listed(one.ranking, kept(one.grades), {name: kept(grades) for name, grades in one.subtopics.items()})


CHECKS: dict[str, Callable[[st.DataObject, Sequence[Measure], Sequence[float], bool], Broken]] = {
    Law.BOUNDED: bounded,
    Law.EMPTY_ZERO: empty_zero,
    Law.PERFECT: perfect,
    Law.MONOTONE: monotone,
    Law.GAIN: gain,
    Law.BLIND: blind,
    Law.UNJUDGED: unjudged,
}
