"""Confidence intervals of a mean over queries.

For scores that are only 0 or 1 (success, P@1) the Wilson score interval is used: near 0 and 1 the t interval covers far
less than it claims. For all others it is the t interval, made longer on the side of the rare scores where they are
skewed (`skewness`), and where all scores are alike, one that allows for what was not seen. Queries of one conversation
are one value together (`clusters`). Student's quantile is computed here because importing `scipy.special` alone would
double the start-up time of the command line; the tests compare it with scipy's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rankgauge.model.ranked import Floats, Ints
from rankgauge.stats.clusters import clustered, design_effect
from rankgauge.stats.constant import constant_bounds
from rankgauge.stats.differences import Column
from rankgauge.stats.skewness import skew_moment, skew_shift

__all__ = ["Interval", "mean_interval", "normal_quantile", "share_interval", "student_quantile"]


@dataclass(frozen=True)
class Interval:
    """Bounds of a confidence interval and how they were found."""

    low: float
    high: float
    level: float
    method: str


def mean_interval(
    values: Floats,
    level: float = 0.95,
    *,
    bounds: tuple[float, float] | None = None,
    shares: bool = True,
    skewed: bool = True,
    clusters: Ints | None = None,
) -> Interval | None:
    """Interval of the mean of independent queries, or None with fewer than two of them.

    `clusters` numbers the conversation of each query, where queries are not independent; then there must be two of
    these.

    `bounds` are the least and greatest value of a query, and so of the mean; the t interval is cut there. Where all
    queries have one value, the interval allows for those that were not seen (`constant_bounds`); without bounds there
    is none. Differences are no `shares`, even where they happen to be only 0 and 1; who guards against skewed scores in
    another way takes them as not `skewed`.
    """
    n = len(values)
    if n < 2:
        return None
    mean = float(values.sum() / n)
    low, high = bounds or (-math.inf, math.inf)
    queries = Column(values, np.ones(n, dtype=bool), (low, high))
    column = clustered(queries, clusters if clusters is not None and len(np.unique(clusters)) < n else None)
    alike = shares and bool(((values == 0) | (values == 1)).all())
    if alike and column is queries:
        return Interval(*share_interval(mean, n, level), level, "wilson")
    if column.n < 2:
        return None
    if column.constant and not alike:
        return None if bounds is None else Interval(*constant_bounds(column, 1 - level), level, "constant")
    t = student_quantile((1 + level) / 2, column.freedom)
    if alike:
        effect = design_effect(queries, column)
        size = column.n if effect is None else n / max(1.0, effect)
        return Interval(*share_interval(mean, size, level, t), level, "wilson")
    half, shift = t * column.wide_error, skew_shift(skew_moment(column), t, column.n) if skewed else 0.0
    return Interval(max(mean - half + min(0, shift), low), min(mean + half + max(0, shift), high), level, "t")


def normal_quantile(p: float) -> float:
    """The p-quantile of the normal distribution by Newton's steps. `statistics` has it too, but takes fractions and
    decimals along, which cost more than scoring a small file."""
    tail = min(p, 1 - p)
    z = 0.0  # beyond 0 the tail is convex, so no step goes too far
    for _ in range(1000):
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        step = (math.erfc(z / math.sqrt(2)) / 2 - tail) / density
        z += step
        if step <= 1e-15 * z:
            break
    return z if p > 0.5 else -z


def share_interval(share: float, n: float, level: float, critical: float | None = None) -> tuple[float, float]:
    """Wilson's interval. Of a share among queries in conversations, n is the effective number of queries and `critical`
    the quantile of t (Dean and Pagano 2015); where all agree, the number of conversations."""
    z = critical or normal_quantile((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if share == 0 else centre - half), (1.0 if share == 1 else centre + half)


@lru_cache(1024)  # many means over as many queries are shown together
def student_quantile(p: float, freedom: int) -> float:
    """The p-quantile (p > 0.5) of Student's t: a Cornish-Fisher start, then Newton steps on the exact distribution."""
    z = normal_quantile(p)
    if freedom == 1:
        return math.tan(math.pi * (p - 0.5))
    n = float(freedom)
    # Abramowitz and Stegun 26.7.5
    t = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    t += (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    if freedom > 200:
        return t
    for _ in range(50):
        step = (_student_cdf(t, freedom) - p) / _student_density(t, n)
        t -= step
        if abs(step) < 1e-13 * max(1.0, t):
            break
    return t


def _student_density(t: float, n: float) -> float:
    scale = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(n * math.pi)
    return float(scale * (1 + t * t / n) ** (-(n + 1) / 2))


def _student_cdf(t: float, n: int) -> float:
    """Exact for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(n))
    cosine, sine = math.cos(angle), math.sin(angle)
    if n % 2:
        total, term = 0.0, cosine
        for k in range(1, (n - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        inside = 2 / math.pi * (angle + sine * total)
    else:
        total, term = 0.0, 1.0
        for k in range(1, n // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k - 1) / (2 * k)
        inside = sine * total
    return 0.5 + inside / 2
