"""Sequential change detection: check as often as you like, and still know how rarely a false alarm comes.

Each check multiplies evidence against "nothing has changed" by a factor L whose expectation is at most 1 as long as
nothing has. The detector is the e-CUSUM

    M_t = max(M_{t-1}, 1) * L_t,      alarm when M_t >= A,

the average over several bets on the size of the change. With such factors the average number of checks until a false
alarm is at least A, and the chance of one within n checks at most n / A (Shin, Ramdas and Rinaldo, "E-detectors",
2022). The restart at 1 keeps it from growing deaf: a long quiet time leaves no debt. Watching K series with A * K
each keeps the figure for all of them together. The last restart before an alarm tells when the change began.

The expectation is one given the past: that is the assumption on autocorrelation. For `Bounded` it is all that is
assumed. `NoiseModel` also assumes that the standard deviation is no larger than the one learned from the reference
checks, and nothing else of the distribution; a positive correlation of successive checks, estimated there too, widens
that scale to the long-run one. Neither can say anything of noise that has not shown itself yet: `rare_noise` does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec
import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats

__all__ = [
    "Bounded",
    "Change",
    "Detector",
    "NoiseModel",
    "advance",
    "evidence",
    "learn_noise",
    "rare_noise",
    "uncertainty",
]

_SIZES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Bets of `NoiseModel`: changes of so many scales."""
_SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Bets of `Bounded`: shares of the largest stake that cannot lose more than all."""
_FARTHEST = 1e6
"""Scales that a value is taken to lie away at most: no figure overflows."""


class NoiseModel(msgspec.Struct, frozen=True, tag=True):
    """A value that comes once a check: x is its deviation from the reference, a fall negative.

    With z = (-tolerance - x) / scale, for bets b,

        L = (1 + b z + (b z)^2 / 2) / (1 + b^2 / 2),      the numerator 1/2 where b z < -1.

    The numerator never falls with z and is at most the full quadratic, so E L <= 1 wherever E z <= 0 and the standard
    deviation is at most `scale`, whatever the distribution: skewed, heavy-tailed, with or without bounds (Catoni's
    bound as a bet: Wang and Ramdas, "Catoni-style confidence sequences", 2023). No single check counts for more than
    `most`.
    """

    scale: float
    tolerance: float
    most: float = math.inf
    correlation: float = 0.0
    """Lag-1 autocorrelation of the reference checks; it is part of the scale already."""

    def increments(self, x: float | Floats, *, recovery: bool = False, precision: float = 1.0) -> Floats:
        """log L of each bet, in the last axis. `precision`: below 1 for a value with that much more noise."""
        away = -self.tolerance - np.asarray(x, dtype=np.float64)
        z = np.clip((-away if recovery else away) * (precision / self.scale), -_FARTHEST, _FARTHEST)
        bet = np.maximum(_SIZES * z[..., None], -1.0)
        return np.asarray(np.minimum(np.log1p(bet + bet**2 / 2) - np.log1p(_SIZES**2 / 2), self.most))


class Bounded(msgspec.Struct, frozen=True, tag=True):
    """Values between 0 and 1 whose expectation, given the past, is at least `least`: a fall is betted on.

    L = 1 + b (least - x), with stakes b below 1 / (1 - least), so that L is never negative. Nothing is assumed of the
    distribution. A rate that must not rise is a value 1 - rate that must not fall.
    """

    least: float

    def __post_init__(self) -> None:
        if not 0 < self.least < 1:
            raise DataError(f"the least expectation must lie between 0 and 1, not {self.least:g}")

    def increments(self, x: float | Floats, *, recovery: bool = False, precision: float = 1.0) -> Floats:
        """log L of each bet, in the last axis; `precision` does not matter where no noise is assumed."""
        away = (self.least - np.asarray(x, dtype=np.float64))[..., None]
        if recovery:
            return np.log1p(-_SHARES / self.least * away)
        return np.log1p(_SHARES / (1 - self.least) * away)


def uncertainty(threshold: float) -> float:
    """How many standard errors a reference may be off, one-sided: its share of the false alarms within 1,000 checks
    is half of the 1,000 / threshold that are stated, and never more than 5 %."""
    from scipy.special import ndtri

    return float(-ndtri(min(0.05, 500 / threshold)))


def learn_noise(
    checks: Floats, tolerance: float, *, least_scale: float = 0.001, least_checks: int = 2, threshold: float = 1e4
) -> NoiseModel:
    """The noise of reference checks, on the safe side of what they leave open.

    The standard deviation is taken at its upper bound: the larger of the 95 % bound for normal noise (by chi-square)
    and sqrt(variance * (1 + u sqrt((kurtosis - 1) / n))), which is far above it where a few checks make most of the
    variance; u is the `uncertainty`. It is widened by sqrt((1 + r) / (1 - r)) for a lag-1 autocorrelation r > 0
    (corrected for its bias in short series); the reference mean's own error goes into the tolerance. An alarm takes at
    least `least_checks` checks.
    """
    n = len(checks)
    if n < 3:
        raise DataError(f"the noise of a retriever cannot be learned from {n} checks; at least 3 are needed")
    from scipy.special import chdtri

    centred = np.asarray(checks, dtype=np.float64) - float(np.mean(checks))
    total, off = float(centred @ centred), uncertainty(threshold)
    scale = correlation = 0.0
    if total > 0:
        kurtosis = n * float(np.sum((centred**2 / total) ** 2))
        variance = total * max(
            1 / float(chdtri(n - 1, 0.95)), (1 + off * math.sqrt(max(kurtosis - 1, 0) / n)) / (n - 1)
        )
        raw = float(centred[1:] @ centred[:-1]) / total
        correlation = min(max(raw + (1 + 3 * raw) / n, 0.0), 0.95)
        scale = math.sqrt(variance * (1 + correlation) / (1 - correlation))
    scale = max(scale, least_scale)
    return NoiseModel(
        scale,
        tolerance + off * scale / math.sqrt(n),
        math.log(threshold * len(_SIZES)) / least_checks,
        correlation,
    )


def rare_noise(odd: int, equal: int) -> float:
    """The greatest chance that noise which shows itself in a share p of the checks, whatever p is, leaves `equal`
    checks alone and touches `odd` others: the maximum over p of p^odd (1 - p)^equal, which is at p = odd / (odd +
    equal). Where nothing but equal checks was seen, no standard deviation can be learned, and this bounds the chance
    that those which differ are noise."""
    p = odd / (odd + equal)
    return float(p**odd * (1 - p) ** equal)


def advance(logs: Floats, increments: Floats) -> Floats:
    """log M of each bet after one more check."""
    return np.maximum(logs, 0.0) + increments


def evidence(logs: Floats) -> Floats:
    """log of the mean of M over the bets, the last axis."""
    top = np.asarray(logs).max(axis=-1)
    return np.asarray(top + np.log(np.exp(logs - top[..., None]).mean(axis=-1)))


class Change(NamedTuple):
    """The state of a series has changed."""

    event: str
    """"alarm" or "recovered"."""
    began: int
    """The check at which the evidence for it began to grow: where the change most likely was."""


class Detector(msgspec.Struct):
    """One series, watched. It raises an alarm, then waits for as much evidence that all is well again.

    It is a struct of msgspec, as its noise is: what it has gathered is kept as JSON between two checks.
    """

    noise: NoiseModel | Bounded
    threshold: float
    """A: checks between false alarms, on average, at least."""
    recovery: float = 100.0
    alarmed: bool = False
    logs: list[float] = []
    began: list[int] = []
    """For each bet, the check of its last restart."""

    def __post_init__(self) -> None:
        size = len(_SIZES if isinstance(self.noise, NoiseModel) else _SHARES)
        self.logs = self.logs or [0.0] * size
        self.began = self.began or [0] * size

    def update(self, x: float, number: int, precision: float = 1.0) -> Change | None:
        """Take in the value of one check; what changed by it, if anything."""
        if not math.isfinite(x):
            raise DataError(f"check {number}: {x!r} is no value to watch")
        fresh = [log <= 0 for log in self.logs]
        self.began = [number if new else first for new, first in zip(fresh, self.began, strict=True)]
        steps = self.noise.increments(x, recovery=self.alarmed, precision=precision)
        self.logs = advance(np.asarray(self.logs), steps).tolist()
        if self.evidence < math.log(self.recovery if self.alarmed else self.threshold):
            return None
        self.alarmed = not self.alarmed
        began = self.began[int(np.argmax(self.logs))]
        self.logs = [0.0] * len(self.logs)
        return Change("alarm" if self.alarmed else "recovered", began)

    @property
    def evidence(self) -> float:
        """Natural logarithm of the evidence against what is held now."""
        return float(evidence(np.asarray(self.logs)))
