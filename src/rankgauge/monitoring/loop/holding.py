"""Which of several monitors is at work, and what is said when that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.history.faults import LeaseLostError
from rankgauge.monitoring.loop.health import Health

__all__ = ["Holding"]


@dataclass
class Holding:
    """What a monitor knows of its lease."""

    name: str
    """Of the monitor."""
    health: Health
    say: Callable[..., Any]
    held: bool = False
    """Whether the lease was held when it was last asked for."""
    standing_by: bool = False
    """Whether another monitor had it then."""
    _unsure: bool = False
    """Whether it was held before the history could not be asked."""
    _lost: bool = False
    """Whether it was said that it is another's by now."""

    def ask(self, acquire: Callable[[], bool]) -> bool:
        """Whether this process has the lease."""
        had, self.held = self.held, False
        try:
            self.held = acquire()
        except RankgaugeError as error:
            self.health.unavailable(str(error))
            self._unsure = self._unsure or had
            return False
        stood_by, self.standing_by = self.standing_by, not self.held
        self._lost = self._lost and not self.held
        if had and self.held:
            return True
        self.health.available()  # who holds the lease is known again, or for the first time
        had, self._unsure = had or self._unsure, False
        if self.held and stood_by:
            self.say("took_over", name=self.name)
        if had and not self.held:
            self.failed(LeaseLostError())
        if self.standing_by and not stood_by:
            self.say("standby", name=self.name)
        return self.held

    def failed(self, error: RankgaugeError) -> None:
        """The history cannot be used; or it can, but another monitor has the lease by now, which is said once."""
        if not isinstance(error, LeaseLostError):
            self.health.unavailable(str(error))
        elif not self._lost:
            self._lost = True
            self.say("lease_lost", name=self.name)
