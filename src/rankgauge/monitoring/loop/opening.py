"""Opening the history of a monitor: at the start, while its server is away, and when its file was replaced."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rankgauge.errors import RankgaugeError
from rankgauge.history.connecting import away, make_folder
from rankgauge.history.location import Location, resolve
from rankgauge.history.store import History
from rankgauge.monitoring.loop.health import Health
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.monitoring.loop.schedule import Clock
from rankgauge.words import Note

__all__ = ["await_history", "open_history"]

_RETRY = 5.0


def open_history(plan: MonitorPlan, place: Location | None = None) -> History:
    """The plan's history. The folder beside the plan that it is kept in by default is made for it."""
    place = (place or resolve(plan.history)).anchored()
    if place.path is not None and place.path.parent == plan.run.folder / ".rankgauge":
        make_folder(place.path.parent)
    return History.open(place)


def await_history(
    plan: MonitorPlan, every: float, log: Callable[[Note], None], stop: threading.Event, clock: Clock | None = None
) -> History | None:
    """The plan's history; a server that is away is waited for, and None means that it is time to stop. What else is
    wrong is raised: no waiting mends it."""
    place, clock = resolve(plan.history).anchored(), clock or Clock()
    health = Health(plan.name, plan.channels, plan.language, log, clock, plan.unhealthy_after)
    while not stop.is_set():
        try:
            history = open_history(plan, place)
        except RankgaugeError as error:
            if not away(place):
                return open_history(plan, place)  # it may have come back just now; if not, this raises what is wrong
            health.unavailable(str(error))
        else:
            health.available()
            health.report(every)
            return history
        health.report(every)
        clock.wait(stop, min(_RETRY, every))
    return None
