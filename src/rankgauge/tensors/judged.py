"""Judgments of rows of embeddings: triples of numbers, or anything that `evaluate` takes, with the ids of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.errors import DataError, counted
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["Judged", "Places", "ids_of", "read_judged"]

Places = Mapping[str, int]


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """Grades by query and place of the document: those of query q are rows `starts[q]` to `starts[q + 1]`, by place.

    A judged document that has no embedding has a place of its own behind those that have: it counts, and nothing finds
    it.
    """

    starts: Ints
    documents: Ints
    grades: Floats
    n_documents: int
    """Places, those without embeddings included."""
    judged: Bools
    """Queries that count."""
    unanswered: bool = False
    """Whether there are queries marked as having no answer."""

    @property
    def counts(self) -> Ints:
        return np.diff(self.starts)

    @property
    def keys(self) -> Ints:
        """One rising number for each judged pair."""
        owner = np.repeat(np.arange(len(self.counts)), self.counts)
        return owner * self.n_documents + self.documents

    def rows(self, queries: Ints, width: int) -> Floats:
        """The grades of some queries, in rows filled up with minus infinity."""
        counts = self.counts[queries]
        place = np.arange(width)
        listed = place < counts[:, None]
        found = np.full(listed.shape, -np.inf)
        found[listed] = self.grades[(self.starts[queries][:, None] + place)[listed]]
        return found


def ids_of(argument: str, ids: Any, n: int, rows: str) -> Places | None:
    """The row of each id, as texts; None where the number of the row is the id."""
    if ids is None:
        return None
    if isinstance(ids, str | bytes | type) or not hasattr(ids, "__len__") or not hasattr(ids, "__iter__"):
        raise DataError(f"`{argument}` must be a list of ids, one for each row of `{rows}`, not {ids!r:.60}")
    if len(ids) != n:
        raise DataError(f"`{argument}` has {counted(len(ids), 'id')}, `{rows}` {counted(n, 'row')}; give one for each")
    places = {str(one): place for place, one in enumerate(ids.tolist() if hasattr(ids, "tolist") else ids)}
    if len(places) < n:
        seen: set[str] = set()
        twice = next(one for one in map(str, ids) if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise DataError(f"`{argument}` has {twice!r} twice; an id stands for one row")
    return places


def read_judged(
    qrels: Any,
    n_queries: int,
    n_documents: int,
    query_places: Places | None,
    document_places: Places | None,
    skip_unanswered: bool,
) -> Judged:
    """Judgments of `n_queries` rows: triples (query row, document row, grade), or judgments by id."""
    if _is_triples(qrels):
        query, document, grade = _triples(qrels, n_queries, n_documents)
        known = grade > -np.inf  # of which NaN is not greater either
        return _sorted(query[known], document[known], grade[known], n_queries, n_documents, None)
    from rankgauge.evaluation.inputs import read_judgments  # reads files too, which takes what triples do without

    found, _ = read_judgments(qrels)
    judgments = found.to_dict()
    rows = {name: _place("query", name, query_places, n_queries) for name in judgments}
    unknown = [name for name, row in rows.items() if row is None]
    if unknown:
        among = f"the {n_queries} rows of `queries`" if query_places is None else "`query_ids`"
        raise DataError(
            f"{counted(len(unknown), 'judged query', 'judged queries')} not among {among}, such as {unknown[0]!r}; "
            "embed all that are judged, or take their judgments out"
        )
    beyond: dict[str, int] = {}
    documents: list[int] = []
    for docs in judgments.values():
        for name in docs:
            row = _place("document", name, document_places, n_documents)
            documents.append(n_documents + beyond.setdefault(name, len(beyond)) if row is None else row)
    if documents and len(beyond) and min(documents) >= n_documents and n_documents:
        others = f"rows 0 to {n_documents - 1}" if document_places is None else repr(next(iter(document_places)))
        raise DataError(
            f"none of the judged documents, such as {next(iter(beyond))!r}, is among the embedded ones, such as "
            f"{others}; give the ids that the judgments have as `document_ids`"
        )
    counts = [len(docs) for docs in judgments.values()]
    query = np.repeat(np.array(list(rows.values()), dtype=np.int64), counts)
    grades = np.array([grade for docs in judgments.values() for grade in docs.values()], dtype=np.float64)
    judged = np.zeros(n_queries, dtype=bool)
    skipped = found.no_answer if skip_unanswered else frozenset()
    judged[[row for name, row in rows.items() if row is not None and name not in skipped]] = True
    made = _sorted(query, np.array(documents, dtype=np.int64), grades, n_queries, n_documents + len(beyond), judged)
    return made if not found.no_answer else Judged(**{**vars(made), "unanswered": True})


def _place(what: str, name: str, places: Places | None, n: int) -> int | None:
    if places is not None:
        return places.get(name)
    if not name.isdecimal():
        raise DataError(
            f"the judgments have the {what} {name!r}, which is no row number; give `{what}_ids`, one for each row"
        )
    return int(name) if int(name) < n else None


def _is_triples(qrels: Any) -> bool:
    if isinstance(qrels, tuple) and len(qrels) == 3:
        return True
    return hasattr(qrels, "shape") and hasattr(qrels, "dtype") and not hasattr(qrels, "columns")


def _on_host(values: Any) -> Any:
    """An array of any library, or a list, as NumPy's."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values.get() if hasattr(values, "get") else values)


def _triples(qrels: Any, n_queries: int, n_documents: int) -> tuple[Ints, Ints, Floats]:
    wanted = "three arrays of one length (query rows, document rows, grades), or one array with these three columns"
    if not isinstance(qrels, tuple):
        table = _on_host(qrels)
        if table.ndim != 2 or table.shape[1] != 3:
            raise DataError(f"`qrels` as an array must be {wanted}, not of the shape {table.shape}")
        parts = [table[:, 0], table[:, 1], table[:, 2]]
        if table.dtype.kind == "f" and np.array_equal(table[:, :2], np.floor(table[:, :2])):
            parts[:2] = [column.astype(np.int64) for column in parts[:2]]
    else:
        try:
            parts = [_on_host(part) for part in qrels]
        except (TypeError, ValueError):
            raise DataError(f"`qrels` as a tuple must be {wanted}") from None
        parts = [part.astype(np.int64) if not part.size else part for part in parts]
        if any(part.ndim != 1 for part in parts) or len({len(part) for part in parts}) > 1:
            raise DataError(f"`qrels` as a tuple must be {wanted}, not of the shapes {[part.shape for part in parts]}")
    for part, n, rows in zip(parts[:2], (n_queries, n_documents), ("queries", "documents"), strict=True):
        if part.dtype.kind not in "iu":
            raise DataError(f"`qrels` must name rows of `{rows}` by whole numbers, not {part.dtype}")
        if len(part) and (int(part.min()) < 0 or int(part.max()) >= n):
            wrong = int(part.min()) if int(part.min()) < 0 else int(part.max())
            has = f"rows 0 to {n - 1}" if n else "no rows"
            raise DataError(f"`qrels` names row {wrong} of `{rows}`, which has {has}")
    if parts[2].dtype.kind not in "biuf":
        raise DataError(f"the grades of `qrels` must be numbers, not {parts[2].dtype}")
    grades = parts[2].astype(np.float64)
    if np.any(grades == np.inf):
        raise DataError("`qrels` holds an infinite grade; NaN says that nobody judged a document")
    return parts[0].astype(np.int64), parts[1].astype(np.int64), grades


def _sorted(
    query: Ints, document: Ints, grade: Floats, n_queries: int, n_documents: int, judged: Bools | None
) -> Judged:
    order = np.lexsort((document, query))
    query, document, grade = query[order], document[order], grade[order]
    twice = np.flatnonzero((query[1:] == query[:-1]) & (document[1:] == document[:-1]))
    if len(twice):
        at = twice[0]
        raise DataError(
            f"`qrels` judges row {document[at]} of `documents` twice for row {query[at]} of `queries`; keep one grade"
        )
    starts = np.searchsorted(query, np.arange(n_queries + 1))
    return Judged(starts, document, grade, n_documents, np.diff(starts) > 0 if judged is None else judged)
