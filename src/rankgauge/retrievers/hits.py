"""What a retriever returned, as a list of `Hit`: any shape in, ids with falling scores out, and every fault named."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from numbers import Real
from typing import Any, Final, NamedTuple

from rankgauge.errors import Fault, RetrieverError
from rankgauge.retrievers.entries import BARE, LONGEST_ID, Fields, id_text, number_of, score_place
from rankgauge.retrievers.fields import empty, fields_of, follow, parse_path, shown

__all__ = ["SPARE", "Hit", "ListFault", "Listed", "entries_of", "first_of", "hits_of", "results_in_columns"]


class Hit(NamedTuple):
    """One retrieved document."""

    id: str
    score: float


_as_hit: Callable[[tuple[str, float]], Hit] = functools.partial(tuple.__new__, Hit)  # of a pair known to be right


@dataclass(frozen=True)
class ListFault(Fault):
    """A fault of one list. Its kind is one of: too_many, unread, duplicate, unsorted, no_id, not_finite, no_score."""

    kind: str = ""
    given: tuple[Hit, ...] = ()
    """Of scores that only rise: the hits in the order given, where the scores are distances."""
    field: str = ""
    """Where these scores are, as `score_field` takes it; where that was given, the same with the other sign."""


class Listed(list[Any]):
    """A list of results, with the answer that it was read from, and what stands there before a field of a result."""

    def __init__(
        self,
        results: Iterable[Any],
        answer: Any = None,
        headers: Any = None,
        each: str = "",
        rows: Sequence[Any] = (),
    ) -> None:
        """`rows` are the objects that ids and scores were taken from, one for each result."""
        super().__init__(results)
        self.answer, self.headers, self.each, self.rows = answer, headers, each, rows


_LISTS: Final = (
    *("hits.hits", "hits", "results", "documents", "matches", "points"),
    *("nodes", "source_nodes", "docs", "data"),
)
"""Where the list is looked for in a result that is no list."""
SPARE: Final = 1000
"""How far a generator is read beyond what was asked for: it may have no end."""
_LONGEST_LIST: Final = 100_000  # results beyond what was asked for that are put in order, if they are there already

_WRAPPERS: Final = [parse_path(text) for text in _LISTS]
_PAIRS: Final = (tuple, Hit)
_LISTED: Final = (list, Listed)


class Unread(list[Any]):
    """The first entries of a longer list, or of one without an end."""


def first_of(entries: Iterable[Any], most: int) -> list[Any]:
    """The first entries, no more; an `Unread` where there is at least one more."""
    found = list(islice(entries, most + 1))
    return found if len(found) <= most else Unread(found[:most])


def hits_of(
    results: Any, k: int | None, *, id_field: str | None = None, score_field: str | None = None
) -> tuple[list[Hit], list[ListFault]]:
    """The first k hits of what a retriever returned, best first, and what was wrong with it; all of them for None.

    `results` is any iterable of ids, (id, score) pairs, dictionaries, objects, rows or documents of known libraries.
    Without scores they fall by one from hit to hit, as in a `Run` made from a list of ids. What is at fault is mended
    and named: too many hits are cut, of duplicates the first stays, unsorted scores are put in order, hits without an
    id are dropped, scores that are no finite numbers go to the end (plus infinity: to the front). Of a generator no
    more than k + 1,000 entries are read, and of a list no more than k + 100,000 are looked at. Scores that only rise
    may be distances, which one list cannot tell: the fault holds the hits in the order given too.
    """
    if id_field is None and score_field is None and (tidy := _tidy(results, k)) is not None:
        return tidy, []
    faults: list[ListFault] = []
    entries = entries_of(results, k)
    unread = isinstance(entries, Unread)
    if unread:
        asked = "" if k is None else f" where {k} were asked for"
        _add(faults, "unread", f"more than {len(entries)} results{asked}; the rest was not read")
    ids, scores = _columns(entries, Fields(id_field, score_field), faults)
    hits = _ordered(ids, scores, faults)
    if faults and faults[-1].kind == "unsorted" and (given := _rising(ids, scores)):
        if score_field is not None:  # turned round as it was asked for; if that was the mistake, this is the other way
            other = score_field[1:] if score_field.startswith("-") else f"-{score_field}"
            faults[-1] = replace(faults[-1], field=other)
        elif field := score_place(entries[0]):
            best: dict[str, Hit] = {}
            for hit in given:
                best.setdefault(hit.id, hit)
            faults[-1] = replace(faults[-1], given=tuple(best.values())[:k], field=field)
    if len(set(ids)) < len(ids):
        first: dict[str, Hit] = {}
        repeated = [hit.id for hit in hits if first.setdefault(hit.id, hit) is not hit]
        _add(faults, "duplicate", f"{_n(repeated, 'repeated document')}, such as {repeated[0]!r}; the first counts")
        hits = list(first.values())
    if k is not None and len(hits) > k and not unread:
        _add(faults, "too_many", f"{_n(hits, 'result')} where {k} {'was' if k == 1 else 'were'} asked for; cut to {k}")
    return hits[:k], faults


def _rows_of(results: Any, most: int) -> list[Any] | None:
    """The first rows of a data frame of polars, pandas or pyarrow; None for all else."""
    rows: list[Any] | None = None
    if hasattr(results, "column_names") and hasattr(results, "to_pylist"):
        rows = results.slice(0, most).to_pylist()
    elif hasattr(results, "to_dicts") and hasattr(results, "columns"):
        rows = results.head(most).to_dicts()
    elif hasattr(results, "iterrows") and hasattr(results, "columns"):
        rows = results.head(most).to_dict("records")
    return rows


def _rising(ids: list[str], scores: list[float | None]) -> list[Hit]:
    """The hits in the order given with their scores negated, where all have one and these only rise; else nothing."""
    known = [score for score in scores if score is not None and math.isfinite(score)]
    if len(known) < len(ids) or not all(a <= b for a, b in pairwise(known)):
        return []
    return [Hit(name, -score) for name, score in zip(ids, known, strict=True)]


def _tidy(results: Any, k: int | None) -> list[Hit] | None:
    """Hits of a list of (text, float) pairs without any fault, the common case, at a tenth of the time; else None."""
    if type(results) not in _LISTED or not results or type(results[0]) not in _PAIRS:
        return None
    if k is not None and len(results) > k:
        return None
    try:
        ids, scores = zip(*results, strict=True)
    except (TypeError, ValueError):  # not all of them pairs
        return None
    if {*map(type, ids)} != {str} or {*map(type, scores)} != {float} or len({*ids, ""}) <= len(ids):
        return None
    if max(map(len, ids)) > LONGEST_ID:
        return None
    if not math.isfinite(sum(scores)) or list(scores) != sorted(scores, reverse=True):
        return None
    return list(map(_as_hit, results))


def _n(listed: list[Any], noun: str) -> str:
    """How many there are: 1 result, 2 results."""
    return f"{len(listed)} {noun}{'' if len(listed) == 1 else 's'}"


def _not_finite(n: int) -> str:
    return "1 score that is NaN or infinite" if n == 1 else f"{n} scores that are NaN or infinite"


def _add(faults: list[ListFault], kind: str, message: str) -> None:
    faults.append(ListFault(message, kind=kind))


def entries_of(results: Any, k: int | None) -> list[Any]:
    """The results one by one, whatever they came in; no more of them than can be of use."""
    most = (k or 0) + _LONGEST_LIST
    if isinstance(results, Unread):
        return results
    if hasattr(results, "tolist"):  # arrays
        longer = getattr(results, "ndim", 0) and len(results) > most
        results = Unread(results[:most].tolist()) if longer else results.tolist()
    if (rows := _rows_of(results, most + 1)) is not None:
        results = rows
    if isinstance(results, list | tuple) and not hasattr(results, "_fields"):
        return results if isinstance(results, Unread) else first_of(results, most)
    if isinstance(results, Iterator):
        return first_of(results, (k or 0) + SPARE)
    if inspect.isawaitable(results):
        raise RetrieverError("the retriever returned something to be awaited; define it with async def")
    if isinstance(results, set | frozenset):
        raise RetrieverError("the retriever returned a set, which has no order; return a list, best first")
    if isinstance(results, Mapping):
        if (columns := results_in_columns(results)) is not None:
            return first_of(columns, most)
        if all(isinstance(value, Real) and not isinstance(value, bool) for value in results.values()):
            return first_of(results.items(), most)
    elif isinstance(results, Iterable) and isinstance(results, Sized) and not isinstance(results, str | bytes | tuple):
        return first_of(results, most)
    for path in _WRAPPERS:
        if isinstance(found := follow(results, path), list | tuple):
            return first_of(found, most)
    raise RetrieverError(
        f"the retriever returned {shown(results)}, which is no list of results; return a list of ids, of (id, score) "
        "pairs, of dictionaries or of documents, and an empty list when nothing is found"
    )


def results_in_columns(results: Mapping[Any, Any]) -> Iterator[dict[str, Any]] | None:
    """Results in lists side by side, as a collection of Chroma returns them for one query; None for all else."""
    ids = results.get("ids")
    if not isinstance(ids, list) or len(ids) != 1 or not isinstance(ids[0], list):
        return None
    names = {"ids": "id", "distances": "distance", "metadatas": "metadata"}
    lists = {own: column[0] for name, own in names.items() if isinstance(column := results.get(name), list) and column}
    if any(not isinstance(listed, list) or len(listed) != len(ids[0]) for listed in lists.values()):
        return None
    return (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))


def _columns(entries: list[Any], fields: Fields, faults: list[ListFault]) -> tuple[list[str], list[float | None]]:
    """Ids and scores, None where there is no score. Entries without an id are left out."""
    ids: list[str] = []
    scores: list[float | None] = []
    without: list[int] = []
    hidden = False
    distances = fields.score.given is None
    for rank, entry in enumerate(entries, start=1):
        if type(entry) is Hit and not fields.given:
            found, score, negative = entry.id, entry.score, False
        else:
            found, score, negative = fields.parts(entry, rank)
        if empty(found):
            without.append(rank)
            hidden |= not isinstance(entry, (*BARE, Mapping, tuple, list))
            continue
        ids.append(id_text(found, rank, entry))
        number = score if score is None or type(score) is float else number_of(score, rank, entry)
        scores.append(-number if negative and number is not None else number)
        distances &= negative
    if hidden and not ids:  # documents whose id was never set, as a LangChain Document's by default
        raise RetrieverError(
            f"none of the {len(entries)} results has an id; name the field that holds it with id_field "
            f"({fields_of(entries[0])})"
        )
    if without:
        _add(faults, "no_id", f"{_n(without, 'result')} without an id, the first at rank {without[0]}; dropped")
    if distances and len(scores) > 1:
        # Called a distance but larger for better results, as inner products are in some stores.
        values = [score for score in scores if score is not None]
        if len(values) == len(scores) and values[0] < values[-1] and all(a <= b for a, b in pairwise(values)):
            return ids, [-value for value in values]
    return ids, scores


def _ordered(ids: list[str], scores: list[float | None], faults: list[ListFault]) -> list[Hit]:
    """Hits in the order of their scores; equal scores keep the order given."""
    known = [score for score in scores if score is not None]
    if not known:
        return [Hit(name, float(len(ids) - i)) for i, name in enumerate(ids)]
    finite = [score for score in known if math.isfinite(score)]
    if any(a < b for a, b in pairwise(finite)):
        rising = all(a <= b for a, b in pairwise(finite))
        advice = "; they only rise: if they are distances, name them with score_field='-...'" if rising else ""
        _add(faults, "unsorted", f"scores not in falling order, put in order{advice}")
    if len(finite) == len(ids):
        hits = list(map(Hit, ids, finite))
        if faults and faults[-1].kind == "unsorted":
            hits.sort(key=lambda hit: -hit.score)
        return hits
    if len(known) < len(ids):
        absent = len(ids) - len(known)
        _add(faults, "no_score", f"{absent} of {len(ids)} results without a score, put behind those with one")
    if len(finite) < len(known):
        _add(faults, "not_finite", _not_finite(len(known) - len(finite)))
    high, low = max(finite, default=0.0), min(finite, default=0.0)
    behind = iter(range(1, len(ids) + 1))
    values = [
        score if score is not None and math.isfinite(score) else high + 1 if score == math.inf else low - next(behind)
        for score in scores
    ]
    return sorted(map(Hit, ids, values), key=lambda hit: -hit.score)
