"""From dictionaries to ranks and grades of the judged documents, without an object per retrieved document.

Each judged document is looked up in the run; its rank is one more than the number of scores above its own, and ids are
compared only where scores tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.errors import DataError
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ordering import as_compared, place_of_scores
from rankgauge.model.ranked import Floats, Ints, RankedGrades
from rankgauge.model.run import Run

__all__ = ["match_mappings"]

Lists = Mapping[str, Mapping[str, float]]
_SORT_FROM = 8  # tied judged documents in one list from which sorting it once is cheaper than scanning for each


def match_mappings(qrels: Qrels, run: Run, contract: Contract) -> RankedGrades:
    """Ranks and grades of the judged documents; both sides are dictionaries."""
    judgments, lists = qrels.mapping, run.mapping
    assert judgments is not None
    assert lists is not None
    queries = list(judgments)
    judged, owner, grades = _judged(judgments, queries, qrels.name)
    own: list[Mapping[str, float]] = [lists.get(query, {}) for query in queries]
    if contract.drop_self:
        own = [_without(docs, query) for query, docs in zip(queries, own, strict=True)]
    in_run = np.fromiter((query in lists for query in queries), dtype=bool, count=len(queries))
    retrieved = np.fromiter(map(len, own), dtype=np.int64, count=len(queries))
    scores = as_compared(_scores(own, queries, int(retrieved.sum()), run.name), contract.scores)
    _check_the_rest(lists, judgments, run.name)

    found = np.array(
        [docs.get(doc) for docs, wanted in zip(own, judgments.values(), strict=True) for doc in wanted],
        dtype=np.float64,
    )
    hit = np.flatnonzero(~np.isnan(found))
    owner, asked = owner[hit], as_compared(found[hit], contract.scores)
    starts = np.concatenate(([0], np.cumsum(retrieved)))
    above, tied = place_of_scores(scores, starts, owner, asked)
    tie_met = tied > 1
    if contract.ties != "expected":
        names = _names(judgments, hit) if contract.ties == "given" or tie_met.any() else []
        if contract.ties == "given":
            above = _given(own, owner, names)
        elif tie_met.any():
            above = above + _ids_above(own, owner, names, asked, tie_met, contract.scores)
        tied = np.ones_like(above)
    hits = Hits()
    hits.add(owner, above, tied, grades[hit], hit, tie_met)
    return assemble(judged, hits, in_run, retrieved)


def _judged(judgments: Lists, queries: Sequence[str], name: str) -> tuple[Judged, Ints, Floats]:
    """The judgments' side, and the query and grade of each judgment in the order given."""
    counts = np.fromiter(map(len, judgments.values()), dtype=np.int64, count=len(queries))
    grades = _numbers(judgments, int(counts.sum()), "grade", name)
    for query, docs in judgments.items():
        if "" in docs or query == "":
            raise DataError(f"{name}: query {query!r} has an empty id")
    owner = np.repeat(np.arange(len(queries)), counts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    return Judged(queries, starts, grades[np.lexsort((-grades, owner))]), owner, grades


def _scores(own: Sequence[Mapping[str, float]], queries: Sequence[str], total: int, name: str) -> Floats:
    for query, docs in zip(queries, own, strict=True):
        if "" in docs:
            raise DataError(f"{name}: query {query!r} holds a document with an empty id")
    try:
        scores = np.fromiter(chain.from_iterable(docs.values() for docs in own), dtype=np.float64, count=total)
        finite = bool(np.isfinite(scores).all())
    except (TypeError, ValueError):
        finite = False
    if not finite:
        raise _bad_number(dict(zip(queries, own, strict=True)), "score", name)
    return scores


def _check_the_rest(lists: Lists, judgments: Lists, name: str) -> None:
    """Queries without judgments are left out, but a broken score in them is still an error."""
    rest = {query: docs for query, docs in lists.items() if query not in judgments}
    if rest:
        _numbers(rest, sum(map(len, rest.values())), "score", name)


def _numbers(source: Lists, total: int, what: str, name: str) -> Floats:
    try:
        values = np.fromiter(chain.from_iterable(d.values() for d in source.values()), dtype=np.float64, count=total)
        if np.isfinite(values).all():
            return values
    except (TypeError, ValueError):
        pass
    raise _bad_number(source, what, name)


def _bad_number(source: Lists, what: str, name: str) -> DataError:
    for query, docs in source.items():
        for doc, value in docs.items():
            try:
                fine = bool(np.isfinite(float(value)))
            except (TypeError, ValueError):
                fine = False
            if not fine:
                return DataError(f"{name}: query {query!r}, document {doc!r}: {what} {value!r} is no finite number")
    return DataError(f"{name}: a {what} is no finite number")


def _without(docs: Mapping[str, float], query: str) -> Mapping[str, float]:
    return {doc: score for doc, score in docs.items() if doc != query} if query in docs else docs


def _names(judgments: Lists, hit: Ints) -> list[str]:
    """Ids of the judged documents that were retrieved."""
    every = list(chain.from_iterable(judgments.values()))
    return [every[row] for row in hit.tolist()]


def _given(own: Sequence[Mapping[str, float]], owner: Ints, names: Sequence[str]) -> Ints:
    """Position in the list as it stands."""
    above = np.empty(len(names), dtype=np.int64)
    current, places = -1, {}
    for row, (query, doc) in enumerate(zip(owner.tolist(), names, strict=True)):
        if query != current:
            current, places = query, {name: i for i, name in enumerate(own[query])}
        above[row] = places[doc]
    return above


def _ids_above(
    own: Sequence[Mapping[str, float]], owner: Ints, names: Sequence[str], asked: Floats, tie_met: Any, precision: str
) -> Ints:
    """For each hit: documents of the same score whose id is greater. Python compares texts in UTF-8 byte order."""
    extra = np.zeros(len(names), dtype=np.int64)
    rows_of: dict[int, list[int]] = {}
    for row in np.flatnonzero(tie_met).tolist():
        rows_of.setdefault(int(owner[row]), []).append(row)
    for query, rows in rows_of.items():
        docs = own[query]
        compared = as_compared(np.fromiter(docs.values(), np.float64, len(docs)), precision).tolist()
        if len(rows) < _SORT_FROM:
            for row in rows:
                score, name = asked[row], names[row]
                extra[row] = sum(1 for doc, other in zip(docs, compared, strict=True) if other == score and doc > name)
            continue
        groups: dict[float, list[str]] = {}
        for doc, score in zip(docs, compared, strict=True):
            groups.setdefault(score, []).append(doc)
        places = {}
        for score in {float(asked[row]) for row in rows}:
            places.update({doc: i for i, doc in enumerate(sorted(groups[score], reverse=True))})
        for row in rows:
            extra[row] = places[names[row]]
    return extra
