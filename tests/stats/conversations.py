"""Turns of conversations, as retrieval scores come in them: unequal lengths, and turns that go together."""

import numpy as np
from scipy.special import ndtr

Rng = np.random.Generator

_STEPS = {
    "graded": None,
    "reciprocal": ([0.0, 0.1, 1 / 3, 0.5, 1.0], [0.15, 0.10, 0.10, 0.20, 0.45]),
    "binary": ([0.0, 1.0], [0.3, 0.7]),
    "few fail": ([0.0, 0.5, 1.0], [0.06, 0.06, 0.88]),
}
SHAPES = tuple(_STEPS)


def lengths(rng: Rng, conversations: int) -> np.ndarray:
    """Turns of each conversation: most are short, some have up to 15."""
    return np.minimum(rng.geometric(0.25, conversations), 15)


def clusters_of(turns: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(turns)), turns)


def scores(rng: Rng, clusters: np.ndarray, icc: float, shape: str, trials: int = 1) -> tuple[np.ndarray, float]:
    """Scores, queries by trials, whose latent values correlate by `icc` within a conversation; and their true mean."""
    groups = clusters.max() + 1
    shared = rng.standard_normal((groups, trials))[clusters]
    latent = np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.standard_normal((len(clusters), trials))
    uniform = ndtr(latent)
    if _STEPS[shape] is None:
        return uniform, 0.5
    values, shares = map(np.array, _STEPS[shape])
    steps = np.searchsorted(np.cumsum(shares)[:-1], uniform)
    return values[steps], float(values @ shares)


def differences(rng: Rng, clusters: np.ndarray, icc: float, shape: str, trials: int) -> np.ndarray:
    """Of two exchangeable systems: both have scores of that shape."""
    return scores(rng, clusters, icc, shape, trials)[0] - scores(rng, clusters, icc, shape, trials)[0]
