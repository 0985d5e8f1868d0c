"""Differences of two systems, one column for each comparison, and what the tests share.

A column has one value for each query, or, where queries belong to conversations, one for each conversation (see
`clusters`): what is independent of the others is one value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.model.ranked import Bools, Floats

__all__ = ["SAME", "Column", "Inverted", "Outcome", "agreeing", "another_winner", "beyond", "kth_largest", "t_values"]

SAME = 1e-12  # scores closer than this, beside the largest of them, are a tie: rounding, not a win
_ALIKE = 1e-9
_NOISE = 1e-12  # a spread this much smaller than the mean is rounding, not spread


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """Differences of one comparison over all queries, or conversations; those that do not count are 0 and masked."""

    values: Floats
    counted: Bools
    limits: tuple[float, float] = (-math.inf, math.inf)
    """The least and greatest difference that a single query can have."""
    weights: Floats | None = None
    """Of conversations: how many queries count in each, over the mean of these numbers; 0 where none does."""

    @cached_property
    def own(self) -> Floats:
        """The differences that count."""
        return self.values[self.counted]

    @cached_property
    def n(self) -> int:
        return int(self.counted.sum())

    @cached_property
    def mean(self) -> float:
        return float(self.own.sum() / self.n) if self.n else 0.0

    @cached_property
    def deviation(self) -> float:
        """Standard deviation (n - 1); 0 where only rounding makes the differences differ."""
        if self.n < 2:
            return 0.0
        deviation = math.sqrt(float(((self.own - self.mean) ** 2).sum()) / (self.n - 1))
        return deviation if deviation > self.rounding else 0.0

    @cached_property
    def rounding(self) -> float:
        """What is smaller than this comes of rounding."""
        return _NOISE * float(np.abs(self.own).max(initial=0.0))

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom of its t: n - 1. Of conversations of unequal length n is their effective number,
        (sum w)^2 / (sum w^2) (Kish 1965): a few long ones tell less of the spread than many short ones."""
        if self.weights is None:
            return self.n - 1
        own = self.weights[self.counted]
        return max(1, round(float(own.sum() ** 2 / (own**2).sum())) - 1)

    @property
    def averages(self) -> Floats:
        """The mean difference of each conversation; of single queries their differences."""
        if self.weights is None:
            return self.own
        found = self.mean + (self.own - self.mean) / self.weights[self.counted]
        return np.where(np.abs(found) > self.rounding, found, 0.0)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / math.sqrt(self.n) if self.n else 0.0

    @cached_property
    def wide_error(self) -> float:
        """The standard error for Student's t. Of conversations, each residual is divided by sqrt(1 - h) with h the
        conversation's share of the queries (Bell and McCaffrey 2002, CR2): a long one draws the mean towards itself."""
        if self.weights is None or not self.deviation:
            return self.error
        squares = (self.own - self.mean) ** 2
        wider = float((squares / (1 - self.weights[self.counted] / self.n)).sum())
        return math.sqrt(wider) / self.n

    @property
    def constant(self) -> bool:
        """Whether at least two queries all have the same difference, so that no spread tells how far to trust it."""
        return self.n >= 2 and not self.deviation

    @property
    def t(self) -> float:
        """mean / (s / sqrt(n)); 0 for identical systems, infinite for a constant difference."""
        if self.error:
            return self.mean / self.error
        return math.copysign(math.inf, self.mean) if self.mean else 0.0

    @property
    def identical(self) -> bool:
        return not self.own.any()


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """Outcome of a two-sided test of one column. Fewer than two queries give no p-value."""

    p_value: float | None
    method: str

    def bounds(self, alpha: float) -> tuple[float, float]:
        """Interval of the values that the test does not reject at level alpha; infinite where it never rejects."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Inverted(Outcome):
    """A test whose interval a function gives."""

    find: Callable[[float], tuple[float, float]]

    def bounds(self, alpha: float) -> tuple[float, float]:
        return self.find(alpha)


def agreeing(low: float, high: float, rejected: bool, side: float) -> tuple[float, float]:
    """The bounds, cut so that 0 lies outside exactly if the test rejects; it then lies below a positive `side`. Only
    rounding, and the wide interval of a constant difference, make that necessary."""
    if rejected and low <= 0 <= high:
        return (math.ulp(0.0), high) if side > 0 else (low, -math.ulp(0.0))
    if not rejected and low > 0:
        return 0.0, high
    if not rejected and high < 0:
        return low, 0.0
    return low, high


def kth_largest(values: Floats, k: int) -> float:
    """The k-th largest value (k from 1); infinite for k below 1."""
    if k < 1:
        return math.inf
    return float(np.partition(values, len(values) - k)[len(values) - k])


def t_values(sums: Floats, squares: Floats | float, sizes: Floats | int) -> Floats:
    """|t| from drawn sums and sums of squares; where every value is the same, up to rounding, it is infinite."""
    means = np.abs(sums) / sizes
    spread = squares / sizes - means**2
    with np.errstate(divide="ignore", invalid="ignore"):
        t = means * np.sqrt((sizes - 1) / np.maximum(spread, 0))
    t[spread <= _ALIKE * squares / sizes] = np.inf
    return np.asarray(t)


def beyond(alpha: float, samples: int) -> int:
    """How many of the drawn statistics a p-value of at least alpha needs, where the data count as one draw more."""
    return math.ceil(alpha * (samples + 1) - 1 - 1e-9)


def another_winner(observed: float, low: float, high: float) -> bool:
    """Whether a range of a difference holds one of another sign than the observed one, beyond rounding."""
    falls, rises = low < -SAME, high > SAME
    if abs(observed) <= SAME:
        return falls or rises
    return falls if observed > 0 else rises
