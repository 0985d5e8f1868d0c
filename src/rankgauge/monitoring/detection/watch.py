"""One system watched: its measures, tags, latency, errors and limits, from check to check.

Every figure is held against the first check (or a baseline) query by query, so that queries which failed this time, or
whose gold documents are gone, can be left out of both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from rankgauge.gating.targets import holds
from rankgauge.history.monitored import Finding
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.detection.figures import Figures, Limit, Watching
from rankgauge.monitoring.detection.rates import Rate, Threshold
from rankgauge.monitoring.detection.series import Level, Sensitivity
from rankgauge.monitoring.detection.streams import Stream, in_units, mean_of, unit_of
from rankgauge.stats.sequential import Change

__all__ = ["ERRORS", "LATENCY", "Event", "Last", "SystemWatch"]

Series = Level | Stream | Rate | Threshold
ERRORS, LATENCY = "errors", "p95"
"""What stands for a measure in the keys of these two."""
_TICK = 0.005
"""Seconds added to latencies before their logarithm is taken: from 1 ms to 2 ms is nothing to be woken for."""
_LEAST_SLICE = 5
"""A slice of fewer queries is not watched: a single query would be news."""


@dataclass(frozen=True)
class Event:
    """A series that raised an alarm, or recovered."""

    key: SeriesKey
    kind: str
    event: str
    began: int
    finding: Finding


@dataclass(frozen=True)
class Last:
    """A figure of the last check, to be shown."""

    value: float
    reference: float | None
    queries: int


@dataclass
class SystemWatch:
    """All series of one system, with the point they are held against."""

    name: str
    watching: Watching
    point: dict[str, dict[str, float]] = field(default_factory=dict)
    """The first check, or the baseline: score by measure and query."""
    series: dict[SeriesKey, Series] = field(default_factory=dict)
    first_p95: float | None = None
    fingerprint: str | None = None
    last: dict[SeriesKey, Last] = field(default_factory=dict)

    VERSION: ClassVar[int] = 2

    @classmethod
    def against(cls, name: str, watching: Watching, baseline: Mapping[str, Mapping[str, float]]) -> SystemWatch:
        """Held against a baseline from the first check on, instead of learning from it; measures that the baseline
        lacks are learned."""
        return cls(name, watching, {measure: dict(scores) for measure, scores in baseline.items()})

    def update(self, number: int, found: Figures, systems: int = 1) -> list[Event]:
        """The events of a valid check."""
        held, begins = frozenset(self.point), not any(self.kind_of(key) == "quality" for key in self.series)
        if begins:
            self.point = {measure: dict(scores) for measure, scores in found.scores.items()} | self.point
        fresh = found.fingerprint
        same = None if fresh is None or self.fingerprint is None else fresh == self.fingerprint
        self.fingerprint = fresh or self.fingerprint
        if begins:
            self._begin(found, systems, held=held)
        events = [*self._quality(number, found, same), *self._calls(number, found), *self._limits(number, found)]
        return [event for event in events if event is not None]

    def _begin(self, found: Figures, systems: int, *, held: frozenset[str]) -> None:
        """The series, and how much evidence each has to bring so that all of them together keep the stated figure."""
        wanted = self.watching
        quality = [self._key(measure, tag) for measure, tag, _ in self._parts(found)]
        latency = [self._key(LATENCY)] if wanted.latency and found.latency else []
        each = wanted.false_alarm_every * systems * (len(quality) + len(latency) + 1)
        for key in quality:
            closely = Sensitivity(
                wanted.tolerance, reference=wanted.reference, threshold=each, rare=Sensitivity.rare / systems
            )
            level = Level(closely)
            self.series[key] = (
                Stream(closely) if wanted.stream else level.with_reference() if key.measure in held else level
            )
        for key in latency:  # a logarithm; it takes three checks, because peaks happen
            slower = math.log1p(wanted.latency_tolerance)
            self.series.setdefault(key, Level(Sensitivity(slower, 0.05, 3, wanted.reference, each)))
        self.series.setdefault(self._key(ERRORS), Rate.allowed(wanted.allowed_errors, each))

    @property
    def learning(self) -> bool:
        """Whether it is not known yet what is normal of the quality."""
        phases = [series.phase for key, series in self.series.items() if self.kind_of(key) == "quality"]
        return not phases or "learning" in phases

    def forget_quality(self) -> None:
        """Learn anew what is normal of the quality; latency, errors and limits are watched on."""
        for key in [key for key in self.series if self.kind_of(key) in ("quality", "slice")]:
            del self.series[key]
            self.last.pop(key, None)
        self.point, self.fingerprint = {}, None

    def crossed(self, found: Figures) -> list[str]:
        """The measures that are beyond a limit of the plan at this check."""
        values = {limit: _figure(limit, found) for limit in self.watching.limits if limit.figure in found.scores}
        return [
            limit.figure
            for limit, value in values.items()
            if value is not None and holds(value, limit.operator, limit.value)
        ]

    def _key(self, measure: str, tag: str | None = None) -> SeriesKey:
        return SeriesKey(self.name, measure, tag)

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
            usable = [query for query in queries if query in now and query not in found.drifted]
            if series is None or not usable:
                continue
            value = found.aggregate(measure, (now[query] for query in usable))
            sign = -1.0 if measure in found.lower else 1.0
            exact = isinstance(series, Level) and series.phase == "exact" and series.still
            if isinstance(series, Stream):
                change = series.update([sign * now[query] for query in usable], number)
                before = None if series.detector is None else sign * series.centre
            else:
                assert isinstance(series, Level)
                point = self.point[measure]
                held = found.aggregate(measure, (point[query] for query in usable))
                known = list(point.values())
                unit = unit_of(known, mean_of([abs(score) for score in known]))
                unit *= len(usable) if found.hows.get(measure) == "sum" else 1
                change = series.update(sign * in_units(value, held, unit), number, same=same)
                before = held + sign * series.centre * unit
            self.last[key] = Last(value, before, len(usable))
            kind = "quality" if tag is None else "slice"
            yield _event(key, kind, change, Finding(before=before, now=value, exact=exact))

    def _calls(self, number: int, found: Figures) -> Iterator[Event | None]:
        rate = found.failed / found.asked if found.asked else 0.0
        allowed = self.watching.allowed_errors
        key = self._key(ERRORS)
        errors = self.series[key]
        assert isinstance(errors, Rate)
        self.last[key] = Last(rate, allowed, found.asked)
        change = errors.update(rate, number)
        share = rate if change is None else errors.since(change.began)
        yield _event(key, "errors", change, Finding(now=share, limit=allowed))
        key = self._key(LATENCY)
        series = self.series.get(key)
        if isinstance(series, Level) and found.latency.get(LATENCY):
            p95 = found.latency[LATENCY]
            first = self.first_p95 = self.first_p95 or p95
            change = series.update(-math.log((p95 + _TICK) / (first + _TICK)), number, same=False)
            before = (first + _TICK) * math.exp(-series.centre) - _TICK
            self.last[key] = Last(p95, before, found.asked)
            yield _event(key, "latency", change, Finding(before=before, now=p95))

    def _limits(self, number: int, found: Figures) -> Iterator[Event | None]:
        for limit in self.watching.limits:
            series = self.series.setdefault(self._key(limit.text), Threshold())
            value = _figure(limit, found)
            if not isinstance(series, Threshold) or value is None:
                continue
            change = series.update(holds(value, limit.operator, limit.value), number)
            yield _event(self._key(limit.figure), "threshold", change, Finding(now=value, limit=limit.value))

    def alarmed(self, kinds: Sequence[str]) -> list[SeriesKey]:
        """The series of these kinds that stand in alarm."""
        return [key for key, series in self.series.items() if series.alarmed and self.kind_of(key) in kinds]

    def kind_of(self, key: SeriesKey) -> str:
        """The kind of incident that a series raises."""
        series = self.series[key]
        if isinstance(series, Threshold):
            return "threshold"
        if isinstance(series, Rate):
            return "errors"
        if key.measure == LATENCY:
            return "latency"
        return "quality" if key.tag is None else "slice"

    def fallen_tags(self, measure: str) -> dict[str, tuple[float, float]]:
        """Of the tags that stand in alarm, reference and value, the deepest fall first; empty where all of them do."""
        tags = {key.tag: key for key in self.series if key.measure == measure and key.tag is not None}
        known = {tag: self.last[key] for tag, key in tags.items() if key in self.last}
        fallen = {
            tag: (last.reference, last.value)
            for tag, last in known.items()
            if self.series[tags[tag]].alarmed and last.reference is not None
        }
        if len(fallen) == len(known):
            return {}
        order = sorted(fallen.items(), key=lambda item: -abs(item[1][0] - item[1][1]))
        return dict(order[:5])

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it between two checks."""
        series = [_Kept(key.measure, key.tag, state, self.last.get(key)) for key, state in self.series.items()]
        kept = _KeptWatch(self.VERSION, self.name, self.point, series, self.first_p95, self.fingerprint)
        found: dict[str, Any] = msgspec.to_builtins(kept)
        return found

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], watching: Watching) -> SystemWatch:
        """The watch as it was kept, or a `ValueError`. How closely it watches was fixed when each series began; what
        the plan of today does not watch is dropped."""
        try:
            kept = msgspec.convert(value, _KeptWatch)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        watch = cls(kept.name, watching, kept.point, {}, kept.first_p95, kept.fingerprint)
        limits = {limit.text for limit in watching.limits}
        for entry in kept.series:
            key = watch._key(entry.measure, entry.tag)
            watch.series[key] = entry.state
            unwanted = {
                "latency": not watching.latency,
                "slice": not watching.slices,
                "threshold": key.measure not in limits,
            }
            if unwanted.get(watch.kind_of(key), False):
                del watch.series[key]
            elif entry.last is not None:
                watch.last[key] = entry.last
        return watch


class _Kept(msgspec.Struct):
    """One series, as it is kept."""

    measure: str
    tag: str | None
    state: Series
    last: Last | None


class _KeptWatch(msgspec.Struct):
    """A watch, as it is kept."""

    version: int
    name: str
    point: dict[str, dict[str, float]]
    series: list[_Kept]
    first_p95: float | None
    fingerprint: str | None


def _figure(limit: Limit, found: Figures) -> float | None:
    """What a check found of the figure that a limit is for."""
    scores = found.scores.get(limit.figure)
    counting = [score for query, score in (scores or {}).items() if query not in found.drifted]
    whole = found.hows.get(limit.figure) != "sum" or not (found.failed or found.drifted)
    if counting and whole:  # the sum of some queries says nothing about a limit for all
        return found.aggregate(limit.figure, counting)
    return found.latency.get(limit.figure)


def _event(key: SeriesKey, kind: str, change: Change | None, finding: Finding) -> Event | None:
    return None if change is None else Event(key, kind, change.event, change.began, finding)
