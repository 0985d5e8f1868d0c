"""Queries from parallel lists of texts, relevant documents and grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError, counted
from rankgauge.model.query import Query

__all__ = ["annotated", "grades_of"]


def annotated(
    queries: Sequence[str],
    relevant_docs: Sequence[Sequence[str]],
    relevance_scores: Sequence[Mapping[str, float] | None] | None,
    ids: Sequence[str] | None,
    tags: Sequence[Sequence[str]] | None,
    name: str,
) -> list[Query]:
    """The queries of `TestSet.from_annotations`; faults of all are raised together."""
    lists: dict[str, Sequence[Any] | None] = {
        "relevant_docs": relevant_docs,
        "relevance_scores": relevance_scores,
        "ids": ids,
        "tags": tags,
    }
    for what, values in lists.items():
        if values is not None and len(values) != len(queries):
            there = "is" if len(queries) == 1 else "are"
            entries, texts = counted(len(values), "entry", "entries"), counted(len(queries), "query", "queries")
            raise DataError(f"{what} has {entries}, but there {there} {texts}")
    made, faults = [], []
    for i, text in enumerate(queries):
        try:
            grades = grades_of(relevant_docs[i], relevance_scores[i] if relevance_scores else None)
            made.append(Query(text, grades, ids[i] if ids else "", tuple(tags[i]) if tags else ()))
        except DataError as error:
            faults.append(f"query {i + 1} ({text!r}): {error}")
    if faults:
        raise DataError(f"{name}: " + "; ".join(faults[:20]))
    return made


def grades_of(listed: Sequence[str], scores: Mapping[str, float] | None) -> dict[str, float]:
    """Grades from a list of relevant documents and optional scores, under the rules of `from_annotations`."""
    scores = scores or {}
    repeated = sorted({doc for doc in listed if list(listed).count(doc) > 1}) if len(set(listed)) != len(listed) else []
    if repeated:
        raise DataError(f"document {repeated[0]!r} is listed twice")
    against = [doc for doc in listed if doc in scores and not scores[doc] > 0]
    if against:
        raise DataError(
            f"document {against[0]!r} is listed as relevant, but scored {scores[against[0]]:g}; "
            "remove it from relevant_docs or give it a grade above 0"
        )
    unlisted = [doc for doc, score in scores.items() if score > 0 and doc not in listed]
    if unlisted and listed:
        raise DataError(
            f"document {unlisted[0]!r} is scored {scores[unlisted[0]]:g}, but not listed in relevant_docs; list it too"
        )
    return {**{doc: float(scores.get(doc, 1.0)) for doc in listed}, **{doc: float(s) for doc, s in scores.items()}}
