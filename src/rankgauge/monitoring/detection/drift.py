"""Corpus drift: gold documents that are gone or changed. Then the test set is out of date, not the ranking worse."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from rankgauge.model.testset import TestSet

__all__ = ["Drift", "Gold", "drift_between", "gold_of"]

_GONE = ""


@dataclass(frozen=True)
class Drift:
    """What happened to the relevant documents since the first check, and to which queries it matters."""

    gone: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.gone or self.changed)


Gold = dict[str, dict[str, str]]
"""By query and relevant document, a short hash of the document's text; empty for one that is not there."""


def gold_of(test_set: TestSet, documents: Mapping[str, str | None]) -> Gold:
    """The state of all relevant documents."""
    return {
        query.id: {
            doc: _GONE if (text := documents.get(doc)) is None else _short(text)
            for doc, grade in query.grades.items()
            if grade > 0
        }
        for query in test_set
    }


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]


def drift_between(first: Gold, now: Gold) -> Drift:
    """What is gone or changed since; documents that were never there are no drift."""
    gone: dict[str, None] = {}
    changed: dict[str, None] = {}
    queries = []
    for query, documents in first.items():
        present = now.get(query, {})
        lost = [doc for doc, kept in documents.items() if kept and present.get(doc) == _GONE]
        other = [doc for doc, kept in documents.items() if kept and present.get(doc) not in (None, _GONE, kept)]
        gone.update(dict.fromkeys(lost))
        changed.update(dict.fromkeys(other))
        if lost or other:
            queries.append(query)
    return Drift(list(gone), list(changed), queries)
