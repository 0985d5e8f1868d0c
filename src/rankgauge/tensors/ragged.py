"""Documents one after another, each with the number of its query: lists of any length, gathered into rows by length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import DataError
from rankgauge.tensors.libraries import to_host
from rankgauge.tensors.ranking import Array

__all__ = ["Lists", "lists_of"]

_SPARSE = 100
"""More queries without documents than this for each document are taken for ids that are no numbers of queries."""


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Rows of documents by query: list q is `order[starts[q]:starts[q] + lengths[q]]`, or just those rows where there
    is no `order`."""

    order: Array | None
    starts: Array
    lengths: Array
    by_length: Array
    """Queries, those with the longest list first."""
    longer: list[int]
    """How many lists are longer than 0, 1, 2, 4, 8, ... documents."""
    longest: int

    def bands(self, elements: int) -> Iterator[tuple[int, int, int]]:
        """(start, stop, width): queries whose lists are of about the same length, which share the width of the longest,
        so that rows are less than half empty. Where so many elements hold all at that width, they stay together."""
        limits = [0, *(2**i for i in range(len(self.longer) - 1))]
        n, start = int(self.lengths.shape[0]), 0
        if n * self.longest <= elements:
            yield 0, n, self.longest
            return
        for limit, stop in reversed(list(zip(limits, self.longer, strict=True))):
            if stop > start:
                yield start, stop, min(max(2 * limit, 1), self.longest)
                start = stop
        if n > start:
            yield start, n, 1


def lists_of(xp: Any, device: Any, groups: Array, n_queries: int | None) -> tuple[Lists | None, int]:
    index = xp.__array_namespace_info__().default_dtypes()["indexing"]
    if not int(groups.shape[0]):
        return None, n_queries or 0
    falls = xp.any(groups[1:] < groups[:-1])
    low, high, unsorted = map(int, to_host(xp.stack((xp.min(groups), xp.max(groups), xp.astype(falls, groups.dtype)))))
    if low < 0:
        raise DataError(f"`groups` holds {low}: it numbers the queries from 0")
    n = high + 1 if n_queries is None else n_queries
    if n_queries is None and high > _SPARSE * int(groups.shape[0]) + 1000:
        raise DataError(
            f"`groups` holds {high} for {int(groups.shape[0])} documents: it numbers the queries from 0, so that each "
            "number stands for one; renumber them (unique with return_inverse=True), or give `n_queries`"
        )
    if high >= n:
        raise DataError(f"`groups` holds {high}, but `n_queries={n}` numbers the queries from 0 to {n - 1}")
    groups = xp.astype(groups, index)  # a copy lies in one piece, as PyTorch's search wants it
    order = xp.argsort(groups, stable=True) if unsorted else None
    if order is not None:
        groups = xp.take(groups, order, axis=0)
    bounds = xp.searchsorted(groups, xp.arange(n + 1, dtype=index, device=device))
    bounds = xp.astype(bounds, index, copy=False)
    lengths = bounds[1:] - bounds[:-1]
    by_length = xp.argsort(lengths, descending=True, stable=True)
    limits = [0, *(2**i for i in range(max(int(groups.shape[0]).bit_length(), 1)))]
    at = xp.asarray(limits, dtype=index, device=device)
    shorter = xp.searchsorted(xp.sort(lengths), at, side="right")
    told = to_host(xp.concat((n - xp.astype(shorter, index), xp.max(lengths)[None])))
    *longer, longest = (int(value) for value in told)
    return Lists(order, bounds[:-1], lengths, by_length, longer, longest), n
