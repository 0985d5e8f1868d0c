"""Where every query has the same score or difference: no spread tells how far to trust it, only what was not seen."""

from __future__ import annotations

import math

from rankgauge.stats.differences import Column

__all__ = ["constant_bounds", "constant_p"]


def constant_p(column: Column) -> float:
    """The p-value of n equal differences c > 0 that can be as low as l: 2 (l / (l - c))^n, at most 1.

    Without a difference on average, c comes with a chance of at most l / (l - c): then all other queries are at l.
    """
    c, (low, high) = column.mean, column.limits
    against = low if c > 0 else high
    if not c or math.isinf(against):
        return 1.0
    return min(1.0, 2 * (against / (against - c)) ** column.n)


def constant_bounds(column: Column, alpha: float, n: int | None = None) -> tuple[float, float]:
    """The interval of the mean where all n queries have the difference c, by `constant_p` turned round.

    With a chance of 1 - alpha, at most the share q = 1 - (alpha / 2)^(1/n) of all queries has another difference than
    the n that were seen (or another number of them); these lie within the limits.
    """
    c, (low, high) = column.mean, column.limits
    unseen = -math.expm1(math.log(alpha / 2) / (n or column.n))
    return c - unseen * (c - low), c + unseen * (high - c)
