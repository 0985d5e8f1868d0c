"""What the calls of a live retriever cost beside what they found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rankgauge.formats.secrets import masked, masked_value
from rankgauge.stats.latency import Latency, totals
from rankgauge.words import Note

__all__ = ["Calls", "Cost"]


@dataclass(frozen=True)
class Cost:
    """What the answers cost, in a unit such as tokens or USD: those of earlier starts that were kept included."""

    unit: str
    total: float
    mean: float
    """Of the queries whose cost is known."""
    p95: float
    queries: int
    without: int
    """Answered queries whose cost is not known."""

    @classmethod
    def of(cls, unit: str, costs: Sequence[float | None]) -> Cost | None:
        """Over answered queries; None where no cost is known."""
        known = sorted(cost for cost in costs if cost is not None)
        if not known:
            return None
        return cls(unit, *totals(known), len(known), len(costs) - len(known))


@dataclass(frozen=True)
class Calls:
    """Latency and errors of one system's calls."""

    k: int | None
    """Documents that each call asked for; None where the retriever's own number counts."""
    concurrency: int
    latency: Latency | None
    """None where no answer was measured now."""
    throughput: float | None
    """Answered calls in a second (QPS)."""
    cached: int = 0
    """Answers that were measured by an earlier run and kept."""
    resumed: int = 0
    """Answers that were measured by an earlier start of this run, which was interrupted."""
    proven: bool = False
    """Whether the system would still give the answers that were not measured now: all that they depend on is known, and
    the same. Of what a server answers that is never known."""
    repeated: int = 0
    """Calls that were made again after an error that may pass."""
    failed: list[str] = field(default_factory=list)
    """Queries without an answer; they count as empty lists."""
    errors: dict[str, int] = field(default_factory=dict)
    """How many queries failed for each reason, as the retriever told it."""
    notes: list[Note] = field(default_factory=list)
    cost: Cost | None = None
    """None where no cost was asked for or found."""

    def __post_init__(self) -> None:
        """What a retriever said may hold a secret, which no record keeps."""
        errors: Counter[str] = Counter()
        for error, count in self.errors.items():  # two texts may be one by now
            errors[masked(error)] += count
        object.__setattr__(self, "errors", dict(errors))
        object.__setattr__(self, "notes", masked_value(self.notes))

    @property
    def kept(self) -> int:
        """Answers that were not measured now."""
        return self.cached + self.resumed
