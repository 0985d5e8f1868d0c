"""Standing by: another monitor has the lease, and this one looks whether it makes its checks."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from rankgauge.history.checks import last_check
from rankgauge.history.store import History
from rankgauge.monitoring.loop.health import Health
from rankgauge.words import Note

__all__ = ["Standby"]

_LATE = 2.0
"""Without a sign for so many times the time between checks, the other one is late."""


@dataclass
class Standby:
    """What a monitor that stands by has seen of the one at work: when a check last began or ended. That one may have
    another clock, so the time that passes here counts."""

    monitor: str
    health: Health
    """Of the other one."""
    _seen: tuple[int, str] | None = None
    _since: tuple[float, datetime.datetime] | None = None

    def look(self, history: History, every: float, *, standing_by: bool) -> None:
        """Say once in the log that the other one makes no checks, and once over the channels if that goes on."""
        clock = self.health.clock
        if not standing_by:
            self._since = None
            self.health.available()
        else:
            last = last_check(history, self.monitor)
            seen = None if last is None else (last.number, last.status)
            if self._since is None or seen != self._seen:
                self._seen, self._since = seen, (clock.passed(), clock.now())
                self.health.available()
            elif clock.passed() - self._since[0] >= _LATE * every:
                late = self._since[0] + every, self._since[1] + datetime.timedelta(seconds=every)
                self.health.unavailable(Note("monitor.holder_makes_none"), since=late)
        self.health.report(every)
