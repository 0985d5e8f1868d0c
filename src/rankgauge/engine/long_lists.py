"""One list that is too long for memory: where its judged documents stand, counted over parts of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from rankgauge.model.contract import Contract
from rankgauge.model.ordering import as_compared, rank_rows
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["counted_places"]


def counted_places(
    parts: Iterable[pl.DataFrame], scores: Floats, docs: pl.Series, contract: Contract
) -> tuple[Ints, Ints, Bools]:
    """As `ordering.places` finds them for some documents of a list, whose rows come in parts and in any order.

    Every row raises the count of those of the documents that it stands above: found by its score among theirs, and
    where the scores are equal by its id among theirs.
    """
    levels, level = np.unique(as_compared(scores, contract.scores), return_inverse=True)
    greater, equal = np.zeros(len(levels), dtype=np.int64), np.zeros(len(levels), dtype=np.int64)
    before = np.zeros(len(scores), dtype=np.int64)
    asked = pl.DataFrame({"level": level, "doc": docs, "asked": np.arange(len(docs), dtype=np.int64)})
    for part in parts:
        values = as_compared(part["score"].to_numpy(), contract.scores)
        at = np.searchsorted(levels, values)
        greater += len(values) - np.cumsum(np.bincount(at, minlength=len(levels) + 1))[: len(levels)]
        tied = np.flatnonzero(levels[np.minimum(at, len(levels) - 1)] == values)
        equal += np.bincount(at[tied], minlength=len(levels))[: len(levels)]
        if contract.ties == "trec" and len(tied):
            before += _before(asked, at[tied], part["doc"].gather(tied))
    tie_met = equal[level] > 1
    if contract.ties == "expected":
        return greater[level], equal[level], tie_met
    return greater[level] + before, np.ones_like(level), tie_met


def _before(asked: pl.DataFrame, level: Ints, docs: pl.Series) -> Ints:
    """For each document asked for, the rows of its score whose ids come first."""
    rows = pl.DataFrame({"level": level, "doc": docs, "asked": np.full(len(level), -1, dtype=np.int64)})
    together = rank_rows(pl.concat([asked, rows]), "level", "doc")
    number, lists = together["asked"].to_numpy(), together["level"].to_numpy()
    passed = np.cumsum(number < 0)
    begins = np.flatnonzero(np.r_[True, lists[1:] != lists[:-1]])
    earlier: Ints = (passed - (number < 0))[begins]  # rows of the levels before
    own = np.flatnonzero(number >= 0)
    found = np.zeros(len(asked), dtype=np.int64)
    found[number[own]] = passed[own] - earlier[np.searchsorted(begins, own, side="right") - 1]
    return found
