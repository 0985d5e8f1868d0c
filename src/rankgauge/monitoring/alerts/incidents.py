"""Incidents of a check: opened once, told once, closed by a recovery, or ended when nothing watches over them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from rankgauge.history.checks import started_at
from rankgauge.history.incidents import add_incident, close_incident, enqueue, open_of, update_finding
from rankgauge.history.monitored import Finding, Incident
from rankgauge.history.sql import Connection
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.alerts.messages import headline, message
from rankgauge.words import Note

__all__ = ["GROUPS", "Incidents"]

GROUPS = {"quality": ("quality", "slice"), "latency": ("latency",), "errors": ("errors",), "threshold": ("threshold",)}
"""Series that are told in one incident: a fall shows in many measures and slices at once."""


@dataclass
class Incidents:
    """The incidents of one monitor, changed within the transaction of one check."""

    connection: Connection
    monitor: str
    channels: Sequence[str]
    """Names of the channels that are told."""
    number: int
    """Of the check."""
    started: datetime.datetime
    now: datetime.datetime
    opened: list[Note] = field(default_factory=list)
    closed: list[Note] = field(default_factory=list)
    ended: list[Note] = field(default_factory=list)

    def open(self, kind: str, key: SeriesKey | None, began: int, finding: Finding, *, group: str | None = None) -> None:
        """Open one and queue its alert. What is told already is kept up to date, and nobody is woken again; only a fall
        over all queries is news where a slice alone had fallen before."""
        known = self._open(None if key is None else key.system, group or kind)
        same = next((incident for incident in known if kind == "slice" or incident.kind == kind), None)
        if same is not None:
            also = {*same.finding.series, *finding.series}
            kept = replace(same.finding, series=sorted(also, key=str)) if also else finding
            update_finding(self.connection, same, kept)
            return
        moments = {"opened": (self.number, self.now), "began": (began, self._began(began))}
        incident = add_incident(self.connection, self.monitor, kind, key, finding, **moments)
        self._queue(incident, "opened")
        self.opened.append(headline(incident))

    def follow(self, system: str, group: str, value_of: Callable[[SeriesKey], float | None]) -> None:
        """Keep how far it went: the first check may have caught it midway, and the recovery names the worst."""
        for incident in self._open(system, group):
            found = incident.finding
            value = value_of(SeriesKey(system, incident.measure or "", incident.tag))
            if value is None or found.before is None or found.now is None:
                continue
            worst = found.now if found.worst is None else found.worst
            if (value - worst) * (found.now - found.before) > 0:
                update_finding(self.connection, incident, replace(found, worst=value))

    def close(self, system: str | None, group: str) -> None:
        """It is over, and that is told."""
        for incident in self._open(system, group):
            self._queue(close_incident(self.connection, incident, self.number, self.now), "recovered")
            self.closed.append(headline(incident))

    def end(self, system: str | None, group: str) -> None:
        """Nothing can say any more whether it is over: it ends, and a recovery that nobody saw is not told."""
        self._end(self._open(system, group))

    def end_others(self, systems: Collection[str]) -> None:
        """End the incidents of systems that are no longer watched."""
        known = open_of(self.connection, self.monitor)
        self._end(incident for incident in known if incident.system is not None and incident.system not in systems)

    def _end(self, found: Iterable[Incident]) -> None:
        for incident in found:
            close_incident(self.connection, incident, self.number, self.now)
            self.ended.append(headline(incident))

    def _open(self, system: str | None, group: str) -> list[Incident]:
        kinds = GROUPS.get(group, (group,))
        return [found for found in open_of(self.connection, self.monitor, kinds=kinds) if found.system == system]

    def _queue(self, incident: Incident, event: str) -> None:
        title, body = message(incident, event)
        enqueue(self.connection, incident.id, event, self.channels, title, body, self.now)

    def _began(self, number: int) -> datetime.datetime:
        if number == self.number:
            return self.started
        return started_at(self.connection, self.monitor, number) or self.now
