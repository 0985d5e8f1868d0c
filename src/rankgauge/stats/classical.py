"""Paired t, Wilcoxon signed-rank and sign tests, each with the interval that belongs to it.

Each asks another question. The t test is about the mean difference. The signed-rank test is about the pseudo-median of
the differences that are not 0 (the median of all their pairwise means), and says nothing of means when they are skewed.
The sign test only counts wins and losses. Of conversations, both take the mean difference of each. Their intervals are
of these quantities, for only then can interval and p-value never contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rankgauge.model.ranked import Floats
from rankgauge.stats.constant import constant_bounds, constant_p
from rankgauge.stats.differences import Column, Inverted, Outcome
from rankgauge.stats.significance import SignificanceTest

__all__ = ["SIGN", "WILCOXON", "T", "sign_test", "signed_rank_test", "t_test"]

_EXACT_UP_TO = 50


def t_test(column: Column) -> Outcome:
    """t = m / (s / sqrt(n)) with n - 1 degrees of freedom. A constant difference has no t: see `constant_p`."""
    if column.n < 2:
        return Outcome(None, "t")
    if column.constant:
        return Inverted(constant_p(column), "t", lambda alpha: constant_bounds(column, alpha))
    from scipy.special import stdtr, stdtrit

    freedom, error = column.freedom, column.wide_error
    p = float(2 * stdtr(freedom, -abs(column.mean / error)))

    def bounds(alpha: float) -> tuple[float, float]:
        half = -float(stdtrit(freedom, alpha / 2)) * error
        return column.mean - half, column.mean + half

    return Inverted(p, "t", bounds)


def sign_test(column: Column) -> Outcome:
    """Wins against losses: p = 2 P(X <= min(wins, losses)), X binomial with 1/2; ties are left out.

    The interval is of the median of the differences that are not 0.
    """
    if column.n < 2:
        return Outcome(None, "sign")
    from scipy.special import bdtr

    decided = np.sort(column.averages[column.averages != 0])
    n = len(decided)
    fewer = int(min((decided > 0).sum(), (decided < 0).sum()))
    p = min(1.0, float(2 * bdtr(fewer, n, 0.5))) if n else 1.0

    def bounds(alpha: float) -> tuple[float, float]:
        if not n:
            return 0.0, 0.0
        rejected = np.flatnonzero(2 * bdtr(np.arange((n + 1) // 2), n, 0.5) < alpha)
        if not len(rejected):
            return -math.inf, math.inf
        # A shift is rejected if at most k differences lie on one side of it, so up to the difference of order k + 1.
        k = int(rejected[-1])
        return float(decided[k]), float(decided[n - 1 - k])

    return Inverted(p, "sign", bounds)


def signed_rank_test(column: Column) -> Outcome:
    """Wilcoxon's W: ranks of |d| summed over the positive d; differences of 0 are left out.

    Exact for up to 50 differences, ties included, else by the normal approximation with the correction for ties.
    The interval is of the pseudo-median, between order statistics of the pairwise means (Hodges and Lehmann 1963).
    """
    if column.n < 2:
        return Outcome(None, "wilcoxon")
    decided = np.sort(column.averages[column.averages != 0])
    n = len(decided)
    if not n:
        return Inverted(1.0, "wilcoxon", lambda alpha: (0.0, 0.0))
    ranks, sizes = _midranks(np.abs(decided))
    positive = float(ranks[decided > 0].sum())
    all_ranks = n * (n + 1) / 2
    tail = _lower_tail(ranks, sizes)
    p = min(1.0, 2 * tail(min(positive, all_ranks - positive)))

    def bounds(alpha: float) -> tuple[float, float]:
        # The largest W that is rejected, plus one, is the order of the pairwise mean at the bound.
        low, high = -1, int(all_ranks // 2)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if 2 * tail(middle) < alpha else (low, middle)
        order = low + 1
        if order < 1:
            return -math.inf, math.inf
        ends = _pairwise_mean(decided, order), -_pairwise_mean(-decided[::-1], order)
        return min(ends), max(ends)  # rounding may put them an ulp apart the wrong way round

    return Inverted(p, "wilcoxon", bounds)


def _midranks(values: Floats) -> tuple[Floats, Floats]:
    """Ranks with ties at their middle, and the sizes of the groups of ties."""
    _, group, sizes = np.unique(np.round(values / values.max(), 12), return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return (last - (sizes - 1) / 2)[group], sizes.astype(np.float64)


def _lower_tail(ranks: Floats, sizes: Floats) -> Callable[[float], float]:
    """P(W <= w) without a difference."""
    n = len(ranks)
    if n <= _EXACT_UP_TO:
        doubled = np.round(2 * ranks).astype(np.int64)  # ties stand at halves
        ways = np.zeros(int(doubled.sum()) + 1)
        ways[0] = 1.0
        for rank in doubled.tolist():
            ways[rank:] += ways[:-rank].copy()
        below = np.cumsum(ways) / 2.0**n
        return lambda w: float(below[math.floor(2 * w + 1e-9)]) if w >= 0 else 0.0
    mean = n * (n + 1) / 4
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48)
    return lambda w: 0.5 * math.erfc((mean - w) / deviation / math.sqrt(2)) if deviation else 0.5


def _pairwise_mean(ordered: Floats, order: int) -> float:
    """The order-th smallest of (d_i + d_j) / 2 over i <= j, without making all of them."""
    n = len(ordered)
    first = np.arange(n)

    def last_at_most(x: float) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        return np.searchsorted(ordered, 2 * x - ordered, side="right")

    low, high = float(ordered[0]), float(ordered[-1])
    if int(np.maximum(last_at_most(low) - first, 0).sum()) >= order:
        return low
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        enough = int(np.maximum(last_at_most(middle) - first, 0).sum()) >= order
        low, high = (low, middle) if enough else (middle, high)
    last = last_at_most(high)
    own = last > first
    return float(((ordered[first[own]] + ordered[last[own] - 1]) / 2).max())


def _each(test: Callable[[Column], Outcome]) -> Callable[..., list[Outcome]]:
    """The test of one column for all columns of a family; it draws nothing."""

    def run(columns: Sequence[Column], *, alpha: float, seed: int, samples: int) -> list[Outcome]:
        return [test(column) for column in columns]

    return run


def _least_p(column: Column) -> float:
    """All that differ on one side."""
    return float(2.0 ** (1 - int(np.count_nonzero(column.averages))))


T = SignificanceTest(_each(t_test))
WILCOXON = SignificanceTest(_each(signed_rank_test), of_mean=False, least_p=_least_p)
SIGN = SignificanceTest(_each(sign_test), of_mean=False, least_p=_least_p)
