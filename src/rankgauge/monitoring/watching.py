"""One system watched: its measures, slices, latency, errors and limits, from look to look.

Every figure is held against the first look (or a baseline) query by query, so that queries which failed this time, or
whose gold documents are gone, can be left out of both sides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.gate.targets import holds
from rankgauge.monitoring.rates import Rate, Threshold
from rankgauge.monitoring.series import Level, Sensitivity
from rankgauge.monitoring.streams import Stream, in_units, mean_of, unit_of
from rankgauge.stats.sequential import Change

__all__ = ["Event", "Figures", "Limit", "SystemWatch", "Watching", "figures_of"]

Series = Level | Stream | Rate | Threshold
_KINDS: dict[str, Any] = {"level": Level, "stream": Stream, "rate": Rate, "threshold": Threshold}
_TICK = 0.005
"""Seconds added to latencies before their logarithm is taken: from 1 ms to 2 ms is nothing to be woken for."""
_LEAST_SLICE = 5
"""A slice of fewer queries is not watched: a single query would be news."""


@dataclass(frozen=True)
class Limit:
    """A plain threshold, an alarm when it holds: `R@10 < 0.75`, `p95 > 200ms`."""

    text: str
    figure: str
    """A measure, or a quantile of the latency."""
    operator: str
    value: float


@dataclass(frozen=True)
class Watching:
    """What is watched, and how closely."""

    tolerance: float = 0.01
    slices: bool = True
    latency: bool = True
    latency_tolerance: float = 0.25
    allowed_errors: float = 0.01
    reference: int = 20
    false_alarm_every: float = 10_000
    """Looks between false alarms of all figures together, on average, at least."""
    stream: bool = False
    """Each look brings new queries, judged; otherwise the same ones are asked again."""
    limits: Sequence[Limit] = ()


@dataclass(frozen=True)
class Figures:
    """What one look found of one system."""

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
    apart: frozenset[str] = frozenset()
    """Queries whose gold documents are gone or changed: a matter of the corpus, not of the ranking."""

    def aggregate(self, measure: str, scores: Iterable[float]) -> float:
        """The measure's own aggregate of some queries' scores."""
        return aggregate(self.hows.get(measure, "mean"), np.array(list(scores), dtype=np.float64))

    @property
    def fingerprint(self) -> str | None:
        """Equal for two looks with the same scores; None where some are missing this time."""
        if self.failed or self.apart:
            return None
        digest = hashlib.sha256()
        for measure, scores in self.scores.items():
            digest.update(repr((measure, sorted(scores.items()))).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Event:
    """A series that raised an alarm, or recovered."""

    series: str
    kind: str
    event: str
    began: int
    detail: dict[str, Any]


def figures_of(record: Mapping[str, Any], system: str, *, apart: frozenset[str] = frozenset()) -> Figures:
    """The figures of one system of a record."""
    entry = next(entry for entry in record["systems"] if entry["name"] == system)
    calls = entry.get("calls") or {}
    failed = set(calls.get("failed") or ())
    queries = record["queries"]
    scores = {}
    for measure, values in entry["per_query"].items():
        counted = entry["counted"].get(measure) or [True] * len(queries)
        scores[measure] = {
            query: value
            for query, value, counts in zip(queries, values, counted, strict=True)
            if counts and query not in failed and value is not None and math.isfinite(value)
        }
    latency = {key: value for key, value in (calls.get("latency") or {}).items() if key in ("p50", "p95", "p99")}
    lower = frozenset(measure["name"] for measure in record["measures"] if measure.get("lower_is_better"))
    hows = {measure["name"]: measure["aggregate"] for measure in record["measures"] if "aggregate" in measure}
    return Figures(scores, lower, record.get("tags") or {}, latency, len(queries), len(failed), hows, apart)


@dataclass
class SystemWatch:
    """All series of one system, with the point they are held against."""

    name: str
    watching: Watching
    point: dict[str, dict[str, float]] = field(default_factory=dict)
    """The first look, or the baseline: score by measure and query."""
    series: dict[str, Series] = field(default_factory=dict)
    first_p95: float | None = None
    fingerprint: str | None = None
    last: dict[str, Any] = field(default_factory=dict)
    """The figures of the last look, to be shown."""

    VERSION: ClassVar[int] = 2

    @classmethod
    def against(cls, name: str, watching: Watching, baseline: Mapping[str, Mapping[str, float]]) -> SystemWatch:
        """Held against a baseline from the first look on, instead of learning from it; measures that the baseline
        lacks are learned."""
        return cls(name, watching, {measure: dict(scores) for measure, scores in baseline.items()})

    def look(self, number: int, found: Figures, systems: int = 1) -> list[Event]:
        """Take in a valid look; what changed by it."""
        held = frozenset(self.point)
        if not self.series:
            self.point = {measure: dict(scores) for measure, scores in found.scores.items()} | self.point
        fresh = found.fingerprint
        same = None if fresh is None or self.fingerprint is None else fresh == self.fingerprint
        self.fingerprint = fresh or self.fingerprint
        if not self.series:
            self._begin(found, systems, held=held)
        events = [*self._quality(number, found, same), *self._calls(number, found), *self._limits(number, found)]
        return [event for event in events if event is not None]

    def _begin(self, found: Figures, systems: int, *, held: frozenset[str]) -> None:
        """The series, and how much evidence each has to bring so that all of them together keep the stated figure."""
        wanted = self.watching
        quality = {self._key(measure, tag): measure for measure, tag, _ in self._parts(found)}
        latency = [self._key("p95")] if wanted.latency and found.latency else []
        each = wanted.false_alarm_every * systems * (len(quality) + len(latency) + 1)
        for key, measure in quality.items():
            closely = Sensitivity(
                wanted.tolerance, reference=wanted.reference, threshold=each, rare=Sensitivity.rare / systems
            )
            level = Level(closely)
            self.series[key] = (
                Stream(closely) if wanted.stream else level.with_reference() if measure in held else level
            )
        for key in latency:  # a logarithm; it takes three looks, because peaks happen
            slower = math.log1p(wanted.latency_tolerance)
            timing = Sensitivity(slower, 0.05, 3, wanted.reference, each)
            self.series[key] = Level(timing)
        self.series[self._key("errors")] = Rate.allowed(wanted.allowed_errors, each)

    def _key(self, figure: str, tag: str | None = None) -> str:
        return f"{self.name} {figure}" if tag is None else f"{self.name} {figure} [{tag}]"

    def _parts(self, found: Figures) -> Iterator[tuple[str, str | None, list[str]]]:
        """Each measure over all queries, then over those of each tag."""
        for measure in found.scores:
            known = list(found.scores[measure]) if self.watching.stream else list(self.point.get(measure, ()))
            yield measure, None, known
            if self.watching.slices and not self.watching.stream:
                for tag in sorted({tag for query in known for tag in found.tags.get(query, ())}):
                    among = [query for query in known if tag in found.tags.get(query, ())]
                    if _LEAST_SLICE <= len(among) < len(known):
                        yield measure, tag, among

    def _quality(self, number: int, found: Figures, same: bool | None) -> Iterator[Event | None]:
        for measure, tag, queries in self._parts(found):
            key = self._key(measure, tag)
            series = self.series.get(key)
            now = found.scores[measure]
            usable = [query for query in queries if query in now and query not in found.apart]
            if series is None or not usable:
                continue
            value = found.aggregate(measure, (now[query] for query in usable))
            sign = -1.0 if measure in found.lower else 1.0
            exact = isinstance(series, Level) and series.phase == "exact" and series.still
            if isinstance(series, Stream):
                change = series.look([sign * now[query] for query in usable], number)
                before = None if series.detector is None else sign * series.centre
            else:
                assert isinstance(series, Level)
                point = self.point[measure]
                held = found.aggregate(measure, (point[query] for query in usable))
                known = list(point.values())
                unit = unit_of(known, mean_of([abs(score) for score in known]))
                unit *= len(usable) if found.hows.get(measure) == "sum" else 1
                change = series.look(sign * in_units(value, held, unit), number, same=same)
                before = held + sign * series.centre * unit
            self.last[key] = {"value": value, "reference": before, "queries": len(usable)}
            kind = "quality" if tag is None else "slice"
            detail = {"measure": measure, "slice": tag, "before": before, "now": value, "queries": len(usable)}
            detail |= {"exact": True} if exact else {}
            yield self._event(key, kind, change, detail)

    def _calls(self, number: int, found: Figures) -> Iterator[Event | None]:
        rate = found.failed / found.asked if found.asked else 0.0
        key = self._key("errors")
        errors = self.series[key]
        assert isinstance(errors, Rate)
        self.last[key] = {"value": rate, "reference": self.watching.allowed_errors, "queries": found.asked}
        change = errors.look(rate, number)
        share = rate if change is None else errors.since(change.began)
        yield self._event(key, "errors", change, {"now": share, "limit": self.watching.allowed_errors})
        key = self._key("p95")
        series = self.series.get(key)
        if isinstance(series, Level) and found.latency.get("p95"):
            p95 = found.latency["p95"]
            first = self.first_p95 = self.first_p95 or p95
            change = series.look(-math.log((p95 + _TICK) / (first + _TICK)), number, same=False)
            before = (first + _TICK) * math.exp(-series.centre) - _TICK
            self.last[key] = {"value": p95, "reference": before, "queries": found.asked}
            yield self._event(key, "latency", change, {"measure": "p95", "before": before, "now": p95})

    def _limits(self, number: int, found: Figures) -> Iterator[Event | None]:
        for limit in self.watching.limits:
            series = self.series.setdefault(self._key(limit.text), Threshold())
            value = found.latency.get(limit.figure)
            scores = found.scores.get(limit.figure)
            counting = [score for query, score in (scores or {}).items() if query not in found.apart]
            whole = found.hows.get(limit.figure) != "sum" or not (found.failed or found.apart)
            if counting and whole:  # the sum of some queries says nothing about a limit for all
                value = found.aggregate(limit.figure, counting)
            if not isinstance(series, Threshold) or value is None:
                continue
            change = series.look(holds(value, limit.operator, limit.value), number)
            detail = {"measure": limit.figure, "now": value, "limit": limit.value, "rule": limit.text}
            yield self._event(self._key(limit.text), "threshold", change, detail)

    def _event(self, key: str, kind: str, change: Change | None, detail: dict[str, Any]) -> Event | None:
        if change is None:
            return None
        return Event(key, kind, change.event, change.began, {"system": self.name, **detail})

    def alarmed(self, kinds: Sequence[str]) -> list[str]:
        """The series of these kinds that stand in alarm."""
        return [key for key, series in self.series.items() if series.alarmed and self._kind(key) in kinds]

    def _kind(self, key: str) -> str:
        series = self.series[key]
        if isinstance(series, Threshold):
            return "threshold"
        if isinstance(series, Rate):
            return "errors"
        if key == self._key("p95"):
            return "latency"
        return "slice" if key.endswith("]") else "quality"

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": self.VERSION,
            "name": self.name,
            "watching": asdict(self.watching),
            "point": self.point,
            "series": {key: series.to_dict() for key, series in self.series.items()},
            "first_p95": self.first_p95,
            "fingerprint": self.fingerprint,
            "last": self.last,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], watching: Watching) -> SystemWatch:
        """The watch as it was written down. How closely it looks was fixed when each series began; what the plan of
        today does not watch is dropped."""
        watch = cls(
            value["name"],
            watching,
            {measure: dict(scores) for measure, scores in value["point"].items()},
            {key: _KINDS[kept["kind"]].from_dict(kept) for key, kept in value["series"].items()},
            value["first_p95"],
            value["fingerprint"],
            dict(value["last"]),
        )
        limits = {watch._key(limit.text) for limit in watching.limits}
        dropped = {"latency": not watching.latency, "slice": not watching.slices}
        for key in list(watch.series):
            kind = watch._kind(key)
            if dropped.get(kind, False) or (kind == "threshold" and key not in limits):
                del watch.series[key]
                watch.last.pop(key, None)
        return watch
