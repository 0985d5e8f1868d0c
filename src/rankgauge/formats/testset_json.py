"""Test sets as JSON: a list of {query, relevant_docs, relevance_scores, id, tags, texts}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.json_values import dump_lines, dumps, id_of, number_of
from rankgauge.model.testset import Query, TestSet, grades_of

__all__ = ["is_testset", "render_testset", "testset_of"]


def is_testset(value: Any) -> bool:
    """Whether a JSON value has the shape of a test set."""
    items = value.get("queries") if isinstance(value, Mapping) else value
    return (
        isinstance(items, list)
        and bool(items)
        and isinstance(items[0], Mapping)
        and ("relevant_docs" in items[0] or "relevance_scores" in items[0])
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
    return TestSet(made, name=name)


def _query(item: Any) -> Query:
    if not isinstance(item, Mapping):
        raise DataError(f"{item!r} is no object with query and relevant_docs"[:200])
    text, own = item.get("query", ""), item.get("id", item.get("query_id", ""))
    own_id = "" if own == "" else id_of(own, "query")
    if not isinstance(text, str) or not (text or own_id):
        raise DataError('it has no "query" text and no "id"')
    if "relevant_docs" not in item and "relevance_scores" not in item:
        raise DataError('it has neither "relevant_docs" nor "relevance_scores"')
    listed, scores = item.get("relevant_docs") or [], item.get("relevance_scores") or {}
    if not isinstance(listed, list):
        raise DataError(f'"relevant_docs" must be a list of document ids, not {listed!r}'[:200])
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
    return Query(text or own_id, grades_of(docs, grades), own_id, tuple(tags), dict(texts))


def render_testset(test_set: TestSet, form: str) -> bytes:
    """A test set as json or jsonl; what is at its default is left out."""
    items = [_item(query) for query in test_set]
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
    return item
