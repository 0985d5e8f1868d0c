"""A check of the direction of the scale: is the greatest grade the best?

Within a query, better documents share more words with it and stand higher in the lists of systems. Where the grades say
the reverse over many queries, the scale is one in which lower is better, such as Cranfield's codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.model.query_words import content_words, query_words
from rankgauge.model.ranked import Floats
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["association", "direction"]

_QUERIES = 500  # that are looked at
_DOCS = 200  # of each
_LEAST = 10  # queries that say anything
_TAU, _Z = -0.08, -3.5
_GRADES = 11  # of a scale
_LENGTH = 2000  # characters of a document whose words count


@check("documents_or_runs")
def direction(material: Material) -> Iterator[Finding]:
    """Grades against the words that queries and documents share, and against the ranks of runs."""
    graded = [query for query in material.answerable if len({g for g in query.grades.values() if g > 0}) > 1]
    graded = graded[:: max(1, len(graded) // _QUERIES)][:_QUERIES]
    evidence: list[dict[str, Any]] = []
    if material.has_texts:
        taus = [tau for query in graded if (tau := _against_words(query, material.documents)) is not None]
        evidence += _contrary(taus, {"as": "by_words"})
    for name, run in material.runs.items():
        found = (_against_ranks(query, run[query.id]) for query in graded if query.id in run)
        taus = [tau for tau in found if tau is not None]
        evidence += _contrary(taus, {"as": "by_ranks", "run": name})
    if evidence:
        yield Finding("lower_is_better", "error", evidence, command=_turned(material.test_set))


def _turned(test_set: TestSet) -> str:
    """The command that turns the grades above 0 round; none where they are too many to be a scale."""
    grades = sorted({float(grade) for query in test_set for grade in query.grades.values() if grade > 0})
    if len(grades) > _GRADES:
        return ""
    pairs = ",".join(f"{old:g}={new:g}" for old, new in zip(grades, reversed(grades), strict=True))
    return f"rankgauge testset build TESTSET --regrade {pairs} -o turned.json"


def _contrary(taus: Sequence[float], about: Mapping[str, str]) -> list[dict[str, Any]]:
    """The evidence, where the association is negative beyond chance and by more than pooling makes it."""
    n = len(taus)
    if n < _LEAST:
        return []
    values = np.array(taus)
    centre, error = float(values.sum() / n), float(values.std(ddof=1) / math.sqrt(n))
    if centre > _TAU or centre > _Z * error:
        return []
    return [{**about, "tau": centre, "queries": n}]


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


def association(a: Floats, b: Floats) -> float | None:
    """Goodman and Kruskal's gamma: concordant less discordant pairs over both; None where there are none."""
    signs = np.sign(np.subtract.outer(a, a)) * np.sign(np.subtract.outer(b, b))
    agree, differ = float((signs > 0).sum()), float((signs < 0).sum())
    return (agree - differ) / (agree + differ) if agree + differ else None
