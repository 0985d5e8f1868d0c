"""Corrections for several comparisons: Holm, Benjamini-Hochberg, or none.

A correction multiplies each p-value by a factor. The same factor narrows the level of the interval, alpha / factor, so
that the interval excludes 0 exactly if the corrected p-value is below alpha.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.model.ranked import Floats

__all__ = ["corrected"]


def corrected(p_values: Sequence[float | None], method: str) -> tuple[list[float | None], list[float]]:
    """Corrected p-values and the factors behind them. A missing p-value stays missing and is no part of the family."""
    places = [i for i, p in enumerate(p_values) if p is not None]
    p = np.array([p_values[i] for i in places], dtype=np.float64)
    adjusted, factors = _holm(p) if method == "holm" else _bh(p) if method == "bh" else (p, np.ones_like(p))
    result: list[float | None] = [None] * len(p_values)
    factor = [1.0] * len(p_values)
    for i, value, times in zip(places, adjusted.tolist(), factors.tolist(), strict=True):
        result[i], factor[i] = min(1.0, value), times
    return result, factor


def _holm(p: Floats) -> tuple[Floats, Floats]:
    """p_(i) adjusted is the largest of (m - j + 1) p_(j) over j <= i (Holm 1979)."""
    m, order = len(p), np.argsort(p, kind="stable")
    times = (m - np.arange(m)).astype(np.float64)
    return _spread(p, order, times, np.maximum.accumulate(times * p[order]))


def _bh(p: Floats) -> tuple[Floats, Floats]:
    """p_(i) adjusted is the least of m / j p_(j) over j >= i (Benjamini and Hochberg 1995)."""
    m, order = len(p), np.argsort(p, kind="stable")
    times = m / np.arange(1, m + 1)
    return _spread(p, order, times, np.minimum.accumulate((times * p[order])[::-1])[::-1])


def _spread(p: Floats, order: np.ndarray, times: Floats, ordered: Floats) -> tuple[Floats, Floats]:
    adjusted, factors = np.empty_like(p), np.empty_like(p)
    own = p[order]
    adjusted[order] = ordered
    factors[order] = np.divide(ordered, own, out=times.copy(), where=own > 0)
    return adjusted, factors
