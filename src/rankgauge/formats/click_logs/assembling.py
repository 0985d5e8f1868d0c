"""What was gathered from a click log, cleaned: lists with their documents down their ranks, clicks where they belong,
and how many entries do not count and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import DataError
from rankgauge.formats.click_logs.gathering import IMPLIED, UNKNOWN, Gathered, joint_hash
from rankgauge.model.clicks import LEFT_OUT, ClickTable
from rankgauge.model.ranked import Bools

__all__ = ["assemble"]

_OFTEN = 0.1  # the share of lists from which a second convention is none by accident


@dataclass
class _Shown:
    """Entries, one for each document that was shown."""

    list: NDArray[np.uint64]
    query: NDArray[np.int32]
    doc: NDArray[np.int32]
    rank: NDArray[np.int32]
    clicked: Bools
    bad: Bools
    session: NDArray[np.uint64]

    def keep(self, use: Any) -> None:
        """Only these, or all in this order; one array at a time, for there may be millions."""
        if use.dtype == np.bool_ and use.all():
            return
        for name, values in vars(self).items():
            setattr(self, name, values[use])

    def __len__(self) -> int:
        return len(self.list)


_KINDS = (np.uint64, np.int32, np.int32, np.int32, np.bool_, np.bool_, np.uint64)


def assemble(gathered: Gathered, where: str) -> ClickTable:
    """The table, or an error where nothing was shown."""
    left = gathered.left_out
    counts = _Counts(gathered)
    names = _names(gathered)
    shown = _Shown(
        *(gathered.joined(f"shown/{name}", kind) for name, kind in zip(_Shown.__annotations__, _KINDS, strict=True))
    )
    shown = _with_hits(gathered, shown)
    if not len(shown) and not len(counts.doc):
        raise DataError(_nothing(gathered, where))
    _once(shown, left)
    _click(gathered, shown, left)
    _name(shown, names, left)
    sessions, busiest = 0, 0.0
    if gathered.has_sessions and len(shown):
        sessions, busiest = _without_busy(shown, gathered.reading.most_lists, left)
    if shown.bad.any():
        spoiled = np.isin(shown.list, np.unique(shown.list[shown.bad]))
        left["bad_dwell"] += int(spoiled.sum())
        shown.keep(~spoiled)
    bases = _rank(shown)
    deep = shown.rank >= gathered.reading.depth
    left["below_depth"] += int(deep.sum())
    shown.keep(~deep)
    counts.cut(gathered.reading.depth, left)
    if not len(shown) and not len(counts.doc):
        raise DataError(_nothing(gathered, where))
    return _table(gathered, shown, counts, sessions=sessions, busiest=busiest, bases=bases)


def _nothing(gathered: Gathered, where: str) -> str:
    from rankgauge.errors import counted

    told = ", ".join(f"{reason.replace('_', ' ')} {gathered.left_out[reason]:,}" for reason in
                     (*LEFT_OUT, "other_action") if gathered.left_out[reason])  # fmt: skip
    read = counted(gathered.read, "entry", "entries")
    if not gathered.read:
        return f"{where}: it holds no clicks and no impressions"
    return (
        f"{where}: of {read} none says what was shown at which position" + (f" ({told})" if told else "") + "; labels "
        "need impressions, not clicks alone"
    )


def _names(gathered: Gathered) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint64]]:
    """The query of each list that any entry tells, and the lists of which entries tell two."""
    lists, queries = gathered.joined("names/list", np.uint64), gathered.joined("names/query", np.int32)
    order = np.argsort(lists, kind="stable")
    lists, queries = lists[order], queries[order]
    first = np.concatenate([[True], lists[1:] != lists[:-1]]) if len(lists) else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(first)
    if not len(starts):
        return lists, queries, lists
    least, most = np.minimum.reduceat(queries, starts), np.maximum.reduceat(queries, starts)
    return lists[starts], queries[starts], lists[starts][least != most]


def _with_hits(gathered: Gathered, shown: _Shown) -> _Shown:
    """What servers returned, where no event says what was shown."""
    lists = gathered.joined("hits/list", np.uint64)
    query, doc = gathered.joined("hits/query", np.int32), gathered.joined("hits/doc", np.int32)
    if not len(lists):
        return shown
    own = ~np.isin(lists, np.unique(shown.list))
    query, doc = query[own], doc[own]
    rank, nothing = np.full(len(doc), IMPLIED, dtype=np.int32), np.zeros(len(doc), dtype=bool)
    hits = _Shown(lists[own], query, doc, rank, nothing, nothing, np.zeros(len(doc), dtype=np.uint64))
    joined = zip(vars(shown).values(), vars(hits).values(), strict=True)
    return _Shown(*(np.concatenate(pair) for pair in joined))


def _name(shown: _Shown, names: Any, left: Counter[str]) -> None:
    """Give entries the query of their list; lists under two queries, and without any, do not count."""
    lists, queries, torn = names
    if len(torn):
        two = np.isin(shown.list, torn)
        left["two_queries"] += int(two.sum())
        shown.keep(~two)
    unnamed = np.flatnonzero(shown.query < 0)
    if len(unnamed) and len(lists):
        at = np.minimum(np.searchsorted(lists, shown.list[unnamed]), len(lists) - 1)
        shown.query[unnamed] = np.where(lists[at] == shown.list[unnamed], queries[at], -1)
    left["no_query"] += int((shown.query < 0).sum())
    shown.keep(shown.query >= 0)


def _once(shown: _Shown, left: Counter[str]) -> None:
    """Keep each document of a list once, where it stood first, clicked if it was clicked anywhere."""
    key = joint_hash(shown.list, shown.doc)
    order = np.argsort(key, kind="stable")
    key = key[order]
    again = np.concatenate([[False], key[1:] == key[:-1]]) if len(key) else np.zeros(0, dtype=bool)
    left["duplicate"] += int(again.sum())
    if not again.any():
        return
    starts = np.flatnonzero(~again)
    for name in ("clicked", "bad"):
        values = getattr(shown, name)
        values[order[starts]] = np.logical_or.reduceat(values[order], starts)
    shown.keep(np.sort(order[starts]))


def _click(gathered: Gathered, shown: _Shown, left: Counter[str]) -> None:
    """Clicks that come as events of their own, at the documents they are on."""
    lists, docs = gathered.joined("clicks/list", np.uint64), gathered.joined("clicks/doc", np.int32)
    bad = gathered.joined("clicks/bad", np.bool_)
    if not len(lists):
        return
    wanted = joint_hash(lists, docs)
    key = joint_hash(shown.list, shown.doc)
    order = np.argsort(key, kind="stable")
    at = np.minimum(np.searchsorted(key, wanted, sorter=order), max(len(key) - 1, 0))
    found = key[order[at]] == wanted if len(key) else np.zeros(len(wanted), dtype=bool)
    left["never_shown"] += int((~found).sum())
    places = order[at[found]]
    shown.clicked[places] = True
    shown.bad[places[bad[found]]] = True
    left["repeated_click"] += len(places) - len(np.unique(places))


def _without_busy(shown: _Shown, most: int | None, left: Counter[str]) -> tuple[int, float]:
    """Leave out sessions of more lists than people make; how many are left, and the share of lists of the busiest."""
    lists, first = np.unique(shown.list, return_index=True)
    sessions, place, count = np.unique(shown.session[first], return_inverse=True, return_counts=True)
    known = sessions != UNKNOWN
    excess = known & (count > (most or np.inf))
    if excess.any():
        busy = np.isin(shown.list, lists[excess[place]])
        left["busy_session"] += int(busy.sum())
        shown.keep(~busy)
    own, rest = count[known & ~excess], count[~excess]
    return len(own), float(own.max() / rest.sum()) if len(rest) > 1 and len(own) else 0.0


def _rank(shown: _Shown) -> dict[int, int]:
    """Sort entries list by list, down their ranks from 0; in how many lists positions start at 0 and at 1, where both
    occur often.

    Positions start at 0 or at 1, as most lists of the log do; where both occur often, as each list does. Two documents
    at one position follow one another in the order of the log.
    """
    if not len(shown):
        return {}
    shown.keep(np.lexsort((shown.rank, shown.list)))  # stable: equal ranks stay in the order of the log
    first = np.concatenate([[True], shown.list[1:] != shown.list[:-1]])
    starts = np.flatnonzero(first)
    place = np.cumsum(first, dtype=np.int32) - 1
    least = shown.rank[starts]
    index = (np.arange(len(shown)) - starts[place]).astype(np.int32)
    implied = (least == IMPLIED)[place]
    at_0, at_1 = int((least == 0).sum()), int((least == 1).sum())
    bases = {0: at_0, 1: at_1}
    usual = 0 if at_0 > at_1 else 1
    both = min(at_0, at_1) >= _OFTEN * max(at_0 + at_1, 1) and min(at_0, at_1) > 0
    # The few lists that begin at 0 in a log that counts from 1 can only be counted from 0.
    base = np.where(least == 0, 0, np.where((least == 1) & both, 1, usual)).astype(np.int32)
    # Running largest of rank - index within each list, so that no two documents share a rank.
    start = place * np.int64(2**31)
    rank = start + (shown.rank - base[place] - index)
    np.maximum.accumulate(rank, out=rank)
    rank -= start
    shown.rank = np.where(implied, index, rank + index).astype(np.int32)
    return bases if both else {}


class _Counts:
    """How often documents were shown and clicked at a rank, in logs of counts."""

    def __init__(self, gathered: Gathered) -> None:
        self.query = gathered.joined("counts/query", np.int32)
        self.doc = gathered.joined("counts/doc", np.int32)
        self.rank = gathered.joined("counts/rank", np.int32)
        self.shows = gathered.joined("counts/shows", np.float64)
        self.clicks = gathered.joined("counts/clicks", np.float64)
        if len(self.rank) and self.rank.min() > 0:
            self.rank = self.rank - 1

    def cut(self, depth: int, left: Counter[str]) -> None:
        """Only ranks that are read."""
        use = self.rank < depth
        left["below_depth"] += int((~use).sum())
        for name, values in vars(self).items():
            setattr(self, name, values[use])


def _table(gathered: Gathered, shown: _Shown, counts: _Counts, **about: Any) -> ClickTable:
    first = np.concatenate([[True], shown.list[1:] != shown.list[:-1]]) if len(shown) else np.zeros(0, dtype=bool)
    place = np.cumsum(first, dtype=np.int32) - 1
    shown.list = shown.session = np.zeros(0, dtype=np.uint64)  # they are large, and so is what follows
    query, doc, rank, clicked = shown.query, shown.doc, shown.rank, shown.clicked
    times = None
    if len(counts.doc):  # once for the showings that were clicked, once for the rest
        n, last = len(counts.doc), int(place[-1]) + 1 if len(place) else 0
        times = np.concatenate([np.ones(len(query)), counts.clicks, counts.shows - counts.clicks])
        place = np.concatenate([place, last + np.arange(2 * n)])
        query, doc, rank = (
            np.concatenate([own, more, more])
            for own, more in ((query, counts.query), (doc, counts.doc), (rank, counts.rank))
        )
        clicked = np.concatenate([clicked, np.ones(n, dtype=bool), np.zeros(n, dtype=bool)])
        some = times > 0
        query, doc, rank, clicked, times = query[some], doc[some], rank[some], clicked[some], times[some]
        place = np.cumsum(np.diff(place[some], prepend=-1) > 0, dtype=np.int32) - 1
    pairs, pair = np.unique(query.astype(np.int64) << 32 | doc.astype(np.int64), return_inverse=True)
    return ClickTable(
        queries=gathered.queries.names,
        docs=gathered.docs.names,
        pair_query=(pairs >> 32).astype(np.int32),
        pair_doc=(pairs & 0xFFFFFFFF).astype(np.int32),
        place=place.astype(np.int32),
        pair=pair.astype(np.int32),
        rank=rank,
        clicked=clicked,
        times=times,
        whole=gathered.whole,
        left_out={reason: gathered.left_out[reason] for reason in (*LEFT_OUT, "other_action")
                  if gathered.left_out[reason]},
        read=gathered.read,
        **about,
    )  # fmt: skip
