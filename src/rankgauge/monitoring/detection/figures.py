"""What is watched of a system, and what one check found of it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from msgspec import Meta

from rankgauge.engine.averaging import aggregate
from rankgauge.record import Record

__all__ = ["QUANTILES", "Closeness", "Figures", "Limit", "Watching", "figures_of"]

QUANTILES = ("p50", "p95", "p99")


@dataclass(frozen=True)
class Limit:
    """A plain threshold, an alarm when it holds: `R@10 < 0.75`, `p95 > 200ms`."""

    text: str
    figure: str
    """A measure, or a quantile of the latency."""
    operator: str
    value: float


@dataclass(frozen=True)
class Closeness:
    """How closely is watched, as a plan may say it."""

    tolerance: Annotated[float, Meta(ge=0, le=1)] = 0.01
    slices: bool = True
    latency: bool = True
    latency_tolerance: Annotated[float, Meta(ge=0, le=100)] = 0.25
    allowed_errors: Annotated[float, Meta(ge=0, le=0.5)] = 0.01
    reference: Annotated[int, Meta(ge=5, le=1000)] = 20
    false_alarm_every: Annotated[float, Meta(ge=10, le=1e9)] = 10_000
    """Checks between false alarms of all figures together, on average, at least."""


@dataclass(frozen=True)
class Watching(Closeness):
    """What is watched, and how closely."""

    stream: bool = False
    """Each check brings new queries, judged; otherwise the same ones are asked again."""
    limits: Sequence[Limit] = ()


@dataclass(frozen=True)
class Figures:
    """What one check found of one system."""

    scores: Mapping[str, Mapping[str, float]]
    """By measure and query; queries that failed or do not count are not in it."""
    lower: frozenset[str] = frozenset()
    """Measures of which less is better."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    latency: Mapping[str, float] = field(default_factory=dict)
    """Seconds at p50, p95 and p99."""
    asked: int = 0
    failed: int = 0
    hows: Mapping[str, str] = field(default_factory=dict)
    """How the queries of a measure are put together, where they are not averaged."""
    drifted: frozenset[str] = frozenset()
    """Queries whose gold documents are gone or changed: a matter of the corpus, not of the ranking."""

    def aggregate(self, measure: str, scores: Iterable[float]) -> float:
        """The measure's own aggregate of some queries' scores."""
        return aggregate(self.hows.get(measure, "mean"), np.array(list(scores), dtype=np.float64))

    @property
    def fingerprint(self) -> str | None:
        """Equal for two checks with the same scores; None where some are missing this time."""
        if self.failed or self.drifted:
            return None
        digest = hashlib.sha256()
        for measure, scores in self.scores.items():
            digest.update(repr((measure, sorted(scores.items()))).encode())
        return digest.hexdigest()


def figures_of(record: Record, system: str, *, drifted: frozenset[str] = frozenset()) -> Figures:
    """The figures of one system of a record."""
    entry = record.system(system)
    calls = entry.calls
    failed = set(calls.failed) if calls is not None else set()
    scores = {
        measure: {
            query: value
            for query, value in entry.scores(measure, record.queries).items()
            if query not in failed and math.isfinite(value)
        }
        for measure in entry.per_query
    }
    timed = calls.latency if calls is not None else None
    return Figures(
        scores,
        lower=frozenset(measure.name for measure in record.measures if measure.lower_is_better),
        tags=record.tags,
        latency={} if timed is None else {name: getattr(timed, name) for name in QUANTILES},
        asked=len(record.queries),
        failed=len(failed),
        hows={measure.name: measure.aggregate for measure in record.measures},
        drifted=drifted,
    )
