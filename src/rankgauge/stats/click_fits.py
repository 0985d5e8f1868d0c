"""What a click model makes of a log, and what is held of a pair before it is looked at.

What was rarely examined is drawn towards the mean of all pairs. How strongly, is estimated from how much pairs differ
beyond chance (empirical Bayes by moments); every attraction comes with the weight of its evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.model.ranked import Floats

__all__ = [
    "LEAST_PLEASED",
    "NARROW",
    "STRENGTHS",
    "Fitted",
    "Prior",
    "prior_of",
    "share_of",
    "variance_of",
    "weight_of",
]

NARROW = 1e-6  # no probability is taken for certain
STRENGTHS = (0.5, 1000.0)  # of imagined lists: the least and the most that are taken for an estimate
LEAST_PLEASED = 0.05  # the share of satisfying clicks from which on they are told from others


@dataclass(frozen=True)
class Prior:
    """What is held of a pair before it is looked at: a mean, and how many examinations that is worth."""

    mean: float
    strength: float

    @property
    def yes(self) -> float:
        return self.mean * self.strength

    @property
    def no(self) -> float:
        return (1 - self.mean) * self.strength


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """What a model makes of a log."""

    model: str
    attraction: Floats
    """Of each pair."""
    satisfaction: Floats
    """Of each pair: the chance that a click ends the search; 1 where the model knows no other."""
    examination: Floats
    """Of each rank; of models in which it depends on the clicks, the mean."""
    persistence: float
    seen: Floats
    """How often each pair was examined, as the model has it: what its attraction rests on."""
    weight: Floats
    """The certain observations that the relevance of each pair is worth, those of the prior among them: the sum of the
    parameters of a beta distribution of that mean and spread."""
    prior: Prior
    pleased: float = 1.0
    """How often clicks satisfy on average."""

    @property
    def by_attraction(self) -> bool:
        """Whether relevance is attraction alone: in a log in which hardly any click ends a search nothing tells which
        documents satisfy."""
        return self.model != "dbn" or self.pleased < LEAST_PLEASED

    @property
    def relevance(self) -> Floats:
        """The chance that a pair attracts and satisfies."""
        return self.attraction if self.by_attraction else self.attraction * self.satisfaction


def share_of(value: float) -> float:
    return min(max(value, NARROW), 1 - NARROW)


def prior_of(clicks: Floats, seen: Floats, squares: Floats, strength: float | None) -> Prior:
    """The mean of all pairs, and how alike they are.

    With c clicks in n examinations (the sum of the chances t, squares that of t^2): E[n (c/n - m)^2] =
    m - u (m^2 + V) + n V with u = squares / n, solved for the variance V between pairs; a beta distribution of mean m
    and variance V is worth m (1 - m) / V - 1 examinations.
    """
    some = seen > NARROW
    c, n, u = clicks[some], seen[some], squares[some] / seen[some]
    # Half a click and half a miss more, so that a few lists do not make clicks certain or impossible.
    m = share_of((float(c.sum()) + 0.5) / (float(n.sum()) + 1))
    if strength is not None or not c.sum():
        return Prior(m, strength or 1.0)
    alone = m - u * m * m  # what chance alone makes of each term
    noise = 2 * alone**2 + alone / n
    # Where each was seen once, nothing tells how alike they are.
    variance = variance_of(n * (c / n - m) ** 2 - alone, n - u, noise, m * (1 - m) / 2)
    strength = m * (1 - m) / max(variance, NARROW) - 1
    return Prior(m, min(max(strength, STRENGTHS[0]), STRENGTHS[1]))


def variance_of(beyond: Floats, room: Floats, noise: Floats, otherwise: float) -> float:
    """V, where each term of `beyond` is expected to be V times its room: the estimate and one standard error, which is
    at least that of pairs that are all alike, whose terms vary by `noise`.

    Few pairs may be alike by chance; to take that for certain would make their intervals too narrow.
    """
    total = float(room.sum())
    if total <= 0:
        return otherwise
    estimate = max(float(beyond.sum()) / total, 0.0)
    spread = max(float(((beyond - estimate * room) ** 2).sum()), float(noise.sum()))
    return estimate + float(np.sqrt(spread)) / total


def weight_of(a: Floats, information: Floats, prior: Prior) -> Floats:
    """The weight of attractions whose likelihood has so much information (Louis 1982: that of the complete data less
    what is missing)."""
    return np.asarray(a * (1 - a) * (information + prior.yes / a**2 + prior.no / (1 - a) ** 2))
