"""What a retriever returned, as a list of `Hit`: any shape in, ids with falling scores out, and every fault named."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from itertools import islice, pairwise
from numbers import Integral, Real
from typing import Any, Final, NamedTuple
from uuid import UUID

from rankgauge.errors import Fault, RetrieverError
from rankgauge.retrievers.fields import ABSENT, HOLDERS, Field, empty, fields_of, follow, parse_path, shown, signed_path

__all__ = ["ID_FIELDS", "SCORE_FIELDS", "SPARE", "Hit", "ListFault", "entries_of", "first_of", "hits_of"]


class Hit(NamedTuple):
    """One retrieved document."""

    id: str
    score: float


_as_hit: Callable[[tuple[str, float]], Hit] = functools.partial(tuple.__new__, Hit)  # of a pair known to be right


@dataclass(frozen=True)
class ListFault(Fault):
    """A fault of one list. Its kind is one of: too_many, unread, duplicate, unsorted, no_id, not_finite, no_score."""

    kind: str = ""


# An id that the user put beside the text goes before the one that a store made up.
ID_FIELDS: Final = (
    *(f"{holder}.id" for holder in HOLDERS),
    *("id", "_id", "doc_id", "docid", "document_id", "corpus_id", "chunk_id", "node_id", "uuid"),
    *(f"{holder}.{name}" for name in ("doc_id", "docid", "document_id", "chunk_id") for holder in HOLDERS),
    "metadata.source",
)
"""Where the id of a result is looked for, in this order."""
SCORE_FIELDS: Final = (
    *("score", "_score", "similarity", "relevance_score", "-distance", "-_distance"),
    *("metadata.score", "metadata.relevance_score", "metadata.similarity", "-metadata.distance"),
)
"""Where the score is looked for, in this order; `-` stands before what is smaller for better results."""
_LISTS: Final = (
    *("hits.hits", "hits", "results", "documents", "matches", "points"),
    *("nodes", "source_nodes", "docs", "data"),
)
"""Where the list is looked for in a result that is no list."""
SPARE: Final = 1000
"""How far a generator is read beyond what was asked for: it may have no end."""
_LONGEST_LIST: Final = 100_000  # results beyond what was asked for that are put in order, if they are there already
_LONGEST_ID: Final = 10_000  # characters; more are a text in the place of an id

_IDS: Final = [signed_path(text) for text in ID_FIELDS]
_SCORES: Final = [signed_path(text) for text in SCORE_FIELDS]
_WRAPPERS: Final = [parse_path(text) for text in _LISTS]
_PAIRS: Final = (tuple, Hit)
_BARE: Final = (str, bytes, UUID, Integral, type(None))


class Unread(list[Any]):
    """The first entries of a longer list, or of one without an end."""


def first_of(entries: Iterable[Any], most: int) -> list[Any]:
    """The first entries, no more; an `Unread` where there is at least one more."""
    found = list(islice(entries, most + 1))
    return found if len(found) <= most else Unread(found[:most])


def hits_of(
    results: Any, k: int, *, id_field: str | None = None, score_field: str | None = None
) -> tuple[list[Hit], list[ListFault]]:
    """The first k hits of what a retriever returned, best first, and what was wrong with it.

    `results` is any iterable of ids, (id, score) pairs, dictionaries, objects or documents of known libraries.
    Without scores they fall by one from hit to hit, as in a `Run` made from a list of ids. What is at fault is mended
    and named: too many hits are cut, of duplicates the first stays, unsorted scores are put in order, hits without an
    id are dropped, scores that are no finite numbers go to the end (plus infinity: to the front). Of a generator no
    more than k + 1,000 entries are read, and of a list no more than k + 100,000 are looked at.
    """
    if id_field is None and score_field is None and (tidy := _tidy(results, k)) is not None:
        return tidy, []
    faults: list[ListFault] = []
    entries = entries_of(results, k)
    unread = isinstance(entries, Unread)
    if unread:
        _add(faults, "unread", f"more than {len(entries)} results where {k} were asked for; the rest was not read")
    ids, scores = _columns(entries, Field(id_field, _IDS), Field(score_field, _SCORES), faults)
    hits = _ordered(ids, scores, faults)
    if len(set(ids)) < len(ids):
        first: dict[str, Hit] = {}
        repeated = [hit.id for hit in hits if first.setdefault(hit.id, hit) is not hit]
        _add(faults, "duplicate", f"{_n(repeated, 'repeated document')}, such as {repeated[0]!r}; the first counts")
        hits = list(first.values())
    if len(hits) > k and not unread:
        _add(faults, "too_many", f"{_n(hits, 'result')} where {k} {'was' if k == 1 else 'were'} asked for; cut to {k}")
    del hits[k:]
    return hits, faults


def _tidy(results: Any, k: int) -> list[Hit] | None:
    """Hits of a list of (text, float) pairs without any fault, the common case, at a tenth of the time; else None."""
    if type(results) is not list or not 0 < len(results) <= k or type(results[0]) not in _PAIRS:
        return None
    try:
        ids, scores = zip(*results, strict=True)
    except (TypeError, ValueError):  # not all of them pairs
        return None
    if {*map(type, ids)} != {str} or {*map(type, scores)} != {float} or len({*ids, ""}) <= len(ids):
        return None
    if max(map(len, ids)) > _LONGEST_ID:
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


def entries_of(results: Any, k: int) -> list[Any]:
    """The results one by one, whatever they came in; no more of them than can be of use."""
    most = k + _LONGEST_LIST
    if isinstance(results, Unread):
        return results
    if hasattr(results, "tolist"):  # arrays
        longer = getattr(results, "ndim", 0) and len(results) > most
        results = Unread(results[:most].tolist()) if longer else results.tolist()
    if isinstance(results, list | tuple) and not hasattr(results, "_fields"):
        return results if isinstance(results, Unread) else first_of(results, most)
    if isinstance(results, Iterator):
        return first_of(results, k + SPARE)
    if inspect.isawaitable(results):
        raise RetrieverError("the retriever returned something to be awaited; define it with async def")
    if isinstance(results, set | frozenset):
        raise RetrieverError("the retriever returned a set, which has no order; return a list, best first")
    if isinstance(results, Mapping):
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


def _columns(
    entries: list[Any], id_field: Field, score_field: Field, faults: list[ListFault]
) -> tuple[list[str], list[float | None]]:
    """Ids and scores, None where there is no score. Entries without an id are left out."""
    ids: list[str] = []
    scores: list[float | None] = []
    without: list[int] = []
    hidden = False
    distances = score_field.given is None
    for rank, entry in enumerate(entries, start=1):
        found, score, negative = _parts(entry, id_field, score_field, rank)
        if empty(found):
            without.append(rank)
            hidden |= not isinstance(entry, (*_BARE, Mapping, tuple, list))
            continue
        ids.append(_id(found, rank, entry))
        number = score if score is None or type(score) is float else _number(score, rank, entry)
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


def _parts(entry: Any, id_field: Field, score_field: Field, rank: int) -> tuple[Any, Any, bool]:
    """Id, score, and whether the score is to be negated, of one result."""
    kind = type(entry)
    if kind is Hit and id_field.given is None and score_field.given is None:
        return entry.id, entry.score, False
    if kind is str or (kind is not dict and isinstance(entry, _BARE)):
        if entry is not None:
            _refuse(entry, rank, id_field, score_field)
        return entry, None, False
    if isinstance(entry, tuple | list) and not hasattr(entry, "_fields"):
        found, score, negative = _pair(entry, id_field, score_field, rank)
    else:
        found = _located(entry, id_field, rank)
        score, negative = score_field.find(entry)
    if score is ABSENT:
        if score_field.given is not None:
            raise RetrieverError(
                f"result {rank} has no {score_field.given!r}; set score_field otherwise ({fields_of(entry)})"
            )
        score = None
    return found, score, negative


def _pair(entry: Any, id_field: Field, score_field: Field, rank: int) -> tuple[Any, Any, bool]:
    """Of an (id, score) or (document, score) pair, or of a row whose parts have names such as [0]."""
    score, negative = score_field.find(entry) if score_field.given else (ABSENT, False)
    found = id_field.find(entry)[0] if id_field.given else ABSENT
    pair = len(entry) == 2 and (entry[1] is None or hasattr(entry[1], "__float__"))
    if found is ABSENT and not pair:
        swapped = len(entry) == 2 and isinstance(entry[0], Real) and isinstance(entry[1], str | bytes)
        first, second = ("[1]", "[0]") if swapped else ("[0]", "[1]")
        raise RetrieverError(
            f"result {rank} is {shown(entry)}, which is no (id, score) pair; name its parts, for example "
            f"with id_field='{first}' and score_field='{second}'"
        )
    bare = isinstance(entry[0], _BARE)
    if found is ABSENT:
        if bare and id_field.given is not None:
            _refuse(entry, rank, id_field, Field(None, ()))
        found = entry[0] if bare else _located(entry[0], id_field, rank)
    if score is ABSENT and score_field.given is not None:
        if not bare:  # of a document beside its score
            score, negative = score_field.find(entry[0])
        if score is ABSENT:
            _refuse(entry, rank, Field(None, ()), score_field)
    if score is ABSENT and pair:
        score = entry[1]
    return found, score, negative


def _refuse(entry: Any, rank: int, *fields: Field) -> None:
    """A field that was named, and that results of this shape cannot have, must not be passed over in silence."""
    for name, given in zip(("id_field", "score_field"), (one.given for one in fields), strict=True):
        if given is not None:
            raise RetrieverError(
                f"result {rank} is {shown(entry)}, which has no {given!r}; leave {name} out, or give results that have "
                "this field"
            )


def _located(entry: Any, id_field: Field, rank: int) -> Any:
    found = id_field.find(entry)[0]
    if found is ABSENT:
        place = f"under {id_field.given!r}" if id_field.given else "in any of the usual places"
        raise RetrieverError(
            f"result {rank} has no id {place}; name the field that holds it with id_field ({fields_of(entry)})"
        )
    return found


def _id(value: Any, rank: int, entry: Any) -> str:
    """An id as text."""
    if isinstance(value, str | bytes) and len(value) > _LONGEST_ID:
        raise RetrieverError(
            f"result {rank}: the id has {len(value)} characters, more than {_LONGEST_ID}; name the right field with "
            f"id_field ({fields_of(entry)})"
        )
    if isinstance(value, str):
        return value
    if isinstance(value, Integral | UUID) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise RetrieverError(
        f"result {rank}: the id {shown(value)} is neither a text nor a whole number; "
        f"name the right field with id_field ({fields_of(entry)})"
    )


def _number(score: Any, rank: int, entry: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError):
        raise RetrieverError(
            f"result {rank}: the score {shown(score)} is no number; name the right field with score_field "
            f"({fields_of(entry)})"
        ) from None


def _ordered(ids: list[str], scores: list[float | None], faults: list[ListFault]) -> list[Hit]:
    """Hits in the order of their scores; equal scores keep the order given."""
    known = [score for score in scores if score is not None]
    if not known:
        return [Hit(name, float(len(ids) - i)) for i, name in enumerate(ids)]
    finite = [score for score in known if math.isfinite(score)]
    if any(a < b for a, b in pairwise(finite)):
        rising = all(a <= b for a, b in pairwise(finite))
        advice = "; they only rise: negate them if they are distances (score_field='-...')" if rising else ""
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
