"""A monitor that cannot see says so: straight over its channels, because the history that alerts go through is away."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from rankgauge.monitoring.channels import Channel
from rankgauge.monitoring.clock import Clock
from rankgauge.monitoring.masking import masked, one_line
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.words import SIGHT

__all__ = ["Sight"]

_PATIENCE = 600.0
"""Seconds that a history may be away before anybody is told; the time between two looks, where that is longer."""
_AGAIN = 60.0
_LONGEST = 500


class Sight:
    """Since when nothing can be seen, and who has been told: each channel once, and once when it is over.

    These messages are of no incident in the history: they have the number 0 and the events `blind` and `sees`.
    """

    def __init__(self, plan: MonitorPlan, say: Callable[..., None], clock: Clock) -> None:
        self.plan, self.say, self.clock = plan, say, clock
        self.words = SIGHT[plan.language]
        self.lost = 0
        """Looks that could not be kept."""
        self._since: tuple[float, datetime.datetime] | None = None
        self._reason = ""
        self._due = False
        self._told: set[str] = set()
        self._owed: dict[str, tuple[str, str, str]] = {}
        self._next_try = 0.0

    def gone(self, reason: str) -> None:
        """The history cannot be used, or who has the lease is not known."""
        self._reason = one_line(masked(reason))[:_LONGEST]
        self._since = self._since or (self.clock.passed(), self.clock.now())

    def lose(self, reason: str) -> None:
        """A look is lost; that is told without waiting."""
        self.gone(reason)
        self.lost += 1

    def back(self) -> None:
        """It can be seen again. Who was not told that it could not is not told now."""
        if self._since is not None:
            values = {"since": _moment(self._since[1]), "lost": self.lost}
            body = self.words["again"].format(**values) + (self.words["losses"].format(**values) if self.lost else "")
            self._owed = dict.fromkeys(self._told, ("sees", self.words["sees"], body))
            self._next_try = 0.0
        self._since, self._told, self._due, self.lost = None, set(), False, 0

    def tell(self, every: float) -> None:
        """Send what is to be said by now; what a channel does not take is tried again in a minute."""
        now = self.clock.passed()
        if self._since is not None and not self._due:
            self._due = bool(self.lost) or now - self._since[0] >= max(_PATIENCE, every)
            if self._due:
                self._owed, self._next_try = self._blind(self._since[1]), 0.0
        if not self._owed or now < self._next_try:
            return
        self._next_try = now + _AGAIN
        for channel in self.plan.channels:
            if channel.name in self._owed:
                self._send(channel, *self._owed[channel.name])

    def _blind(self, since: datetime.datetime) -> dict[str, tuple[str, str, str]]:
        why = self.words["lost" if self.lost else "away"]
        body = self.words["since"].format(since=_moment(since), reason=self._reason)
        message = ("blind", self.words["blind"].format(why=why), body)
        return {channel.name: message for channel in self.plan.channels}

    def _send(self, channel: Channel, event: str, title: str, body: str) -> None:
        reason = channel.send(f"[rankgauge] {self.plan.name}: {title}", body, incident=0, event=event)
        if reason is not None:
            self.say("untold", channel=channel.name, title=title, reason=reason)
            return
        del self._owed[channel.name]
        if event == "blind":
            self._told.add(channel.name)


def _moment(moment: datetime.datetime) -> str:
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
