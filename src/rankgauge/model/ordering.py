"""The one ranking rule: score descending, ties by document id descending (ids compared as UTF-8 bytes).

Lists lie one after another in flat arrays; list i is `values[starts[i]:starts[i+1]]`. Only ranks that are asked for are
found, so a list is sorted only where that is needed to find them. Where the contract breaks ties otherwise, that is
decided here too. Python compares texts as their UTF-8 bytes compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "as_compared",
    "best_first",
    "descending_order",
    "first_scores",
    "ids_descending",
    "is_descending",
    "place_of_scores",
    "places",
    "rank_lists",
    "rank_rows",
]

Id = TypeVar("Id", str, bytes)
Pair = TypeVar("Pair", bound=tuple[str, float])
Ids = Callable[[Ints], "list[bytes] | pl.Series"]
"""The ids of some rows."""
_LOOP_FROM = 64  # mean list length from which sorting list by list beats one big sort
_SEARCH_FROM = 16  # asked scores per list from which searching list by list beats searching all side by side


def best_first(documents: Iterable[Pair]) -> list[Pair]:
    """(id, score) pairs of one list in rank order."""
    return sorted(documents, key=itemgetter(1, 0), reverse=True)


def ids_descending(ids: Iterable[Id]) -> list[Id]:
    """Ids of documents that tie, in rank order."""
    return sorted(ids, reverse=True)


def rank_rows(rows: pl.DataFrame, group: str, doc: str, score: str | None = None) -> pl.DataFrame:
    """Rows by group, and in each group in rank order; without scores, as documents that tie."""
    by = [group, doc] if score is None else [group, score, doc]
    return rows.sort(by, descending=[False] + [True] * (len(by) - 1), maintain_order=True)


def _by_id(group: Ints, ids: list[bytes] | pl.Series) -> Ints:
    """Positions that put the documents of each group, which tie, into rank order; groups must not fall."""
    if isinstance(ids, list):
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True), dtype=np.int64)
        return order[np.argsort(group[order], kind="stable")]
    import polars as pl

    rows = pl.DataFrame({"group": group, "id": ids, "row": np.arange(len(ids))})
    return rank_rows(rows, "group", "id")["row"].to_numpy()


def rank_lists(scores: Floats, starts: Ints, docs: pl.Series, contract: Contract) -> Ints:
    """Rows of all lists, best first in each. Where the contract leaves ties open, they stand by id."""
    if contract.ties == "given":
        return np.arange(len(scores))
    compared = as_compared(scores, contract.scores)
    order = np.arange(len(scores)) if is_descending(compared, starts) else descending_order(compared, starts)
    if contract.ties == "stable" or len(order) < 2:
        return order
    ordered = compared[order]
    again = np.zeros(len(order) + 1, dtype=bool)  # whether a row ties with the one before it
    again[1:-1] = ordered[1:] == ordered[:-1]
    again[starts] = False
    tied = np.flatnonzero(again[:-1] | again[1:])
    group = np.cumsum(~again[:-1])[tied]
    rows = order[tied]
    order[tied] = rows[_by_id(group, docs.gather(rows))]
    return order


def places(
    scores: Floats, starts: Ints, row: Ints, number: Ints, ids: Ids, contract: Contract
) -> tuple[Ints, Ints, Bools]:
    """Where rows stand in their lists, of which `number` names the one of each row.

    For each row: documents above it; how many tie with it and are in no order (1 unless ties stay open, itself
    included); and whether another document has its score.
    """
    compared = as_compared(scores, contract.scores)
    above, tied = _places_by_score(compared, starts, row, number)
    tie_met = tied > 1
    if contract.ties == "expected":
        return above, tied, tie_met
    if contract.ties == "given":
        above = row - starts[number]
    elif tie_met.any():
        groups = starts[number] + above
        by_id = ids if contract.ties == "trec" else None
        above = above + _tied_before(compared, starts, row, groups, np.where(tie_met, tied, 0), by_id)
    return above, np.ones_like(above), tie_met


def _places_by_score(scores: Floats, starts: Ints, row: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Documents with greater and with equal scores; in sorted lists without ties, just the row's position."""
    first, end = starts[number], starts[number + 1]
    before, after = np.maximum(row - 1, first), np.minimum(row + 1, end - 1)
    tied = ((scores[before] == scores[row]) & (before < row)) | ((scores[after] == scores[row]) & (after > row))
    if not tied.any() and is_descending(scores, starts):
        return row - first, np.ones_like(row)
    return place_of_scores(scores, starts, number, scores[row])


def _tied_before(scores: Floats, starts: Ints, row: Ints, first: Ints, tied: Ints, ids: Ids | None) -> Ints:
    """For each row: documents of the same score that come first, by id, or without ids by their place in the list.

    `first` is the place in the sorted lists at which the documents with the row's score begin, `tied` their number, or
    0 for a row that is alone.
    """
    asked = np.flatnonzero(tied)
    begins, group_of = np.unique(first[asked], return_inverse=True)
    sizes = np.zeros(len(begins), dtype=np.int64)
    sizes[group_of] = tied[asked]
    offsets = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(begins)), sizes)
    members = np.arange(int(sizes.sum())) + np.repeat(begins - offsets, sizes)
    if not is_descending(scores, starts):
        members = descending_order(scores, starts)[members]
    if ids is not None:
        members = members[_by_id(group, ids(members))]
    by_row = np.argsort(members, kind="stable")
    at = by_row[np.searchsorted(members[by_row], row[asked])]
    before = np.zeros(len(row), dtype=np.int64)
    before[asked] = (np.arange(len(members)) - offsets[group])[at]
    return before


def first_scores(scores: Floats, starts: Ints, contract: Contract) -> Floats:
    """The score of each list's first document, NaN where the list is empty."""
    found = np.full(len(starts) - 1, np.nan)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        begin = starts[filled]
        first = scores[begin] if contract.ties == "given" else np.maximum.reduceat(scores, begin)
        found[filled] = as_compared(first, contract.scores)
    return found


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
    for number in np.flatnonzero(np.diff(bounds)).tolist():  # np.unique would load numpy.ma
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
