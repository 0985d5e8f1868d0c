"""Figures with a fixed limit: the share of failed queries, and the plain thresholds of a plan."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from rankgauge.stats.sequential import Bounded, Change, Detector

__all__ = ["Rate", "Threshold"]

_RECENT = 200
_GOOD_CHECKS = 3
_QUIET = 100
_MOST_DOUBLINGS = 6


class Rate(msgspec.Struct, tag=True):
    """A share that must not rise above what is allowed, such as that of failed queries.

    It recovers by three checks in a row within what is allowed: a rate near 0 gathers evidence too slowly.
    """

    detector: Detector
    limit: float
    recent: list[tuple[int, float]] = []
    """The last checks with their rates."""
    good: int = 0

    phase: ClassVar[str] = "watching"

    @classmethod
    def allowed(cls, rate: float, threshold: float) -> Rate:
        return cls(Detector(Bounded(1 - min(max(rate, 1e-4), 0.5)), threshold), rate)

    def update(self, rate: float, number: int) -> Change | None:
        self.recent = [*self.recent[1 - _RECENT :], (number, rate)]
        if not self.detector.alarmed:
            return self.detector.update(1 - rate, number)
        self.good = self.good + 1 if rate <= self.limit else 0
        if self.good < _GOOD_CHECKS:
            return None
        self.good = 0
        self.detector = Detector(self.detector.noise, self.detector.threshold)
        return Change("recovered", number - _GOOD_CHECKS + 1)

    def since(self, number: int) -> float:
        """The mean rate of the checks from this one on."""
        return float(np.mean([rate for check, rate in self.recent if check >= number] or [0.0]))

    @property
    def alarmed(self) -> bool:
        return self.detector.alarmed


class Threshold(msgspec.Struct, tag=True):
    """A plain limit: crossed is an alarm at once. It ends by checks in a row on the right side: two at first, and twice
    as many each time it is crossed again, so that a figure that swings around its limit does not ring all night. A
    hundred quiet checks make it forget."""

    alarmed: bool = False
    good: int = 0
    crossings: int = 0

    phase: ClassVar[str] = "watching"
    detector: ClassVar[None] = None

    def update(self, crossed: bool, number: int) -> Change | None:
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
