"""A system and the baseline's, query by query."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

import numpy as np

from rankgauge.errors import DataError
from rankgauge.gating.baseline import Baseline
from rankgauge.model.ranked import Floats, Ints
from rankgauge.record import Record, SystemResult
from rankgauge.record.identity import identity_of
from rankgauge.stats.clusters import cluster_numbers

__all__ = ["Sides"]

Scores = dict[str, float]


class Sides:
    """One system of a record, and beside it the one that it is compared with."""

    def __init__(self, record: Record, system: SystemResult, baseline: Baseline | None) -> None:
        self.record, self.system, self.baseline = record, system, baseline
        self._scores: dict[str, tuple[Scores, Scores]] = {}

    @cached_property
    def other(self) -> Record | None:
        """The baseline's record; None without a baseline, and for one that has only means."""
        return None if self.baseline is None else self.baseline.record

    def own(self, measure: str, queries: Collection[str]) -> Floats:
        """The record's counted scores of some queries."""
        found = _scores(self.record, self.system, measure)
        return np.array([found[query] for query in sorted(found) if query in queries])

    def scores(self, measure: str) -> tuple[Scores, Scores]:
        """New and old scores of the queries that count, each side's own."""
        if measure not in self._scores:
            assert self.baseline is not None
            assert self.other is not None
            name = self.other.measure_name(measure, "the baseline")
            old = _scores(self.other, self.baseline.system_for(self.system.name), name)
            self._scores[measure] = _scores(self.record, self.system, measure), old
        return self._scores[measure]

    def paired(self, measure: str, queries: Collection[str] | None = None) -> tuple[Floats, Floats]:
        """New and old scores of the queries that count in both."""
        new, old = self.scores(measure)
        common = sorted(query for query in new if query in old and (queries is None or query in queries))
        return np.array([new[query] for query in common]), np.array([old[query] for query in common])

    def clusters(self, measure: str, queries: Collection[str] | None = None, *, paired: bool = True) -> Ints | None:
        """The numbers of the conversations of those queries that `paired` gives, or `own`; None where every query
        stands alone."""
        found = _scores(self.record, self.system, measure) if not paired else self.scores(measure)[0]
        old = found if not paired else self.scores(measure)[1]
        common = sorted(query for query in found if query in old and (queries is None or query in queries))
        told = {**({} if self.other is None else self.other.conversations), **self.record.conversations}
        return cluster_numbers(common, told)

    def missing(self, measures: Iterable[str]) -> list[str]:
        """Queries that some measure counts in the baseline, but not in the record, in the baseline's order.

        A contract may skip queries without an answer. Then their scores leave the mean, and the mean rises. Of another
        test set only the common queries can be missing.
        """
        assert self.other is not None
        own, other = identity_of(self.record).test_set, identity_of(self.other).test_set
        expected = set(self.other.queries)
        if own is None or own != other:
            expected &= set(self.record.queries)
        lost: set[str] = set()
        for measure in measures:
            new, old = self.scores(measure)
            lost |= {query for query in old if query in expected and query not in new}
        return [query for query in self.other.queries if query in lost]


def _scores(record: Record, system: SystemResult, measure: str) -> Scores:
    if not record.queries:
        raise DataError(f"{system.name} has no scores of single queries for {measure}")
    return system.scores(measure, record.queries)
