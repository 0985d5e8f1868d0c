"""How a monitor stands: its last check, every figure it watches, what is open, and what could not be delivered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from rankgauge.history.checks import check_counts, last_check
from rankgauge.history.incidents import PENDING, list_deliveries, list_incidents
from rankgauge.history.monitored import Check, Incident
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.detection.watch import SystemWatch
from rankgauge.monitoring.loop.memory import watches_of
from rankgauge.monitoring.loop.plan import MonitorPlan

__all__ = ["MonitorStatus", "SeriesStatus", "series_of", "status_of"]


@dataclass(frozen=True)
class SeriesStatus:
    """One figure, as it was watched last."""

    key: SeriesKey
    phase: str
    """learning, provisional, exact or watching."""
    alarm: bool
    value: float | None = None
    reference: float | None = None
    queries: int | None = None
    evidence: float | None = None
    """log10 of the evidence of a fall, never below 0; in alarm, of a recovery. None where nothing is detected yet."""
    needed: float | None = None
    noise: float | None = None
    """Standard deviation of the noise model; of latencies, that of their logarithm."""
    correlation: float | None = None


@dataclass(frozen=True)
class MonitorStatus:
    """The state of a monitor."""

    monitor: str
    checks: dict[str, int]
    """How many of each status."""
    last: Check | None
    series: list[SeriesStatus]
    false_alarm_every: float
    incidents: list[Incident]
    """Open ones, oldest first."""
    undelivered: int
    """Messages that are still to be delivered."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


def status_of(history: History, plan: MonitorPlan) -> MonitorStatus:
    """The state of a plan's monitor, as the history has it."""
    return MonitorStatus(
        plan.name,
        check_counts(history, plan.name),
        last_check(history, plan.name),
        series_of(watches_of(history, plan).values()),
        plan.watching.false_alarm_every,
        list_incidents(history, plan.name, still_open=True)[::-1],
        len(list_deliveries(history, plan.name, states=PENDING)),
    )


def series_of(watches: Iterable[SystemWatch]) -> list[SeriesStatus]:
    """All figures that the watches have, as they were seen last."""
    return [_status(watch, key) for watch in watches for key in watch.series]


def _status(watch: SystemWatch, key: SeriesKey) -> SeriesStatus:
    series, last = watch.series[key], watch.last.get(key)
    found = SeriesStatus(key, series.phase, series.alarmed, **({} if last is None else vars(last)))
    detector = series.detector
    if detector is None:
        return found
    return replace(
        found,
        evidence=max(detector.evidence / math.log(10), 0.0),
        needed=math.log10(detector.recovery if detector.alarmed else detector.threshold),
        noise=getattr(detector.noise, "scale", None),
        correlation=getattr(detector.noise, "correlation", None),
    )
