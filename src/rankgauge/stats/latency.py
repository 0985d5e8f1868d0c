"""Latency: how long calls took, as percentiles; and the same of what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

__all__ = ["Latency", "percentile", "totals"]


@dataclass(frozen=True)
class Latency:
    """Seconds of the successful calls of one pass, at one concurrency; NaN when there were none.

    Answers taken from a journal and calls that failed are not among them.
    """

    count: int
    concurrency: int
    mean: float
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Iterable[float], concurrency: int) -> Latency:
        ordered = sorted(seconds)
        mean = math.fsum(ordered) / len(ordered) if ordered else math.nan
        p50, p95, p99 = (percentile(ordered, share) for share in (0.50, 0.95, 0.99))
        return cls(len(ordered), concurrency, mean, p50, p95, p99)

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    def __str__(self) -> str:
        if not self.count:
            return "no calls to time"
        p50, p95, p99 = (f"{value * 1000:.3g} ms" for value in (self.p50, self.p95, self.p99))
        return f"p50 {p50}, p95 {p95}, p99 {p99} over {self.count} calls, {self.concurrency} at a time"


def totals(ordered: Sequence[float]) -> tuple[float, float, float]:
    """Sum, mean and 95th percentile of sorted values."""
    total = math.fsum(ordered)
    return total, total / len(ordered), percentile(ordered, 0.95)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value at position share * (n - 1) of a sorted list, between two neighbours by their distance."""
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
