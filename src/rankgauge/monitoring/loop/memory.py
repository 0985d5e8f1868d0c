"""What a monitor remembers from check to check: of each system, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError
from rankgauge.history.checks import COMMON, known_systems, read_state
from rankgauge.history.sql import Connection
from rankgauge.history.store import History
from rankgauge.monitoring.detection.figures import Watching
from rankgauge.monitoring.detection.watch import SystemWatch
from rankgauge.monitoring.loop.plan import MonitorPlan

__all__ = ["kept_state", "queries_taken", "watch_in", "watches_of"]


def kept_state(connection: Connection, monitor: str, system: str = COMMON) -> dict[str, Any]:
    """What was learned of a system; empty where nothing was. Without one, what is not of one system: gold documents,
    queries of a stream, systems that are steady again."""
    state = read_state(connection, monitor, system)
    if state is None:
        raise _unreadable(monitor, system)
    return state


def watch_in(state: Mapping[str, Any], monitor: str, system: str, watching: Watching) -> SystemWatch | None:
    """The watch in a state; None where an earlier detector wrote it, whose figures mean something else to this one.
    What a later release wrote is refused: half understood it would be half watched."""
    try:
        if 0 < state["watch"]["version"] < SystemWatch.VERSION:
            return None
        if state["watch"]["version"] == SystemWatch.VERSION and "identity" in state:
            return SystemWatch.from_dict(state["watch"], watching)
    except (KeyError, TypeError, ValueError):
        pass
    raise _unreadable(monitor, system)


def watches_of(history: History, plan: MonitorPlan) -> dict[str, SystemWatch]:
    """All systems as they were watched last, less those that the next check learns anew."""
    with history.read() as connection:
        systems = known_systems(connection, plan.name)
        states = {system: kept_state(connection, plan.name, system) for system in systems}
    found = {system: watch_in(state, plan.name, system, plan.watching) for system, state in states.items()}
    return {system: watch for system, watch in found.items() if watch is not None}


def queries_taken(history: History, monitor: str) -> int:
    """How many queries of a stream are done with."""
    with history.read() as connection:
        return int(kept_state(connection, monitor).get("taken", 0))


def _unreadable(monitor: str, system: str) -> DataError:
    common = system == COMMON
    what = "its common state" if common else f"what was learned of {system}"
    remedy = "restore a copy of the history" if common else "forget it: rankgauge monitor PLAN --relearn"
    return DataError(
        f"monitor {monitor}: {what} cannot be read (table detector_states, row system = {system!r}); a later release "
        f"may have written it: use that one, or {remedy}"
    )
