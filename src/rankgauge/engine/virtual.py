"""Virtual queries: the lists of real queries with labels put on documents that nobody judged, for any kernel to score.

A labelling gives grades to some unjudged ("open") documents of a query. Each labelling becomes one row of a
`RankedGrades`, in which R and the ideal list count the labels too, so that no measure needs code of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankgauge.engine.hits import Hits, Judged, assemble
from rankgauge.measures import Law, Measure
from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades, largest_first, ranges

__all__ = ["Labels", "Problem", "Ragged", "System", "blind_to_zero", "score_labellings", "score_probes"]

_CHUNK = 2_000_000  # hits and judgments of virtual queries that are held in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Numbers of many queries one after the other; those of query i are `values[starts[i]:starts[i+1]]`."""

    starts: Ints
    values: Floats

    def where(self, keep: Bools) -> Ragged:
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))[keep]
        return Ragged(np.searchsorted(owner, np.arange(len(self.starts))), self.values[keep])


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """What one system retrieved: judged hits by rank and grade, and where the open documents of each query stand."""

    retrieved: Ints
    hit_ranks: Ragged
    hit_grades: Floats
    open_ranks: Ints
    """Queries by open documents; 0 where the document was not retrieved (or there are no more)."""


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Labelled documents: which labelling (row), which open document of the row's query, and the grade it gets."""

    row: Ints
    doc: Ints
    grade: Floats

    @staticmethod
    def none() -> Labels:
        nothing: Ints = np.zeros(0, dtype=np.int64)
        return Labels(nothing, nothing, np.zeros(0))

    @staticmethod
    def dense(grades: Floats, *, zeros: bool = True) -> Labels:
        """From labellings by documents, NaN where there is no label; without `zeros` only those above 0."""
        row, doc = np.nonzero(~np.isnan(grades) if zeros else grades > 0)
        return Labels(row, doc, grades[row, doc])


def blind_to_zero(measure: Measure) -> bool:
    """Whether a document judged 0 (or below) counts just as one that nobody judged, so that it may be left out."""
    rel, bottom = measure.get("rel"), measure.get("min_rel")
    scored = (rel is not None and rel <= 0) or measure.get("gains") is not None or (bottom is not None and bottom < 0)
    return Law.UNJUDGED in measure.definition.laws and not scored


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A measure, the grades that a label may be, and two systems; None is a system that scores 0."""

    measure: Measure
    levels: Sequence[float]
    a: System | None
    b: System | None
    judged: Ragged
    """Grades of all judged documents of each query."""
    open: Ints
    """How many open documents each query has."""

    @property
    def reversed(self) -> Problem:
        return replace(self, a=self.b, b=self.a)

    @property
    def inside(self) -> Bools:
        """Queries by open documents: which of them there are."""
        return np.arange(int(self.open.max(initial=0))) < self.open[:, None]

    @property
    def sizes(self) -> Ints:
        """Hits and judgments of one labelling of each query, both systems together."""
        hits = sum((np.diff(s.hit_ranks.starts) for s in (self.a, self.b) if s is not None), np.zeros_like(self.open))
        return np.asarray(hits + 2 * np.diff(self.judged.starts) + 4 * self.open, dtype=np.int64)

    def difference(self, number: Ints, labels: Labels) -> Floats:
        """score_b - score_a of every labelling."""
        return self.score(self.b, number, labels) - self.score(self.a, number, labels)

    def fixed(self, number: Ints, labels: Labels, closed: Bools) -> Problem:
        """The queries of `number`, one row each, where some documents have got a label for good, and those that are
        `closed` (rows by documents) are no longer open."""
        keep = np.argsort(closed[:, : self.inside.shape[1]], axis=1, kind="stable")
        open_ = (self.inside[number] & ~closed).sum(axis=1)
        width = int(open_.max(initial=0))
        row, grades = _merged(self.judged, number, labels.row, labels.grade)
        judged = Ragged(np.searchsorted(row, np.arange(len(number) + 1)), grades)

        def of(system: System | None) -> System | None:
            if system is None:
                return None
            ranks = system.open_ranks[number]
            new = ranks[labels.row, labels.doc]
            _, own_row, own = ranges(system.hit_ranks.starts, number)
            row = np.concatenate((own_row, labels.row[new > 0]))
            rank = np.concatenate((system.hit_ranks.values[own], new[new > 0].astype(np.float64)))
            order = np.lexsort((rank, row))
            grades = np.concatenate((system.hit_grades[own], labels.grade[new > 0]))[order]
            hits = Ragged(np.searchsorted(row[order], np.arange(len(number) + 1)), rank[order])
            left = np.take_along_axis(np.where(closed, 0, ranks), keep, axis=1)
            return System(system.retrieved[number], hits, grades, left[:, :width])

        return replace(self, a=of(self.a), b=of(self.b), judged=judged, open=open_)

    def score(self, system: System | None, number: Ints, labels: Labels) -> Floats:
        """The score of every labelling; `number` is the query of each."""
        if system is None:
            return np.zeros(len(number))
        return score_labellings(self.measure, system, self.judged, number, labels)


def score_labellings(measure: Measure, system: System, judged: Ragged, number: Ints, labels: Labels) -> Floats:
    """The score of every labelling; `number` is the query of each, `labels.row` must not fall."""
    sizes = np.diff(system.hit_ranks.starts)[number] + np.diff(judged.starts)[number]
    sizes = sizes + 2 * np.bincount(labels.row, minlength=len(number))
    result = np.empty(len(number))
    for first, end in _chunks(sizes):
        part = slice(*np.searchsorted(labels.row, (first, end)))
        row, grade = labels.row[part] - first, labels.grade[part]
        queries = number[first:end]
        rank = system.open_ranks[queries[row], labels.doc[part]]
        inside = rank > 0
        _, own_row, own = ranges(system.hit_ranks.starts, queries)
        result[first:end] = measure.score(
            _ranked(
                system.retrieved[queries],
                np.concatenate((own_row, row[inside])),
                np.concatenate((system.hit_ranks.values[own].astype(np.int64), rank[inside])),
                np.concatenate((system.hit_grades[own], grade[inside])),
                _with_labels(judged, queries, row, grade),
            )
        )
    return result


def score_probes(
    measure: Measure, retrieved: Ints, rank: Ints, grade: float, judged: Ragged, number: Ints, labels: Labels
) -> Floats:
    """The score of lists that hold one document with a judgment, at a rank of its own, beside labelled ones that were
    not retrieved; rank 0 stands for no such document."""
    sizes = np.diff(judged.starts)[number] + np.bincount(labels.row, minlength=len(number)) + 1
    result = np.empty(len(number))
    for first, end in _chunks(sizes):
        part = slice(*np.searchsorted(labels.row, (first, end)))
        queries, ranks = number[first:end], rank[first:end]
        there = np.flatnonzero(ranks > 0)
        result[first:end] = measure.score(
            _ranked(
                retrieved[first:end],
                there,
                ranks[there],
                np.full(len(there), grade),
                _with_labels(judged, queries, labels.row[part] - first, labels.grade[part]),
            )
        )
    return result


def _chunks(sizes: Ints) -> list[tuple[int, int]]:
    """Bounds of parts that are worked on together."""
    block = np.cumsum(sizes + 1) // _CHUNK
    cuts = np.flatnonzero(np.diff(block)) + 1
    bounds = [0, *cuts.tolist(), len(sizes)]
    return [(a, b) for a, b in pairwise(bounds) if b > a]


def _merged(own: Ragged, number: Ints, row: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Row and value of all that the queries of the rows hold, and of the new values; rows do not fall."""
    _, own_row, position = ranges(own.starts, number)
    owner = np.concatenate((own_row, row))
    order = np.argsort(owner, kind="stable")
    return owner[order], np.concatenate((own.values[position], values))[order]


def _with_labels(judged: Ragged, number: Ints, row: Ints, grade: Floats) -> Judged:
    """The judgments of the rows, best first."""
    owner, grades = _merged(judged, number, row, grade)
    return Judged([""] * len(number), np.searchsorted(owner, np.arange(len(number) + 1)), largest_first(grades, owner))


def _ranked(retrieved: Ints, row: Ints, rank: Ints, grade: Floats, judged: Judged) -> RankedGrades:
    n, hits = len(retrieved), len(rank)
    none, one = np.zeros(hits, dtype=np.int64), np.ones(hits, dtype=np.int64)
    found = Hits(row, rank - 1, one, grade, none, np.zeros(hits, dtype=bool))
    return assemble(judged, [found], np.ones(n, dtype=bool), retrieved)
