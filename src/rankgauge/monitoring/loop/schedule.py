"""Time as a monitor sees it, and when its next check is due."""

from __future__ import annotations

import datetime
import threading
import time

__all__ = ["Clock", "Jumps"]

_JUMP = 30.0
"""Seconds by which the clock may differ from the time that passed before it is worth a word."""


class Clock:
    """The clock on the wall, and the time that passes."""

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC)

    def passed(self) -> float:
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait; True when it is time to stop."""
        return stop.wait(seconds)


class Jumps:
    """Compares the clock with the time that passed, from one question to the next."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.begin()

    def begin(self) -> None:
        self._seen = self.clock.now(), self.clock.passed()

    def seconds(self) -> float:
        """How far the clock was set forward (or the machine was asleep) since the last question; below 0 it was set
        back; 0 where it is not worth a word."""
        before = self._seen
        self.begin()
        jump = (self._seen[0] - before[0]).total_seconds() - (self._seen[1] - before[1])
        return jump if abs(jump) > _JUMP else 0.0
