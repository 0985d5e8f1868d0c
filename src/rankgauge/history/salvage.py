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
    number, highest = 0, _highest(history)
    while number < highest:
        try:
            number = _following(history, number) or highest + 1
        except RankgaugeError:
            number += 1
        if number > highest:
            break
        try:
            with history.read() as connection:
                row = connection.execute(light().where(records.c.id == number)).one_or_none()
            if row is not None and label in (None, row.label):
                history.raw(stored := stored_of(row))
                found.append(stored)
        except RankgaugeError:
            lost.append(number)
    return found, lost


def _highest(history: History) -> int:
    """The highest number of a record, from any table that still tells it."""
    highest = 0
    for column in _NUMBERED:
        with suppress(RankgaugeError), history.read() as connection:
            told = connection.execute(sa.select(sa.type_coerce(sa.func.max(column), sa.Integer))).scalar()
            highest = max(highest, told if isinstance(told, int) else 0)
    return highest


def _following(history: History, number: int) -> int | None:
    """The next number of a record, where the table tells it."""
    wanted = sa.select(sa.type_coerce(sa.func.min(records.c.id), sa.Integer)).where(records.c.id > number)
    with history.read() as connection:
        return connection.execute(wanted).scalar()
