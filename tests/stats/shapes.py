"""Shapes of per-query scores as retrieval gives them, for simulations with exchangeable systems."""

from collections.abc import Callable

import numpy as np

from rankgauge.stats.differences import Column

Scores = np.ndarray
Rng = np.random.Generator


def graded(rng: Rng, shape: tuple[int, int]) -> Scores:
    """nDCG-like: spread over [0, 1], with the query's difficulty shared by both systems."""
    return rng.beta(1.2, 1.5, shape)


def reciprocal(rng: Rng, shape: tuple[int, int]) -> Scores:
    """RR-like: 1, 1/2, 1/3 ... or 0."""
    ranks = rng.geometric(0.35, shape)
    return np.where(rng.random(shape) < 0.15, 0.0, 1 / ranks)


def binary(rng: Rng, shape: tuple[int, int]) -> Scores:
    """Success-like: 0 or 1."""
    return (rng.random(shape) < 0.6).astype(float)


def mostly_same(rng: Rng, shape: tuple[int, int]) -> Scores:
    """Systems that differ on few queries."""
    return np.where(rng.random(shape) < 0.15, rng.random(shape), 0.5)


SHAPES: dict[str, Callable[[Rng, tuple[int, int]], Scores]] = {
    "graded": graded,
    "reciprocal": reciprocal,
    "binary": binary,
    "mostly_same": mostly_same,
}


def null_differences(shape: str, n: int, trials: int, seed: int) -> Scores:
    """Differences of two systems with exchangeable labels, n queries by trials."""
    rng = np.random.default_rng(seed)
    draw = SHAPES[shape]
    return draw(rng, (n, trials)) - draw(rng, (n, trials))


def columns_of(differences: Scores) -> list[Column]:
    """Columns of a matrix queries x comparisons; all queries count."""
    return [Column(values, np.ones(len(values), dtype=bool)) for values in differences.T]
