"""Small random judgments, runs and measures that the tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from hypothesis import Phase, settings
from hypothesis import strategies as st

from rankgauge.measures import Definition, Measure, parse_measure

# Ids whose order differs by case, by length and beyond ASCII; one is also the id of a query.
DOCS = ("d1", "d10", "d2", "D2", "é", "文", "d1x", "q1")
QUERIES = ("q1", "q2", "q3")
SUBTOPICS = ("1", "2", "10", "3")
GRADES = (-1, 0, 0, 1, 1, 2, 3, 4)
REAL_GRADES = (-0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.75, 4.0)
TIED_SCORES = (-1.0, -0.0, 0.0, 2.0)
NEAR_SCORES = (1.0, 1.0 + 1e-9, 1.0 - 1e-9, 3.0)
"""The first three are one number in float32."""

Lists = dict[str, dict[str, float]]


def fast(examples: int) -> settings:
    """The same examples in every run; a failure is shrunk, but not explained, which takes minutes here."""
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases)


@st.composite
def judged(draw: st.DrawFn, grades: Sequence[float] = GRADES) -> dict[str, float]:
    """Judgments of one query, at least one. Each document is drawn by itself: drawn lists would mostly be short."""
    drawn = {doc: draw(st.sampled_from((None,) * 4 + tuple(grades))) for doc in DOCS}
    found = {doc: grade for doc, grade in drawn.items() if grade is not None}
    return found or {DOCS[0]: draw(st.sampled_from(grades))}


@st.composite
def scored(
    draw: st.DrawFn, scores: Sequence[float] = TIED_SCORES, least: int = 0, most: int = len(DOCS)
) -> dict[str, float]:
    """One list, not sorted: mostly with ties, else with scores that all differ."""
    docs = draw(st.permutations(DOCS))[: draw(st.sampled_from((*range(least, most + 1), most, most)))]
    if draw(st.sampled_from((True, True, False))):
        return {doc: draw(st.sampled_from(scores)) for doc in docs}
    order = draw(st.permutations(range(len(docs))))
    return {doc: 1.0 + place / 8 for doc, place in zip(docs, order, strict=True)}


@st.composite
def judgments(draw: st.DrawFn, grades: Sequence[float] | None = None) -> Lists:
    chosen = grades if grades is not None else draw(st.sampled_from((GRADES, REAL_GRADES)))
    return {query: draw(judged(chosen)) for query in QUERIES[: draw(st.sampled_from((1, 2, 3, 3)))]}


@st.composite
def runs(
    draw: st.DrawFn, queries: Sequence[str], scores: Sequence[float] = TIED_SCORES, most: int = len(DOCS)
) -> Lists:
    """A list for each query; those after the first may be empty."""
    return {query: draw(scored(scores, least=int(i == 0), most=most)) for i, query in enumerate(queries)}


@st.composite
def by_subtopic(draw: st.DrawFn) -> dict[str, Lists]:
    """{query: {subtopic: {document: grade}}}; the first query has at least two subtopics."""
    result: dict[str, Lists] = {}
    for i, query in enumerate(QUERIES[: draw(st.integers(1, len(QUERIES)))]):
        names = SUBTOPICS[: draw(st.integers(2 if i == 0 else 1, len(SUBTOPICS)))]
        result[query] = {name: draw(judged((-1, 0, 1, 1, 2))) for name in names}
    return result


def best_grades(subtopics: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """A document's best grade over the subtopics."""
    best: dict[str, float] = {}
    for grades in subtopics.values():
        for doc, grade in grades.items():
            best[doc] = max(grade, best.get(doc, grade))
    return best


def qrels_frame(qrels: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    rows = [(query, doc, float(grade)) for query, docs in qrels.items() for doc, grade in docs.items()]
    return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "grade": pl.Float64}, orient="row")


def run_frame(run: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    rows = [(query, doc, float(score)) for query, docs in run.items() for doc, score in docs.items()]
    return pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "score": pl.Float64}, orient="row")


def subtopic_frame(subtopics: Mapping[str, Lists]) -> pl.DataFrame:
    rows = [
        (query, subtopic, doc, float(grade))
        for query, topics in subtopics.items()
        for subtopic, docs in topics.items()
        for doc, grade in docs.items()
    ]
    schema = {"query": pl.String, "subtopic": pl.String, "doc": pl.String, "grade": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


# Values for every parameter in the registry. Scales reach the greatest grade above: a grade beyond one is an error.
VALUES: dict[str, Sequence[Any]] = {
    "rel": (0, 0.5, 1, 2, 3.5),
    "judged_only": (False, True),
    "over": ("k", "returned"),
    "capped": (False, True),
    "budget": (None,),
    "beta": (0, 0.5, 1),
    "mult": (0, 0.5, 1, 1.4, 2),
    "hit": (1, 2.5),
    "noise": (-1, 0.25),
    "miss": (0, -1.5),
    "norm": ("R", "min"),
    "max_grade": (4, 5.5),
    "rule": ("trec_eval10", "trec_eval9"),
    "points": (None, "0.2,0.5,0.8", "1"),
    "gain": ("linear", "exp"),
    "gains": (None, {1: 3, 2: 9.5}, {0: 0.5}, {1: -1, 4: 0}),
    "discount": ("log2(i+1)", "log2(i)"),
    "ideal": ("judged", "retrieved", "returned"),
    "threshold": (None,),
    "alpha": (0, 0.25, 0.5, 1),
    "p": (0, 0.5, 0.8, 0.95, 1),
    "T": (0.5, 1, 2.5),
    "min_rel": (0, 0.5, 1),
    "max_rel": (4, 5),
    "normalize": (True, False),
    "overlaps": ("once", "each"),
}
DEPTHS = (1, 2, 3, 5, 20)
LEVELS = (0, 0.1, 0.33, 0.5, 0.75, 1)


@st.composite
def measure_names(draw: st.DrawFn, definition: Definition) -> str:
    """A definition with random parameters and depth, as a text, which reads well in a report."""
    values = {}
    for parameter in definition.parameters:
        choices = parameter.choices or VALUES[parameter.name]
        values[parameter.name] = draw(st.sampled_from(choices))
    at = None
    if definition.at is not None:
        choices = LEVELS if definition.at.kind is float else DEPTHS
        at = draw(st.sampled_from(choices if definition.at_required else (None, *choices)))
    if definition.name == "AP":
        values["max_grade"] = values["max_grade"] if values["grades"] == "linear" else None
        values["norm"] = values["norm"] if at is not None else "R"
    if definition.name == "R":
        values["capped"] = values["capped"] and at is not None
    return str(definition(at, **values))


def draw_measures(data: st.DataObject, definitions: Iterable[Definition]) -> list[Measure]:
    return [parse_measure(data.draw(measure_names(definition))) for definition in definitions]
