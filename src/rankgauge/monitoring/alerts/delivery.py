"""Alerts on their way: each is sent until its channel took it.

It is sent at least once: after a crash between sending and marking it is sent again, with the same incident's id in it.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rankgauge.history.incidents import FAILED, PENDING, claim, list_deliveries, mark
from rankgauge.history.monitored import Delivery
from rankgauge.history.store import History
from rankgauge.monitoring.alerts.channels import Channel
from rankgauge.monitoring.alerts.messages import texts
from rankgauge.words import Language, Note

__all__ = ["Delivered", "deliver_due", "pause_after"]

_FIRST: Final = datetime.timedelta(minutes=1)
_LONGEST: Final = datetime.timedelta(hours=1)
_PATIENCE: Final = datetime.timedelta(days=3)
_LEAST_TRIES: Final = 10
"""A monitor that was off for days has not tried for days: age alone is no reason to give up."""
_SLOW: Final = 4.0
"""Seconds. After a failure that took so long, the channel's other messages wait for the next round."""


@dataclass(frozen=True)
class Delivered:
    """What became of the deliveries of one round."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0
    waiting: int = 0
    """Not yet due, or left for the next round."""
    absent: int = 0
    """Kept for a channel that the plan no longer has."""
    outcomes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """How many messages of each (channel, outcome), where the outcome is sent, failed or given_up."""


def pause_after(attempts: int) -> datetime.timedelta:
    """The pause after so many failed tries: min(1 min * 2^(attempts - 1), 1 h)."""
    return min(_FIRST * (1 << min(max(attempts - 1, 0), 10)), _LONGEST)


def deliver_due(
    history: History,
    channels: Sequence[Channel],
    now: datetime.datetime,
    log: Callable[[Note], None] | None = None,
    *,
    monitor: str | None = None,
    language: Language = "en",
    at_once: bool = False,
) -> Delivered:
    """Send what is due, oldest first; with `monitor`, only the messages of that monitor's incidents. `at_once` also
    sends what failed and would be tried later; what ended nobody knows how keeps its pause.

    No transaction is open while a message is sent: a slow channel locks nothing.
    """
    told = log or (lambda note: None)
    return _Round(history, {channel.name: channel for channel in channels}, now, told, monitor, language, at_once).go()


@dataclass
class _Round:
    """One round over the messages that are not delivered."""

    history: History
    channels: Mapping[str, Channel]
    now: datetime.datetime
    log: Callable[[Note], None]
    monitor: str | None
    language: Language
    at_once: bool
    begun: float = field(default_factory=time.monotonic)
    slow: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def go(self) -> Delivered:
        found = list_deliveries(self.history, self.monitor, states=[*PENDING, *FAILED])
        by_event = {(row.incident_id, row.channel, row.event): row for row in found}
        pending = self._by_this_clock([row for row in found if row.state in PENDING])
        self._note_absent(pending)
        for row in pending:
            if row.channel not in self.channels:
                self.counts["absent"] += 1
                continue
            if row.event == "opened" and (row.incident_id, row.channel, "recovered") in by_event:
                continue  # the message that it is over tells what it was
            if not self._due(row) or row.channel in self.slow:
                self.counts["waiting"] += 1
                continue
            opened = by_event.get((row.incident_id, row.channel, "opened")) if row.event == "recovered" else None
            self._send(row, opened)
        return Delivered(outcomes=dict(self.outcomes), **self.counts)

    def _due(self, row: Delivery) -> bool:
        if self.at_once and row.state == "waiting":
            return True
        return row.next_try is not None and row.next_try <= self.now

    def _by_this_clock(self, pending: list[Delivery]) -> list[Delivery]:
        """A next try further away than any pause comes from a clock that was set back since: it is drawn near."""
        latest = self.now + _LONGEST
        astray = [row for row in pending if row.next_try is not None and row.next_try > latest]
        if astray:
            mark(self.history, astray, next_try=latest)
        return [replace(row, next_try=latest) if row in astray else row for row in pending]

    def _note_absent(self, pending: list[Delivery]) -> None:
        """Say once that a channel has disappeared: the rows remember that it was said."""
        gone = [row for row in pending if row.channel not in self.channels]
        known = {row.channel for row in gone if row.state == "absent"}
        new = [row for row in gone if row.state != "absent"]
        if new:
            mark(self.history, new, state="absent")
        for channel, count in Counter(row.channel for row in gone).items():
            if channel not in known:
                self.log(Note("monitor.channel_absent", {"channel": channel, "count": count}))

    def _send(self, row: Delivery, opened: Delivery | None) -> None:
        """Send one message; with a recovery, that it was open need not be told any more."""
        next_try, tries = self.now + pause_after(row.attempts + 1), row.attempts + 1
        if not claim(self.history, row, next_try):
            return  # another process has just taken it
        both = [row] if opened is None else [row, opened]
        title, body = texts(row.title, row.body, self.language)
        begun = time.monotonic()
        reason = self.channels[row.channel].send(title, body, incident=row.incident_id, event=row.event)
        taken = time.monotonic() - begun
        told: dict[str, Any] = {"channel": row.channel, "title": title, "tries": tries}
        if reason is None:
            delivered = self.now + datetime.timedelta(seconds=time.monotonic() - self.begun)
            mark(self.history, both, state="delivered", delivered=delivered, next_try=None, error=None)
            self._count("sent", row)
            if row.attempts:  # it was told that it had failed
                self.log(Note("monitor.alert_sent", told))
            return
        if taken >= _SLOW:
            self.slow.add(row.channel)
        told["reason"], age = reason, self.now - row.created
        if age >= _PATIENCE and tries >= _LEAST_TRIES:
            mark(self.history, both, state="given_up", next_try=None, error=reason)
            self._count("given_up", row)
            self.log(Note("monitor.alert_given_up", {**told, "days": age.days}))
        else:
            mark(self.history, [row], state="waiting", error=reason)
            self._count("failed", row)
            self.log(Note("monitor.alert_failed", {**told, "next_try": next_try}))

    def _count(self, outcome: str, row: Delivery) -> None:
        self.counts[outcome] += 1
        self.outcomes[row.channel, outcome] += 1
