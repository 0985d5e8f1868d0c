"""How many queries, or how small a difference: the power of the paired t test.

With a true mean difference d and a standard deviation s of the per-query differences, t has a noncentral distribution
with n - 1 degrees of freedom and noncentrality d / s sqrt(n); the power is the chance that |t| exceeds its critical
value.
"""

from __future__ import annotations

import math

from rankgauge.errors import DataError

__all__ = ["detectable_difference", "power_of", "queries_needed", "significant_spread"]

_MOST = 10**9


def power_of(difference: float, deviation: float, n: int, alpha: float = 0.05) -> float:
    """Chance to find a true difference with n queries."""
    from scipy.special import nctdtr, stdtrit

    if n < 2:
        return 0.0
    if deviation == 0:
        return 1.0 if difference else alpha
    freedom = n - 1
    critical = -float(stdtrit(freedom, alpha / 2))
    shift = abs(difference) / deviation * math.sqrt(n)
    if shift > critical + 10:  # certain, and beyond what the noncentral distribution can be computed for
        return 1.0
    upper, lower = float(nctdtr(freedom, shift, critical)), float(nctdtr(freedom, shift, -critical))
    return min(1.0, max(0.0, 1 - upper + lower))


def queries_needed(difference: float, deviation: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """The least number of queries with which a true difference is found with the given power."""
    _check(alpha, power)
    if difference == 0:
        raise DataError("a difference of 0 cannot be found with any number of queries; give the one that matters")
    low, high = 1, 2
    while power_of(difference, deviation, high, alpha) < power:
        low, high = high, 2 * high
        if high > _MOST:
            raise DataError(f"a difference of {difference:g} with a spread of {deviation:g} takes over {_MOST} queries")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(difference, deviation, middle, alpha) >= power else (middle, high)
    return high


def detectable_difference(deviation: float, n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The least true difference that n queries find with the given power; None where no difference can be found."""
    _check(alpha, power)
    if n < 2:
        return None
    if deviation == 0:
        return 0.0
    low, high = 0.0, deviation / math.sqrt(n)
    while power_of(high, deviation, n, alpha) < power:
        low, high = high, 2 * high
        if high > 1e9 * deviation:
            return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, deviation, n, alpha) >= power else (middle, high)
    return high


def significant_spread(difference: float, n: int, alpha: float = 0.05) -> float:
    """The largest standard deviation of the differences at which a mean difference is significant: |d| sqrt(n) / t."""
    from scipy.special import stdtrit

    return abs(difference) * math.sqrt(n) / -float(stdtrit(n - 1, alpha / 2))


def _check(alpha: float, power: float) -> None:
    if not 0 < alpha < 1 or not alpha < power < 1:
        raise DataError(f"alpha {alpha:g} and power {power:g} must lie between 0 and 1, and the power above alpha")
