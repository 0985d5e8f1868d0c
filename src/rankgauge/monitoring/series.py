"""One figure watched over looks: it learns what is normal, then watches for a change, and says so once.

A figure begins in the phase `learning`. A retriever that repeats itself exactly is known after three looks (`exact`):
from then on one look can tell a fall, because there is no noise. One that wobbles is known after `reference` looks
(`watching`). An exact one that starts to move is watched with a noise assumed (`provisional`) until its own is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankgauge.stats.sequential import Bounded, Change, Detector, Wobble, learn_wobble

__all__ = ["EXACT_AFTER", "Level", "Rate", "Sensitivity", "Stream", "Threshold"]

EXACT_AFTER = 3
"""So many equal looks at the start, and the retriever is taken as one that repeats itself exactly."""

_RECENT = 200
_GOOD_LOOKS = 3
_QUIET = 100
_MOST_DOUBLINGS = 6


@dataclass(frozen=True)
class Sensitivity:
    """What counts as a change, and what as noise."""

    tolerance: float
    """A fall up to here is nothing to be woken for."""
    least_scale: float = 0.001
    """Noise of a figure that never moved."""
    assumed: float = 0.005
    """Noise of a figure that began to move, as long as its own is not known."""
    least_looks: int = 2
    """With noise, an alarm takes at least so many looks."""
    most_scale: float = 0.1
    """Noise that is learned is never taken as wilder than this: what falls further has fallen."""
    reference: int = 20
    """Looks from which the noise is learned."""
    threshold: float = 1e5
    """Looks between false alarms of this one figure."""


@dataclass
class Level:
    """A figure that comes once a look, as a deviation from a fixed point; a fall is negative."""

    sensitivity: Sensitivity
    phase: str = "learning"
    learned: list[float] = field(default_factory=list)
    centre: float = 0.0
    detector: Detector | None = None

    def look(self, value: float, number: int, *, same: bool | None) -> Change | None:
        """Take in a value. `same`: whether this look repeats the one before exactly; None where that is not known."""
        if self.phase == "learning":
            self._learn(value, same)
            return None
        assert self.detector is not None
        change = self.detector.look(value - self.centre, number)
        if self.phase == "exact" and same is False:
            self._provisional()
        elif self.phase == "provisional":
            self._learn_again(value, steady=change is None and not self.alarmed)
        return change

    def with_reference(self) -> Level:
        """The same figure where the fixed point is a reference to be held, so that it is watched at once."""
        self._provisional()
        return self

    @property
    def alarmed(self) -> bool:
        return self.detector is not None and self.detector.alarmed

    def _learn(self, value: float, same: bool | None) -> None:
        self.learned.append(value)
        still = same is not False and len(set(self.learned)) == 1
        if len(self.learned) == EXACT_AFTER and still:
            self._watch("exact", Wobble(self.sensitivity.least_scale, self.sensitivity.tolerance))
        elif len(self.learned) >= self.sensitivity.reference:
            self._watch("watching", self._noise())
        else:
            return
        self.centre = float(np.mean(self.learned))
        self.learned = []

    def _provisional(self) -> None:
        most = math.log(self.sensitivity.threshold * 5) / self.sensitivity.least_looks
        self._watch("provisional", Wobble(self.sensitivity.assumed, self.sensitivity.tolerance, most))
        self.learned = []

    def _learn_again(self, value: float, *, steady: bool) -> None:
        """The noise alone is learned anew: the point it is held against stays, or a fall would become the norm. An
        incident is no noise: while one lasts nothing is learned, and what was learned before it is forgotten."""
        if not steady:
            self.learned = []
            return
        self.learned.append(value)
        if len(self.learned) >= self.sensitivity.reference:
            exact = len(set(self.learned)) == 1
            noise = Wobble(self.sensitivity.least_scale, self.sensitivity.tolerance) if exact else self._noise()
            self._watch("exact" if exact else "watching", noise)
            self.learned = []

    def _noise(self) -> Wobble:
        wanted = self.sensitivity
        noise = learn_wobble(
            np.array(self.learned),
            wanted.tolerance,
            least_scale=wanted.least_scale,
            least_looks=wanted.least_looks,
            threshold=wanted.threshold,
        )
        if noise.scale <= wanted.most_scale:
            return noise
        open_ = (noise.tolerance - wanted.tolerance) * wanted.most_scale / noise.scale
        return replace(noise, scale=wanted.most_scale, tolerance=wanted.tolerance + open_)

    def _watch(self, phase: str, noise: Wobble) -> None:
        alarmed = self.alarmed
        self.phase = phase
        self.detector = Detector(noise, self.sensitivity.threshold, alarmed=alarmed)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "level",
            "sensitivity": vars(self.sensitivity),
            "phase": self.phase,
            "learned": self.learned,
            "centre": self.centre,
            "detector": None if self.detector is None else self.detector.to_dict(),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Level:
        return cls(
            Sensitivity(**value["sensitivity"]),
            value["phase"],
            list(value["learned"]),
            value["centre"],
            None if value["detector"] is None else Detector.from_dict(value["detector"]),
        )


@dataclass
class Stream:
    """Scores between 0 and 1 of queries that are new each time, such as sampled traffic that was judged.

    The first `reference` of them set the level, less what they leave open (a one-sided 95 % bound) and the tolerance.
    """

    sensitivity: Sensitivity
    learned: list[float] = field(default_factory=list)
    centre: float = 0.0
    detector: Detector | None = None

    @property
    def phase(self) -> str:
        return "learning" if self.detector is None else "watching"

    def look(self, values: list[float], number: int) -> Change | None:
        """Take in the scores of one look, one by one; a change that was taken back within it is none."""
        before, change = self.alarmed, None
        for value in values:
            if self.detector is None:
                self._learn(value)
            else:
                change = self.detector.look(value, number) or change
        return change if self.alarmed != before else None

    def _learn(self, value: float) -> None:
        self.learned.append(value)
        n = len(self.learned)
        if n < self.sensitivity.reference:
            return
        scores = np.array(self.learned)
        self.centre = float(scores.mean())
        open_ = 1.645 * max(float(scores.std(ddof=1)), 0.05) / math.sqrt(n)
        least = self.centre - open_ - self.sensitivity.tolerance
        self.detector = Detector(Bounded(min(max(least, 0.001), 0.999)), self.sensitivity.threshold)
        self.learned = []

    @property
    def alarmed(self) -> bool:
        return self.detector is not None and self.detector.alarmed

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "stream",
            "sensitivity": vars(self.sensitivity),
            "learned": self.learned,
            "centre": self.centre,
            "detector": None if self.detector is None else self.detector.to_dict(),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Stream:
        detector = None if value["detector"] is None else Detector.from_dict(value["detector"])
        return cls(Sensitivity(**value["sensitivity"]), list(value["learned"]), value["centre"], detector)


@dataclass
class Rate:
    """A share that must not rise above what is allowed, such as that of failed queries.

    It recovers by three looks in a row within what is allowed: a rate near 0 gathers evidence too slowly.
    """

    detector: Detector
    limit: float
    recent: list[tuple[int, float]] = field(default_factory=list)
    """The last looks with their rates."""
    good: int = 0
    phase = "watching"

    @classmethod
    def allowed(cls, rate: float, threshold: float) -> Rate:
        return cls(Detector(Bounded(1 - min(max(rate, 1e-4), 0.5)), threshold), rate)

    def look(self, rate: float, number: int) -> Change | None:
        self.recent = [*self.recent[1 - _RECENT :], (number, rate)]
        if not self.detector.alarmed:
            return self.detector.look(1 - rate, number)
        self.good = self.good + 1 if rate <= self.limit else 0
        if self.good < _GOOD_LOOKS:
            return None
        self.good = 0
        self.detector = Detector(self.detector.noise, self.detector.threshold)
        return Change("recovered", number - _GOOD_LOOKS + 1)

    def since(self, number: int) -> float:
        """The mean rate of the looks from this one on."""
        return float(np.mean([rate for look, rate in self.recent if look >= number] or [0.0]))

    @property
    def alarmed(self) -> bool:
        return self.detector.alarmed

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "rate",
            "detector": self.detector.to_dict(),
            "limit": self.limit,
            "recent": self.recent,
            "good": self.good,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Rate:
        recent = [(int(look), float(rate)) for look, rate in value["recent"]]
        return cls(Detector.from_dict(value["detector"]), value["limit"], recent, value["good"])


@dataclass
class Threshold:
    """A plain limit: crossed is an alarm at once. It ends by looks in a row on the right side: two at first, and twice
    as many each time it is crossed again, so that a figure that swings around its limit does not ring all night. A
    hundred quiet looks make it forget."""

    alarmed: bool = False
    good: int = 0
    crossings: int = 0
    phase = "watching"
    detector = None

    def look(self, crossed: bool, number: int) -> Change | None:
        self.good = 0 if crossed else self.good + 1
        if not self.alarmed and self.good >= _QUIET:
            self.crossings = 0
        if crossed and not self.alarmed:
            self.alarmed, self.crossings = True, self.crossings + 1
            return Change("alarm", number)
        needed = 2 ** min(self.crossings, _MOST_DOUBLINGS)
        if self.alarmed and self.good >= needed:
            self.alarmed = False
            return Change("recovered", number - needed + 1)
        return None

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "threshold", "alarmed": self.alarmed, "good": self.good, "crossings": self.crossings}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Threshold:
        return cls(value["alarmed"], value["good"], value["crossings"])
