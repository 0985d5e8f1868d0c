"""A check of the direction of the scale: is the greatest grade the best?

Within a query, better documents share more words with it and stand higher in the lists of systems. Where the grades say
the reverse over many queries, the scale is one in which lower is better, such as Cranfield's codes. Short lists hold
too few documents of a query to be compared with each other; what they leave out tells too, but less: documents of low
grade may have been judged because these systems found them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.model.query_words import content_words, query_words
from rankgauge.model.ranked import Floats
from rankgauge.model.run import Run
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["association", "direction"]

_QUERIES = 500  # that are looked at
_DOCS = 200  # of each
_LEAST = 10  # queries that say anything
_TAU, _Z = -0.08, -3.5
_Z_OF_SEVERAL = -3.3  # where every one of several runs has to say the same
_FALL = 0.05  # by which the highest grade is retrieved less often than the lowest
_GRADES = 11  # of a scale
_LENGTH = 2000  # characters of a document whose words count


@check("documents_or_runs")
def direction(material: Material) -> Iterator[Finding]:
    """Grades against the words that queries and documents share, and against the ranks of runs."""
    graded = [query for query in material.answerable if len({g for g in query.grades.values() if g > 0}) > 1]
    graded = graded[:: max(1, len(graded) // _QUERIES)][:_QUERIES]
    evidence: list[dict[str, Any]] = []
    by_words: list[float] = []
    if material.has_texts:
        by_words = [tau for query in graded if (tau := _against_words(query, material.documents)) is not None]
        evidence += _contrary(by_words, {"as": "by_words"})
    for name, run in material.runs.items():
        found = (_against_ranks(query, run[query.id]) for query in graded if query.id in run)
        taus = [tau for tau in found if tau is not None]
        evidence += _contrary(taus, {"as": "by_ranks", "run": name})
    if evidence:
        yield Finding("lower_is_better", "error", evidence, command=_turned(material.test_set))
    elif not (len(by_words) >= _LEAST and sum(by_words) > 0) and (shares := _all_find_lower(graded, material.runs)):
        yield Finding("lower_retrieved", "warning", shares)


def _all_find_lower(graded: Sequence[Query], runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Of each run, how often it retrieves documents of the lowest and of the highest grade; nothing, unless all of them
    retrieve the lower grades more often, within the queries and beyond chance."""
    told = []
    grades = {grade for query in graded for grade in query.grades.values() if grade > 0}
    for name, run in runs.items():
        listed = set(run.queries) - set(run.empty)
        own = [query for query in graded if query.id in listed]
        taus = [tau for query in own if (tau := _against_lists(query, run[query.id])) is not None]
        if not _is_contrary(taus, _Z_OF_SEVERAL if len(runs) > 1 else _Z):
            return []
        low, high = (
            [doc in run[query.id] for query in own for doc, grade in query.grades.items() if grade == end]
            for end in (min(grades), max(grades))
        )
        if not low or not high:
            return []
        share_low, share_high = sum(low) / len(low), sum(high) / len(high)
        if share_low - share_high < _FALL:
            return []
        ends = {"low": min(grades), "high": max(grades), "share_low": share_low, "share_high": share_high}
        told.append({"run": name, **ends, "queries": len(taus)})
    return told


def _turned(test_set: TestSet) -> str:
    """The command that turns the grades above 0 round; none where they are too many to be a scale."""
    grades = sorted({float(grade) for query in test_set for grade in query.grades.values() if grade > 0})
    if len(grades) > _GRADES:
        return ""
    pairs = ",".join(f"{old:g}={new:g}" for old, new in zip(grades, reversed(grades), strict=True))
    return f"rankgauge testset build TESTSET --regrade {pairs} -o turned.json"


def _contrary(taus: Sequence[float], about: Mapping[str, str]) -> list[dict[str, Any]]:
    """The evidence, where the association is negative beyond chance and by more than pooling makes it."""
    if not _is_contrary(taus):
        return []
    return [{**about, "tau": sum(taus) / len(taus), "queries": len(taus)}]


def _is_contrary(taus: Sequence[float], z: float = _Z) -> bool:
    if len(taus) < _LEAST:
        return False
    values = np.array(taus)
    centre, error = float(values.sum() / len(taus)), float(values.std(ddof=1) / math.sqrt(len(taus)))
    return centre <= _TAU and centre <= z * error


def _against_words(query: Query, documents: Mapping[str, str]) -> float | None:
    own = frozenset(content_words(query_words(query.text)))
    docs = [doc for doc in query.relevant if documents.get(doc)][:_DOCS]
    if not own or len(docs) < 2:
        return None
    words = [content_words(query_words(documents[doc][:_LENGTH])) for doc in docs]
    held = np.array([[word in set(of_doc) for word in sorted(own)] for of_doc in words], dtype=float)
    rarity = np.log(1 + len(docs) / (0.5 + held.sum(axis=0)))
    return association(np.array([query.grades[doc] for doc in docs]), held @ rarity)


def _against_ranks(query: Query, scores: Mapping[str, float]) -> float | None:
    docs = [doc for doc in query.relevant if doc in scores][:_DOCS]
    if len(docs) < 2:
        return None
    return association(np.array([query.grades[doc] for doc in docs]), np.array([scores[doc] for doc in docs]))


def _against_lists(query: Query, scores: Mapping[str, float]) -> float | None:
    """As against ranks, where what is not retrieved stands below all that is."""
    docs = query.relevant[:_DOCS]
    floor = min(scores.values()) - 1
    return association(
        np.array([query.grades[doc] for doc in docs]), np.array([scores.get(doc, floor) for doc in docs])
    )


def association(a: Floats, b: Floats) -> float | None:
    """Goodman and Kruskal's gamma: concordant less discordant pairs over both; None where there are none."""
    signs = np.sign(np.subtract.outer(a, a)) * np.sign(np.subtract.outer(b, b))
    agree, differ = float((signs > 0).sum()), float((signs < 0).sum())
    return (agree - differ) / (agree + differ) if agree + differ else None
