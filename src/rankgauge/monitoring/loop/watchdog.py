"""The watchdog: a thread beside the monitor that tells the channels when it hangs, whatever in. It needs no history."""

from __future__ import annotations

import datetime
import threading
from dataclasses import dataclass, field
from typing import Literal, Self

from rankgauge.monitoring.loop.health import Health
from rankgauge.words import Note

__all__ = ["Step", "Watchdog"]

Step = Literal["history", "calls", "alerts"]
_OFTEN = 1.0


@dataclass
class Watchdog:
    """Knows what the monitor is at, and since when. As a context manager it watches over it."""

    health: Health
    """Of the monitor's progress."""
    beside: Health
    """Of the history, which the monitor itself follows: while it is bad, nothing is well again."""
    every: float = 0.0
    _at: tuple[Step, float, datetime.datetime] | None = None
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def step(self) -> Step | None:
        """What the monitor is at; None while it rests."""
        return None if self._at is None else self._at[0]

    def at(self, step: Step) -> None:
        """The monitor goes on, with this."""
        self._at = step, self.health.clock.passed(), self.health.clock.now()

    def rest(self) -> None:
        """The monitor waits for its next check: that is no hanging."""
        self._at = None

    def look(self) -> None:
        """Tell what is to be told by now."""
        found = self._at
        if found is not None and self.health.clock.passed() - found[1] >= self.health.patient_for(self.every):
            self.health.unavailable(Note(f"monitor.step_{found[0]}"), since=found[1:])
        elif self.beside.trouble is None and (found is None or self.health.began_before(found[1])):
            self.health.available()
        self.health.report(self.every)

    def _watch(self) -> None:
        while not self._ended.wait(min(_OFTEN, self.health.patient_for(self.every) / 4)):
            try:
                self.look()
            except Exception as error:  # it must outlive whatever happens
                said = f"{type(error).__name__}: {error}"
                self.health.log(Note("monitor.failed_step", {"error": said}))

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
