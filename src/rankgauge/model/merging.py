"""Test sets put together: queries of one id become one, and what two sets say differently is settled knowingly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

from rankgauge.errors import DataError, counted
from rankgauge.model.labels import Labels
from rankgauge.model.query import Query

__all__ = ["Conflicts", "check_conflicts", "merged_labels", "merged_queries", "refuse_unreviewed", "unlabelled"]

Conflicts = Literal["error", "first", "labels"]
_SHOWN = 5


def check_conflicts(given: str) -> Conflicts:
    for known in get_args(Conflicts):
        if given == known:
            return known  # type: ignore[no-any-return]
    raise DataError(f"`conflicts={given!r}` is none of {', '.join(get_args(Conflicts))}")


def unlabelled(queries: Sequence[Query]) -> list[str]:
    """Queries of which nobody said anything: neither a document nor that there is none."""
    return [query.id for query in queries if not query.grades and not query.no_answer and not query.spans]


def refuse_unreviewed(queries: Sequence[Query], name: str) -> None:
    """Candidates join after somebody looked at them."""
    if found := unlabelled(queries):
        raise DataError(
            f"{name}: {counted(len(found), 'query has', 'queries have')} no label yet, such as {found[0]!r}; judge "
            "them first, or say `unreviewed=True`"
        )


def _disagreements(first: Query, second: Query) -> Iterator[str]:
    """What two queries of one id say differently, apart from their grades."""
    if first.text != second.text and second.text != second.id and first.text != first.id:
        yield f"query {first.id!r}: the texts differ, {first.text!r} and {second.text!r}"[:300]
    if first.no_answer != second.no_answer and (first.relevant or second.relevant):
        yield f"query {first.id!r}: it has an answer in the one, and none in the other"
    if first.conversation and second.conversation and first.conversation != second.conversation:
        yield f"query {first.id!r}: it is of conversation {first.conversation!r} and of {second.conversation!r}"


def merged_queries(first: Sequence[Query], second: Sequence[Query], how: Conflicts) -> list[Query]:
    """The queries of both, with the grades of both; where these differ, those of the first, unless it is an error."""
    known = {query.id: query for query in first}
    faults: list[str] = []
    for query in second:
        if query.id not in known:
            known[query.id] = query
            continue
        own = known[query.id]
        odd = list(_disagreements(own, query))
        if how != "labels":
            odd += [
                f"query {own.id!r}: document {doc!r} has the grades {own.grades[doc]:g} and {grade:g}"
                for doc, grade in query.grades.items()
                if own.grades.get(doc, grade) != grade
            ]
        if odd and how != "first":
            faults += odd
        else:
            known[query.id] = _joined(own, query)
    if faults:
        more = f"\n  and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        ways = "`conflicts='first'` keeps what the first says"
        if how == "error":
            ways += ", `conflicts='labels'` lets the policy decide about grades"
        raise DataError(
            f"the test sets contradict each other ({counted(len(faults), 'conflict')}); {ways}\n  "
            + "\n  ".join(faults[:_SHOWN])
            + more
        )
    return list(known.values())


def merged_labels(first: Labels, second: Labels, queries: Sequence[Query], *, every: bool) -> Labels:
    """The labels of both; unless `every` one counts, of a document that the first has labels of, only those that give
    it the grade it has. Two imports of one name stay two voices."""
    names = {label.judge for label in first if label.kind == "import"}
    theirs = [
        replace(label, judge=f"{label.judge} (2)") if label.kind == "import" and label.judge in names else label
        for label in second
    ]
    if not every:
        grades = {query.id: query.grades for query in queries}
        known = set(first.voices)
        theirs = [one for one in theirs if one.pair not in known or grades[one.query].get(one.doc) == one.grade]
    return first.added(theirs)


def _joined(own: Query, other: Query) -> Query:
    """One query of two; the first is asked first."""
    grades = {**other.grades, **own.grades}
    grades = {doc: grades[doc] for doc in {**own.grades, **other.grades}}
    silent = own.no_answer if own.grades or own.no_answer else other.no_answer
    if silent:
        grades = {doc: grade for doc, grade in grades.items() if grade <= 0}
    groups = {name: list(docs) for name, docs in (own.groups or other.groups).items()} if not silent else {}
    if groups:
        grouped = {doc for docs in groups.values() for doc in docs}
        relevant = [doc for doc, grade in grades.items() if grade > 0]
        groups |= {doc: [doc] for doc in relevant if doc not in grouped}
        kept = {name: [doc for doc in docs if grades.get(doc, 0) > 0] for name, docs in groups.items()}
        groups = {name: docs for name, docs in kept.items() if docs}
    spans = tuple(dict.fromkeys((*own.spans, *other.spans))) if not silent else ()
    return replace(
        own,
        text=own.text if own.text != own.id else other.text,
        grades=grades,
        tags=tuple(dict.fromkeys((*own.tags, *other.tags))),
        texts={**other.texts, **own.texts},
        groups=groups,
        no_answer=silent,
        conversation=own.conversation or other.conversation,
        spans=spans,
        synthetic=own.synthetic or other.synthetic,
    )
