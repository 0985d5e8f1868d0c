"""What a kernel for arrays sees: the grades of some queries, a row for each and a column for each rank.

A grade is minus infinite where nobody judged the document, and behind the end of the list: there it is below every
threshold, as an unjudged document is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from rankgauge.measures import Measure
from rankgauge.model.ranked import Floats

__all__ = ["Array", "RankedArrays", "TieGroups", "depth_of", "run_bounds"]

Array = Any
"""An array of any library that follows the array API."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class TieGroups:
    """For every rank: how many documents stand above its group of tied documents, and how many tie in it."""

    above: Array
    tied: Array


@dataclass(frozen=True, eq=False, repr=False)
class RankedArrays:
    """Ranked lists of some queries.

    `judged` are the grades of all judged documents of each query, retrieved or not, in any order. `run` numbers the
    groups of tied documents along each row where their order is open (`ties="expected"`), and is None elsewhere.
    """

    xp: Any
    grades: Array
    retrieved: Array
    judged: Array
    top_grade: float
    whole: bool
    """Whether all grades are whole numbers."""
    run: Array | None = None
    top: Array | None = None
    """The score of each query's first document, minus infinite where there is none."""
    tables: dict[Any, Array] = field(default_factory=dict)
    """Rows of weights by rank, which chunks share."""
    _cache: dict[Any, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.grades.shape[0])

    @property
    def width(self) -> int:
        return int(self.grades.shape[1])

    @property
    def dtype(self) -> Any:
        return self.grades.dtype

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """The value of `make()`, kept so that several measures share it."""
        if key not in self._cache:
            self._cache[key] = make()
        value: T = self._cache[key]
        return value

    def table(self, key: Any, n: int, weight: Callable[[Floats], Floats]) -> Array:
        """Weights of the ranks 1..n, found in float64 on the host; `key` names them. There may be one more than n."""
        if (key, n) not in self.tables:
            self.tables[key, n] = self.given(weight(np.arange(1.0, n + 1)))
        return self.tables[key, n]

    def given(self, values: Floats) -> Array:
        """Numbers from the host as an array of the device."""
        return self.xp.asarray(values, dtype=self.dtype, device=self.device)

    def numbers(self, n: int) -> Array:
        """1..n."""
        return self.table("ranks", n, lambda rank: rank)

    @cached_property
    def device(self) -> Any:
        from array_api_compat import device

        return device(self.grades)

    @cached_property
    def index_type(self) -> Any:
        return self.xp.__array_namespace_info__().default_dtypes()["indexing"]

    def full(self, value: float, width: int | None = None) -> Array:
        """One value for every query, or for every query and rank."""
        shape = len(self) if width is None else (len(self), width)
        return self.xp.full(shape, value, dtype=self.dtype, device=self.device)

    @property
    def ranks(self) -> Array:
        return self.numbers(self.width)

    def real(self, mask: Array) -> Array:
        """1 where a mask holds, else 0."""
        return self.xp.astype(mask, self.dtype)

    def relevant(self, rel: float) -> Array:
        """1 where a document is relevant, else 0."""
        return self.cached(("relevant", rel), lambda: self.real(self.grades >= rel))

    def so_far(self, rel: float) -> Array:
        """Relevant documents down to each rank."""
        return self.cached(("so_far", rel), lambda: self.running(self.relevant(rel)))

    def running(self, values: Array) -> Array:
        """Sums of each row down to each rank."""
        return self.xp.cumulative_sum(values, axis=1)

    def steps(self, values: Array) -> Array:
        """1 where a row's value is another one than that before it."""
        changed = self.real(values[:, 1:] != values[:, :-1])
        return self.xp.concat((self.full(0.0, 1), changed), axis=1)

    def n_relevant(self, rel: float) -> Array:
        """R: relevant documents of each query, retrieved or not."""
        return self.cached(("n_relevant", rel), lambda: self.count(self.judged >= rel))

    def by_count(self, key: Any, count: Array, value: Callable[[Floats], Floats]) -> Array:
        """A function of how many relevant documents there are, found in float64 on the host: rounding down must not
        depend on the precision of the arrays. `key` names it."""
        n = int(self.judged.shape[1])
        if (key, n) not in self.tables:
            self.tables[key, n] = self.given(value(np.arange(n + 1.0)))
        return self.xp.take(self.tables[key, n], self.xp.astype(count, self.index_type), axis=0)

    def count(self, mask: Array) -> Array:
        """How often a mask holds in each row."""
        return self.xp.sum(self.real(mask), axis=1)

    def total(self, values: Array, depth: int | None = None) -> Array:
        """The sum of each row, down to a depth."""
        return self.xp.sum(values if depth is None else values[:, :depth], axis=1)

    def hits(self, rel: float, depth: int) -> Array:
        """h_k: relevant documents among the first k; expected ones where ties are open."""
        return self.cached(("hits", rel, depth), lambda: self.total(self.spread(self.relevant(rel)), depth))

    def ratio(self, numerator: Array, denominator: Array) -> Array:
        """Numerator over denominator, 0 where the denominator is 0."""
        xp = self.xp
        known = denominator > 0
        safe = xp.where(known, denominator, xp.ones_like(denominator))
        return xp.where(known, numerator / safe, xp.zeros_like(safe))

    def padded(self, values: Array, width: int) -> Array:
        """Columns of zeros up to a width."""
        missing = width - int(values.shape[1])
        if missing <= 0:
            return values
        return self.xp.concat((values, self.full(0.0, missing)), axis=1)

    # Ties whose order is open

    @cached_property
    def ties(self) -> TieGroups | None:
        if self.run is None:
            return None
        above, end = run_bounds(self.xp, self.run, self.index_type)
        return TieGroups(above, end - above)

    def sums_in_ties(self, values: Array) -> tuple[Array, Array]:
        """For every rank: the sum of a value over the ranks before its group, and over the group."""
        xp, ties = self.xp, self.ties
        assert ties is not None
        running = xp.concat((self.full(0.0, 1), self.running(values)), axis=1)
        before = xp.take_along_axis(running, ties.above, axis=1)
        return before, xp.take_along_axis(running, ties.above + ties.tied, axis=1) - before

    def spread(self, values: Array) -> Array:
        """A value of each rank, or its mean over the group where the order is open: what is expected there."""
        if self.ties is None:
            return values
        return self.sums_in_ties(values)[1] / self.real(self.ties.tied)

    # Other lists of the same queries

    def judged_only(self) -> RankedArrays:
        """The same lists without the documents nobody judged (grades below 0 count as pooled but not judged)."""

        def make() -> RankedArrays:
            xp = self.xp
            unknown = ~(self.grades >= 0)
            order = xp.argsort(xp.astype(unknown, xp.int8), axis=1, stable=True)
            grades = xp.take_along_axis(self.grades, order, axis=1)
            n = self.count(self.grades >= 0)
            known = grades >= 0
            grades = xp.where(known, grades, xp.full_like(grades, -xp.inf))
            run = None
            if self.run is not None:
                # What was dropped stands behind the list, in a group of its own.
                behind = xp.full_like(self.run, self.width)
                run = xp.where(known, xp.take_along_axis(self.run, order, axis=1), behind)
            return replace(self, grades=grades, retrieved=n, run=run, _cache={})

        return self.cached("judged_only", make)


def run_bounds(xp: Any, run: Array, index_type: Any) -> tuple[Array, Array]:
    """Where the run of equal numbers that each place lies in begins, and where it ends."""
    from array_api_compat import device

    rows, width = run.shape
    places = xp.broadcast_to(xp.arange(width, dtype=index_type, device=device(run)), (rows, width))
    first = xp.full((rows, 1), True, dtype=xp.bool, device=device(run))
    begins = xp.concat((first, run[:, 1:] != run[:, :-1]), axis=1)
    number = xp.cumulative_sum(xp.astype(begins, index_type), axis=1) - 1
    end = xp.full((rows, 1), width, dtype=index_type, device=device(run))
    starts = xp.sort(xp.where(begins, places, xp.full_like(number, width)), axis=1)
    starts = xp.concat((starts, end), axis=1)
    return xp.take_along_axis(starts, number, axis=1), xp.take_along_axis(starts, number + 1, axis=1)


def depth_of(measure: Measure, ranked: RankedArrays) -> int:
    """The depth, or where there is none, the length of the rows."""
    return ranked.width if measure.at is None else min(int(measure.at), ranked.width)
