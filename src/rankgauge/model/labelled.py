"""Grades that come from labels: the labels that plain judgments are, the grades that a policy makes of labels, and the
version of a test set, which names what it holds."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any

from rankgauge.errors import DataError, counted
from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.model.query import Query
from rankgauge.visible import visible

__all__ = ["graded", "imported", "kept_labels", "refuse_unknown", "regraded", "version_of"]


def imported(
    queries: Iterable[Query], name: str, wanted: Callable[[str, str], bool] = lambda query, doc: True
) -> Iterator[Label]:
    """The grades of queries as labels of kind `import`; their judge is the test set, by the last part of its name."""
    judge = visible(PurePath(name).name.strip()) or "test set"
    for query in queries:
        for doc, grade in query.grades.items():
            if wanted(query.id, doc):
                yield Label(query.id, doc, grade, judge, "import")


def kept_labels(labels: Labels, policy: LabelPolicy, queries: Iterable[Query], name: str) -> Labels:
    """Labels that give queries exactly the grades that they have: a pair whose labels say something else, since a
    document got another id, has its grade as an imported label instead."""
    listed = list(queries)
    said, meant = labels.grades(policy), {query.id: query.grades for query in listed}
    own = [label for label in labels if label.query in meant]
    odd = {label.pair for label in own if said.get(label.query, {}).get(label.doc) != meant[label.query].get(label.doc)}
    fresh = imported(listed, name, lambda query, doc: (query, doc) in odd or doc not in said.get(query, {}))
    return Labels((*(label for label in own if label.pair not in odd), *fresh), name=labels.name)


def refuse_unknown(labels: Labels, queries: Iterable[Query]) -> None:
    """Labels of queries that are not there are of another test set, or of one whose ids have changed."""
    if unknown := sorted({label.query for label in labels} - {query.id for query in queries}):
        raise DataError(
            f"{labels.name}: there are labels of query {unknown[0]!r}, which the test set does not have "
            f"({counted(len(unknown), 'such query', 'such queries')}); leave them out with `skip_unknown=True`"
        )


def graded(queries: Sequence[Query], labels: Labels, policy: LabelPolicy) -> list[Query]:
    """The queries with the grades that a policy makes of the labels, and no others."""
    refuse_unknown(labels, queries)
    grades, aspects = labels.grades(policy), _aspects(labels, policy)
    return [_graded(query, grades.get(query.id, {}), aspects.get(query.id, {})) for query in queries]


def _aspects(labels: Labels, policy: LabelPolicy) -> dict[str, dict[str, set[str]]]:
    """The aspects that each document covers, by query and document."""
    found: dict[str, dict[str, set[str]]] = {}
    for aspect in labels.aspects:
        for query, docs in labels.of_aspect(aspect).grades(policy).items():
            for doc, grade in docs.items():
                if grade > 0:
                    found.setdefault(query, {}).setdefault(doc, set()).add(aspect)
    return found


def _graded(query: Query, grades: Mapping[str, float], aspects: Mapping[str, set[str]]) -> Query:
    """A query with other grades. Its known documents stay in their order; groups and passages follow the grades."""
    if query.grades == grades:
        return query
    ordered = {doc: grades[doc] for doc in query.grades if doc in grades} | dict(grades)
    spans = [span for span in query.spans if not span.doc or ordered.get(span.doc, 0) > 0]
    if query.no_answer and any(grade > 0 for grade in ordered.values()):
        doc = next(doc for doc, grade in ordered.items() if grade > 0)
        raise DataError(
            f"query {query.id!r} is marked as one without an answer, but by its labels document {doc!r} is relevant; "
            "take the mark or the labels back"
        )
    return replace(query, grades=ordered, groups=_groups(query, ordered, aspects), spans=tuple(spans))


def _groups(query: Query, grades: Mapping[str, float], aspects: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Groups of what is relevant now. A document that no group had joins those that are named like the aspects it
    covers, or is a group of its own."""
    if not query.groups:
        return {}
    known = {doc for docs in query.groups.values() for doc in docs}
    new = [doc for doc, grade in grades.items() if grade > 0 and doc not in known]
    found: dict[str, list[str]] = {}
    for name, docs in query.groups.items():
        kept = [doc for doc in docs if grades.get(doc, 0) > 0]
        found[name] = [*kept, *(doc for doc in new if name in aspects.get(doc, ()))]
    placed = {doc for docs in found.values() for doc in docs}
    alone = {doc: [doc] for doc in new if doc not in placed}
    return {name: docs for name, docs in found.items() if docs} | alone


def regraded(
    queries: Sequence[Query], labels: Labels | None, grades: Mapping[float, float]
) -> tuple[list[Query], Labels | None]:
    """The queries and their labels with other grades for those that are named; an interval goes along where both of its
    ends are named, and is left out else."""
    check_grades(grades)
    turned = {
        query.id: {doc: grades.get(float(grade), grade) for doc, grade in query.grades.items()} for query in queries
    }
    aspects = {} if labels is None else _aspects(labels, LabelPolicy())
    made = [_graded(query, turned[query.id], aspects.get(query.id, {})) for query in queries]
    if labels is None:
        return made, None
    return made, Labels((_regraded(label, grades) for label in labels), name=labels.name)


def check_grades(grades: Any) -> None:
    """Grades by the grades that they replace."""
    if not isinstance(grades, Mapping) or not grades:
        raise DataError("`grades` are new grades by old ones, such as {1: 3, 2: 2, 3: 1}")
    for pair in grades.items():
        for value in pair:
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise DataError(f"`grades`: {value!r} is no finite number")


def _regraded(label: Label, grades: Mapping[float, float]) -> Label:
    if label.grade is None or label.grade not in grades:
        return label
    ends = sorted(grades[end] for end in (label.low, label.high) if end is not None and end in grades)
    low, high = ends if len(ends) == 2 else (None, None)
    return replace(label, grade=grades[label.grade], low=low, high=high)


def version_of(queries: Sequence[Query], labels: Labels, policy: LabelPolicy | None) -> str:
    """A hash of all that a test set says: not of its name, nor of the order of queries and documents."""
    said = sorted(json.dumps(_said(query), sort_keys=True) for query in queries)
    rule = None if policy is None else [policy.combine, *policy.prefer]
    return hashlib.sha256(json.dumps([said, rule, labels.version if policy else None]).encode()).hexdigest()


def _said(query: Query) -> dict[str, object]:
    return {**asdict(query), "grades": {doc: float(grade) for doc, grade in query.grades.items()}}
