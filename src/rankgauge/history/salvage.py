"""What can still be read of a history whose file is damaged."""

from __future__ import annotations

from contextlib import suppress

from rankgauge.errors import RankgaugeError
from rankgauge.history.finding import light, stored_of
from rankgauge.history.rows import Stored
from rankgauge.history.schema import baselines, checks, means, records
from rankgauge.history.sql import sa
from rankgauge.history.store import History

__all__ = ["readable_records"]

_NUMBERED = (records.c.id, means.c.record_id, checks.c.record_id, baselines.c.record_id)


def readable_records(history: History, *, label: str | None = None) -> tuple[list[Stored], list[int]]:
    """The records that can be read whole, oldest first, and the numbers of those that cannot.

    Each is looked for by its number: a page that is damaged hides those on it, not the others.
    """
    found: list[Stored] = []
    lost: list[int] = []
    for number in range(1, _highest(history) + 1):
        try:
            with history.read() as connection:
                row = connection.execute(light().where(records.c.id == number)).one_or_none()
            if row is not None and label in (None, row.label):
                history.raw(stored := stored_of(row))
                found.append(stored)
        except (RankgaugeError, ValueError):
            lost.append(number)
    return found, lost


def _highest(history: History) -> int:
    """The highest number of a record, from any table that still tells it."""
    highest = 0
    for column in _NUMBERED:
        with suppress(RankgaugeError, ValueError), history.read() as connection:
            highest = max(highest, connection.execute(sa.select(sa.func.max(column))).scalar() or 0)
    return highest
