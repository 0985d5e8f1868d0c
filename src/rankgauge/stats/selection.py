"""The interval of the best of many settings, chosen on the same queries.

Let m_j be the observed mean of setting j, s_j its standard error, M_j its true mean, and let c be the setting with the
greatest m_j. Its own 95 % interval does not hold: c was chosen because its m_j came out high. Each end of the interval
here is wrong in at most 2.5 % of samples, whatever the settings and however they go together:

    low   The end of setting c's interval at a level p that holds for all settings at once, so also for the one that
          was chosen: P((m_j - M_j) / s_j <= q_p for all j) = 97.5 %. How the settings go together is taken from the
          queries: p is Phi of the 97.5 % quantile of the greatest of K normal variables that are correlated as the
          scores are. Equal settings then count as one, unrelated ones as K (Bonferroni is the limit).
    high  The greatest end of the single settings' 97.5 % limits. The truly best setting b has M_b >= M_c, and M_b lies
          above its own limit in 2.5 % of samples. No correction is needed here: choosing can only make m_c too high.

Where less is better, both ends change their roles.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.intervals import Interval, mean_interval

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
) -> Interval | None:
    """Interval of the true mean of the setting that has the best mean. Settings by queries; None where a setting has
    fewer than two queries."""
    own = [row[counts] for row, counts in zip(values, counted, strict=True)]
    if min(map(len, own)) < 2:
        return None
    joint = 2 * _joint_level(values, counted, (1 + level) / 2, seed) - 1
    single = [mean_interval(scores, level, bounds=bounds) for scores in own]
    chosen = mean_interval(own[best], joint, bounds=bounds)
    assert chosen is not None
    if lower_is_better:
        return Interval(min(one.low for one in single if one), chosen.high, level, "simultaneous")
    return Interval(chosen.low, max(one.high for one in single if one), level, "simultaneous")


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
