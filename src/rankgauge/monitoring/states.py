"""What a monitor remembers from look to look: one row for each system, and one for what they have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError
from rankgauge.history.schema import watches
from rankgauge.history.sql import sa
from rankgauge.monitoring.watching import SystemWatch, Watching

__all__ = ["COMMON", "forget_others", "keep_state", "read_state", "read_watch"]

COMMON = "/"
"""The row for what is not of one system; no system can have this name."""


def read_state(connection: sa.Connection, monitor: str, series: str) -> dict[str, Any]:
    """What is remembered; empty where nothing is."""
    where = (watches.c.monitor == monitor) & (watches.c.series == series)
    text = connection.execute(sa.select(watches.c.state).where(where)).scalar()
    if text is None:
        return {}
    try:
        state = json.loads(text)
    except ValueError:
        state = None
    if not isinstance(state, dict):
        raise _unreadable(monitor, series)
    return state


def read_watch(state: Mapping[str, Any], monitor: str, series: str, watching: Watching) -> SystemWatch | None:
    """The watch in a state; None where an earlier detector wrote it, whose figures mean something else to this one.
    What a later release wrote is refused: half understood it would be half watched."""
    try:
        if 0 < state["watch"]["version"] < SystemWatch.VERSION:
            return None
        if state["watch"]["version"] == SystemWatch.VERSION and "identity" in state:
            return SystemWatch.from_dict(state["watch"], watching)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        pass
    raise _unreadable(monitor, series)


def keep_state(connection: sa.Connection, monitor: str, series: str, look: int, state: Mapping[str, Any]) -> None:
    """Remember it. Written in ASCII: a database cannot hold all that an id can."""
    where = (watches.c.monitor == monitor) & (watches.c.series == series)
    text = json.dumps(state)
    done = connection.execute(sa.update(watches).where(where).values(look=look, state=text))
    if done.rowcount == 0:
        connection.execute(sa.insert(watches).values(monitor=monitor, series=series, look=look, state=text))


def forget_others(connection: sa.Connection, monitor: str, systems: list[str]) -> None:
    """Forget systems that are no longer watched: should one come back, it is learned anew."""
    others = (watches.c.monitor == monitor) & watches.c.series.not_in([COMMON, *systems])
    connection.execute(sa.delete(watches).where(others))


def _unreadable(monitor: str, series: str) -> DataError:
    what = "its common state" if series == COMMON else f"what was learned of {series}"
    remedy = "" if series == COMMON else ", or begin anew with --relearn"
    return DataError(
        f"monitor {monitor}: {what} cannot be read; a later release may have written it: use that one{remedy}"
    )
