"""Is a new system no worse than an old one by more than a margin? A paired, one-sided test with three answers.

With the scores new_i and base_i of the same queries, s the sign of the baseline's mean and a relative margin m

    d_i = new_i - (1 - m s) base_i      where higher is better
    d_i = (1 + m s) base_i - new_i      where lower is better

has the mean 0 where the loss is exactly the margin. Student's t bounds its mean: below at level 1 - alpha, above at
level 1 - alpha / family. Above 0 as a whole: `pass`. Below 0 as a whole: `regression`. Otherwise it is `inconclusive`.

Where a few queries lose everything, d is skewed and t claims too much. The bounds are widened for skewness, as
`skewness` has it.

A gate passes only if every measure passes, so that the chance of a false pass needs no correction (an
intersection-union test; Berger 1982). A regression is claimed if any measure shows one, so that this side is divided by
their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats, Ints
from rankgauge.stats.clusters import clustered, design_effect
from rankgauge.stats.constant import constant_bounds
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import student_quantile
from rankgauge.stats.levels import check_alpha
from rankgauge.stats.power import least_whole, power_of
from rankgauge.stats.skewness import skew_moment, skew_shift

__all__ = ["NonInferiority", "Status", "chance_to_pass", "check_levels", "least_queries", "non_inferiority"]

Status = Literal["pass", "regression", "inconclusive"]
_SIMULATED = 3_000
"""From so many queries on, the average correction is as good as its samples."""


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
    conversations: int | None = None
    """How many independent conversations the queries belong to; None where every query stands alone."""
    design_effect: float | None = None


def non_inferiority(
    new: Floats,
    base: Floats,
    margin: float = 0.05,
    *,
    alpha: float = 0.05,
    family: int = 1,
    lower_is_better: bool = False,
    clusters: Ints | None = None,
) -> NonInferiority:
    """Test whether `new` lost more than `margin`, relative to the mean of `base`, on the same queries.

    `clusters` numbers the conversation of each query, where queries are not independent: then d is one value for each
    conversation (see `clusters`).

    A system that is worse on no query passes, whatever the bounds say; so does one that is identical. A baseline whose
    mean is 0 leaves no relative margin: there the new mean must be no worse at all.
    """
    check_levels(margin, alpha)
    if len(new) != len(base):
        raise DataError(f"{len(new)} new scores and {len(base)} old ones are not of the same queries")
    n = len(new)
    if n < 2:
        raise DataError(f"{n} common {'query' if n == 1 else 'queries'}: a comparison needs at least two")
    before, after = aggregate("mean", base), aggregate("mean", new)
    share = margin * float(np.sign(before))
    d = (1 + share) * base - new if lower_is_better else new - (1 - share) * base
    reach = max(float(np.abs(base).max()), float(np.abs(new).max()))
    queries = Column(d, np.ones(n, dtype=bool), (-reach, reach))
    column = clustered(queries, clusters)
    if column.n < 2:
        raise DataError("all common queries belong to one conversation: a comparison needs at least two")
    mean, error, deviation = column.mean, column.wide_error, column.deviation
    below, above = student_quantile(1 - alpha, column.freedom), student_quantile(1 - alpha / family, column.freedom)
    moment = skew_moment(column)
    lower = mean - below * error + min(0.0, skew_shift(moment, below, column.n))
    upper = mean + above * error + max(0.0, skew_shift(moment, above, column.n))
    if column.constant:  # no spread: only what was not seen makes it uncertain
        lower, upper = constant_bounds(column, 2 * alpha)[0], constant_bounds(column, 2 * alpha / family)[1]
    gain = base - new if lower_is_better else new - base
    worse, better = int((gain < 0).sum()), int((gain > 0).sum())
    reason: Literal["identical", "nowhere worse", "bounds"] = "bounds"
    status: Status = "pass" if lower > 0 else "regression" if upper < 0 else "inconclusive"
    if not worse:
        reason, status = "nowhere worse" if better else "identical", "pass"
    needed = _needed(column, moment, alpha, family) if status == "inconclusive" else None
    units, effect = None, None
    if column is not queries:
        needed = None if needed is None else math.ceil(needed * n / column.n - 1e-9)
        units, effect = column.n, design_effect(queries, column)
    return NonInferiority(
        status, reason, n, before, after, mean, deviation, lower, upper, worse, better, needed, units, effect
    )


def chance_to_pass(base: Floats, margin: float, alpha: float = 0.05, queries: int | None = None) -> float:
    """The chance that a true loss of exactly the margin passes surely, where it is one query in 1 / margin that fails.

    By simulation, on samples of as many queries, or another number, drawn from the baseline's own scores (always the
    same ones). A query that fails scores 0, or twice as much where lower is better: d is (margin - 1) base there and
    margin base elsewhere.
    """
    n, rng = queries or len(base), np.random.default_rng(0)
    draws = _draws(n)
    scores = np.abs(base)[rng.integers(0, len(base), (n, draws))]
    failed = rng.random((n, draws)) < margin
    nowhere_worse = ~(failed & (scores > 0)).any(axis=0)
    d: Floats = (margin - failed.astype(np.float64)) * scores
    return float(((_lower_bounds(d, alpha) > 0) | nowhere_worse).mean())


def _draws(n: int) -> int:
    return max(200, min(2000, 400_000 // n))


def _lower_bounds(d: Floats, alpha: float) -> Floats:
    """The lower bounds of many samples at once, one in each column."""
    n = len(d)
    mean = d.mean(axis=0)
    variance = ((d - mean) ** 2).sum(axis=0) / (n - 1)
    off = d - mean
    third = (off * off * off).sum(axis=0) * n / ((n - 1) * max(n - 2, 1))
    t = student_quantile(1 - alpha, n - 1)
    moment = np.divide(third, variance, out=np.zeros_like(mean), where=variance > 0)
    return np.asarray(mean - t * np.sqrt(variance / n) + np.minimum(0, skew_shift(moment, t, n)))


def least_queries(base: Floats, margin: float, chance: float, alpha: float = 0.05) -> int | None:
    """About how many queries like the baseline's make the chance to pass as small as `chance`; None beyond 20,000."""
    found = least_whole(lambda n: chance_to_pass(base, margin, alpha, n) <= chance, 4, 20_000)
    return found if found is None else int(float(f"{found:.1e}"))


def _needed(column: Column, moment: float, alpha: float, family: int) -> int | None:
    """Queries that would settle it: the power of the t test, less what the correction for skewness will take on
    average; then more, until samples of the differences seen are settled often enough."""
    mean, deviation = column.mean, column.deviation
    level = alpha if mean > 0 else alpha / family
    against = max(0.0, -moment if mean > 0 else moment)

    def enough(n: int) -> bool:
        if column.constant:
            return constant_bounds(column, 2 * level, n)[0 if mean > 0 else 1] * mean > 0
        left = abs(mean) - skew_shift(against, student_quantile(1 - level, n - 1), n)
        # a two-sided test at twice the level; its other side has no chance to speak of
        return left > 0 and power_of(left, deviation, n, 2 * level) >= 0.8

    needed = least_whole(enough, column.n + 1, 10**9) if mean and 2 * level < 0.8 else None
    while against and needed is not None and needed <= _SIMULATED:
        drawn = column.own[np.random.default_rng(0).integers(0, column.n, (needed, _draws(needed)))]
        if (_lower_bounds(drawn if mean > 0 else -drawn, level) > 0).mean() >= 0.8:
            break
        needed += 1 + needed // 12
    return needed


def check_levels(margin: float, alpha: float) -> None:
    if not 0 <= margin < 1:
        raise DataError(f"a margin of {margin:g} is no share between 0 and 1; write 5% or 0.05")
    check_alpha(alpha)
