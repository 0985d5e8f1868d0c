"""From dictionaries to ranks and grades of the judged documents, without an object per retrieved document.

Each judged document is looked up in the run; its rank is one more than the number of scores above its own, and ids are
compared only where scores tie.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import contains, methodcaller

import numpy as np

from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.errors import DataError
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ordering import as_compared, first_scores, ids_descending, place_of_scores
from rankgauge.model.ranked import Floats, Ints, RankedGrades, largest_first
from rankgauge.model.run import Run

__all__ = ["match_mappings", "numbers_of", "text_score"]

Lists = Mapping[str, Mapping[str, float]]
_TEXT = (str, bytes)
_LOOKED_AT = 1000  # lists


def match_mappings(qrels: Qrels, run: Run, contract: Contract) -> RankedGrades:
    """Ranks and grades of the judged documents; both sides are dictionaries."""
    judgments, lists = qrels.mapping, run.mapping
    assert judgments is not None
    assert lists is not None
    queries = list(judgments)
    n = len(queries)
    counts = np.fromiter(map(len, judgments.values()), dtype=np.int64, count=n)
    grades = numbers_of(judgments, judgments.values(), int(counts.sum()), "grade", qrels.name)
    owner = np.repeat(np.arange(n), counts)
    judged = Judged(queries, np.concatenate(([0], np.cumsum(counts))), largest_first(grades, owner))

    in_run = np.fromiter(map(lists.__contains__, queries), dtype=bool, count=n)
    own: list[Mapping[str, float]] = list(map(lists.get, queries, repeat({})))
    if contract.drop_self:
        own = [_without(docs, query) for query, docs in zip(queries, own, strict=True)]
    retrieved = np.fromiter(map(len, own), dtype=np.int64, count=n)
    total = int(retrieved.sum())
    scores = as_compared(numbers_of(queries, own, total, "score", run.name), contract.scores)
    if len(lists) > int(in_run.sum()):  # queries without judgments are left out, but their scores must be numbers too
        rest = {query: docs for query, docs in lists.items() if query not in judgments}
        numbers_of(rest, rest.values(), sum(map(len, rest.values())), "score", run.name)

    looked_up = chain.from_iterable(
        map(docs.get, wanted, repeat(math.nan)) for docs, wanted in zip(own, judgments.values(), strict=True)
    )
    found = np.fromiter(looked_up, dtype=np.float64, count=len(grades))
    hit = np.flatnonzero(~np.isnan(found))
    owner, asked = owner[hit], as_compared(found[hit], contract.scores)
    starts = np.concatenate(([0], np.cumsum(retrieved)))
    above, tied = place_of_scores(scores, starts, owner, asked)
    tie_met = tied > 1
    if contract.ties == "given":
        above = _given(own, owner, _names(judgments, judged.starts, owner, hit))
    elif contract.ties in ("trec", "stable") and tie_met.any():
        names = _names(judgments, judged.starts, owner[tie_met], hit[tie_met])
        above[tie_met] += _tied_before(own, owner[tie_met], names, asked[tie_met], contract)
    if contract.ties != "expected":
        tied = np.ones_like(above)
    found_hits = [Hits(owner, above, tied, grades[hit], hit, tie_met)]
    return assemble(judged, found_hits, in_run, retrieved, top=first_scores(scores, starts, contract))


def numbers_of(
    queries: Iterable[str], lists: Collection[Mapping[str, float]], total: int, what: str, name: str
) -> Floats:
    """All values of the queries' lists as finite numbers; ids must not be empty."""
    if any(map(contains, lists, repeat(""))):
        query = next(query for query, docs in zip(queries, lists, strict=True) if "" in docs)
        raise DataError(f"{name}: query {query!r} holds a document with an empty id")
    # NumPy would read numbers in texts. Where some are texts mostly all are; to look at all would cost much.
    first = map(next, map(iter, filter(None, map(methodcaller("values"), islice(lists, _LOOKED_AT)))))
    if any(issubclass(kind, _TEXT) for kind in {*map(type, first)}):
        raise _bad_number(queries, lists, what, name)
    try:
        flat = chain.from_iterable(map(methodcaller("values"), lists))
        values = np.fromiter(flat, dtype=np.float64, count=total)
        if np.isfinite(values).all():
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    raise _bad_number(queries, lists, what, name)


def _bad_number(queries: Iterable[str], lists: Iterable[Mapping[str, float]], what: str, name: str) -> DataError:
    for query, docs in zip(queries, lists, strict=True):
        for doc, value in docs.items():
            try:
                fine = not isinstance(value, _TEXT) and bool(np.isfinite(float(value)))
            except (TypeError, ValueError, OverflowError):
                fine = False
            if not fine:
                return DataError(f"{name}: query {query!r}, document {doc!r}: {what} {value!r} is no finite number")
    return DataError(f"{name}: a {what} is no finite number")


def text_score(lists: Mapping[str, Mapping[str, float]], name: str) -> DataError:
    """The error for a score that is a text."""
    return _bad_number(lists, lists.values(), "score", name)


def _without(docs: Mapping[str, float], query: str) -> Mapping[str, float]:
    return {doc: score for doc, score in docs.items() if doc != query} if query in docs else docs


def _names(judgments: Lists, starts: Ints, owner: Ints, hit: Ints) -> list[str]:
    """Ids of some judged documents, by their query and their row among all judgments."""
    queries = list(judgments)
    names: list[str] = []
    current, docs = -1, list[str]()
    for query, row in zip(owner.tolist(), hit.tolist(), strict=True):
        if query != current:
            current, docs = query, list(judgments[queries[query]])
        names.append(docs[row - int(starts[query])])
    return names


def _given(own: Sequence[Mapping[str, float]], owner: Ints, names: Sequence[str]) -> Ints:
    """Position in the list as it stands."""
    above = np.empty(len(names), dtype=np.int64)
    current, places = -1, {}
    for row, (query, doc) in enumerate(zip(owner.tolist(), names, strict=True)):
        if query != current:
            current, places = query, {name: i for i, name in enumerate(own[query])}
        above[row] = places[doc]
    return above


def _tied_before(
    own: Sequence[Mapping[str, float]], owner: Ints, names: Sequence[str], asked: Floats, contract: Contract
) -> Ints:
    """For each tied document: those of the same score that come first, by id or by place in the list."""
    extra = np.zeros(len(names), dtype=np.int64)
    rows_of: dict[int, list[int]] = {}
    for row, query in enumerate(owner.tolist()):
        rows_of.setdefault(query, []).append(row)
    for query, rows in rows_of.items():
        docs = own[query]
        groups: dict[float, list[str]] = {float(asked[row]): [] for row in rows}
        compared = as_compared(np.fromiter(docs.values(), np.float64, len(docs)), contract.scores).tolist()
        for doc, score in zip(docs, compared, strict=True):
            if score in groups:
                groups[score].append(doc)
        if contract.ties == "trec":
            groups = {score: ids_descending(tied) for score, tied in groups.items()}
        places = {doc: i for tied in groups.values() for i, doc in enumerate(tied)}
        for row in rows:
            extra[row] = places[names[row]]
    return extra
