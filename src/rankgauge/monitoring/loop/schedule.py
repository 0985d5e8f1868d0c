"""Time as a monitor sees it, and when its next check is due."""

from __future__ import annotations

import datetime
import math
import threading
import time

__all__ = ["Clock", "Schedule"]

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


class Schedule:
    """Checks every so many seconds of the time that passes, whatever is done to the clock on the wall."""

    def __init__(self, clock: Clock, every: float) -> None:
        self.clock, self.every = clock, every
        self._took = 0.0
        self._seen = clock.now(), clock.passed()
        self.restart()

    def restart(self) -> None:
        """A check is due now, and none was missed."""
        self._due = self.clock.passed()

    def wait(self) -> float:
        """Seconds until a check is due."""
        return max(self._due - self.clock.passed(), 0.0)

    def begin_check(self) -> int:
        """A check begins, and the one after it is planned; how many were missed."""
        now = self.clock.passed()
        late = now - self._due
        missed = math.floor((late - self._took) / self.every)  # a check that takes long has missed nothing
        self._due = max(self._due + self.every * math.ceil((late + 1e-9) / self.every), now)
        return max(missed, 0)

    def end_check(self, took: float) -> bool:
        """It took so long to call and score; whether it is the first in a row with more than there is time for."""
        before, self._took = self._took, took
        return took > self.every >= before

    def follow_clock(self) -> float:
        """How far the clock was set forward (or the machine was asleep) since the last question, which counts as time
        that passed; below 0 it was set back, which does not; 0 where it is not worth a word."""
        before, self._seen = self._seen, (self.clock.now(), self.clock.passed())
        jump = (self._seen[0] - before[0]).total_seconds() - (self._seen[1] - before[1])
        if abs(jump) <= _JUMP:
            return 0.0
        self._due -= max(jump, 0.0)
        return jump
