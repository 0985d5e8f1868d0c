"""Rows of scores in rank order, by the contract's rule for ties."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.tensors.ranking import Array

__all__ = ["order_rows", "runs"]


def order_rows(xp: Any, scores: Array, ties: str, kept: int) -> Array:
    """Columns of each row, best score first, down to `kept` of them.

    With `trec` the later of two columns with one score comes first, else the earlier.
    """
    if isinstance(scores, np.ndarray):
        return _by_keys(scores, ties, kept) if scores.dtype == np.float32 else _by_scores(scores, ties, kept)
    if ties == "trec":  # from the end of the rising order
        order = xp.argsort(scores, axis=1, stable=True)
        return xp.flip(order[:, int(scores.shape[1]) - kept :], axis=1)
    return xp.argsort(scores, axis=1, stable=True, descending=True)[:, :kept]


def _by_keys(scores: NDArray[np.float32], ties: str, kept: int) -> NDArray[np.int64]:
    """The same in NumPy, which sorts whole numbers much faster than it finds the stable order of others: a number for
    each score that rises with it, and behind it the column."""
    bits = (scores + np.float32(0)).view(np.int32)  # the sum makes -0.0 the same as 0.0
    rising = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    keys = (rising if ties == "trec" else ~rising).astype(np.int64)
    keys <<= 32
    keys |= np.arange(scores.shape[1])
    keys.sort(axis=1)
    ordered = keys[:, ::-1][:, :kept] if ties == "trec" else keys[:, :kept]
    return ordered & 0xFFFFFFFF


def _by_scores(scores: NDArray[Any], ties: str, kept: int) -> NDArray[np.int64]:
    """The same for float64: in any order first, which is fast, then in the stable one where a row has ties."""
    sign = 1 if ties == "trec" else -1
    order = np.argsort(sign * scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    again = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > -np.inf)).any(axis=1))
    if len(again):
        order[again] = np.argsort(sign * scores[again], axis=1, kind="stable")
    return order[:, ::-1][:, :kept] if ties == "trec" else order[:, :kept]


def runs(xp: Any, scores: Array) -> Array:
    """For every rank, the number of its group of equal scores."""
    changed = xp.astype(scores[:, 1:] != scores[:, :-1], xp.int32)
    first = xp.zeros_like(scores[:, :1], dtype=xp.int32)
    return xp.cumulative_sum(xp.concat((first, changed), axis=1), axis=1, dtype=xp.int32)
