"""Pairs of query and document in the order in which they are to be reviewed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, Fault, FormatError, counted
from rankgauge.formats.json_values import dump_lines, id_of, read_json_lines
from rankgauge.formats.sources import Source, write_whole
from rankgauge.model.pool import Pool
from rankgauge.record import UnjudgedRange
from rankgauge.words import Note

__all__ = ["WHY", "Pair", "QueuedPair", "ReviewQueue", "Why", "as_queue", "load_queue"]

Why = Literal["conflict", "uncertain", "unreviewed", "unjudged"]
WHY: tuple[Why, ...] = ("conflict", "uncertain", "unreviewed", "unjudged")
Pair = tuple[str, str]


@named_arguments
@dataclass(frozen=True, slots=True)
class QueuedPair:
    """A document to be reviewed for a query."""

    query: str
    doc: str
    reviewers: tuple[str, ...] = ()
    """Who is to do it; nobody in particular where it is empty."""
    why: Why = "unjudged"
    effect: float | None = None
    """What its label is worth: by how much it narrows the ranges of the differences; None where that is not known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reviewers", tuple(self.reviewers))

    @property
    def pair(self) -> Pair:
        return self.query, self.doc


@named_arguments
@dataclass(frozen=True, eq=False)
class ReviewQueue(Sequence[QueuedPair]):
    """What to review: one query after the other."""

    items: tuple[QueuedPair, ...]
    documents: int
    """All that wait, of which the items are those that matter most."""
    doubled: int = 0
    """Items that two reviewers are to do, each without the other."""
    ranges: tuple[UnjudgedRange, ...] = ()
    """What unjudged documents leave open of the differences of the runs, under the labels as they are."""
    notes: tuple[Note, ...] = ()

    @property
    def queries(self) -> list[str]:
        return list(dict.fromkeys(one.query for one in self.items))

    @property
    def counts(self) -> dict[str, int]:
        """How many wait for each reason."""
        found = Counter(one.why for one in self.items)
        return {why: found[why] for why in WHY if found[why]}

    @property
    def shares(self) -> dict[str, int]:
        """How many each reviewer is to do."""
        return dict(sorted(Counter(name for one in self.items for name in one.reviewers).items()))

    def of(self, reviewer: str) -> ReviewQueue:
        """What one reviewer is to do; what is nobody's in particular is everybody's."""
        own = tuple(one for one in self.items if not one.reviewers or reviewer in one.reviewers)
        if self.items and not own:
            raise DataError(f"nothing here is for {reviewer!r}; the reviewers are: {', '.join(self.shares)}")
        return replace(self, items=own)

    @property
    def pool(self) -> Pool:
        """The same pairs as a pool, without a rank or a system."""
        return Pool([one.pair for one in self.items], name="queue")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON Lines, which a pool can be read from too: pairs and reviewers, and nothing that a reviewer
        must not see."""
        lines: list[Mapping[str, Any]] = [
            {"query": one.query, "doc": one.doc} | ({"reviewers": list(one.reviewers)} if one.reviewers else {})
            for one in self.items
        ]
        write_whole(path, dump_lines(lines))

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, for those who share out the work: with reasons and effects."""
        return {
            "format": "rankgauge.review-queue",
            "version": 1,
            "documents": self.documents,
            "doubled": self.doubled,
            "counts": self.counts,
            "shares": self.shares,
            "open_comparisons": [
                {"measure": one.measure, "a": one.a, "b": one.b} for one in self.ranges if one.a and one.changes_winner
            ],
            "items": [
                {"query": one.query, "doc": one.doc, "reviewers": list(one.reviewers)}
                | {"why": one.why, "effect": one.effect}
                for one in self.items
            ],
        }

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[QueuedPair]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"ReviewQueue({counted(len(self), 'pair')} of {counted(len(self.queries), 'query', 'queries')})"


@named_arguments
def load_queue(path: str | os.PathLike[str]) -> ReviewQueue:
    """A queue from JSON Lines; a pool is one without reviewers."""
    source = Source(path)
    found: dict[Pair, QueuedPair] = {}
    faults: list[str | Fault] = []
    for number, item in read_json_lines(source):
        try:
            one = _queued(item)
            if one.pair in found:
                raise DataError(f"document {one.doc!r} stands twice for query {one.query!r}")
            found[one.pair] = one
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(source.name, faults)
    doubled = sum(len(one.reviewers) > 1 for one in found.values())
    return ReviewQueue(tuple(found.values()), len(found), doubled)


def _queued(item: Any) -> QueuedPair:
    if not isinstance(item, Mapping) or not {"query", "doc"} <= set(item):
        raise DataError('a line of a queue is an object such as {"query": "q1", "doc": "d1", "reviewers": ["ana"]}')
    names = item.get("reviewers", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise DataError('"reviewers" must be a list of names')
    return QueuedPair(id_of(item["query"], "query"), id_of(item["doc"], "document"), tuple(names))


def as_queue(source: ReviewQueue | Pool | Iterable[Pair] | str | os.PathLike[str]) -> ReviewQueue:
    """A queue from one, from a pool or pairs, or from a file of one of them."""
    if isinstance(source, ReviewQueue):
        return source
    if isinstance(source, str | os.PathLike):
        return load_queue(source)
    if not isinstance(source, Iterable):
        raise DataError(f"a queue is a ReviewQueue, a Pool, or a list of (query, document), not {source!r}"[:200])
    pool = source if isinstance(source, Pool) else Pool(source)
    return ReviewQueue(tuple(QueuedPair(*one.pair) for one in pool), len(pool))
