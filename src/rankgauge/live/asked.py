"""What a live retriever is asked: queries with texts, from whatever the caller has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rankgauge.errors import DataError, counted
from rankgauge.evaluation import read_judgments
from rankgauge.formats import load_testset
from rankgauge.formats.queries import read_queries
from rankgauge.formats.testset_json import testset_of
from rankgauge.model.frames import ID_COLUMNS, is_frame, named_columns, to_polars
from rankgauge.model.judgments import Qrels
from rankgauge.model.testset import Query, TestSet, as_testset
from rankgauge.words import Note

__all__ = ["askable", "doubts_about"]

_ID: Final = re.compile(
    r"(?:(?:q|qid|query|topic|id|test|dev|train)?[-_.#]?\d+"
    r"|[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    r"|(?=.*\d)[0-9a-f]{16,64})(?:<::>\d+)?",
    re.IGNORECASE,
)
"""What nobody searches for: numbers with the words that ids begin with, UUIDs, hashes; the turns of
conversations that have such ids."""
_LIKE_AN_ID: Final = re.compile(r"[\w.:/<>-]*\d[\w.:/<>-]*", re.ASCII)


def askable(given: Any, queries: Any = None) -> TestSet:
    """A test set of what `evaluate` takes as judgments and has texts: itself, its path, a dictionary {text: {document:
    grade}}, a list of queries, a data frame; or judgments, with the texts in `queries`. One without queries, or
    without texts to search with, is an error."""
    test_set = _read(given)
    if queries is not None:
        test_set = _with_texts(test_set, _texts_of(queries))
    if not len(test_set):
        raise DataError(f"{test_set.name}: there is no query to ask")
    if all(_ID.fullmatch(text.strip()) for text in _unnamed(test_set)):
        raise DataError(
            f"{test_set.name}: it has ids of queries, but no texts to search with; give the texts, "
            'queries={"q1": "opening hours", ...} or the path of a queries file; or a test set whose entries have '
            'both, {"id": "q1", "query": "opening hours", "relevant_docs": [...]}'
        )
    return test_set


def doubts_about(test_set: TestSet) -> list[Note]:
    """Texts that are the ids too, and look like ids more than like queries: they are asked, and that is said."""
    texts = _unnamed(test_set)
    if len(texts) > 1 and all(_LIKE_AN_ID.fullmatch(text) for text in texts):
        return [Note("asking.doubtful_texts", {"text": texts[0]}, "warning")]
    return []


def _unnamed(test_set: TestSet) -> list[str]:
    """The texts where they are all that the queries have, else a single empty one, which is no id."""
    return [query.text for query in test_set] if all(query.text == query.id for query in test_set) else [""]


def _read(given: Any) -> TestSet:
    if isinstance(given, TestSet):
        return given
    if isinstance(given, str | os.PathLike):
        return load_testset(given)
    if is_frame(given):
        return _of_frame(given)
    if isinstance(given, Mapping | Qrels):
        return _of_judgments(given)
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        listed = list(given)
        if all(isinstance(entry, Query) for entry in listed):
            return TestSet(listed)
        if listed and all(isinstance(entry, Mapping) for entry in listed):
            return testset_of(listed, "test set")
        if listed and all(hasattr(entry, "_fields") for entry in listed):
            return _of_judgments(listed)
    raise DataError(
        f"a test set with the texts of the queries is needed, its path, or {{text: {{document: grade}}}}, not a "
        f"{type(given).__name__}"
    )


def _of_judgments(given: Any) -> TestSet:
    qrels, test_set = read_judgments(given)
    return test_set or as_testset(qrels)


def _of_frame(frame: Any) -> TestSet:
    """The queries of a data frame. Where it has texts beside ids, both; else the query column holds the texts."""
    columns = {str(name).strip().casefold(): str(name) for name in to_polars(frame).columns}
    ids = [name for name in ID_COLUMNS["query_id"] if name in columns and name not in ID_COLUMNS["doc"]]
    own_id = columns[ids[0]] if ids else None
    text = next((columns[name] for name in ID_COLUMNS["query_text"] if name in columns), None)
    if own_id is None or text is None:
        return _of_judgments(frame)
    table = to_polars(frame)
    named = table.drop(text).rename({own_id: "query_id"}) if own_id != "query_id" else table.drop(text)
    texts = dict(zip(table[own_id].cast(str).to_list(), table[text].cast(str).to_list(), strict=True))
    return _with_texts(_of_judgments(named), texts)


def _texts_of(queries: Any) -> Mapping[str, str]:
    if isinstance(queries, str | os.PathLike):
        return read_queries(queries)
    if isinstance(queries, TestSet):
        return {query.id: query.text for query in queries}
    if is_frame(queries):
        return _texts_of_frame(queries)
    if not isinstance(queries, Mapping):
        raise DataError(
            f"`queries` are texts by id, {{'q1': 'opening hours', ...}}, a data frame with columns query_id and text, "
            f"or the path of a file, not a {type(queries).__name__}"
        )
    for key, text in queries.items():
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"`queries`: the text of query {key!r} is {text!r}; give a text")
    return {str(key): text for key, text in queries.items()}


def _texts_of_frame(frame: Any) -> dict[str, str]:
    columns = named_columns(to_polars(frame), ("query_id", "query_text"), "`queries`")
    rows = list(zip(*(columns[name].cast(str).to_list() for name in columns.columns), strict=True))
    texts = dict(rows)
    for key, text in texts.items():
        if key is None or text is None or not text.strip():
            raise DataError(f"`queries`: the text of query {key!r} is {text!r}; give a text")
    if len(texts) < len(rows):
        ids = [key for key, _ in rows]
        twice = next(key for key in ids if ids.count(key) > 1)
        raise DataError(f"`queries`: the id {twice!r} stands twice")
    return texts


def _with_texts(test_set: TestSet, texts: Mapping[str, str]) -> TestSet:
    """The judged queries with their texts. One without a text is an error: it would be asked by its id, or left out."""
    missing = [query.id for query in test_set if query.id not in texts]
    if missing:
        raise DataError(
            f"`queries`: {len(missing)} of {counted(len(test_set), 'judged query', 'judged queries')} have no text "
            f"there, such as {missing[0]!r} (it has ids such as {next(iter(texts), '')!r}); give the text of each"
        )
    return test_set.with_texts(texts)
