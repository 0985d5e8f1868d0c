"""Kendall's tau-b: how far two lists of numbers order things alike."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.model.ranked import Floats

__all__ = ["kendall_tau"]


def kendall_tau(x: Floats, y: Floats) -> float | None:
    """(concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y)); None where one is constant."""
    n = len(x)
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    pairs = n * (n - 1) // 2
    tied_x, tied_y = _tied_pairs(x), _tied_pairs(np.sort(y))
    if pairs in (tied_x, tied_y):
        return None
    both = np.unique(np.stack([x, y]), axis=1, return_counts=True)[1].astype(np.int64)
    tied_both = int((both * (both - 1) // 2).sum())
    # In the order of x (and of y where x is tied), a pair is discordant exactly if y falls.
    discordant = _inversions(y)[1]
    concordant = pairs - tied_x - tied_y + tied_both - discordant
    return (concordant - discordant) / math.sqrt((pairs - tied_x) * (pairs - tied_y))


def _tied_pairs(ordered: Floats) -> int:
    sizes = np.diff(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Floats) -> tuple[Floats, int]:
    """The values sorted, and how many pairs stood in falling order."""
    n = len(values)
    if n <= 32:
        return np.sort(values), int(np.triu(values[:, None] > values[None, :], 1).sum())
    left, first = _inversions(values[: n // 2])
    right, second = _inversions(values[n // 2 :])
    across = int((len(left) - np.searchsorted(left, right, side="right")).sum())
    return np.sort(np.concatenate([left, right]), kind="stable"), first + second + across
