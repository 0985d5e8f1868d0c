"""The interval of the best of many settings, chosen on the same queries.

Let m_j be the observed mean of setting j, s_j its standard error, M_j its true mean, and let c be the setting with the
greatest m_j. Its own 95 % interval does not hold: c was chosen because its m_j came out high. Each end of the interval
here is wrong in at most 2.5 % of samples, as far as the single limits that it is made of hold:

    low   The end of setting c's interval at a level p that holds for all settings at once, so also for the one that
          was chosen: P((m_j - M_j) / s_j <= q_p for all j) = 97.5 %. How the settings go together is taken from the
          queries: p is Phi of the 97.5 % quantile of the greatest of K normal variables that are correlated as the
          scores are. Equal settings then count as one, unrelated ones as K (Bonferroni is the limit).
          Where scores are skewed, the luckiest mean comes with the luckiest spread (no failures at all, say), and
          the limit of its own scores alone is too near. So it is the farthest of three limits: of c's own scores; of
          c's mean with the spread that is usual among the settings; and, where the measure has a least score, of c's
          scores and one more query with that score.
    high  The greatest of the single settings' 97.5 % limits. The truly best setting b has M_b >= M_c, and M_b lies
          above its own limit in 2.5 % of samples. No correction is needed here: choosing can only make m_c too high.

Where less is better, both ends change their roles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.stats.clusters import clustered
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import Interval, mean_interval, student_quantile

__all__ = ["interval_of_best"]

_DRAWS = 10_000


def interval_of_best(
    values: Floats,
    counted: Bools,
    best: int,
    *,
    lower_is_better: bool = False,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
    clusters: Ints | None = None,
) -> Interval | None:
    """Interval of the true mean of the setting that has the best mean. Settings by queries; None where a setting has
    fewer than two queries, or where no spread and no bounds tell anything. `clusters` numbers the conversations of the
    queries, where these are not independent; then each is one value."""
    if clusters is not None:
        units = [clustered(Column(row, counts), clusters) for row, counts in zip(values, counted, strict=True)]
        values, counted = np.stack([unit.values for unit in units]), np.stack([unit.counted for unit in units])
    if lower_is_better:  # the mirror image; bounds change places, and scores of 0 and 1 stay such
        axis = sum(bounds or (0.0, 0.0))
        found = interval_of_best(axis - values, counted, best, bounds=bounds, level=level, seed=seed)
        return None if found is None else replace(found, low=axis - found.high, high=axis - found.low)
    own = [row[counts] for row, counts in zip(values, counted, strict=True)]
    if min(map(len, own)) < 2:
        return None
    p = _joint_level(values, counted, (1 + level) / 2, seed)
    least, most = bounds or (-math.inf, math.inf)
    single = (mean_interval(scores, level, bounds=bounds, skewed=False) for scores in own)
    highs = [one.high for one in single if one is not None]
    if not highs:  # nothing but constant scores of a measure without bounds
        return None
    return Interval(max(_low(own, best, p, bounds), least), min(max(highs), most), level, "simultaneous")


def _low(scores: Sequence[Floats], best: int, p: float, bounds: tuple[float, float] | None) -> float:
    """The farthest of the three limits at level p."""
    own, n = scores[best], len(scores[best])
    limits = [one.low for one in [mean_interval(own, 2 * p - 1, bounds=bounds, skewed=False)] if one is not None]
    variances = [float(np.var(row, ddof=1)) for row in scores if np.ptp(row)]  # one that never answers tells nothing
    if variances:
        usual = math.sqrt(sum(variances) / len(variances) / n)
        limits.append(float(own.sum() / n) - student_quantile(p, n - 1) * usual)
    if bounds is not None:
        more = np.append(own, bounds[0])
        error = float(np.std(more, ddof=1)) / math.sqrt(n + 1)
        limits.append(float(more.sum() / (n + 1)) - student_quantile(p, n) * error)
    return min(limits)


def _joint_level(values: Floats, counted: Bools, p: float, seed: int) -> float:
    """The level at which one-sided limits of single settings hold for all of them with probability p."""
    settings = len(values)
    means = (values * counted).sum(axis=1, keepdims=True) / counted.sum(axis=1, keepdims=True)
    centred = np.where(counted, values - means, 0.0)
    sizes = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    unit = np.divide(centred, sizes, out=np.zeros_like(centred), where=sizes > 0)
    # A little more on the diagonal lets equal settings, whose matrix is singular, be factorized too.
    factor = np.linalg.cholesky(unit @ unit.T + 1e-9 * np.eye(settings))
    drawn = np.random.default_rng(seed).standard_normal((_DRAWS, settings)) @ factor.T
    found = NormalDist().cdf(float(np.quantile(drawn.max(axis=1), p)))
    return min(max(found, p), 1 - (1 - p) / settings)
