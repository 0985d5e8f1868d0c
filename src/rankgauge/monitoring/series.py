"""One figure watched over checks: it learns what is normal, then watches for a change, and says so once.

A figure begins in the phase `learning` (`provisional` where there is a point to hold it against, such as a baseline,
and only its noise is open). No alarm is raised before the noise is known, because without it nothing tells a fall from
noise. A retriever that repeats itself exactly is known after three checks (`exact`): whatever falls and stays fallen
for a few checks in a row is real. One with noise is known after `reference` checks (`watching`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from rankgauge.stats.sequential import Bounded, Change, Detector, NoiseModel, learn_noise, rare_noise, uncertainty

__all__ = ["EXACT_AFTER", "Level", "Rate", "Sensitivity", "Stream", "Threshold", "in_units", "mean_of", "unit_of"]

EXACT_AFTER = 3
"""So many checks with equal scores of all queries, and the retriever is taken as one that repeats itself exactly."""

_TIMES_EXACT = 3
"""So often a retriever may turn out not to repeat itself; after that its noise is learned."""
_ROUNDING = 1e-9
_FARTHEST = 1e9
_RECENT = 200
_GOOD_LOOKS = 3
_RECOVERED = 2
_QUIET = 100
_MOST_DOUBLINGS = 6


@dataclass(frozen=True)
class Sensitivity:
    """What counts as a change, and what as noise."""

    tolerance: float
    """A fall up to here is nothing to be woken for."""
    least_scale: float = 0.001
    """Noise is never taken as smaller than this."""
    least_looks: int = 2
    """An alarm takes at least so many checks."""
    reference: int = 20
    """Checks from which the noise is learned."""
    threshold: float = 1e5
    """Checks between false alarms of this one figure."""
    rare: float = 0.06
    """The chance that may be left that what falls after equal checks is noise which had not shown itself yet."""

    def noise(self, values: Sequence[float], least_scale: float = 0.0) -> NoiseModel:
        return learn_noise(
            np.array(values),
            self.tolerance,
            least_scale=max(self.least_scale, least_scale),
            least_checks=self.least_looks,
            threshold=self.threshold,
        )


@dataclass
class Level:
    """A figure of the same queries in each check, as a deviation from a fixed point; a fall is negative."""

    sensitivity: Sensitivity
    phase: str = "learning"
    learned: list[float] = field(default_factory=list)
    """Values of the checks from which the noise is learned."""
    still: bool = True
    """Whether all of these had equal scores for all queries."""
    centre: float = 0.0
    weight: int = 0
    """How many measurements the centre was before the noise was known: 1 for a baseline, the checks of an exact
    phase; 0 where there was none."""
    times: int = 0
    """How often it turned out not to repeat itself exactly."""
    steady: float = 0.0
    """The value that an exact one repeats."""
    run: int = 0
    """Checks in a row that fell (in alarm: that were good) in the exact phase."""
    down: bool = False
    """Whether an exact one stands in alarm."""
    detector: Detector | None = None

    def look(self, value: float, number: int, *, same: bool | None) -> Change | None:
        """Take in a value. `same`: whether this check repeats the one before exactly; None where that is not known."""
        if self.detector is not None:
            return self.detector.look(value - self.centre, number)
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
        self.weight = self.weight if fell else n
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
            if self.run < 2 or rare_noise(self.run - 1, self.weight) > self._allowed():
                return None
            began = number - self.run + 1
            self.down, self.run, self.learned = True, 0, []
            return Change("alarm", began)
        if self.run or (same is not None and value != self.steady):
            self.times += 1
            self.phase, self.run, self.learned = "provisional", 0, [*self.learned, value]
        elif same is False and self.still:
            self.still = False
            if self.weight < self.sensitivity.reference:
                self.phase, self.learned = "provisional", [value] * self.weight
        elif same is not None:
            self.weight += 1
        return None

    def _recover(self, fell: bool, number: int) -> Change | None:
        self.run = 0 if fell else self.run + 1
        if self.run < _RECOVERED:
            return None
        self.phase, self.run, self.down, self.still = "provisional", 0, False, True
        return Change("recovered", number - _RECOVERED + 1)

    def _watch(self) -> None:
        """The noise is known. A point that it was held against before stays, as far as its own error allows: a fall
        since then must not become the norm."""
        noise = self.sensitivity.noise(self.learned)
        n, mean = len(self.learned), float(np.mean(self.learned))
        if self.weight:
            error = uncertainty(self.sensitivity.threshold) * noise.scale
            held = self.centre - error * (math.sqrt(1 / self.weight + 1 / n) - math.sqrt(1 / n))
            mean = max(mean, held)
        self.phase, self.centre, self.learned = "watching", mean, []
        self.detector = Detector(noise, self.sensitivity.threshold)

    def to_dict(self) -> dict[str, Any]:
        kept = asdict(replace(self, detector=None))
        return {"kind": "level", **kept, "detector": None if self.detector is None else self.detector.to_dict()}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Level:
        return cls(**_fields(value))


@dataclass
class Stream:
    """Scores of queries that are new in each check, such as sampled traffic that was judged; less is worse.

    The first `reference` checks, and at least ten times as many queries, set the level and the noise of a check's
    mean. The mean is one value for the detector, however many queries there were; one of fewer queries than usual
    counts as noisier by the square root of their share.
    """

    sensitivity: Sensitivity
    learned: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    """Of each check: queries, mean, mean absolute score, least and greatest score."""
    centre: float = 0.0
    unit: float = 1.0
    """What tolerance and noise are measured in: 1 where no score lies outside of [-1, 1], else the mean absolute
    score."""
    size: float = 1.0
    """Queries of a usual check."""
    detector: Detector | None = None

    @property
    def phase(self) -> str:
        return "learning" if self.detector is None else "watching"

    def look(self, values: Sequence[float], number: int) -> Change | None:
        """Take in the scores of one check."""
        n, mean = len(values), mean_of(values)
        if self.detector is not None:
            away = in_units(mean, self.centre, self.unit)
            return self.detector.look(away, number, min(1.0, math.sqrt(n / self.size)))
        self.learned.append((n, mean, mean_of([abs(value) for value in values]), min(values), max(values)))
        total = sum(row[0] for row in self.learned)
        if len(self.learned) >= self.sensitivity.reference and total >= 10 * self.sensitivity.reference:
            self._watch(total)
        return None

    def _watch(self, total: int) -> None:
        counts, means, sizes, lows, highs = zip(*self.learned, strict=True)
        self.centre = math.fsum(n / total * mean for n, mean in zip(counts, means, strict=True))
        self.unit = unit_of([min(lows), max(highs)], math.fsum(n / total * x for n, x in zip(counts, sizes, strict=True)))
        self.size = total / len(counts)
        values = [
            in_units(mean, self.centre, self.unit) * math.sqrt(n / self.size)
            for n, mean in zip(counts, means, strict=True)
        ]
        # Scores that did not show themselves in so many queries: a share up to log(1 / chance) / total of them.
        widest = max(1.0, in_units(max(highs), min(lows), self.unit))
        chance = min(0.05, 500 / self.sensitivity.threshold)
        unseen = widest * math.sqrt(-math.log(chance) / total / self.size)
        self.detector = Detector(self.sensitivity.noise(values, unseen), self.sensitivity.threshold)
        self.learned = []

    @property
    def alarmed(self) -> bool:
        return self.detector is not None and self.detector.alarmed

    def to_dict(self) -> dict[str, Any]:
        kept = asdict(replace(self, detector=None))
        return {"kind": "stream", **kept, "detector": None if self.detector is None else self.detector.to_dict()}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Stream:
        return cls(**_fields(value) | {"learned": [tuple(row) for row in value["learned"]]})


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a series as it was written down."""
    kept = {key: entry for key, entry in value.items() if key != "kind"}
    detector = None if value["detector"] is None else Detector.from_dict(value["detector"])
    return kept | {"sensitivity": Sensitivity(**value["sensitivity"]), "detector": detector}


def mean_of(values: Sequence[float]) -> float:
    """The mean, also of numbers whose sum is too large."""
    return math.fsum(value / len(values) for value in values)


def unit_of(scores: Sequence[float], size: float) -> float:
    """What a measure's tolerance and noise are measured in: 1 for scores within [-1, 1], else their mean absolute
    value, `size`. A mean could be 0 or negative, and a tolerance that is a share of it would be none."""
    return 1.0 if max(map(abs, scores)) <= 1 else size


def in_units(value: float, reference: float, unit: float) -> float:
    """How far a value lies from its reference; far away is far enough, so that no figure overflows."""
    return min(max(value / unit - reference / unit, -_FARTHEST), _FARTHEST)


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
