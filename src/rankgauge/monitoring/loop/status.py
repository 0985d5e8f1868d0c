"""How a monitor stands: its last check, every figure it watches, what is open, and what could not be delivered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec

from rankgauge.history.checks import check_counts, last_check
from rankgauge.history.deliveries import PENDING, list_deliveries
from rankgauge.history.incidents import list_incidents
from rankgauge.history.monitored import Check, Incident
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.detection.watch import SystemWatch
from rankgauge.monitoring.loop.memory import watches_of
from rankgauge.monitoring.loop.plan import MonitorPlan

__all__ = ["MonitorStatus", "SeriesStatus", "log10_evidence", "status_of"]


@dataclass(frozen=True)
class SeriesStatus:
    """One figure, as it was watched last."""

    key: SeriesKey
    phase: str
    """learning, provisional, exact or watching."""
    alarm: bool
    value: float | None
    reference: float | None
    queries: int | None
    evidence: float | None
    """log10 of the evidence of a fall; in alarm, of a recovery."""
    needed: float | None
    noise: float | None
    """Standard deviation of the noise model; of latencies, that of their logarithm."""
    correlation: float | None


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
        [entry for watch in watches_of(history, plan).values() for entry in _series(watch)],
        plan.watching.false_alarm_every,
        list_incidents(history, plan.name, still_open=True)[::-1],
        len(list_deliveries(history, plan.name, states=PENDING)),
    )


def log10_evidence(watch: SystemWatch, key: SeriesKey) -> float | None:
    """The evidence of a series, never below 0; None where nothing is detected yet."""
    detector = watch.series[key].detector
    return None if detector is None else max(detector.evidence / math.log(10), 0.0)


def _series(watch: SystemWatch) -> list[SeriesStatus]:
    entries = []
    for key, series in watch.series.items():
        last, detector = watch.last.get(key), series.detector
        noise = None if detector is None else detector.noise
        needed = None
        if detector is not None:
            needed = math.log10(detector.recovery if detector.alarmed else detector.threshold)
        entries.append(
            SeriesStatus(
                key,
                series.phase,
                series.alarmed,
                None if last is None else last.value,
                None if last is None else last.reference,
                None if last is None else last.queries,
                log10_evidence(watch, key),
                needed,
                getattr(noise, "scale", None),
                getattr(noise, "correlation", None),
            )
        )
    return entries
