"""Scores of queries that are new in each check, watched by the mean of a check; and what scores are measured in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankgauge.monitoring.detection.series import Learned
from rankgauge.stats.sequential import Change

__all__ = ["Stream", "in_units", "mean_of", "unit_of"]

_FARTHEST = 1e9


class Stream(Learned, tag=True):
    """Scores of queries that are new in each check, such as sampled traffic that was judged; less is worse.

    The first `reference` checks, and at least ten times as many queries, set the level and the noise of a check's
    mean. The mean is one value for the detector, however many queries there were; one of fewer queries than usual
    counts as noisier by the square root of their share.
    """

    learned: list[tuple[int, float, float, float, float]] = []
    """Of each check: queries, mean, mean absolute score, least and greatest score."""
    unit: float = 1.0
    """What tolerance and noise are measured in: 1 where no score lies outside of [-1, 1], else the mean absolute
    score."""
    size: float = 1.0
    """Queries of a usual check."""

    @property
    def phase(self) -> str:
        return "learning" if self.detector is None else "watching"

    def update(self, values: Sequence[float], number: int) -> Change | None:
        """The change that the scores of one check bring."""
        n, mean = len(values), mean_of(values)
        row = (n, mean, mean_of([abs(value) for value in values]), min(values), max(values))
        if self.detector is None:
            self.learned.append(row)
            reference = self.sensitivity.reference
            if len(self.learned) >= reference and sum(row[0] for row in self.learned) >= 10 * reference:
                self._watch()
            return None
        away = in_units(mean, self.centre, self.unit)
        return self._detect(self.detector, away, number, row, min(1.0, math.sqrt(n / self.size)))

    def _watch(self) -> None:
        counts, means, sizes, lows, highs = zip(*self.learned, strict=True)
        total = sum(counts)
        centre = math.fsum(n / total * mean for n, mean in zip(counts, means, strict=True))
        self.unit = unit_of(
            [min(lows), max(highs)], math.fsum(n / total * x for n, x in zip(counts, sizes, strict=True))
        )
        self.size = total / len(counts)
        values = [
            in_units(mean, centre, self.unit) * math.sqrt(n / self.size) for n, mean in zip(counts, means, strict=True)
        ]
        # Scores that did not show themselves in so many queries: a share up to log(1 / chance) / total of them.
        widest = max(1.0, in_units(max(highs), min(lows), self.unit))
        chance = min(0.05, 500 / self.sensitivity.threshold)
        unseen = widest * math.sqrt(-math.log(chance) / total / self.size)
        self._know(values, centre, unit=self.unit, least_scale=unseen)


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
