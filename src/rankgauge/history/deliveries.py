"""Deliveries of alerts in the history: each is kept with its incident in one transaction, until its channel took it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from rankgauge.history.monitored import Delivery, State, packed, unpacked
from rankgauge.history.schema import deliveries, incidents
from rankgauge.history.sql import Connection, insert_once, sa
from rankgauge.history.store import History
from rankgauge.words import Note

__all__ = ["FAILED", "PENDING", "claim", "enqueue", "list_deliveries", "mark"]

PENDING: tuple[State, ...] = ("waiting", "sending", "absent")
"""Still to be delivered."""
FAILED: tuple[State, ...] = ("given_up",)
Moment = datetime.datetime


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
    fixed = {"incident_id": incident_id, "event": event, "title": packed(title), "body": packed(body)}
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
    notes = {"title": unpacked(row.title, Note), "body": unpacked(row.body, list[Note])}
    return Delivery(**{**row._mapping, **notes})
