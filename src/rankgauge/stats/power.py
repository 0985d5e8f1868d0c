"""How many queries, or how small a difference: the power of the paired t test.

With a true mean difference d and a standard deviation s of the per-query differences, t has a noncentral distribution
with f = n - 1 degrees of freedom and noncentrality m = d / s sqrt(n). It is (Z + m) / S with Z normal and f S^2
chi-square, so that with the critical value c

    power = P(|Z + m| > c S) = E over S of [Phi(m - c S) + Phi(-m - c S)] = E over Z of P(S < |Z + m| / c)

Either expectation is an integral of a smooth function, by Gauss-Legendre. The first is smooth where c is small beside
the width of S, the second elsewhere. scipy's noncentral t is not used: it is NaN in parts of the domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats
from rankgauge.stats.levels import check_power

__all__ = ["critical_value", "detectable_difference", "least_whole", "power_of", "queries_needed", "significant_spread"]

_MOST = 10**9
_NODES = 160
_TAILS = 12.0  # standard deviations beyond which a normal distribution holds nothing


def critical_value(alpha: float, n: int) -> float:
    """The t value that n queries without a difference exceed, on either side, with the chance alpha."""
    from scipy.special import stdtrit

    return -float(stdtrit(n - 1, alpha / 2))


def power_of(difference: float, deviation: float, n: int, alpha: float = 0.05) -> float:
    """Chance to find a true difference with n queries."""
    if n < 2:
        return 0.0
    if deviation == 0:
        return 1.0 if difference else alpha
    return _exceeds(critical_value(alpha, n), abs(difference) / deviation * math.sqrt(n), n - 1)


def _exceeds(critical: float, shift: float, freedom: int) -> float:
    """P(|T| > critical) for a noncentral T."""
    from scipy.special import gammainc, ndtr

    half = freedom / 2
    if critical**2 <= 2 * freedom:

        def density(s: Floats) -> Floats:
            return np.exp((freedom - 1) * np.log(s) - half * (s * s - 1))

        def of_spread(s: Floats) -> Floats:
            return np.asarray(density(s) * (ndtr(shift - critical * s) + ndtr(-shift - critical * s)))

        width = _TAILS / math.sqrt(2 * freedom)
        low, high = max(0.0, 1 - width), 1 + width
        found = _integral(of_spread, low, high) / _integral(density, low, high)
    else:

        def of_normal(z: Floats) -> Floats:
            density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            return np.asarray(density * gammainc(half, half * ((z + shift) / critical) ** 2))

        turn = min(max(-shift, -_TAILS), _TAILS)  # |z + shift| has a kink there
        found = _integral(of_normal, -_TAILS, turn) + _integral(of_normal, turn, _TAILS)
    return min(1.0, max(0.0, found))


def _integral(function: Callable[[Floats], Floats], low: float, high: float) -> float:
    if low >= high:
        return 0.0
    points, weights = _gauss()
    half = (high - low) / 2
    return half * float(weights @ function(low + half * (points + 1)))


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    return points, weights


def queries_needed(difference: float, deviation: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """The least number of queries with which a true difference is found with the given power."""
    check_power(power, alpha)
    if difference == 0:
        raise DataError("a difference of 0 cannot be found with any number of queries; give the one that matters")
    found = least_whole(lambda n: power_of(difference, deviation, n, alpha) >= power, 2, _MOST)
    if found is None:
        raise DataError(f"a difference of {difference:g} with a spread of {deviation:g} takes over {_MOST} queries")
    return found


def least_whole(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The least number from `least` on for which a condition holds that goes on holding; None if `most` is too few."""
    low, high = least - 1, least
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable_difference(deviation: float, n: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The least true difference that n queries find with the given power; None where no difference can be found."""
    check_power(power, min(max(alpha, 1e-6), 0.49))  # a corrected level may be smaller than any that can be asked for
    return None if n < 2 else deviation * _detectable_shift(n, alpha, power) / math.sqrt(n)


@lru_cache(maxsize=1024)
def _detectable_shift(n: int, alpha: float, power: float) -> float:
    """The noncentrality with the given power. It grows with the shift, so that it is found by halving a bracket."""
    critical = critical_value(alpha, n)
    low, high = 0.0, critical + 1.0
    while _exceeds(critical, high, n - 1) < power:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _exceeds(critical, middle, n - 1) >= power else (middle, high)
    return high


def significant_spread(difference: float, n: int, alpha: float = 0.05) -> float:
    """The largest standard deviation of the differences at which a mean difference is significant: |d| sqrt(n) / t."""
    return abs(difference) * math.sqrt(n) / critical_value(alpha, n)
