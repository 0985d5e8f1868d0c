"""What the calls of a live retriever cost beside what they found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rankgauge.formats.secrets import masked, masked_value
from rankgauge.stats.latency import Latency
from rankgauge.words import Note

__all__ = ["Calls"]


@dataclass(frozen=True)
class Calls:
    """Latency and errors of one system's calls."""

    k: int
    """Documents that each call asked for."""
    concurrency: int
    latency: Latency | None
    """None where all answers came from the cache."""
    throughput: float | None
    """Answered calls in a second (QPS)."""
    cached: int = 0
    repeated: int = 0
    """Calls that were made again after an error that may pass."""
    failed: list[str] = field(default_factory=list)
    """Queries without an answer; they count as empty lists."""
    errors: dict[str, int] = field(default_factory=dict)
    """How many queries failed for each reason, as the retriever told it."""
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        """What a retriever said may hold a secret, which no record keeps."""
        errors: Counter[str] = Counter()
        for error, count in self.errors.items():  # two texts may be one by now
            errors[masked(error)] += count
        object.__setattr__(self, "errors", dict(errors))
        object.__setattr__(self, "notes", masked_value(self.notes))
