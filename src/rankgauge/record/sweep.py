"""What a sweep found: every setting with its figures, and what choosing the best of them is worth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rankgauge.formats.secrets import masked_value
from rankgauge.record.comparison import ComparisonResult
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note

__all__ = ["BudgetPoint", "HeldOut", "SweepResult", "Version"]


@dataclass(frozen=True)
class BudgetPoint:
    """The mean of the sweep's measure where lists are cut after the chunks that fit into a context budget."""

    budget: int
    mean: float


@dataclass(frozen=True)
class Version:
    """One setting and what it gave."""

    number: int
    parameters: dict[str, Any]
    mean: float
    interval: Interval | None
    p50: float | None
    """Seconds of a call: median, and 95th percentile."""
    p95: float | None
    throughput: float | None
    ann_recall: float | None
    """Share of the exact search's documents that this setting finds."""
    on_front: bool = False
    """No other setting is at least as good and faster."""
    timed_before: int = 0
    """How many of the calls behind p50 and p95 were made and timed in an earlier start, at the same concurrency."""
    chunks: float | None = None
    """The mean number of chunks in a context, where chunks are swept."""
    curve: list[BudgetPoint] = field(default_factory=list)
    """The score by the context budget, smallest first."""

    @property
    def label(self) -> str:
        return f"V{self.number}"


@dataclass(frozen=True)
class HeldOut:
    """The score of tuning on queries that had no part in it."""

    mean: float
    """The measure's aggregate over the queries that count, each scored by the version that the other folds chose."""
    interval: Interval | None
    """95 % confidence interval of the best version's true mean, which holds although that version was chosen as the
    best (`stats.selection`); it is made as wide as to hold `mean` too. None for measures that are no means."""
    folds: int
    chosen: list[int]
    """The version that each fold's other queries chose."""


@dataclass(frozen=True)
class SweepResult:
    """All versions of a system, the best one on all queries, and what choosing the best is worth on others."""

    system: str
    measure: str
    lower_is_better: bool
    versions: list[Version]
    best: str
    """The label of the best version."""
    held_out: HeldOut | None = None
    failed: dict[str, Note] = field(default_factory=dict)
    """Versions without a score, with the reason."""
    budget: int | None = None
    """The context budget that every version had, where chunks are swept."""
    comparison: ComparisonResult | None = None
    """The differences between versions, tested and corrected, where they are not the comparison of the record."""

    def masked(self) -> SweepResult:
        """The same without secrets: a parameter may be a key, or an address with a password."""
        versions = [replace(version, parameters=masked_value(version.parameters)) for version in self.versions]
        return replace(self, versions=versions, failed=masked_value(self.failed))

    @property
    def optimism(self) -> float | None:
        """How much better the best version looks on the queries it was chosen on."""
        return None if self.held_out is None else self.best_version.mean - self.held_out.mean

    @property
    def best_version(self) -> Version:
        return next(version for version in self.versions if version.label == self.best)
