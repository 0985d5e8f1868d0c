"""Is a mean above 0, seen from one side? Student's t, widened for skewness and for losses too rare to have been seen.

Where a few queries lose everything, differences are skewed and t claims too much (see `skewness`).

A sample may also show too few of the queries that lose everything. With l the least difference of a query and r the
mean of those that did not lose half as much, a mean of at most 0 takes a share p = r / (r - l) of such failures; so few
of them, k of n, come with the chance P(X <= k), X binomial with n and p.
"""

from __future__ import annotations

import math

from rankgauge.stats.differences import Column
from rankgauge.stats.skewness import skew_moment

__all__ = ["equivalence_p"]


def _skewed_t(mean: float, error: float, moment: float, n: int) -> float:
    """The t at which the corrected lower bound is 0: mean = t error + g (1 + 2 t^2) / (6 n) with g = -moment."""
    g = max(0.0, -moment) / (3 * n)
    if not g:
        return mean / error
    room = error * error + 4 * g * (mean - g / 2)
    return 2 * (mean - g / 2) / (error + math.sqrt(room)) if room > 0 else -math.inf


def _above_p(column: Column, shift: float, sign: int) -> float:
    """The p-value of `mean of (sign d + shift) <= 0`."""
    from scipy.special import bdtr, stdtr

    mean = sign * column.mean + shift
    if mean <= 0:
        return 1.0
    least = shift + (column.limits[0] if sign > 0 else -column.limits[1])
    if least >= 0:  # no query can lose so much
        return 0.0
    d = sign * column.own + shift
    failed = d <= least / 2
    rest = float(d[~failed].mean())
    unseen = float(bdtr(int(failed.sum()), column.n, rest / (rest - least))) if rest > 0 else 1.0
    if not column.error:
        return unseen
    t = _skewed_t(mean, column.wide_error, sign * skew_moment(column), column.n)
    return max(unseen, float(stdtr(column.freedom, -t)))


def equivalence_p(column: Column, margin: float) -> float | None:
    """Two one-sided tests: the larger p-value of mean <= -margin and of mean >= margin (Schuirmann 1987)."""
    if column.n < 2:
        return None
    return max(_above_p(column, margin, 1), _above_p(column, margin, -1))
