"""Checks of monitors in the history, and what a monitor remembers from one check to the next."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rankgauge.errors import DataError
from rankgauge.history.cells import DamagedCellError
from rankgauge.history.finding import within
from rankgauge.history.monitored import Check, Status
from rankgauge.history.schema import checks, detector_states
from rankgauge.history.sql import Connection, sa
from rankgauge.history.store import History

__all__ = [
    "COMMON",
    "CheckTakenError",
    "abandon_checks",
    "begin_check",
    "check_counts",
    "check_transaction",
    "find_check",
    "finish_check",
    "forget_systems",
    "keep_state",
    "known_systems",
    "last_check",
    "list_checks",
    "monitors",
    "next_number",
    "read_state",
    "started_at",
]

COMMON = ""
"""The system under which stands what is not of one system; no system has this name."""
Moment = datetime.datetime


class CheckTakenError(DataError):
    """Another process has written a check of this number meanwhile."""


# To be read: what a dashboard shows


def monitors(history: History) -> list[str]:
    """The names of all monitors that have checked anything."""
    with history.read() as connection:
        return list(connection.execute(sa.select(checks.c.monitor).distinct().order_by(checks.c.monitor)).scalars())


def list_checks(
    history: History,
    monitor: str,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    status: Status | None = None,
    limit: int | None = None,
) -> list[Check]:
    """Checks of a monitor, newest first: since <= started < until."""
    wanted = sa.select(checks).where(checks.c.monitor == monitor).order_by(checks.c.number.desc()).limit(limit)
    if status is not None:
        wanted = wanted.where(checks.c.status == status)
    with history.read() as connection:
        return [_check(row) for row in connection.execute(within(wanted, checks.c.started, since, until))]


def last_check(history: History, monitor: str, status: Status | None = None) -> Check | None:
    """The check with the highest number."""
    return next(iter(list_checks(history, monitor, status=status, limit=1)), None)


def check_counts(history: History, monitor: str) -> dict[str, int]:
    """How many checks there are of each status."""
    wanted = sa.select(checks.c.status, sa.func.count()).where(checks.c.monitor == monitor).group_by(checks.c.status)
    with history.read() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(wanted)}


# To be written


@contextmanager
def check_transaction(history: History, monitor: str) -> Iterator[Connection]:
    """A write transaction of one check, which counts wholly or not at all."""
    try:
        with history.begin() as connection:
            yield connection
    except sa.exc.IntegrityError:
        raise CheckTakenError(f"the hold on {monitor!r} was lost; another monitor may have it") from None


def begin_check(history: History, monitor: str, token: str, started: Moment) -> int:
    """Note that a check has begun; its number."""
    with check_transaction(history, monitor) as connection:
        number = next_number(connection, monitor)
        values = {"monitor": monitor, "number": number, "token": token, "started": started}
        connection.execute(sa.insert(checks).values(**values, status="running", detail={}))
    return number


def finish_check(connection: Connection, check: Check) -> None:
    """Note how a check ended, whether or not its beginning was noted. Its id is given by the database."""
    values = dict(vars(check))
    del values["id"]
    ended = {key: values[key] for key in ("finished", "status", "record_id", "detail")}
    done = connection.execute(sa.update(checks).where(checks.c.token == check.token).values(**ended))
    if done.rowcount == 0:
        connection.execute(sa.insert(checks).values(**values))


def abandon_checks(history: History, monitor: str) -> list[Check]:
    """Mark checks that were broken off, by a crash say: nothing of them counts."""
    left = (checks.c.monitor == monitor) & (checks.c.status == "running")
    with history.begin() as connection:
        found = [_check(row) for row in connection.execute(sa.select(checks).where(left).order_by(checks.c.number))]
        if found:
            connection.execute(sa.update(checks).where(left).values(status="abandoned"))
    return found


def find_check(connection: Connection, token: str) -> Check | None:
    row = connection.execute(sa.select(checks).where(checks.c.token == token)).one_or_none()
    return None if row is None else _check(row)


def next_number(connection: Connection, monitor: str) -> int:
    last = sa.func.coalesce(sa.func.max(checks.c.number), 0)
    return int(connection.execute(sa.select(last).where(checks.c.monitor == monitor)).scalar_one()) + 1


def started_at(connection: Connection, monitor: str, number: int) -> Moment | None:
    """When the check of a number began."""
    where = (checks.c.monitor == monitor) & (checks.c.number == number)
    return connection.execute(sa.select(checks.c.started).where(where)).scalar()


def _check(row: Any) -> Check:
    return Check(**row._mapping)


# What a monitor remembers


def read_state(connection: Connection, monitor: str, system: str) -> dict[str, Any] | None:
    """What is remembered, empty where nothing is; None where it cannot be read."""
    where = (detector_states.c.monitor == monitor) & (detector_states.c.system == system)
    try:
        return connection.execute(sa.select(detector_states.c.state).where(where)).scalar() or {}
    except DamagedCellError:
        return None


def keep_state(connection: Connection, monitor: str, system: str, number: int, state: Mapping[str, Any]) -> None:
    """Remember it."""
    where = (detector_states.c.monitor == monitor) & (detector_states.c.system == system)
    values = {"check_number": number, "state": state}
    done = connection.execute(sa.update(detector_states).where(where).values(**values))
    if done.rowcount == 0:
        connection.execute(sa.insert(detector_states).values(monitor=monitor, system=system, **values))


def known_systems(connection: Connection, monitor: str) -> list[str]:
    """The systems of which something is remembered."""
    mine = (detector_states.c.monitor == monitor) & (detector_states.c.system != COMMON)
    wanted = sa.select(detector_states.c.system).where(mine).order_by(detector_states.c.system)
    return list(connection.execute(wanted).scalars())


def forget_systems(connection: Connection, monitor: str, *, keep: list[str]) -> None:
    """Forget systems but those named: should one come back, it is learned anew."""
    others = (detector_states.c.monitor == monitor) & detector_states.c.system.not_in([COMMON, *keep])
    connection.execute(sa.delete(detector_states).where(others))
