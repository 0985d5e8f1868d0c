"""Checks of grades: what is relevant at all, and the scale."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["no_relevant", "one_relevant", "outside", "scale", "stray_grades"]

_STRAY = 0.005  # share of the judgments that a grade beyond a hole of the scale may have to be a slip
_MOSTLY = 0.8
_FIRST, _Z = 10, 3.5  # of each list; standard errors
_LONGEST = 10  # the greatest grade of a scale that has every number


@check()
def no_relevant(material: Material) -> Iterator[Finding]:
    """Queries that have neither a relevant document nor the mark that there is none."""
    items = [
        {"query": query.id, "judged": len(query.grades)}
        for query in material.test_set
        if not query.no_answer and not query.relevant and not query.spans
    ]
    if items:
        yield Finding("no_relevant", "warning", items, {"of": len(material.test_set)})


@check()
def one_relevant(material: Material) -> Iterator[Finding]:
    """Test sets most of whose queries have one relevant document."""
    single = [query.id for query in material.answerable if len(query.spans or query.relevant) == 1]
    if len(single) >= 2 and len(single) >= _MOSTLY * len(material.answerable):
        items = [{"query": query} for query in single]
        yield Finding("one_relevant", "info", items, {"of": len(material.answerable)})


@check()
def scale(material: Material) -> Iterator[Finding]:
    """Grades outside the scale that was given, or that look as if they were; holes; grades below 0."""
    grades = [(query.id, doc, float(grade)) for query in material.test_set for doc, grade in query.grades.items()]
    wrong = [{"query": query, "doc": doc} for query, doc, grade in grades if not math.isfinite(grade)]
    if wrong:
        yield Finding("no_number", "error", wrong)
    grades = [one for one in grades if math.isfinite(one[2])]
    if not grades:
        return
    if material.scale is not None:
        items = outside(grades, material.scale)
        if items:
            low, high = material.scale
            yield Finding("out_of_scale", "error", items, {"low": low, "high": high})
    else:
        yield from stray_grades(grades)
    below = Counter(grade for _, _, grade in grades if grade < 0)
    if below and (material.scale is None or material.scale[0] < 0):
        items = [{"query": query, "doc": doc, "grade": grade} for query, doc, grade in grades if grade < 0]
        if (about := _found_first(material)) is not None:  # no command: what they stand for is not known
            yield Finding("below_zero_found", "info", items, {"grade": min(below), **about})
            return
        zero = ",".join(f"{grade:g}=0" for grade in sorted(below))
        command = f"rankgauge testset build TESTSET --regrade={zero} -o graded.json" if len(below) <= _LONGEST else ""
        yield Finding("below_zero", "info", items, {"grade": min(below)}, command=command)


def _found_first(material: Material) -> dict[str, Any] | None:
    """The run that differs least, where all runs have documents of grades below 0 among their first more often than
    relevant ones, beyond chance; within queries that have both."""
    told: list[dict[str, Any]] = []
    queries = [query for query in material.answerable if any(grade < 0 for grade in query.grades.values())]
    for name, run in material.runs.items():
        hits: tuple[list[bool], list[bool]] = ([], [])
        for query in queries:
            if query.id in run:
                scores = run[query.id]
                first = set(heapq.nlargest(_FIRST, scores, key=lambda doc: scores[doc]))
                for doc, grade in query.grades.items():
                    if grade:
                        hits[grade > 0].append(doc in first)
        below, above = hits
        if not below or not above:
            return None
        shares = sum(below) / len(below), sum(above) / len(above)
        mean = (sum(below) + sum(above)) / (len(below) + len(above))
        error = math.sqrt(mean * (1 - mean) * (1 / len(below) + 1 / len(above)))
        if shares[0] - shares[1] <= _Z * error:
            return None
        told.append({"run": name, "k": _FIRST, "share": shares[0], "share_relevant": shares[1]})
    return min(told, key=lambda one: one["share"] - one["share_relevant"]) if told else None


def outside(grades: list[tuple[str, str, float]], bounds: tuple[float, float]) -> list[dict[str, Any]]:
    """Judgments whose grade lies outside of bounds."""
    low, high = bounds
    return [{"query": query, "doc": doc, "grade": grade} for query, doc, grade in grades if not low <= grade <= high]


def stray_grades(grades: list[tuple[str, str, float]]) -> Iterator[Finding]:
    """Rare grades above a hole in a scale of whole numbers, and holes that are no slips."""
    counts = Counter(grade for _, _, grade in grades)
    if any(grade != int(grade) for grade in counts):
        return
    levels = sorted(grade for grade in counts if grade >= 0)
    if len(levels) < 3:
        return  # {0, 2} is a binary scale
    top, before = levels[-1], levels[-2]
    if top - before > 1 and len(levels) >= 4 and counts[top] <= _STRAY * len(grades):
        items = [{"query": query, "doc": doc, "grade": grade} for query, doc, grade in grades if grade == top]
        yield Finding("stray_grade", "warning", items, {"grade": top, "of": len(grades), "high": before})
        levels = levels[:-1]
    holes = [grade for grade in range(1, int(levels[-1])) if grade not in counts] if levels[-1] <= _LONGEST else []
    if holes:
        yield Finding("holes", "info", [{"grade": hole} for hole in holes], {"holes": holes})
