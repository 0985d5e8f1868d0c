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
