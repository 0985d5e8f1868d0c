"""Is a new system no worse than an old one by more than a margin? A paired, one-sided test with three answers.

With the scores new_i and base_i of the same queries, s the sign of the baseline's mean and a relative margin m

    d_i = new_i - (1 - m s) base_i      where higher is better
    d_i = (1 + m s) base_i - new_i      where lower is better

has the mean 0 where the loss is exactly the margin. Student's t bounds its mean: below at level 1 - alpha, above at
level 1 - alpha / family. Above 0 as a whole: `pass`. Below 0 as a whole: `regression`. Otherwise it is `unsure`.

Where a few queries lose everything, d is skewed and t claims too much. Johnson's correction (1978) moves a bound by
(1 + 2 t^2) / (6 n) times the third central moment over the variance; it is used only where it makes the bound wider.

A gate passes only if every measure passes, so that the chance of a false pass needs no correction (an
intersection-union test; Berger 1982). A regression is claimed if any measure shows one, so that this side is divided by
their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankgauge.engine.averaging import average
from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import student_quantile

__all__ = ["NonInferiority", "Status", "chance_to_pass", "check_levels", "least_queries", "non_inferiority"]

Status = Literal["pass", "regression", "unsure"]
_LEAST_ALPHA = 1e-6
"""Below, no figure is worth its digits: bounds so far out are nothing that a few hundred queries tell."""


@dataclass(frozen=True)
class NonInferiority:
    """The answer for one measure, with the figures behind it."""

    status: Status
    reason: Literal["identical", "nowhere worse", "bounds"]
    """`identical` and `nowhere worse` need no bounds: no query lost anything."""
    n: int
    base: float
    """Mean of the baseline over the queries compared; `new` likewise."""
    new: float
    mean: float
    """Mean of d: how much of the margin is left; negative if the loss observed exceeds it."""
    deviation: float
    lower: float
    upper: float
    worse: int
    """Queries that scored worse than before."""
    better: int
    needed: int | None
    """Queries that would settle it with a chance of 80 %, if mean and spread stay as they are; None if it is settled,
    or if the loss observed is the margin to the digit."""


def non_inferiority(
    new: Floats,
    base: Floats,
    margin: float = 0.05,
    *,
    alpha: float = 0.05,
    family: int = 1,
    lower_is_better: bool = False,
) -> NonInferiority:
    """Test whether `new` lost more than `margin`, relative to the mean of `base`, on the same queries.

    A system that is worse on no query passes, whatever the bounds say; so does one that is identical. A baseline whose
    mean is 0 leaves no relative margin: there the new mean must be no worse at all.
    """
    check_levels(margin, alpha)
    if len(new) != len(base):
        raise DataError(f"{len(new)} new scores and {len(base)} old ones are not of the same queries")
    n = len(new)
    if n < 2:
        raise DataError(f"{n} common {'query' if n == 1 else 'queries'}: a comparison needs at least two")
    before, after = average(base), average(new)
    share = margin * float(np.sign(before))
    d = (1 + share) * base - new if lower_is_better else new - (1 - share) * base
    column = Column(d, np.ones(n, dtype=bool))
    mean, error, deviation = column.mean, column.error, column.deviation
    below, above = student_quantile(1 - alpha, n - 1), student_quantile(1 - alpha / family, n - 1)
    lower = mean - below * error + min(0.0, _skew_shift(column, below))
    upper = mean + above * error + max(0.0, _skew_shift(column, above))
    gain = base - new if lower_is_better else new - base
    worse, better = int((gain < 0).sum()), int((gain > 0).sum())
    reason: Literal["identical", "nowhere worse", "bounds"] = "bounds"
    status: Status = "pass" if lower > 0 else "regression" if upper < 0 else "unsure"
    if not worse:
        reason, status = "nowhere worse" if better else "identical", "pass"
    needed = _needed(mean, deviation, n, alpha, family) if status == "unsure" else None
    return NonInferiority(status, reason, n, before, after, mean, deviation, lower, upper, worse, better, needed)


def least_queries(margin: float, alpha: float = 0.05) -> int | None:
    """The queries below which a loss as large as the margin may well hide: 3 ln(alpha) / ln(1 - margin).

    Where the loss is that one query in 1 / margin fails altogether, n queries show none of it with the chance
    (1 - margin)^n, which is alpha at a third of this number; but a sample that shows too few of the failures can pass
    as well. From this number on the chance of a sure pass is at most about 1.4 alpha (see `chance_to_pass`), whatever
    the shape of the scores. None for a margin of 0.
    """
    return math.ceil(3 * math.log(alpha) / math.log1p(-margin)) if 0 < margin < 1 else None


def chance_to_pass(base: Floats, margin: float, alpha: float = 0.05) -> float:
    """The chance that a true loss of exactly the margin passes surely, where it is one query in 1 / margin that fails.

    By simulation, on samples drawn from the baseline's own scores (always the same ones). A query that fails scores 0,
    or twice as much where lower is better: d is (margin - 1) base there and margin base elsewhere.
    """
    n, rng = len(base), np.random.default_rng(0)
    draws = max(200, min(2000, 400_000 // n))
    scores = np.abs(base)[rng.integers(0, n, (n, draws))]
    failed = rng.random((n, draws)) < margin
    d = (margin - failed) * scores
    mean = d.mean(axis=0)
    variance = ((d - mean) ** 2).sum(axis=0) / (n - 1)
    third = ((d - mean) ** 3).sum(axis=0) * n / ((n - 1) * max(n - 2, 1))
    t = student_quantile(1 - alpha, n - 1)
    shift = np.divide(third, variance, out=np.zeros(draws), where=variance > 0) * (1 + 2 * t * t) / (6 * n)
    lower = mean - t * np.sqrt(variance / n) + np.minimum(0, shift)
    nowhere_worse = ~(failed & (scores > 0)).any(axis=0)
    return float(((lower > 0) | nowhere_worse).mean())


def _skew_shift(column: Column, t: float) -> float:
    """Johnson's correction of a bound at t standard errors; 0 with too few queries to know the skewness."""
    n = column.n
    if n < 3 or column.deviation == 0:
        return 0.0
    third = float(((column.own - column.mean) ** 3).sum()) * n / ((n - 1) * (n - 2))
    return third / column.deviation**2 * (1 + 2 * t * t) / (6 * n)


def _needed(mean: float, deviation: float, n: int, alpha: float, family: int) -> int | None:
    from rankgauge.stats.power import queries_needed

    level = alpha if mean > 0 else alpha / family
    if mean == 0 or not 2 * level < 0.8:
        return None
    try:  # a two-sided test at twice the level; its other side has no chance to speak of
        return max(n + 1, queries_needed(mean, deviation, 2 * level))
    except DataError:
        return None


def check_levels(margin: float, alpha: float) -> None:
    if not 0 <= margin < 1:
        raise DataError(f"a margin of {margin:g} is no share between 0 and 1; write 5% or 0.05")
    if not _LEAST_ALPHA <= alpha < 0.5:  # also where it is no number at all
        raise DataError(f"alpha {alpha:g} must lie between {_LEAST_ALPHA:g} and 0.5; 0.05 is usual")
