"""One figure watched over checks: it learns what is normal, then watches for a change, and says so once.

A figure begins in the phase `learning` (`provisional` where there is a point to hold it against, such as a baseline,
and only its noise is open). No alarm is raised before the noise is known, because without it nothing tells a fall from
noise. A retriever that repeats itself exactly is known after three checks (`exact`): whatever falls and stays fallen
for a few checks in a row is real. One with noise is known after `reference` checks (`watching`), and
better after twice, four and eight times as many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from rankgauge.stats.sequential import Change, Detector, learn_noise, rare_noise, uncertainty

__all__ = ["EXACT_AFTER", "Learned", "Level", "Sensitivity"]

EXACT_AFTER = 3
"""So many checks with equal scores of all queries, and the retriever is taken as one that repeats itself exactly."""

_TIMES_EXACT = 3
"""So often a retriever may turn out not to repeat itself; after that its noise is learned."""
_LONGEST = 8
"""The reference grows by doubling up to so many times its first length, as long as nothing falls."""
_CALM = 1.0
"""Natural logarithm of the evidence above which a reference does not grow: that may be a fall."""
_ROUNDING = 1e-9
_RECOVERED = 2


@dataclass(frozen=True)
class Sensitivity:
    """What counts as a change, and what as noise."""

    tolerance: float
    """A fall up to here is nothing to be woken for."""
    least_scale: float = 0.001
    """Noise is never taken as smaller than this."""
    least_checks: int = 2
    """An alarm takes at least so many checks."""
    reference: int = 20
    """Checks from which the noise is learned."""
    threshold: float = 1e5
    """Checks between false alarms of this one figure."""
    rare: float = 0.06
    """The chance that may be left that what falls after equal checks is noise which had not shown itself yet."""

    def grows(self, known: int, detector: Detector) -> bool:
        """Whether the reference is to be learned anew from so many checks."""
        doubled = known >= 2 * self.reference and (known // self.reference).bit_count() == 1
        return doubled and known % self.reference == 0 and not detector.alarmed and detector.evidence < _CALM


class Learned(msgspec.Struct):
    """A figure whose level and noise are learned from its checks, as long as nothing falls."""

    sensitivity: Sensitivity
    learned: list[Any] = []
    """What is kept of each check from which the noise is learned."""
    centre: float = 0.0
    weight: int = 0
    """Of how many measurements the centre is: 1 for a baseline; 0 where there is none yet."""
    detector: Detector | None = None

    @property
    def alarmed(self) -> bool:
        return self.detector is not None and self.detector.alarmed

    def _watch(self) -> None:
        """Level and noise are known, or known better."""
        raise NotImplementedError

    def _detect(self, detector: Detector, away: float, number: int, kept: Any, trust: float = 1.0) -> Change | None:
        change = detector.update(away, number, trust)
        if change is not None:
            self.learned = []  # an incident is no time to learn from
        elif self.learned and len(self.learned) < _LONGEST * self.sensitivity.reference:
            self.learned.append(kept)
            if self.sensitivity.grows(len(self.learned), detector):
                self._watch()
        return change

    def _know(self, values: Sequence[float], mean: float, *, unit: float = 1.0, least_scale: float = 0.0) -> None:
        """Learn the noise, and the level that is held against: the mean, but no lower than an earlier one less its own
        error. A fall since then must not become the norm. (The error of these checks, which is subtracted in the
        noise's tolerance, is added here.)"""
        wanted, n = self.sensitivity, len(values)
        noise = learn_noise(
            np.array(values),
            wanted.tolerance,
            least_scale=max(wanted.least_scale, least_scale),
            least_checks=wanted.least_checks,
            threshold=wanted.threshold,
        )
        level = mean / unit
        if self.weight:
            error = uncertainty(wanted.threshold) * noise.scale * (1 / math.sqrt(self.weight) - 1 / math.sqrt(n))
            level = max(level, self.centre / unit - error)
        self.centre, self.weight = unit * level, n
        self.detector = self.detector or Detector(noise, wanted.threshold)
        self.detector.noise = noise


class Level(Learned, tag=True):
    """A figure of the same queries in each check, as a deviation from a fixed point; a fall is negative."""

    phase: str = "learning"
    still: bool = True
    """Whether all checks that were learned from had equal scores for all queries."""
    times: int = 0
    """How often it turned out not to repeat itself exactly."""
    steady: float = 0.0
    """The value that an exact one repeats."""
    repeated: int = 0
    """Checks that have repeated it."""
    run: int = 0
    """Checks in a row that fell (in alarm: that were good) in the exact phase."""
    down: bool = False
    """Whether an exact one stands in alarm."""

    def update(self, value: float, number: int, *, same: bool | None) -> Change | None:
        """The change that a value brings, if any. `same`: whether this check repeats the one before exactly; None where
        that is not known."""
        if self.detector is not None:
            return self._detect(self.detector, value - self.centre, number, value)
        return self._repeat(value, number, same) if self.phase == "exact" else self._learn(value, number, same)

    def with_reference(self) -> Level:
        """The same figure where the fixed point is a baseline: one earlier measurement, with noise of its own."""
        self.phase, self.weight = "provisional", 1
        return self

    @property
    def alarmed(self) -> bool:
        return self.down or (self.detector is not None and self.detector.alarmed)

    def _fell(self, value: float) -> bool:
        return value - self.centre < -self.sensitivity.tolerance - _ROUNDING

    def _allowed(self) -> float:
        """What `rare` leaves to this exact phase. If only this figure stands still while the retriever moves, each
        figure has noise of its own, and its share of the stated false alarms counts."""
        whole = self.sensitivity.rare if self.still else min(self.sensitivity.rare, 500 / self.sensitivity.threshold)
        return float(whole / 4**self.times)

    def _learn(self, value: float, number: int, same: bool | None) -> Change | None:
        self.still = not self.learned or (self.still and same is not False)
        self.learned.append(value)
        n = len(self.learned)
        if len(set(self.learned)) > 1:
            if n >= self.sensitivity.reference:
                self._watch()
            return None
        if n < (EXACT_AFTER if self.still and self.times < _TIMES_EXACT else self.sensitivity.reference):
            return None
        fell = self.phase == "provisional" and self._fell(value)
        if fell and rare_noise(self.weight, n) > self._allowed():
            return None  # the point, and not these checks, may be the odd one
        if self.phase == "learning":
            self.centre = value
        self.phase, self.steady, self.learned, self.down = "exact", value, [], fell
        self.repeated, self.weight = n, max(self.weight, n if value == self.centre else 0)
        return Change("alarm", number - n + 1) if fell else None

    def _repeat(self, value: float, number: int, same: bool | None) -> Change | None:
        """A check of an exact retriever. A fall has to stay until noise that had not shown itself is ruled out; what
        comes back before that, or moves in another way, is noise that has to be learned."""
        fell = self._fell(value)
        if self.down:
            return self._recover(fell, number)
        if fell:
            self.run += 1
            self.learned.append(value)
            if self.run < 2 or rare_noise(self.run - 1, self.repeated) > self._allowed():
                return None
            began = number - self.run + 1
            self.down, self.run, self.learned = True, 0, []
            return Change("alarm", began)
        if self.run or (same is not None and value != self.steady):
            self.times += 1
            self.phase, self.run, self.learned = "provisional", 0, [*self.learned, value]
        elif same is False and self.still:
            self.still = False
            if self.repeated < self.sensitivity.reference:
                self.phase, self.learned = "provisional", [value] * self.repeated
        elif same is not None:
            self.repeated += 1
            self.weight = max(self.weight, self.repeated if value == self.centre else 0)
        return None

    def _recover(self, fell: bool, number: int) -> Change | None:
        self.run = 0 if fell else self.run + 1
        if self.run < _RECOVERED:
            return None
        self.phase, self.run, self.down, self.still = "provisional", 0, False, True
        return Change("recovered", number - _RECOVERED + 1)

    def _watch(self) -> None:
        self.phase = "watching"
        self._know(self.learned, float(np.mean(self.learned)))
