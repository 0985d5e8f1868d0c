"""Result lists and judgments as JSON or JSON Lines, in the shapes people have.

{"q1": {"d1": 0.9, "d2": 0.5}}                      scores (or grades) by query and document
{"q1": ["d1", "d2"]}                                ranked ids
[{"query": "q1", "results": [{"id": "d1", "score": 0.9}, ...]}, ...]      one object for each query
{"query_id": "q1", "doc_id": "d1", "score": 0.9}    one object for each row, a line each
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.json_values import dump_lines, id_of, number_of
from rankgauge.model.frames import ID_COLUMNS
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run

__all__ = ["qrels_of", "render_run_lines", "run_of", "scored_entry"]

_LISTS = ("results", "retrieved", "docs", "documents", "hits", "ranking", "retrieved_docs")
_QUERY = (*ID_COLUMNS["query"], "id")


def run_of(value: Any, name: str) -> Run:
    """A run from JSON of any of the shapes above."""
    return Run(_by_query(value, name, "score"), name=name)


def qrels_of(value: Any, name: str) -> Qrels:
    """Judgments from JSON: {query: {document: grade}}, or rows."""
    rows = _by_query(value, name, "grade")
    return Qrels(rows, name=name)


def _by_query(value: Any, name: str, what: str) -> dict[str, dict[str, float]]:
    items: Iterable[tuple[str, Any]]
    if isinstance(value, Mapping):
        items = [(f"query {query!r}", (query, docs)) for query, docs in value.items()]
    elif isinstance(value, list):
        items = [(f"entry {number}", item) for number, item in enumerate(value, start=1)]
    else:
        raise FormatError(name, [f"expected results by query, found {type(value).__name__}"])
    made: dict[str, dict[str, float]] = {}
    faults = []
    for place, item in items:
        try:
            query, found = scored_entry(item, what)
            lists = made.setdefault(query, {})
            for doc, number in found.items():
                if doc in lists:
                    raise DataError(f"document {doc!r} stands twice for query {query!r}")
                lists[doc] = number
        except DataError as error:
            faults.append(f"{place}: {error}")
    if faults:
        raise FormatError(name, faults)
    if not made:
        raise FormatError(name, ["the file holds no query"])
    return made


def scored_entry(item: Any, what: str) -> tuple[str, dict[str, float]]:
    """The query and the documents of one entry of a list, or of a pair of both."""
    query, docs = item if isinstance(item, tuple) else _entry(item, what)
    return id_of(query, "query"), _scored(docs, what)


def _entry(item: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(item, Mapping):
        raise DataError(f"{item!r} is no object with a query and its results"[:200])
    lists = [key for key in _LISTS if key in item]
    if lists:
        queries = [key for key in _QUERY if key in item]
        if not queries:
            raise DataError(f"no query among its keys; name one of: {', '.join(_QUERY)}")
        wanted = "query_id" if "query_id" in item else "id" if "id" in item else queries[0]
        return item[wanted], item[lists[0]]
    keys = {key.casefold(): key for key in item if isinstance(key, str)}
    query = next((keys[key] for key in ID_COLUMNS["query"] if key in keys), None)
    doc = next((keys[key] for key in ID_COLUMNS["doc"] if key in keys), None)
    number = next((keys[key] for key in ID_COLUMNS[what] if key in keys), None)
    if query is None or doc is None or number is None:
        if what == "grade" and query is None and {"_id", "text"} <= keys.keys():
            raise DataError(
                "it has the text of a query and no judgments; give the file of judgments, and this one as the texts "
                "of its queries (`queries=`)"
            )
        raise DataError(
            f"it has neither a result list ({', '.join(_LISTS[:3])}, ...) nor the keys query_id, doc_id and {what}"
        )
    return item[query], {item[doc]: item[number]}


def _scored(docs: Any, what: str) -> dict[str, float]:
    if isinstance(docs, Mapping):
        return {id_of(doc, "document"): number_of(value, what) for doc, value in docs.items()}
    if not isinstance(docs, list):
        raise DataError(f"its results are {type(docs).__name__}, neither a list nor an object")
    if what == "grade":
        docs = [doc if isinstance(doc, Mapping) else {"id": doc, what: 1} for doc in docs]
    scored: dict[str, float] = {}
    for place, entry in enumerate(docs):
        if isinstance(entry, Mapping):
            key = next((key for key in ID_COLUMNS["doc"] if key in entry), None)
            if key is None:
                raise DataError(f"a result has no document id; name it one of: {', '.join(ID_COLUMNS['doc'])}")
            value = next((entry[k] for k in ID_COLUMNS[what] if k in entry), len(docs) - place)
            doc = entry[key]
        elif isinstance(entry, list) and len(entry) == 2:
            doc, value = entry
        else:
            doc, value = entry, len(docs) - place
        name = id_of(doc, "document")
        if name in scored:
            raise DataError(f"document {name!r} stands twice in the list")
        scored[name] = number_of(value, what)
    return scored


def render_run_lines(run: Run, tag: str) -> bytes:
    return dump_lines(
        {"query_id": query, "tag": tag, "results": [{"id": doc, "score": score} for doc, score in docs.items()]}
        for query, docs in run.to_dict().items()
    )
