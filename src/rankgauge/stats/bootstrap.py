"""The paired bootstrap-t test: queries are drawn with replacement, and the studentized mean difference is compared.

With m the mean difference and s its standard error, t = m / s. Each resample b of the queries gives
t_b = (m_b - m) / s_b, whose distribution stands for that of t if the true difference is 0:

    p = (1 + number of resamples with |t_b| >= |t|) / (1 + samples)

and the interval m +- q s with the quantile q of |t_b| excludes 0 exactly if p is small (Efron and Tibshirani 1993, 12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rankgauge.model.ranked import Floats
from rankgauge.stats.constant import constant_bounds, constant_p
from rankgauge.stats.differences import Column, Inverted, Outcome, beyond, kth_largest, t_values
from rankgauge.stats.significance import Draws, SignificanceTest

__all__ = ["BOOTSTRAP", "Bootstrapped", "bootstrap_tests"]

_CELLS = 2_000_000
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Bootstrapped(Outcome):
    drawn: Floats
    """|t_b| of every resample."""
    mean: float
    error: float

    def bounds(self, alpha: float) -> tuple[float, float]:
        half = kth_largest(self.drawn, beyond(alpha, len(self.drawn))) * self.error
        return self.mean - half, self.mean + half


def bootstrap_tests(
    columns: Sequence[Column], *, alpha: float = 0.05, seed: int = 0, samples: int = 10_000
) -> list[Outcome]:
    """Each column tested on the same resamples of the queries; bounds may be asked for at any level."""
    n = len(columns[0].values)
    # Around their mean, where the sum of squares is as exact as the spread itself.
    values = np.stack([np.where(c.counted, c.values - c.mean, 0.0) for c in columns], axis=1)
    masks = np.stack([column.counted for column in columns], axis=1).astype(np.float64)
    turns = None
    if any(column.weights is not None for column in columns):
        turns = np.stack([c.counted.astype(np.float64) if c.weights is None else c.weights for c in columns], axis=1)
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    parts = []
    for first in range(0, samples, step):
        rows = min(step, samples - first)
        weights = random.multinomial(n, np.full(n, 1 / n), size=rows).astype(np.float64)
        sizes = np.maximum(weights @ masks, 2.0)
        if turns is None:
            parts.append(t_values(weights @ values, weights @ values**2, sizes))
        else:
            parts.append(_of_conversations(weights, values, turns, sizes))
    drawn = np.concatenate(parts)
    tests: list[Outcome] = []
    for j, column in enumerate(columns):
        if column.n < 2:
            tests.append(Outcome(None, "bootstrap-t"))
            continue
        if column.constant:  # every resample is the same
            tests.append(Inverted(constant_p(column), "bootstrap-t", partial(constant_bounds, column)))
            continue
        count = int(np.count_nonzero(drawn[:, j] >= abs(column.t) * (1 - _TOLERANCE)))
        p = (1 + count) / (1 + samples)
        tests.append(Bootstrapped(p, "bootstrap-t", drawn[:, j], column.mean, column.error))
    return tests


def _of_conversations(weights: Floats, values: Floats, turns: Floats, sizes: Floats) -> Floats:
    """|t_b| of resampled conversations: the mean is that of their queries, and its error is cluster-robust as that of
    the data is. With c the centred values and w the lengths, m_b = sum c / sum w and s_b^2 = sum (c - w m_b)^2."""
    lengths = np.maximum(weights @ turns, 1e-12)
    means = (weights @ values) / lengths
    squares = weights @ values**2 - 2 * means * (weights @ (values * turns)) + means**2 * (weights @ turns**2)
    errors = np.sqrt(np.maximum(squares, 0) * sizes / (sizes - 1)) / lengths
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(means) / errors
    t[squares <= _TOLERANCE * (weights @ values**2)] = np.inf
    return np.asarray(t)


BOOTSTRAP = SignificanceTest(bootstrap_tests, Draws(10_000, 2_000, 200_000_000))
