"""The one ranking rule: score descending, ties by document id descending (ids compared as UTF-8 bytes).

Lists lie one after another in flat arrays; list i is `values[starts[i]:starts[i+1]]`. Only ranks that are asked for are
found, so a list is sorted only where that is needed to find them.
"""

from __future__ import annotations

import numpy as np

from rankgauge.model.ranked import Floats, Ints

__all__ = ["as_compared", "descending_order", "is_descending", "place_of_scores"]

_LOOP_FROM = 64  # mean list length from which sorting list by list beats one big sort
_SEARCH_FROM = 16  # asked scores per list from which searching list by list beats searching all side by side


def as_compared(scores: Floats, precision: str) -> Floats:
    """Scores as the contract compares them; beyond float32's range they are infinite there, and so tie."""
    if precision == "float64":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def is_descending(values: Floats, starts: Ints) -> bool:
    """Whether no list rises anywhere."""
    rises = values[1:] > values[:-1]
    if not rises.any():
        return True
    inner = starts[1:-1]
    inner = inner[(inner > 0) & (inner < len(values))]
    rises[inner - 1] = False
    return not rises.any()


def descending_order(values: Floats, starts: Ints) -> Ints:
    """Positions that put every list into descending order; equal scores keep their order."""
    lengths = np.diff(starts)
    if len(lengths) and len(values) / len(lengths) >= _LOOP_FROM:
        order: Ints = np.empty(len(values), dtype=np.int64)
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            order[a:b] = np.argsort(-values[a:b], kind="stable")
            order[a:b] += a
        return order
    return np.lexsort((-values, np.repeat(np.arange(len(lengths)), lengths)))


def _sorted_lists(values: Floats, starts: Ints) -> Floats:
    lengths = np.diff(starts)
    if len(lengths) and (lengths == lengths[0]).all():
        return -np.sort(-values.reshape(len(lengths), -1), axis=1).ravel()
    return values[descending_order(values, starts)]


def place_of_scores(values: Floats, starts: Ints, owner: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """For each (list, score): how many of the list's scores are greater, and how many are equal."""
    if is_descending(values, starts):
        return _search(values, starts, owner, scores)
    work = int(np.diff(starts)[owner].sum())
    if work <= 2 * len(values):
        return _count(values, starts, owner, scores)
    return _search(_sorted_lists(values, starts), starts, owner, scores)


def _search(values: Floats, starts: Ints, owner: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """Binary search in descending lists: list by list where many scores are asked of each, else all side by side."""
    if len(owner) >= _SEARCH_FROM * (len(starts) - 1) and (np.diff(owner) >= 0).all():
        return _search_each(values, starts, owner, scores)
    first, end = starts[owner], starts[owner + 1]
    above = _bisect(values, first, end, scores, strict=True) - first
    through = _bisect(values, first, end, scores, strict=False) - first
    return above, through - above


def _search_each(values: Floats, starts: Ints, owner: Ints, scores: Floats) -> tuple[Ints, Ints]:
    above, through = np.empty(len(owner), dtype=np.int64), np.empty(len(owner), dtype=np.int64)
    rising, asked = -values, -scores
    bounds = np.searchsorted(owner, np.arange(len(starts)))
    for number in np.unique(owner).tolist():
        own, part = rising[starts[number] : starts[number + 1]], slice(bounds[number], bounds[number + 1])
        above[part] = np.searchsorted(own, asked[part], side="left")
        through[part] = np.searchsorted(own, asked[part], side="right")
    return above, through - above


def _bisect(values: Floats, low: Ints, high: Ints, scores: Floats, *, strict: bool) -> Ints:
    low, high = low.copy(), high.copy()
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) // 2
        probe = values[np.minimum(middle, len(values) - 1)]
        right = open_ & ((probe > scores) if strict else (probe >= scores))
        low = np.where(right, middle + 1, low)
        high = np.where(open_ & ~right, middle, high)


def _count(values: Floats, starts: Ints, owner: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """Compare with every score of the list: cheapest when few scores are asked of unsorted lists."""
    above = np.empty(len(owner), dtype=np.int64)
    tied = np.empty(len(owner), dtype=np.int64)
    lengths = np.diff(starts)[owner]
    step = max(1, int(4_000_000 / max(1, lengths.max(initial=1))))
    for begin in range(0, len(owner), step):
        part = slice(begin, begin + step)
        sizes = lengths[part]
        offsets = np.cumsum(sizes) - sizes
        row = np.arange(int(sizes.sum())) + np.repeat(starts[owner[part]] - offsets, sizes)
        listed, asked = values[row], np.repeat(scores[part], sizes)
        above[part] = np.add.reduceat(listed > asked, offsets, dtype=np.int64)
        tied[part] = np.add.reduceat(listed == asked, offsets, dtype=np.int64)
    return above, tied
