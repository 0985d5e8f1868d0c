"""What a kernel sees: the ranks and grades of the judged documents that were retrieved, and counts per query.

Most measures never need the other documents of a run, so they are counted and never become Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bools",
    "Characters",
    "Floats",
    "Ints",
    "RankedGrades",
    "SubtopicHits",
    "largest_first",
    "ranges",
    "tie_groups",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class SubtopicHits:
    """Judgments by subtopic, one row for each (query, subtopic, document), for the diversity measures.

    Rows are sorted by query; `document` numbers the judged documents of a query (by id, descending), `subtopic` its
    subtopics. `hit` is the document's row among the hits, or -1 where it was not retrieved.
    """

    starts: Ints
    document: Ints
    subtopic: Ints
    grade: Floats
    hit: Ints

    def renumbered(self, new_hit: Ints) -> SubtopicHits:
        """The same judgments after hit i became hit `new_hit[i]`, or vanished (-1)."""
        return replace(self, hit=np.append(new_hit, -1)[self.hit])

    def take(self, rows: Ints, shift: Ints) -> SubtopicHits:
        """The judgments of some queries, any of them any number of times; `shift` is what is added to their hits."""
        starts, row, kept = ranges(self.starts, rows)
        hit = self.hit[kept]
        hit = np.where(hit < 0, -1, hit + shift[row])
        return SubtopicHits(starts, self.document[kept], self.subtopic[kept], self.grade[kept], hit)


@dataclass(frozen=True, eq=False, repr=False)
class Characters:
    """What each retrieved chunk adds in characters, one row for each rank, for the measures of characters.

    Rows of query `i` are `starts[i]:starts[i+1]`, in rank order, down to the depth that was asked for.
    """

    starts: Ints
    length: Ints
    """Characters of the chunk."""
    new: Ints
    """Those that no chunk before it holds."""
    gold_new: Ints
    """Those of the new ones that lie in a gold passage."""
    gold: Ints
    """For each query: characters of all gold passages, those that two of them share counted once."""
    gold_each: Ints
    """The same, counted for each passage."""
    best: Floats
    """For each query: the precision of a list that holds every chunk with a gold character, and no other."""

    def limited(self, depth: int) -> Characters:
        """The same lists cut after `depth` chunks."""
        sizes = np.minimum(np.diff(self.starts), depth)
        kept = np.arange(len(self.length)) - np.repeat(self.starts[:-1], np.diff(self.starts)) < depth
        starts = np.concatenate(([0], np.cumsum(sizes)))
        return replace(
            self, starts=starts, length=self.length[kept], new=self.new[kept], gold_new=self.gold_new[kept]
        )

    def take(self, rows: Ints) -> Characters:
        """The lists of some queries, any of them any number of times."""
        starts, _, kept = ranges(self.starts, rows)
        per_rank = (self.length[kept], self.new[kept], self.gold_new[kept])
        return Characters(starts, *per_rank, self.gold[rows], self.gold_each[rows], self.best[rows])


def largest_first(values: Floats, owner: Ints) -> Floats:
    """Values of each query, largest first; queries stay in order."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if high - low < 1 << 20 and (values == np.floor(values)).all():  # whole numbers: one sort of whole numbers
        width = int(high - low) + 1
        key = np.sort(owner * width + (high - values).astype(np.int64))
        return high - (key % width).astype(np.float64)
    return values[np.lexsort((-values, owner))]


def tie_groups(owner: Ints, above: Ints) -> tuple[Ints, Ints]:
    """The first hit and the number of hits of each group of hits that tie."""
    first = np.flatnonzero(np.r_[True, (np.diff(owner) != 0) | (np.diff(above) != 0)][: len(owner)])
    return first, np.diff(first, append=len(owner))


def ranges(starts: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """New bounds, row and old position of everything that lies within the bounds of the rows."""
    sizes = np.diff(starts)[rows]
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    row = np.repeat(np.arange(len(rows)), sizes)
    return bounds, row, np.arange(int(bounds[-1])) - bounds[row] + starts[rows][row]


@dataclass(frozen=True, eq=False, repr=False)
class RankedGrades:
    """Judged retrieved documents ("hits") of each query, in rank order, with what the judgments hold in all.

    Hits of query `i` are rows `starts[i]:starts[i+1]`. A hit lies in a group of `tied` documents that starts after
    `above` documents; where an order was fixed, `tied` is 1 and its rank is `above + 1`.
    """

    queries: Sequence[str]
    in_run: Bools
    retrieved: Ints
    starts: Ints
    above: Ints
    tied: Ints
    grades: Floats
    judged_starts: Ints
    judged_grades: Floats
    """Grades of all judged documents of each query, best first."""
    ties_met: Ints
    """For each query: judged documents that share their score with another retrieved document."""
    subtopics: SubtopicHits | None = None
    limit: int | None = None
    """Lists are cut after this many documents; a tie may lie across the cut."""
    prefix: dict[str, Ints] = field(default_factory=dict)
    """Depths that differ by query, such as how many texts fit into a context budget."""
    top: Floats | None = None
    """The score of each query's first document, NaN where there is none."""
    no_answer: Bools | None = None
    """Which queries have no answer, so that an empty list is right; None where none has."""
    characters: Characters | None = None
    """Only where labels are passages with places, and a measure asks for it."""
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.in_run)

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """The value of `make()`, kept so that several measures of one evaluation share it."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    @property
    def ranks(self) -> Ints:
        return self.cached("ranks", lambda: self.above + 1)

    @property
    def has_ties(self) -> bool:
        """Whether tied orders are still open (contract `ties='expected'`)."""
        return self.cached("has_ties", lambda: bool((self.tied > 1).any()))

    @property
    def owner(self) -> Ints:
        """The query number of every hit."""
        return self.cached("owner", lambda: np.repeat(np.arange(len(self)), np.diff(self.starts)))

    @property
    def judged_owner(self) -> Ints:
        """The query number of every judged document."""
        return self.cached("judged_owner", lambda: np.repeat(np.arange(len(self)), np.diff(self.judged_starts)))

    def total(self, values: Floats, mask: Bools | None = None) -> Floats:
        """Sum of a value per hit over each query, added in rank order."""
        owner = self.owner
        if mask is not None:
            owner, values = owner[mask], values[mask]
        return np.bincount(owner, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def relevant(self, rel: float) -> Bools:
        """Which hits are relevant."""
        return self.cached(("relevant", rel), lambda: self.grades >= rel)

    def n_relevant(self, rel: float) -> Ints:
        """R: relevant documents of each query, retrieved or not."""

        def count() -> Ints:
            return np.bincount(self.judged_owner[self.judged_grades >= rel], minlength=len(self)).astype(np.int64)

        return self.cached(("n_relevant", rel), count)

    def so_far(self, mask: Bools, key: Any) -> Ints:
        """For every hit, how many hits of its query up to and including it satisfy the mask."""

        def count() -> Ints:
            running = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
            return running[1:] - running[self.starts[:-1]][self.owner]

        return self.cached(("so_far", key), count)

    def weights(self, table: Floats) -> Floats:
        """Weight of every hit's rank, or its mean over the ranks that a tie leaves open.

        `table[r - 1]` is the weight of rank r; ranks beyond its end weigh nothing.
        """
        if not self.has_ties:
            return np.append(table, 0.0)[np.minimum(self.above, len(table))]
        running = np.concatenate(([0.0], np.cumsum(table)))
        first = np.minimum(self.above, len(table))
        behind = np.minimum(self.above + self.tied, len(table))
        share: Floats = (running[behind] - running[first]) / self.tied
        return share

    @property
    def deepest(self) -> int:
        """The largest rank any hit can take."""

        def find() -> int:
            last = int((self.above + self.tied).max(initial=0))
            return last if self.limit is None else min(last, self.limit)

        return self.cached("deepest", find)

    def count(self, depth: int, mask: Bools | None = None) -> Floats:
        """Hits of each query down to a depth; one tied across it counts with its chance of being inside."""
        return self.total(self.weights(np.ones(depth)), mask)

    def judged_only(self) -> RankedGrades:
        """The same lists without the documents nobody judged (grades below 0 count as pooled but not judged)."""

        def make() -> RankedGrades:
            kept = self._keep(self.grades >= 0)
            # The judged documents of a tied group stay tied with each other.
            first, sizes = tie_groups(kept.owner, kept.above)
            place = first - kept.starts[kept.owner[first]]
            return replace(
                kept,
                retrieved=np.diff(kept.starts),
                above=np.repeat(place, sizes),
                tied=np.repeat(sizes, sizes),
                limit=None,
                _cache={},
            )

        return self.cached("judged_only", make)

    def limited(self, depth: int) -> RankedGrades:
        """The same lists cut after `depth` documents."""
        depth = min(depth, 2**62)  # what a machine counts to
        kept = self._keep(self.above < depth)
        characters = self.characters and self.characters.limited(depth)
        retrieved = np.minimum(self.retrieved, depth)
        return replace(kept, retrieved=retrieved, limit=depth, characters=characters, _cache={})

    def take(self, rows: Ints) -> RankedGrades:
        """The lists of some queries, any of them any number of times."""
        starts, _, hits = ranges(self.starts, rows)
        judged_starts, _, judged = ranges(self.judged_starts, rows)
        subtopics = self.subtopics and self.subtopics.take(rows, starts[:-1] - self.starts[rows])
        return replace(
            self,
            queries=[self.queries[row] for row in rows.tolist()],
            in_run=self.in_run[rows],
            retrieved=self.retrieved[rows],
            starts=starts,
            above=self.above[hits],
            tied=self.tied[hits],
            grades=self.grades[hits],
            judged_starts=judged_starts,
            judged_grades=self.judged_grades[judged],
            ties_met=self.ties_met[rows],
            subtopics=subtopics,
            prefix={key: depths[rows] for key, depths in self.prefix.items()},
            top=None if self.top is None else self.top[rows],
            no_answer=None if self.no_answer is None else self.no_answer[rows],
            characters=self.characters and self.characters.take(rows),
            _cache={},
        )

    def _keep(self, mask: Bools) -> RankedGrades:
        starts = np.concatenate(([0], np.cumsum(np.bincount(self.owner[mask], minlength=len(self)))))
        subtopics = self.subtopics
        if subtopics is not None:
            subtopics = subtopics.renumbered(np.where(mask, np.cumsum(mask) - 1, -1))
        return replace(
            self,
            starts=starts,
            above=self.above[mask],
            tied=self.tied[mask],
            grades=self.grades[mask],
            subtopics=subtopics,
            _cache={},
        )
