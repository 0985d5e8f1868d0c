"""Bounds of a mean where scores are skewed: Johnson's correction of Student's t (1978).

With t standard errors, a bound moves by (1 + 2 t^2) / (6 n) times the third central moment over the variance. It is
used only where it makes a bound wider: few queries that lose everything are seldom seen in their true number.
"""

from __future__ import annotations

from typing import TypeVar

from rankgauge.model.ranked import Floats
from rankgauge.stats.differences import Column

__all__ = ["skew_moment", "skew_shift"]

_Number = TypeVar("_Number", float, Floats)


def skew_moment(column: Column) -> float:
    """Third central moment over the variance; 0 with too few queries to know it."""
    n = column.n
    if n < 3 or column.deviation == 0:
        return 0.0
    # Multiplied, since a power of an array costs ten times as much.
    centred = (column.own - column.mean) / column.deviation
    return float((centred * centred * centred).sum()) * n / ((n - 1) * (n - 2)) * column.deviation


def skew_shift(moment: _Number, t: float, n: int) -> _Number:
    """By how much a bound at t standard errors moves; towards less where the moment is negative."""
    return moment * ((1 + 2 * t * t) / (6 * n))
