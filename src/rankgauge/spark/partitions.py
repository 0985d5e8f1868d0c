"""What runs on the executors: the rows of a partition, which holds whole queries, matched with the judgments.

Its memory is bounded: a partition of more rows goes to the disk and comes back in parts of whole queries, and a query
of more rows in parts of whole documents.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from rankgauge.engine.match_frames import FrameMatcher, JudgmentIndex, NotGroupedError
from rankgauge.engine.spilling import Long, Spill, room_for
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.extras import optional
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run

__all__ = [
    "EMPTY",
    "FIELDS",
    "JUDGED",
    "PLACE",
    "ROWS",
    "Judgments",
    "Matching",
    "arrow",
    "frames_of",
    "gather",
    "packed",
    "unpacked",
    "whole_run",
]

ROWS = 2_000_000
"""Rows of a partition that are held in memory, and of a query."""
_PARTS = 64  # of a partition on the disk; what is still too large is divided again
_CHUNK = 250_000  # rows that are matched at once where nothing is put in order
_EDGE = 50_000  # rows of a query that are put aside
_SAMPLE = 500
_BATCH = 100_000  # rows that go back at once
EMPTY = "empty"
"""The column that tells rows of queries whose lists are empty, where there can be any."""
JUDGED = "judged"
"""The column that tells judgments from rows of the run, where both are in one frame."""
PLACE = "place"
"""The column of the place in the list, where the contract asks for it."""
FIELDS = "what string, told binary"
"""What a partition tells: `lists`, `hits`, `counts`, `sample`, `seen`, `edges`, `ungrouped` or `error`, each packed."""


class _RepeatsError(RankgaugeError):
    """Documents that stand twice, for the driver to tell together with those of other partitions."""

    def __init__(self, pairs: Sequence[tuple[str, str]], total: int) -> None:
        super().__init__("repeats")
        self.pairs, self.total = pairs, total


class _Part(Run):
    """The rows of a partition."""

    def describe_repeats(self, pairs: Sequence[tuple[str, str]], total: int) -> RankgaugeError:
        return _RepeatsError(pairs, total)


@dataclass(frozen=True)
class Judgments:
    """Judgments on their way to the executors, which index them once for each worker process."""

    rows: bytes
    key: str

    @staticmethod
    def of(qrels: Qrels) -> Judgments:
        rows = packed(qrels.frame)
        return Judgments(rows, hashlib.sha256(rows).hexdigest())

    def index(self) -> JudgmentIndex:
        if self.key not in _kept:
            _kept.clear()
            _kept[self.key] = JudgmentIndex.of(Qrels.of_frame(unpacked(self.rows), "judgments"))
        return _kept[self.key]


_kept: dict[str, JudgmentIndex] = {}


@dataclass(frozen=True)
class Matching:
    """Takes the Arrow batches of a partition (query, doc, score, and place where the order of the list counts)."""

    judgments: Judgments
    contract: Contract
    rows: int = ROWS
    as_they_lie: bool = False
    """Whether nobody has brought the rows together by query: those of a query that stand in several partitions are for
    the driver to find, by the hashes of all queries, and to match, if they are the first or the last of theirs."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        empty: list[str] = []
        told = list(self._told(frames_of(batches, empty), empty))
        yield from arrow(pl.DataFrame(told, {"what": pl.String, "told": pl.Binary}, orient="row"))

    def _told(self, frames: Iterator[pl.DataFrame], empty: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        index, edges = self.judgments.index(), list[pl.DataFrame]()
        bring = partial(as_they_lie, edges=edges) if self.as_they_lie else partial(gather, most=self.rows)
        sample: list[pl.DataFrame] = []
        try:
            noted = _noted(frames, index.query_numbers["query"], sample)
            matcher = bring(noted, lambda: FrameMatcher(index, self.contract, whole_run(_Part), {}))
        except NotGroupedError:
            yield "ungrouped", b""
            return
        except RankgaugeError as error:
            yield "error", json.dumps(_fault(error)).encode()
            return
        matcher.add_empty(empty)
        if self.as_they_lie:
            yield "seen", matcher.seen.tobytes()
            yield from (("edges", packed(rows)) for rows in edges)
        yield "counts", json.dumps([matcher.run_queries, matcher.first_queries]).encode()
        yield "lists", packed(matcher.lists)
        hits = matcher.hits
        names = ("judgment", "above", "tied", "tie_met")
        yield "hits", packed(pl.DataFrame({name: getattr(hits, name) for name in names}))
        if not len(hits.owner):
            yield from (("sample", packed(rows)) for rows in sample)


def _noted(frames: Iterable[pl.DataFrame], judged: pl.Series, sample: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows, of which the first of judged queries are kept, for messages."""
    known = judged.implode()
    for frame in frames:
        if not sample and len(rows := frame.head(_SAMPLE).filter(pl.col("query").is_in(known))):
            sample.append(rows)
        yield frame


def _fault(error: RankgaugeError) -> dict[str, Any]:
    if isinstance(error, _RepeatsError):
        return {"pairs": list(map(list, error.pairs)), "total": error.total}
    return {"kind": type(error).__name__, "message": str(error)}


def whole_run(part: type[Run] = Run) -> Run:
    """What stands for the run where rows are checked."""
    nothing = pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "score": pl.Float64})
    return part.of_frame(nothing, "run")


def gather(frames: Iterable[pl.DataFrame], make: Callable[[], FrameMatcher], most: int) -> FrameMatcher:
    """A matcher, made when all rows are known, that was given them in parts of whole queries."""
    held: list[pl.DataFrame] = []
    frames, rows = iter(frames), 0
    for frame in frames:
        held.append(frame)
        rows += len(frame)
        if rows > most:
            break
    else:
        return _gathered(pl.concat(held), make) if held else make()

    def add_long(long: Long) -> None:
        with Spill(max(2, 2 * long.rows // most), most, by="doc") as documents:
            for part in long.read():
                documents.add(part)
            documents.flush()
            matcher.add_long(documents.parts)

    with room_for("run"), Spill(_PARTS, most, long=add_long) as spill:
        for part in held:
            spill.add(part)
        held.clear()
        for part in frames:
            spill.add(part)
        spill.flush()
        matcher = make()
        for part in spill.parts():
            matcher.add(_in_order(part) if PLACE in part.columns else part)
    return matcher


def as_they_lie(
    frames: Iterable[pl.DataFrame], make: Callable[[], FrameMatcher], edges: list[pl.DataFrame]
) -> FrameMatcher:
    """The same for rows that are grouped by query already; they are held no longer than to the end of a query. The rows
    of the first query and of the last, which may go on in other partitions, are put aside too."""
    matcher = make()
    rest: pl.DataFrame | None = None
    for chunk in _chunks(frames):
        whole = chunk if rest is None else pl.concat([rest, chunk])
        queries = whole["query"]
        first, last = queries != queries[0], queries != queries[-1]
        if not edges and first.any():
            edges.append(whole[: first.arg_max()])
        cut = len(last) - int(last.reverse().arg_max() or 0) if last.any() else 0
        if cut:
            matcher.add(_in_order(whole[:cut]) if PLACE in whole.columns else whole[:cut])
        rest = whole[cut:]
        if len(rest) > _EDGE:
            raise NotGroupedError  # in memory a list as long as this is better off alone
    if rest is not None:
        matcher.add(_in_order(rest) if PLACE in rest.columns else rest)
        edges.append(rest)
    return matcher


def _chunks(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in fewer frames."""
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(map(len, held)) >= _CHUNK:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _gathered(frame: pl.DataFrame, make: Callable[[], FrameMatcher]) -> FrameMatcher:
    """All rows at once; mostly they are grouped by query already, which is faster to find out than to sort."""
    if PLACE not in frame.columns:
        with contextlib.suppress(NotGroupedError):
            matcher = make()
            matcher.add(frame)
            return matcher
    matcher = make()
    matcher.add(_in_order(frame))
    return matcher


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Grouped by query, in the order of the lists where there is one."""
    if PLACE in frame.columns:
        frame = frame.sort(PLACE, maintain_order=True).drop(PLACE)
    return frame[np.argsort(frame["query"].hash().to_numpy(), kind="stable")]


def frames_of(batches: Iterable[Any], empty: list[str]) -> Iterator[pl.DataFrame]:
    """Arrow batches as frames, every row checked; queries whose lists are empty are put aside."""
    pa = optional("pyarrow", "working on Spark", "pyarrow", "spark")
    for batch in batches:
        frame = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([batch])))
        if EMPTY in frame.columns:
            nothing = frame[EMPTY].fill_null(False)
            empty.extend(frame.filter(nothing)["query"].drop_nulls())
            frame = frame.filter(~nothing).drop(EMPTY)
        if len(frame):
            _check(frame)
            yield frame


def _check(frame: pl.DataFrame) -> None:
    for name, other in (("query", "doc"), ("doc", "query")):
        missing = frame[name].is_null() | (frame[name] == "").fill_null(False)
        if missing.any():
            row = frame.row(int(missing.arg_max() or 0), named=True)
            raise DataError(f"{_of(row)}a row has no {name} id; its {other} id is {row[other]!r}")
    scores = frame["score"]
    bad = scores.is_null() | ~scores.is_finite().fill_null(False)
    if bad.any():
        row = frame.row(int(bad.arg_max() or 0), named=True)
        where = f"{_of(row)}query {row['query']!r}, document {row['doc']!r}"
        number = "grade" if row.get(JUDGED) else "score"
        raise DataError(f"{where}: the {number} {row['score']!r} is no finite number")


def _of(row: dict[str, Any]) -> str:
    """Whose row it is, where both are in one frame; else the driver says so."""
    return "" if JUDGED not in row else "judgments: " if row[JUDGED] else "run: "


def arrow(frame: pl.DataFrame) -> Iterator[Any]:
    """A frame as Arrow batches of the types that Spark knows."""
    yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches(max_chunksize=_BATCH)


def packed(frame: pl.DataFrame) -> bytes:
    held = io.BytesIO()
    frame.write_ipc_stream(held, compression="zstd")
    return held.getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(data))
