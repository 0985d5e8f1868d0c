"""What the chunks of a list add in characters, rank by rank: of the documents, and of the gold passages in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from rankgauge.engine.spans import SpanLabels
from rankgauge.model.ranked import Characters, Ints

__all__ = ["CharacterCounts", "Intervals"]


class Intervals:
    """A set of whole numbers as intervals that neither touch nor overlap."""

    __slots__ = ("ends", "starts")

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in intervals:
            self.add(start, end)

    def common(self, start: int, end: int) -> int:
        """How many of the numbers from `start` to `end` are inside."""
        first, behind = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return sum(min(end, self.ends[at]) - max(start, self.starts[at]) for at in range(first, behind))

    def add(self, start: int, end: int) -> None:
        if start >= end:
            return
        first, behind = bisect_left(self.ends, start), bisect_right(self.starts, end)
        if first < behind:
            start, end = min(start, self.starts[first]), max(end, self.ends[behind - 1])
        self.starts[first:behind], self.ends[first:behind] = [start], [end]

    def gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """What of `start` to `end` is not inside."""
        found, at = [], start
        for i in range(bisect_right(self.ends, start), bisect_left(self.starts, end)):
            if self.starts[i] > at:
                found.append((at, self.starts[i]))
            at = self.ends[i]
        return [*found, (at, end)] if at < end else found

    @property
    def size(self) -> int:
        return sum(self.ends) - sum(self.starts)


class CharacterCounts:
    """Takes the lists of the judged queries, in any order, and counts their characters down to a depth."""

    def __init__(self, labels: SpanLabels, queries: Sequence[str], depth: int | None) -> None:
        self._labels, self._depth = labels, depth
        spans = labels.gold()
        self._gold: list[dict[str, Intervals]] = []
        each = []
        for query in queries:
            own: dict[str, Intervals] = {}
            for span in spans[query]:
                own.setdefault(span.doc, Intervals()).add(span.start or 0, span.end or 0)
            self._gold.append(own)
            each.append(sum((span.end or 0) - (span.start or 0) for span in spans[query]))
        self._gold_each: Ints = np.array(each, dtype=np.int64)
        self._rows: list[list[tuple[int, int, int]]] = [[] for _ in queries]

    def add(self, query: int, chunks: Iterable[str]) -> None:
        """The list of a query, by its number, best first."""
        seen: dict[str, Intervals] = {}
        gold, rows = self._gold[query], []
        for number, chunk in enumerate(chunks):
            if number == self._depth:
                break
            doc, start, end = self._labels.place_of(chunk)
            own, wanted = seen.setdefault(doc, Intervals()), gold.get(doc)
            new = own.gaps(start, end)
            own.add(start, end)
            found = 0 if wanted is None else sum(wanted.common(*gap) for gap in new)
            rows.append((end - start, sum(b - a for a, b in new), found))
        self._rows[query] = rows

    def finish(self) -> Characters:
        """What the kernels see."""
        sizes = np.array([len(rows) for rows in self._rows], dtype=np.int64)
        flat = np.array([row for rows in self._rows for row in rows], dtype=np.int64).reshape(-1, 3)
        return Characters(
            starts=np.concatenate(([0], np.cumsum(sizes))),
            length=flat[:, 0],
            new=flat[:, 1],
            gold_new=flat[:, 2],
            gold=np.array([sum(own.size for own in gold.values()) for gold in self._gold], dtype=np.int64),
            gold_each=self._gold_each,
            best=np.array([self._best(gold) for gold in self._gold], dtype=np.float64),
        )

    def _best(self, gold: dict[str, Intervals]) -> float:
        """|gold in chunks| / |chunks with gold, and gold that is in none|: chunking_evaluation's precision_omega."""
        held, needed = 0, 0
        for doc, own in gold.items():
            chunks = Intervals()
            for start, end in zip(own.starts, own.ends, strict=True):
                for _, first, last in self._labels.placed.touching(doc, start, end):
                    chunks.add(first, last)
            inside = sum(chunks.common(start, end) for start, end in zip(own.starts, own.ends, strict=True))
            held, needed = held + inside, needed + chunks.size + own.size - inside
        return held / needed if needed else 0.0
