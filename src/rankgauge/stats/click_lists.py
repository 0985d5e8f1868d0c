"""Lists that were shown and clicked, as arrays: what click models are fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import DataError
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["ClickLog", "added"]


def added(number: NDArray[np.integer[Any]], values: Floats, n: int) -> Floats:
    """Sums of the values that have each of n numbers."""
    return np.bincount(number, weights=values, minlength=n).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """Lists that were shown, one row for each that differs in its documents or clicks, padded to the longest."""

    pair: NDArray[np.int32]
    """The number of the (query, document) pair at each rank; -1 where none was shown."""
    clicked: Bools
    times: Floats
    """How often each list was shown and clicked so."""
    pairs: int

    @classmethod
    def of(cls, pair: NDArray[np.int32], clicked: Bools, pairs: int, times: Floats | None = None) -> ClickLog:
        """A log of lists of which many may be alike."""
        if pair.ndim != 2 or pair.shape != clicked.shape:
            raise DataError("pairs and clicks are two tables of one shape: a row for each list, a column for each rank")
        clicked = clicked & (pair >= 0)
        marked = np.ascontiguousarray(pair.astype(np.int32) * 2 + clicked)
        if not marked.size:
            return cls(pair, clicked, np.zeros(len(pair)), pairs)
        rows = marked.view(np.dtype((np.void, marked.dtype.itemsize * marked.shape[1]))).ravel()
        _, first, place = np.unique(rows, return_index=True, return_inverse=True)
        count = np.bincount(place.ravel(), weights=times, minlength=len(first)).astype(np.float64)
        return cls(pair[first], clicked[first], count, pairs)

    @property
    def shown(self) -> Bools:
        return np.asarray(self.pair >= 0)

    @cached_property
    def closed(self) -> ClickLog:
        """The same without places at which nothing was shown between others: what follows moves up."""
        shown = self.shown
        if not (shown[:, 1:] & ~shown[:, :-1]).any():
            return self
        order = np.argsort(~shown, axis=1, kind="stable")
        pair = np.take_along_axis(self.pair, order, axis=1)
        return ClickLog(pair, np.take_along_axis(self.clicked, order, axis=1), self.times, self.pairs)

    @cached_property
    def shows(self) -> Floats:
        """How often each pair was shown."""
        pair, _, times, _ = self.cells
        return added(pair, times, self.pairs)

    @cached_property
    def clicks(self) -> Floats:
        """How often each pair was clicked."""
        pair, _, _, clicks = self.cells
        return added(pair, clicks, self.pairs)

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Floats, Floats]:
        """(pair, rank, times shown, clicks) of everything that was shown at some rank."""
        depth = self.pair.shape[1]
        shown = self.shown
        key = self.pair.astype(np.int64) * depth + np.arange(depth)
        times = np.broadcast_to(self.times[:, None], shown.shape)[shown]
        found, place = np.unique(key[shown], return_inverse=True)
        shown_so = added(place, times, len(found))
        clicks = added(place, times * self.clicked[shown], len(found))
        return found // depth, found % depth, shown_so, clicks

    def per_pair(self, values: Floats | Bools) -> Floats:
        """Sums over all places at which each pair was shown, as often as it was."""
        shown = self.shown
        return added(self.pair[shown], (values * self.times[:, None])[shown], self.pairs)

    def per_rank(self, values: Floats | Bools) -> Floats:
        """Sums over all lists, as often as they were shown."""
        return np.asarray((values * self.times[:, None]).sum(axis=0))

    def parts(self, rows: int = 200_000) -> list[ClickLog]:
        """The same lists in parts that need little memory at a time."""
        ends = [slice(i, i + rows) for i in range(0, len(self.pair), rows)]
        return [ClickLog(self.pair[own], self.clicked[own], self.times[own], self.pairs) for own in ends]

    def split(self, share: float, seed: int = 0) -> tuple[ClickLog, ClickLog]:
        """Two logs, the second with a random share of the lists."""
        second = np.random.default_rng(seed).binomial(self.times.astype(np.int64), share).astype(np.float64)
        counts = (self.times - second, second)
        first, rest = (ClickLog(self.pair[n > 0], self.clicked[n > 0], n[n > 0], self.pairs) for n in counts)
        return first, rest
