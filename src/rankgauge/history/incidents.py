"""Incidents of monitors in the history, and the deliveries of their alerts: each is kept with its incident in one
transaction, until its channel took it."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rankgauge.history.cells import DamagedCellError
from rankgauge.history.finding import within
from rankgauge.history.monitored import Delivery, Finding, Incident, OpenIncident, State, storable
from rankgauge.history.schema import deliveries, incidents
from rankgauge.history.sql import Connection, insert_once, sa
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.words import Note

__all__ = [
    "FAILED",
    "PENDING",
    "add_incident",
    "claim",
    "close_incident",
    "enqueue",
    "list_deliveries",
    "list_incidents",
    "mark",
    "missing_of",
    "open_by_kind",
    "open_of",
    "update_finding",
]

PENDING: tuple[State, ...] = ("waiting", "sending", "absent")
"""Deliveries that are still to be made."""
FAILED: tuple[State, ...] = ("given_up",)
# What the messages of some kinds cannot do without.
_TOLD = {
    "system": ("quality", "slice", "latency", "errors", "threshold", "down", "start"),
    "measure": ("quality", "slice", "latency", "threshold"),
    "reason": ("start", "forgotten"),
}
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


def missing_of(connection: Connection, monitor: str, known: Sequence[OpenIncident]) -> list[OpenIncident]:
    """Of incidents that were open once, those that the history has no row of. Rows are never removed by rankgauge."""
    if not known:
        return []
    wanted = sa.select(incidents.c.id, incidents.c.opened_at).where(
        incidents.c.monitor == monitor, incidents.c.id.in_([found.id for found in known])
    )
    there = {(row.id, row.opened_at) for row in connection.execute(wanted)}
    return [found for found in known if (found.id, found.opened_at) not in there]


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
    values |= {"measure": values["measure"] or None, "monitor": monitor, "kind": kind, "finding": finding}
    for event, (number, moment) in (("opened", opened), ("began", began)):
        values |= {f"{event}_check": number, f"{event}_at": moment}
    return _incident(connection.execute(sa.insert(incidents).values(**values).returning(incidents)).one())


def update_finding(connection: Connection, incident: Incident, finding: Finding) -> None:
    changed = sa.update(incidents).where(incidents.c.id == incident.id)
    connection.execute(changed.values(finding=finding))


def close_incident(connection: Connection, incident: Incident, number: int | None, now: Moment) -> Incident:
    """Close it at a check, or between two by hand; as it is then."""
    changed = sa.update(incidents).where(incidents.c.id == incident.id).returning(incidents)
    return _incident(connection.execute(changed.values(closed_check=number, closed_at=now)).one())


def _incident(row: Any) -> Incident:
    found = Incident(**row._mapping)
    for name, kinds in _TOLD.items():
        if found.kind in kinds and getattr(found.finding if name == "reason" else found, name) is None:
            place = f"table incidents, row id = {found.id}: {'finding.reason' if name == 'reason' else name}"
            raise DamagedCellError(f"is empty, although incidents of the kind {found.kind} have one", place)
    return found


def list_deliveries(
    history: History, monitor: str | None = None, *, states: Sequence[State] | None = None, limit: int | None = None
) -> list[Delivery]:
    """Deliveries, oldest first: of a monitor's incidents, or of all; in some states, such as `PENDING`, or in all."""
    wanted = sa.select(deliveries).order_by(deliveries.c.created, deliveries.c.id).limit(limit)
    if monitor is not None:
        wanted = wanted.join(incidents).where(incidents.c.monitor == monitor)
    if states is not None:
        wanted = wanted.where(deliveries.c.state.in_(states))
    with history.read() as connection:
        return [_delivery(row) for row in connection.execute(wanted)]


def enqueue(
    connection: Connection,
    incident_id: int,
    event: str,
    channels: Iterable[str],
    title: Note,
    body: list[Note],
    now: Moment,
) -> int:
    """Add a message for every channel, inside the caller's transaction; how many were new.

    There is one message of an incident, an event and a channel: what is there already stays as it is.
    """
    fixed = {"incident_id": incident_id, "event": event, "title": title, "body": body}
    fixed |= {"created": now, "attempts": 0, "state": "waiting", "next_try": now}
    unique = ["incident_id", "event", "channel"]
    rows = [{**fixed, "channel": name} for name in dict.fromkeys(channels)]
    return sum(insert_once(connection, deliveries, row, unique) is not None for row in rows)


def claim(history: History, delivery: Delivery, next_try: Moment) -> bool:
    """Count a try before it is made: a crash in it cannot repeat it without pause, nor two processes make it. False
    where another process was first."""
    mine = (deliveries.c.id == delivery.id) & (deliveries.c.attempts == delivery.attempts)
    with history.begin() as connection:
        done = connection.execute(
            sa.update(deliveries)
            .where(mine, deliveries.c.state != "delivered")
            .values(attempts=delivery.attempts + 1, state="sending", next_try=next_try)
        )
        return bool(done.rowcount == 1)


def mark(history: History, found: Iterable[Delivery], **values: Any) -> None:
    """Set columns of some deliveries: what became of a try."""
    ids = [delivery.id for delivery in found]
    with history.begin() as connection:
        connection.execute(sa.update(deliveries).where(deliveries.c.id.in_(ids)).values(**values))


def _delivery(row: Any) -> Delivery:
    return Delivery(**row._mapping)
