"""Monitor health: one that cannot use its history, or hangs, says so straight over its channels: alerts go through the
history."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rankgauge.formats.secrets import masked
from rankgauge.monitoring.alerts.channels import Channel
from rankgauge.monitoring.alerts.messages import texts
from rankgauge.monitoring.loop.schedule import Clock
from rankgauge.words import Language, Note

__all__ = ["Health"]

_PATIENCE = 600.0
_AGAIN = 60.0
_LONGEST = 500
# Said in the log when it begins and when it is over, and in the message that it is over.
_KEYS = {
    "history": ("monitor.unavailable", "monitor.available", "monitor.healthy_again"),
    "progress": ("monitor.hangs", "monitor.goes_on", "monitor.goes_on_again"),
    "holder": ("monitor.holder_idle", "monitor.holder_back", "monitor.holder_back_again"),
}
Message = tuple[str, Note, list[Note]]
"""Event, title and body."""


@dataclass
class Health:
    """Since when the history cannot be used, or nothing goes on, and who has been told: each channel once, and once
    when it is over.

    These messages are of no incident in the history: they have the number 0 and the events `unhealthy` and `healthy`.
    """

    monitor: str
    channels: Sequence[Channel]
    language: Language
    log: Callable[[Note], None]
    clock: Clock
    patience: float | None = None
    """Seconds before anybody is told; None: 10 minutes, or the time between two checks where that is longer."""
    of: Literal["history", "progress", "holder"] = "history"
    """What is watched: the history, this monitor's own progress, or the one that holds the lease."""
    lost: int = 0
    """Checks that could not be kept."""
    trouble: str | Note | None = None
    """Why the history cannot be used, while it cannot; or what hangs."""
    _since: tuple[float, datetime.datetime] | None = None
    _due: bool = False
    _told: set[str] = field(default_factory=set)
    _owed: dict[str, Message] = field(default_factory=dict)
    _next_try: float = 0.0

    def patient_for(self, every: float) -> float:
        """Seconds before anybody is told."""
        return max(_PATIENCE, every) if self.patience is None else self.patience

    def began_before(self, moment: float) -> bool:
        """Whether there is trouble that began before a moment of the clock's time that passes."""
        return self._since is not None and self._since[0] < moment

    def unavailable(self, reason: str | Note, *, since: tuple[float, datetime.datetime] | None = None) -> None:
        """The history cannot be used, who has the lease is not known, or something hangs; the log says it once, not at
        every try."""
        if reason != self.trouble:
            self.log(Note(_KEYS[self.of][0], {"error": reason}))
        self.trouble = reason
        self._since = self._since or since or (self.clock.passed(), self.clock.now())

    def lose(self, reason: str) -> None:
        """A check is lost; that is told without waiting."""
        self.unavailable(reason)
        self.lost += 1

    def available(self) -> None:
        """The history can be used again. A channel that was not told that it could not is not told now."""
        if self._since is not None:
            _, available, again = _KEYS[self.of]
            self.log(Note(available))
            body = [Note(again, {"since": self._since[1]})]
            body += [Note("monitor.checks_lost", {"lost": self.lost})] if self.lost else []
            self._owed = dict.fromkeys(self._told, ("healthy", self._title("healthy"), body))
            self._next_try = 0.0
        self.trouble, self._since, self._told, self._due, self.lost = None, None, set(), False, 0

    def report(self, every: float) -> None:
        """Send what is to be said by now; what a channel does not take is tried again in a minute."""
        now = self.clock.passed()
        if self._since is not None and not self._due:
            self._due = bool(self.lost) or now - self._since[0] >= self.patient_for(every)
            if self._due:
                unhealthy = self._unhealthy(self._since[1])
                self._owed, self._next_try = {channel.name: unhealthy for channel in self.channels}, 0.0
        if not self._owed or now < self._next_try:
            return
        self._next_try = now + _AGAIN
        for channel in self.channels:
            if channel.name in self._owed:
                self._send(channel, *self._owed[channel.name])

    def _title(self, key: str) -> Note:
        return Note(f"monitor.{key}", {"monitor": self.monitor})

    def _unhealthy(self, since: datetime.datetime) -> Message:
        title = self._title("unhealthy_lost" if self.lost else f"unhealthy_{self.of}")
        reason = self.trouble if isinstance(self.trouble, Note) else masked(self.trouble or "")[:_LONGEST]
        why = Note("monitor.unhealthy_since", {"since": since, "reason": reason})
        return "unhealthy", title, [why, Note("monitor.unhealthy_meaning")]

    def _send(self, channel: Channel, event: str, title: Note, body: list[Note]) -> None:
        told, text = texts(title, body, self.language)
        reason = channel.send(told, text, incident=0, event=event)
        if reason is not None:
            failed = {"channel": channel.name, "title": told, "reason": reason}
            self.log(Note("monitor.undelivered_health", failed))
            return
        del self._owed[channel.name]
        if event == "unhealthy":
            self._told.add(channel.name)
