"""Incidents of monitors in the history."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rankgauge.history.finding import within
from rankgauge.history.monitored import Finding, Incident, packed, storable, unpacked
from rankgauge.history.schema import incidents
from rankgauge.history.sql import Connection, sa
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey

__all__ = ["add_incident", "close_incident", "list_incidents", "open_by_kind", "open_of", "update_finding"]

Moment = datetime.datetime


def list_incidents(
    history: History,
    monitor: str | None = None,
    *,
    still_open: bool = False,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int | None = None,
) -> list[Incident]:
    """Incidents, newest first: since <= opened < until."""
    wanted = sa.select(incidents).order_by(incidents.c.id.desc()).limit(limit)
    if monitor is not None:
        wanted = wanted.where(incidents.c.monitor == monitor)
    if still_open:
        wanted = wanted.where(incidents.c.closed_at.is_(None))
    with history.read() as connection:
        return [_incident(row) for row in connection.execute(within(wanted, incidents.c.opened_at, since, until))]


def open_by_kind(history: History, monitor: str) -> dict[str, int]:
    """How many incidents of each kind are open."""
    return dict(Counter(incident.kind for incident in list_incidents(history, monitor, still_open=True)))


def open_of(connection: Connection, monitor: str, *, kinds: Sequence[str] | None = None) -> list[Incident]:
    """The open incidents of a monitor, oldest first, in the caller's transaction."""
    wanted = sa.select(incidents).where(incidents.c.monitor == monitor, incidents.c.closed_at.is_(None))
    if kinds is not None:
        wanted = wanted.where(incidents.c.kind.in_(kinds))
    return [_incident(row) for row in connection.execute(wanted.order_by(incidents.c.id))]


def add_incident(
    connection: Connection,
    monitor: str,
    kind: str,
    key: SeriesKey | None,
    finding: Finding,
    *,
    opened: tuple[int, Moment],
    began: tuple[int, Moment],
) -> Incident:
    """Open an incident; moments are given with the number of their check. `measure` is empty in the key of what is
    of a whole system."""
    names = dict.fromkeys(("system", "measure", "tag")) if key is None else vars(key)
    values: dict[str, Any] = {name: None if text is None else storable(text) for name, text in names.items()}
    values |= {"measure": values["measure"] or None, "monitor": monitor, "kind": kind, "finding": packed(finding)}
    for event, (number, moment) in (("opened", opened), ("began", began)):
        values |= {f"{event}_check": number, f"{event}_at": moment}
    return _incident(connection.execute(sa.insert(incidents).values(**values).returning(incidents)).one())


def update_finding(connection: Connection, incident: Incident, finding: Finding) -> None:
    changed = sa.update(incidents).where(incidents.c.id == incident.id)
    connection.execute(changed.values(finding=packed(finding)))


def close_incident(connection: Connection, incident: Incident, number: int | None, now: Moment) -> Incident:
    """Close it at a check, or between two by hand; as it is then."""
    changed = sa.update(incidents).where(incidents.c.id == incident.id).returning(incidents)
    return _incident(connection.execute(changed.values(closed_check=number, closed_at=now)).one())


def _incident(row: Any) -> Incident:
    return Incident(**{**row._mapping, "finding": unpacked(row.finding, Finding)})
