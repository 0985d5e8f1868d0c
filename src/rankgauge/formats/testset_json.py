"""Test sets as JSON: a list of {query, relevant_docs, relevance_scores, id, tags, texts, groups, no_answer,
conversation, spans, synthetic}. One with labels is an object of such "queries", its "labels" and its "policy"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.json_values import dump_lines, dumps, id_of, number_of
from rankgauge.model.annotations import grades_of
from rankgauge.model.query import Query
from rankgauge.model.spans import Span
from rankgauge.model.testset import TestSet

__all__ = ["is_testset", "lists_queries", "render_testset", "testset_of"]

_TEXTS = ("query", "text")
_LABELS = ("relevant_docs", "relevance_scores", "spans", "no_answer")


def is_testset(value: Any) -> bool:
    """Whether a JSON value has the shape of a test set."""
    items = value.get("queries") if isinstance(value, Mapping) else value
    return (
        isinstance(items, list)
        and bool(items)
        and isinstance(items[0], Mapping)
        and any(key in items[0] for key in _LABELS)
    )


def lists_queries(value: Any) -> bool:
    """Whether a JSON value lists queries by their texts under `queries`, which judgments of a query of that name do
    not look like."""
    items = value.get("queries") if isinstance(value, Mapping) else None
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, Mapping) and any(isinstance(item.get(key), str) for key in _TEXTS) for item in items)
    )


def testset_of(value: Any, name: str) -> TestSet:
    items = value.get("queries") if isinstance(value, Mapping) else value
    if not isinstance(items, list) or not items:
        raise FormatError(name, ['a test set is a list of queries, each {"query": ..., "relevant_docs": [...]}'])
    made, faults, seen = [], [], dict[str, int]()
    for number, item in enumerate(items, start=1):
        try:
            query = _query(item)
            if query.id in seen:
                raise DataError(f"the id {query.id!r} is that of query {seen[query.id]} too")
            seen[query.id] = number
            made.append(query)
        except DataError as error:
            faults.append(f"query {number}: {error}")
    if faults:
        raise FormatError(name, faults)
    if isinstance(value, Mapping) and "labels" in value:
        from rankgauge.formats.labelled_json import labelled  # few test sets bring labels

        return labelled(made, value["labels"], value.get("policy"), name)
    return TestSet(made, name=name)


def _query(item: Any) -> Query:
    if not isinstance(item, Mapping):
        raise DataError(f"{item!r} is no object with query and relevant_docs"[:200])
    text, own = item.get("query", ""), item.get("id", item.get("query_id", ""))
    own_id = "" if own == "" else id_of(own, "query")
    if not isinstance(text, str) or not (text or own_id):
        raise DataError('it has no "query" text and no "id"')
    if not any(key in item for key in _LABELS):
        raise DataError('it has neither "relevant_docs" nor "relevance_scores"')
    listed, scores = item.get("relevant_docs") or [], item.get("relevance_scores") or {}
    if not isinstance(listed, list):
        raise DataError(
            f'"relevant_docs" must be a list of document ids (grades go under "relevance_scores"), not {listed!r}'[:200]
        )
    if not isinstance(scores, Mapping):
        raise DataError(f'"relevance_scores" must be an object of document ids and grades, not {scores!r}'[:200])
    docs = [id_of(doc, "document") for doc in listed]
    grades = {id_of(doc, "document"): number_of(grade, f"grade of document {doc!r}") for doc, grade in scores.items()}
    tags, texts = item.get("tags") or [], item.get("texts") or {}
    if isinstance(tags, str):
        tags = [tags]
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(f'"tags" must be a list of texts, not {tags!r}'[:200])
    if not isinstance(texts, Mapping) or not all(isinstance(value, str) for value in texts.values()):
        raise DataError('"texts" must be an object of document ids and texts')
    spans = _spans(item.get("spans") or [])
    return Query(
        text or own_id,
        grades_of(docs, grades),
        own_id,
        tuple(tags),
        dict(texts),
        groups=_groups(item.get("groups") or {}),
        no_answer=_flag(item.get("no_answer", False)),
        conversation="" if item.get("conversation") in (None, "") else id_of(item["conversation"], "conversation"),
        spans=spans,
        synthetic=_made_by(item.get("synthetic") or ""),
    )


def _groups(value: Any) -> dict[str, tuple[str, ...]]:
    """Groups by name; a list of lists gets the numbers of its lists as names."""
    if isinstance(value, list):
        value = {str(number): docs for number, docs in enumerate(value, start=1)}
    if not isinstance(value, Mapping) or not all(isinstance(docs, list) for docs in value.values()):
        raise DataError('"groups" must be an object of names and lists of document ids, or a list of such lists')
    return {str(name): tuple(id_of(doc, "document") for doc in docs) for name, docs in value.items()}


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise DataError(f'"no_answer" must be true or false, not {value!r}'[:200])
    return value


def _made_by(value: Any) -> str:
    if not isinstance(value, str):
        raise DataError(f'"synthetic" must say what made the query, not {value!r}'[:200])
    return value


def _spans(value: Any) -> tuple[Span, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str | Mapping) for item in value):
        raise DataError('"spans" must be a list of {"doc": ..., "start": ..., "end": ...} or of quoted texts')
    return tuple(Span(text=item) if isinstance(item, str) else _span(item) for item in value)


def _span(item: Mapping[str, Any]) -> Span:
    if unknown := sorted(set(item) - {"doc", "start", "end", "text", "grade"}):
        raise DataError(f'a span has "doc", "start", "end", "text" and "grade", not {unknown[0]!r}')
    doc = "" if item.get("doc") in (None, "") else id_of(item["doc"], "document")
    grade = number_of(item.get("grade", 1), "grade of a span")
    return Span(doc, item.get("start"), item.get("end"), item.get("text") or "", grade)


def render_testset(test_set: TestSet, form: str) -> bytes:
    """A test set as json or jsonl; what is at its default is left out."""
    items = [_item(query) for query in test_set]
    if form == "json" and test_set.policy is not None:
        from rankgauge.formats.labelled_json import labels_items, policy_item

        return dumps(
            {"queries": items, "labels": labels_items(test_set.labels), "policy": policy_item(test_set.policy)}
        )
    return dumps(items) if form == "json" else dump_lines(items)


def _item(query: Query) -> dict[str, Any]:
    item: dict[str, Any] = {"query": query.text}
    if query.id != query.text:
        item = {"id": query.id, **item}
    item["relevant_docs"] = query.relevant
    if any(grade != 1 for grade in query.grades.values()):
        item["relevance_scores"] = {doc: int(g) if g == int(g) else g for doc, g in query.grades.items()}
    if query.tags:
        item["tags"] = list(query.tags)
    if query.texts:
        item["texts"] = dict(query.texts)
    if query.groups:
        item["groups"] = {name: list(docs) for name, docs in query.groups.items()}
    if query.no_answer:
        item["no_answer"] = True
    if query.conversation:
        item["conversation"] = query.conversation
    if query.synthetic:
        item["synthetic"] = query.synthetic
    if query.spans:
        item["spans"] = [_span_item(span) for span in query.spans]
    return item


def _span_item(span: Span) -> dict[str, Any]:
    values = {"doc": span.doc, "start": span.start, "end": span.end, "text": span.text}
    item: dict[str, Any] = {name: value for name, value in values.items() if value not in ("", None)}
    return item if span.grade == 1 else {**item, "grade": span.grade}
