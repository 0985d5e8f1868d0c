"""A mean from many judged by a model and few checked by people: what the model gives, mended by what it was off.

Scores f_i of all N queries come from a model's labels, scores Y_i of n of them, drawn at random, from people's:

    mean = lambda mean_N(f) + mean_n(Y - lambda f)

(the difference estimator of survey sampling; prediction-powered inference, Angelopoulos et al. 2023). It is right
whatever the model does; a model that errs much makes it wide, not wrong. Lambda is how far to rely on the model: the
slope of Y on f, between 0 (people alone) and 1. The variance is S_Y^2 / N for the choice of the queries, and
(1 - n / N) S_e^2 / n for those not checked, e = Y - lambda f. Strata are weighed by their number of queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.stats.constant import constant_bounds
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import Interval, mean_interval, student_quantile
from rankgauge.stats.skewness import skew_moment, skew_shift

__all__ = ["LEAST_CHECKED", "Powered", "checks_needed", "prediction_powered"]

LEAST_CHECKED = 10
"""Queries that people have to check; with fewer the interval would not hold what it promises."""
_LEAST_IN_STRATUM = 2
_LEVEL = 0.95
_NOISE = 1e-12


@dataclass(frozen=True)
class Powered:
    """A mean by the labels of people, estimated with the help of a model's."""

    value: float
    interval: Interval
    judge: float
    """The mean by the model's labels alone."""
    bias: float
    """How much the model's labels alone are off, on the queries that were checked: mean of f - Y."""
    bias_interval: Interval | None
    people: Interval | None
    """The interval from the checked queries alone."""
    reliance: float
    """Lambda."""
    checked: int
    queries: int
    worth: float | None
    """As many checked queries without the model would give an interval as narrow; None where no score varies."""
    unseen: float
    """An error of the model that strikes a smaller share of the queries than this may well not be among the checked:
    1 - (alpha / 2)^(1/n). Where such an error is large, no interval from these checks holds."""
    between: float
    """Variance of the people's scores over the queries."""
    residual: float
    """Variance of what the judge leaves open, Y - lambda f, within strata."""

    def error(self, checked: float) -> float:
        """The standard error if so many queries were checked."""
        n = min(checked, self.queries)
        return math.sqrt(self.between / self.queries + (1 - n / self.queries) * self.residual / n)


def prediction_powered(
    judge: Floats,
    people: Floats,
    strata: Ints | None = None,
    *,
    level: float = _LEVEL,
    bounds: tuple[float, float] | None = None,
) -> Powered:
    """The mean of `people` over all queries; it is NaN where nobody checked. Of each stratum the queries to check must
    have been drawn at random, two of them or more. `bounds` are the least and greatest value of a query."""
    judge, people = np.asarray(judge, dtype=np.float64), np.asarray(people, dtype=np.float64)
    stratum = np.zeros(len(judge), dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    _check(judge, people, ~np.isnan(people), stratum)
    found = _estimated(judge, people, stratum, level, bounds)
    if stratum.max() == 0:
        y, f = people[~np.isnan(people)], judge[~np.isnan(people)]
        shares = bounds is not None and bounds[0] >= 0  # differences may happen to be only 0 and 1
        alone = mean_interval(y, level, bounds=bounds, shares=shares)
        bias = mean_interval(f - y, level, shares=False)
    else:  # a judge that says nothing leaves the stratified mean
        silent = np.zeros(len(judge))
        widest = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
        alone = _estimated(silent, people, stratum, level, bounds).interval
        bias = _estimated(silent, judge - people, stratum, level, widest).interval
    interval = found.interval
    if interval.method == "unseen" and alone is not None and alone.high - alone.low < interval.high - interval.low:
        interval = alone
    return replace(found, interval=interval, people=alone, bias_interval=bias)


def _estimated(
    judge: Floats, people: Floats, stratum: Ints, level: float, bounds: tuple[float, float] | None
) -> Powered:
    """The estimate, without what the checked queries alone say."""
    checked: Bools = ~np.isnan(people)
    n, total = int(checked.sum()), len(judge)
    sizes, drawn = np.bincount(stratum), np.bincount(stratum[checked])
    share, own = sizes / total, stratum[checked]
    y, f = people[checked], judge[checked]
    weight = share[own] / drawn[own]  # of each checked query in a mean over all
    reliance = _slope(y, f, own, weight)
    errors = y - reliance * f
    value = reliance * float(judge.sum() / total) + float((weight * errors).sum())
    within = _variances(errors, own) * (n - 1) / max(n - 2, 1)  # a degree went into the slope
    fixed = share**2 * (1 - drawn / sizes) / drawn
    mean_y = float((weight * y).sum())
    between = float((weight * (y - mean_y) ** 2).sum()) * n / (n - 1)
    error = math.sqrt(between / total + float((fixed * within).sum()))
    interval = _interval(value, error, errors, n, len(drawn), level, bounds, reliance)
    residual = float((share * within).sum())
    return Powered(
        value=value,
        interval=interval,
        judge=float(judge.sum() / total),
        bias=float((weight * (f - y)).sum()),
        bias_interval=None,
        people=None,
        reliance=reliance,
        checked=n,
        queries=total,
        worth=between / error**2 if error > _NOISE else None,
        unseen=-math.expm1(math.log((1 - level) / 2) / n),
        between=between,
        residual=residual,
    )


def _check(judge: Floats, people: Floats, checked: Bools, stratum: Ints) -> None:
    if judge.shape != people.shape or judge.ndim != 1:
        raise DataError("the model's and the people's scores are two lists about the same queries")
    if not np.isfinite(judge).all() or np.isinf(people).any():
        raise DataError("every query needs a finite score by the model's labels")
    n = int(checked.sum())
    if n < LEAST_CHECKED:
        raise DataError(
            f"people checked {n} queries; with fewer than {LEAST_CHECKED} nothing can be said of the error of the model"
        )
    drawn = np.bincount(stratum[checked], minlength=int(stratum.max()) + 1)
    if (drawn < _LEAST_IN_STRATUM).any():
        raise DataError(f"people checked {int(drawn.min())} queries of a stratum; {_LEAST_IN_STRATUM} are the least")


def _slope(y: Floats, f: Floats, stratum: Ints, weight: Floats) -> float:
    """Of y on f within the strata, between 0 and 1; 0 where f does not vary."""
    count = np.bincount(stratum, weights=weight)
    off_y = y - (np.bincount(stratum, weights=weight * y) / count)[stratum]
    off_f = f - (np.bincount(stratum, weights=weight * f) / count)[stratum]
    spread = float((weight * off_f**2).sum())
    return min(1.0, max(0.0, float((weight * off_y * off_f).sum()) / spread)) if spread > 1e-15 else 0.0


def _variances(values: Floats, stratum: Ints) -> Floats:
    """Of each stratum, by n - 1."""
    count = np.bincount(stratum)
    off = values - (np.bincount(stratum, weights=values) / count)[stratum]
    return np.asarray(np.bincount(stratum, weights=off**2) / np.maximum(count - 1, 1))


def _interval(
    value: float,
    error: float,
    errors: Floats,
    n: int,
    strata: int,
    level: float,
    bounds: tuple[float, float] | None,
    reliance: float,
) -> Interval:
    """t with a degree less for each stratum and for the slope, longer on the side of rare errors; where the model was
    off by the same on all that was checked, what was not seen is added (then the people's own interval is taken where
    it is narrower)."""
    low, high = bounds or (-math.inf, math.inf)
    t = student_quantile((1 + level) / 2, max(n - strata - 1, 1))
    column = Column(errors, np.ones(n, dtype=bool), (low - reliance * high, high - reliance * low))
    below = above = t * error
    unseen = column.constant and bounds is not None
    if unseen:
        least, most = constant_bounds(column, 1 - level)
        below, above = below + column.mean - least, above + most - column.mean
    else:
        shift = skew_shift(skew_moment(column), t, n)
        below, above = below - min(0.0, shift), above + max(0.0, shift)
    method = "unseen" if unseen else "prediction-powered"
    return Interval(max(value - below, low), min(value + above, high), level, method)


def checks_needed(found: Powered, level: float = _LEVEL) -> int | None:
    """How many queries people would have to check, in all, for the interval to exclude 0 if the value stays as it is;
    None where checking all of them would not do. What the interval is longer than t standard errors on the side of 0,
    for skewed errors, it stays in proportion."""
    half, freedom = abs(found.value), max(found.checked - 2, 1)
    own = found.value - found.interval.low if found.value > 0 else found.interval.high - found.value
    nominal = student_quantile((1 + level) / 2, freedom) * found.error(found.checked)
    longer = max(1.0, own / nominal) if nominal > 0 and math.isfinite(own) else 1.0
    for n in range(LEAST_CHECKED, found.queries + 1):
        if longer * student_quantile((1 + level) / 2, max(n - 2, 1)) * found.error(n) < half:
            return n
    return None
