"""Rows of a click log as they come, block by block, into compact arrays: names as numbers, lists and sessions as hashes
of 64 bits, so that millions of lines take some tens of bytes each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankgauge.errors import DataError
from rankgauge.formats.click_logs.columns import SHOWN, TRUTH, Reading, Roles
from rankgauge.formats.click_logs.listed import clicked_of, visits_of
from rankgauge.model.normal_text import NormalText
from rankgauge.model.ranked import Bools

__all__ = ["IMPLIED", "UNKNOWN", "Columns", "Gathered", "Names", "joint_hash", "normal_query"]

Numbers = NDArray[np.int32]
Hashes = NDArray[np.uint64]
Columns = Mapping[str, pl.Series]
IMPLIED = -2
"""The rank of what stands where its list has it."""
UNKNOWN = np.uint64(0)
"""The session of what tells none."""
_MOST_RANK = 2**30
_YES, _NO = TRUTH["yes"], TRUTH["no"]


def normal_query(text: str) -> str:
    """A query as people type it, whatever case, blanks and quotation marks they use."""
    return NormalText(text).text.casefold()


class Names:
    """Texts as numbers, in the order in which they come."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._raw: dict[tuple[bool, str], int] = {}

    def numbers(self, column: pl.Series, written: Callable[[str], str] = str.strip) -> Numbers:
        """The number of each text; -1 for an empty one."""
        found = column.unique(maintain_order=True).drop_nulls()
        known = [self._number(raw, written) for raw in found.to_list()]
        if not known:
            return np.full(len(column), -1, dtype=np.int32)
        placed = column.replace_strict(found, pl.Series(known, dtype=pl.Int32), default=-1, return_dtype=pl.Int32)
        return np.asarray(placed.fill_null(-1).to_numpy(), dtype=np.int32)

    def _number(self, raw: str, written: Callable[[str], str]) -> int:
        key = (written is normal_query, raw)
        if key not in self._raw:
            name = written(raw)
            self._raw[key] = self._numbers.setdefault(name, len(self._numbers)) if name else -1
            if len(self._numbers) > len(self.names):
                self.names.append(name)
        return self._raw[key]


class Gathered:
    """What was read so far."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.queries, self.docs = Names(), Names()
        self.left_out: Counter[str] = Counter()
        self.read = 0
        self.whole = True
        self.has_sessions = False
        self._next = 0
        self.parts: dict[str, list[NDArray[Any]]] = {}

    def joined(self, name: str, kind: Any) -> NDArray[Any]:
        """All of one array; its parts are given up."""
        parts = self.parts.pop(name, [])
        return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)

    def _put(self, group: str, **arrays: NDArray[Any]) -> None:
        for name, values in arrays.items():
            self.parts.setdefault(f"{group}/{name}", []).append(values)

    def take(self, columns: Columns, roles: Roles) -> None:
        """Rows that each tell of one document."""
        rows = len(next(iter(columns.values())))
        self.read += rows
        docs = self.docs.numbers(_text(columns["doc"]))
        by_id = "query_id" in roles and not roles.query_is_list
        if by_id:
            queries = self.queries.numbers(_text(columns["query_id"]))
        else:
            queries = self.queries.numbers(_text(columns["query"]), normal_query)
        ranks, placed = self._ranks(columns.get("rank"), rows)
        if roles.shape == "counts":
            self._take_counts(columns, queries, docs, ranks)
            return
        sessions = _sessions(_text(columns["session"])) if "session" in roles else np.full(rows, UNKNOWN)
        self.has_sessions |= "session" in roles
        lists, known = self._lists(columns, roles, queries, rows)
        shown, clicked, told = self._told(columns, roles, rows)
        clicked, bad = self._kept_clicks(clicked, _numbers(columns["dwell"]) if "dwell" in columns else None)
        events = roles.shape == "event"
        faults = {
            "broken": ~told,
            "no_list": ~known,
            "no_doc": docs < 0,
            "no_query": (queries < 0) & (not events),  # another event of the list may tell
            "no_position": ~placed & shown,
        }
        use = (shown | clicked) & self._faultless(faults, shown | clicked | ~told)
        if events:
            named = (queries >= 0) & known
            self._put("names", list=lists[named], query=queries[named])
            own = use & clicked & ~shown
            self._put("clicks", list=lists[own], doc=docs[own], bad=bad[own])
            use &= shown
        self._put(
            "shown", list=lists[use], query=queries[use], doc=docs[use], rank=ranks[use], clicked=clicked[use],
            bad=bad[use], session=sessions[use],
        )  # fmt: skip

    def _faultless(self, faults: Mapping[str, Bools], asked: Bools) -> Bools:
        """What has none of the faults; each entry counts for its first."""
        left = asked.copy()
        for reason, has in faults.items():
            self.left_out[reason] += int((left & has).sum())
            left &= ~has
        return left

    def _lists(self, columns: Columns, roles: Roles, queries: Numbers, rows: int) -> tuple[Hashes, Bools]:
        """The list of each row, and whether it is known."""
        role = "list" if "list" in roles else "query_id" if roles.query_is_list else ""
        if role:
            names = _text(columns[role])
            return _hashes(names), ~(names.is_null() | (names == "").fill_null(False)).to_numpy()
        if "session" in roles:  # one search for each query of a session
            names = _text(columns["session"])
            return joint_hash(_hashes(names), queries), _sessions(names) != UNKNOWN
        if roles.shape == "event":
            raise DataError(
                "events say what was clicked, but no column says in which list: name one `list`, `search_id` or "
                "`session_id`, or say which it is (`columns=`)"
            )
        self.whole = False
        first, self._next = self._next, self._next + rows
        return _spread(np.arange(first, first + rows, dtype=np.uint64)), np.ones(rows, dtype=bool)

    def _told(self, columns: Columns, roles: Roles, rows: int) -> tuple[Bools, Bools, Bools]:
        """Whether rows tell that something was shown, that it was clicked, and whether they can be understood."""
        if roles.shape == "event":
            action = _text(columns["action"]).str.strip_chars().str.to_lowercase().fill_null("")
            clicked = action.is_in([name.casefold() for name in self.reading.actions]).to_numpy()
            shown = action.is_in(list(SHOWN)).to_numpy() & ~clicked
            self.left_out["other_action"] += int((~clicked & ~shown).sum())
            return shown, np.array(clicked), np.ones(rows, dtype=bool)
        value = _text(columns["clicked"]).str.strip_chars().str.to_lowercase().fill_null("")
        yes, no = value.is_in(list(_YES)).to_numpy(), value.is_in(list(_NO)).to_numpy()
        return np.array(yes | no), np.array(yes), np.array(yes | no)

    def _ranks(self, column: pl.Series | None, rows: int) -> tuple[Numbers, Bools]:
        """Ranks as they are written, and which of them are any."""
        if column is None:
            return np.full(rows, IMPLIED, dtype=np.int32), np.ones(rows, dtype=bool)
        values = _numbers(column)
        good = np.isfinite(values) & (values >= 0) & (values < _MOST_RANK) & (np.floor(values) == values)
        return np.where(good, values, -1).astype(np.int32), good

    def _kept_clicks(self, clicked: Bools, seconds: NDArray[np.float64] | None) -> tuple[Bools, Bools]:
        """Clicks whose visit was not too short, and which visits cannot be."""
        if seconds is None:
            return clicked, np.zeros(len(clicked), dtype=bool)
        short = clicked & (seconds >= 0) & (seconds < self.reading.least_dwell)
        self.left_out["short_dwell"] += int(short.sum())
        return clicked & ~short, seconds < 0

    def _take_counts(self, columns: Columns, queries: Numbers, docs: Numbers, ranks: Numbers) -> None:
        """How often documents were shown and clicked at a rank."""
        self.whole = False
        shows = _numbers(columns["shows"])
        clicks = _numbers(columns["clicks" if "clicks" in columns else "clicked"])
        known = np.isfinite(shows) & np.isfinite(clicks)
        faults = {
            "broken": ~known,
            "no_query": queries < 0,
            "no_doc": docs < 0,
            "no_position": ranks < 0,
            "impossible_counts": ~((clicks >= 0) & (clicks <= shows) & (shows < 2**53)),
        }
        use = self._faultless(faults, np.ones(len(docs), dtype=bool)) & (shows > 0)
        self._put(
            "counts", query=queries[use], doc=docs[use], rank=ranks[use], shows=np.floor(shows[use]),
            clicks=np.floor(clicks[use]),
        )  # fmt: skip

    def take_lists(self, rows: Iterable[tuple[Any, Any, Any, Any, Any, Any]], *, by_id: bool, sessions: bool) -> None:
        """Rows that each hold a list: (list, query, docs, clicks, dwell, session)."""
        taken: tuple[list[str], list[str], list[str], list[int], list[bool], list[float], list[str]]
        taken = ([], [], [], [], [], [], [])
        lists, queries, docs, ranks, flags, seconds, of = taken
        for name, query, shown, clicks, dwell, session in rows:
            self.read += 1
            clicked = clicked_of(shown, clicks)
            visits = None if clicked is None else visits_of(shown, clicks, dwell)
            if clicked is None or visits is None:
                self.left_out["broken"] += 1
                continue
            if query is None or not str(query).strip():
                self.left_out["no_query"] += 1
                continue
            self._next += 1
            own = f"#{self._next}" if name is None else str(name)
            self.left_out["never_shown"] += clicked[1]
            for rank, (doc, flag) in enumerate(zip(shown, clicked[0], strict=True)):
                lists.append(own)
                queries.append(str(query))
                docs.append("" if doc is None else str(doc))
                ranks.append(rank)
                flags.append(flag)
                seconds.append(visits[rank])
                of.append("" if session is None else str(session))
        if not lists:
            return
        number = self.docs.numbers(pl.Series(docs, dtype=pl.String))
        use = self._faultless({"no_doc": number < 0}, np.ones(len(docs), dtype=bool))
        asked = self.queries.numbers(pl.Series(queries, dtype=pl.String), str.strip if by_id else normal_query)
        self.has_sessions |= sessions
        kept, bad = self._kept_clicks(np.array(flags, dtype=bool), np.array(seconds))
        self._put(
            "shown", list=_hashes(pl.Series(lists, dtype=pl.String))[use], query=asked[use], doc=number[use],
            rank=np.array(ranks, dtype=np.int32)[use], clicked=kept[use], bad=bad[use],
            session=_sessions(pl.Series(of, dtype=pl.String))[use],
        )  # fmt: skip

    def take_hits(self, lists: Sequence[str], queries: Sequence[str | None], hits: Sequence[Sequence[str]]) -> None:
        """What a search server returned: it was shown, where no events say what was."""
        hashes = _hashes(pl.Series(lists, dtype=pl.String))
        asked = self.queries.numbers(pl.Series(queries, dtype=pl.String), normal_query)
        self._put("names", list=hashes[asked >= 0], query=asked[asked >= 0])
        sizes = np.array([len(own) for own in hits], dtype=np.int64)
        docs = self.docs.numbers(pl.Series([doc for own in hits for doc in own], dtype=pl.String))
        good = docs >= 0
        self._put("hits", list=np.repeat(hashes, sizes)[good], query=np.repeat(asked, sizes)[good], doc=docs[good])


def _text(column: pl.Series) -> pl.Series:
    """A column of ids or texts as text."""
    if column.dtype == pl.String:
        return column
    if column.dtype.is_float():  # ids with a gap on their way through pandas: 7.0 was 7
        whole = column.cast(pl.Int64, strict=False)
        column = whole if (whole == column).all() else column
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return pl.Series([None] * len(column), dtype=pl.String)
    return column.cast(pl.String, strict=False)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """A column of numbers; not a number where it holds none."""
    if column.dtype == pl.String:
        column = column.str.strip_chars()
    if column.dtype.is_nested():
        return np.full(len(column), np.nan)
    return np.asarray(column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy(), dtype=np.float64)


def _hashes(column: pl.Series) -> Hashes:
    return np.asarray(column.fill_null("").hash(seed=7).to_numpy(), dtype=np.uint64)


def _sessions(column: pl.Series) -> Hashes:
    """The session of each row, where it is known."""
    known = ((column != "") & column.is_not_null()).fill_null(False).to_numpy()
    return np.where(known, _hashes(column), UNKNOWN)


def joint_hash(hashes: Hashes, numbers: Numbers) -> Hashes:
    """Of a hash and a number; not the same with another number in place of part of the hash, as it would be by xor."""
    return _spread(hashes * np.uint64(0xD6E8FEB86659FD93) + numbers.astype(np.uint64))


def _spread(numbers: Hashes) -> Hashes:
    """Numbers over all 64 bits (the end of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
