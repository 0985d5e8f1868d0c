"""Sequential change detection: look as often as you like, and still know how rarely a false alarm comes.

Each look multiplies evidence against "nothing has changed" by a factor L whose expectation is at most 1 as long as
nothing has. The detector is the e-CUSUM

    M_t = max(M_{t-1}, 1) * L_t,      alarm when M_t >= A,

the average over several bets on the size of the change. With such factors the average number of looks until a false
alarm is at least A, and the chance of one within n looks at most n / A (Shin, Ramdas and Rinaldo, "E-detectors",
2022). The restart at 1 keeps it from growing deaf: a long quiet time leaves no debt. Watching K series with A * K
each keeps the figure for all of them together. The last restart before an alarm tells when the change began.

The expectation is one given the past: that is the assumption on autocorrelation. For `Bounded` it is all that is
assumed. `Wobble` also assumes that the noise is no wilder than normal noise of the scale learned from the reference
looks; a positive correlation of successive looks, estimated there too, widens that scale to the long-run one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankgauge.errors import DataError
from rankgauge.model.ranked import Floats

__all__ = ["Bounded", "Change", "Detector", "Wobble", "advance", "evidence", "learn_wobble"]

_SIZES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Bets of `Wobble`: changes of so many scales."""
_SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Bets of `Bounded`: shares of the largest stake that cannot lose more than all."""
_CONFIDENCE = 1.6448536269514722
"""The normal quantile of 95 %, for what the reference looks leave open."""


@dataclass(frozen=True)
class Wobble:
    """Means of a fixed set of queries, asked again and again: x is a deviation from the reference, a fall negative.

    L = exp(b z - b^2 / 2) with z = (-tolerance - x) / scale, for bets b; no single look counts for more than `most`.
    """

    scale: float
    tolerance: float
    most: float = math.inf
    correlation: float = 0.0
    """Lag-1 autocorrelation of the reference looks; it is part of the scale already."""

    def increments(self, x: float | Floats, *, recovery: bool = False) -> Floats:
        """log L of each bet, in the last axis."""
        away = -self.tolerance - np.asarray(x, dtype=np.float64)
        z = (-away if recovery else away)[..., None] / self.scale
        return np.minimum(_SIZES * z - _SIZES**2 / 2, self.most)


@dataclass(frozen=True)
class Bounded:
    """Values between 0 and 1 whose expectation, given the past, is at least `least`: a fall is betted on.

    L = 1 + b (least - x), with stakes b below 1 / (1 - least), so that L is never negative. Nothing is assumed of the
    distribution. A rate that must not rise is a value 1 - rate that must not fall.
    """

    least: float

    def __post_init__(self) -> None:
        if not 0 < self.least < 1:
            raise DataError(f"the least expectation must lie between 0 and 1, not {self.least:g}")

    def increments(self, x: float | Floats, *, recovery: bool = False) -> Floats:
        """log L of each bet, in the last axis."""
        away = (self.least - np.asarray(x, dtype=np.float64))[..., None]
        if recovery:
            return np.log1p(-_SHARES / self.least * away)
        return np.log1p(_SHARES / (1 - self.least) * away)


def learn_wobble(
    looks: Floats, tolerance: float, *, least_scale: float = 0.001, least_looks: int = 2, threshold: float = 1e4
) -> Wobble:
    """The wobble of reference looks, on the safe side of what they leave open.

    The standard deviation is taken at its upper 95 % bound (by chi-square) and widened by sqrt((1 + r) / (1 - r)) for
    a lag-1 autocorrelation r > 0 (corrected for its bias in short series); the reference mean's own error goes into
    the tolerance. A retriever that repeats itself exactly has `least_scale`, and one look can tell; with noise, it
    takes at least `least_looks` of them.
    """
    n = len(looks)
    if n < 3:
        raise DataError(f"the noise of a retriever cannot be learned from {n} looks; at least 3 are needed")
    centred = np.asarray(looks, dtype=np.float64) - float(np.mean(looks))
    total = float(centred @ centred)
    if total <= n * 1e-24:
        return Wobble(least_scale, tolerance)
    from scipy.special import chdtri

    deviation = math.sqrt(total / float(chdtri(n - 1, 0.95)))
    raw = float(centred[1:] @ centred[:-1]) / total
    correlation = min(max(raw + (1 + 3 * raw) / n, 0.0), 0.95)
    scale = deviation * math.sqrt((1 + correlation) / (1 - correlation))
    return Wobble(
        max(scale, least_scale),
        tolerance + _CONFIDENCE * scale / math.sqrt(n),
        math.log(threshold * len(_SIZES)) / least_looks,
        correlation,
    )


def advance(logs: Floats, increments: Floats) -> Floats:
    """log M of each bet after one more look."""
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
    """The look at which the evidence for it began to grow: where the change most likely was."""


@dataclass
class Detector:
    """One series, watched. It raises an alarm, then waits for as much evidence that all is well again."""

    noise: Wobble | Bounded
    threshold: float
    """A: looks between false alarms, on average, at least."""
    recovery: float = 100.0
    alarmed: bool = False
    logs: list[float] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    """For each bet, the look of its last restart."""

    def __post_init__(self) -> None:
        size = len(_SIZES if isinstance(self.noise, Wobble) else _SHARES)
        self.logs = self.logs or [0.0] * size
        self.began = self.began or [0] * size

    def look(self, x: float, number: int) -> Change | None:
        """Take in one value; what changed by it, if anything."""
        if not math.isfinite(x):
            raise DataError(f"look {number}: {x!r} is no value to watch")
        fresh = [log <= 0 for log in self.logs]
        self.began = [number if new else first for new, first in zip(fresh, self.began, strict=True)]
        self.logs = advance(np.asarray(self.logs), self.noise.increments(x, recovery=self.alarmed)).tolist()
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

    def to_dict(self) -> dict[str, Any]:
        return {
            "noise": {"kind": type(self.noise).__name__, **asdict(self.noise)},
            "threshold": self.threshold,
            "recovery": self.recovery,
            "alarmed": self.alarmed,
            "logs": self.logs,
            "began": self.began,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Detector:
        kinds: Sequence[type[Wobble | Bounded]] = (Wobble, Bounded)
        given = dict(value["noise"])
        kind = next(kind for kind in kinds if kind.__name__ == given["kind"])
        del given["kind"]
        rest = {key: value[key] for key in ("threshold", "recovery", "alarmed")}
        return cls(kind(**given), **rest, logs=list(value["logs"]), began=list(value["began"]))
