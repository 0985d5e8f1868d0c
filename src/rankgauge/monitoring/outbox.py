"""Alerts on their way: each is kept with its incident in one transaction, and sent until its channel took it.

A delivery is in one of three states: waiting (`next_try` says until when), delivered (`delivered` says when), or given
up (neither). It is sent at least once: after a crash between sending and marking it is sent again, with the same
incident's id in it.
"""

from __future__ import annotations

import datetime
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rankgauge.history.schema import deliveries, incidents
from rankgauge.history.sql import insert_once, sa
from rankgauge.monitoring.channels import Channel

if TYPE_CHECKING:
    from rankgauge.history.store import History

__all__ = ["Delivered", "deliver_due", "enqueue", "pause_after"]

_FIRST: Final = datetime.timedelta(minutes=1)
_LONGEST: Final = datetime.timedelta(hours=1)
_PATIENCE: Final = datetime.timedelta(days=3)
_LEAST_TRIES: Final = 10
"""A monitor that was off for days has not tried for days: age alone is no reason to give up."""
_SLOW: Final = 4.0
"""Seconds. After a failure that took so long, the channel's other messages wait for the next round."""
_BEGUN = "sending began, and how it ended is not known"
_ABSENT = "the channel is not in the plan"
_WORDS = {
    "en": {
        "sent": "alert channel {channel}: {title!r} was delivered at last (try {tries})",
        "failed": "alert channel {channel}: {title!r} was not delivered (try {tries}): {reason}; next try {when}",
        "given_up": "alert channel {channel}: given up on {title!r} after {tries} tries in {days} days: {reason}",
        "absent": "alert channel {channel} is not in the plan; {count} of its messages are kept until it is back",
    },
    "zh": {
        "sent": "告警通道 {channel}：“{title}”终于送达（第 {tries} 次）",
        "failed": "告警通道 {channel}：“{title}”未能送达（第 {tries} 次）：{reason}；下次尝试 {when}",
        "given_up": "告警通道 {channel}：“{title}”在 {days} 天内尝试 {tries} 次仍未送达，已放弃：{reason}",
        "absent": "告警通道 {channel} 不在计划中；它的 {count} 条消息会保留，直到该通道恢复",
    },
}


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


def enqueue(
    connection: sa.Connection,
    incident_id: int,
    event: str,
    channels: Iterable[Channel | str],
    title: str,
    body: str,
    now: datetime.datetime,
) -> int:
    """Add a message for every channel, inside the caller's transaction; how many were new.

    There is one message of an incident, an event and a channel: what is there already stays as it is.
    """
    names = dict.fromkeys(channel if isinstance(channel, str) else channel.name for channel in channels)
    added = 0
    for name in names:
        row = {"incident_id": incident_id, "event": event, "channel": name, "title": title, "body": body}
        row |= {"created": now, "attempts": 0, "next_try": now}
        added += insert_once(connection, deliveries, row, ["incident_id", "event", "channel"]) is not None
    return added


def deliver_due(
    history: History,
    channels: Sequence[Channel],
    now: datetime.datetime,
    log: Callable[[str], None] | None = None,
    *,
    monitor: str | None = None,
    language: str = "en",
) -> Delivered:
    """Send what is due, oldest first; with `monitor`, only the messages of that monitor's incidents.

    No transaction is open while a message is sent: a slow channel locks nothing.
    """
    return _Round(history, channels, now, log or (lambda text: None), monitor, _WORDS[language]).go()


class _Round:
    """One pass over the messages that are not delivered."""

    def __init__(
        self,
        history: History,
        channels: Sequence[Channel],
        now: datetime.datetime,
        log: Callable[[str], None],
        monitor: str | None,
        words: Mapping[str, str],
    ) -> None:
        self.history, self.now, self.log, self.monitor, self.words = history, now, log, monitor, words
        self.channels = {channel.name: channel for channel in channels}
        self.begun = time.monotonic()
        self.slow: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.outcomes: Counter[tuple[str, str]] = Counter()

    def go(self) -> Delivered:
        pending = self._pending()
        self._mend_clock(pending)
        self._note_absent(pending)
        by_event = {(row.incident_id, row.channel, row.event): row for row in pending}
        for row in pending:
            if row.next_try is None:  # given up; it may still be told together with the recovery
                continue
            if row.channel not in self.channels:
                self.counts["absent"] += 1
                continue
            if row.event == "opened" and (row.incident_id, row.channel, "recovered") in by_event:
                continue  # the message that it is over tells what it was
            if row.next_try > self.now or row.channel in self.slow:
                self.counts["waiting"] += 1
                continue
            opened = by_event.get((row.incident_id, row.channel, "opened")) if row.event == "recovered" else None
            self._send(row, opened)
        return Delivered(outcomes=dict(self.outcomes), **self.counts)

    def _pending(self) -> list[Any]:
        query = (
            sa.select(deliveries)
            .where(deliveries.c.delivered.is_(None))
            .order_by(deliveries.c.created, deliveries.c.id)
        )
        if self.monitor is not None:
            query = query.join(incidents).where(incidents.c.monitor == self.monitor)
        with self.history.read() as connection:
            return list(connection.execute(query))

    def _mend_clock(self, pending: list[Any]) -> None:
        """A next try further away than any pause comes from a clock that was set back since: it is drawn near."""
        latest = self.now + _LONGEST
        astray = [row.id for row in pending if row.next_try is not None and row.next_try > latest]
        if astray:
            with self.history.begin() as connection:
                connection.execute(sa.update(deliveries).where(deliveries.c.id.in_(astray)).values(next_try=latest))

    def _note_absent(self, pending: list[Any]) -> None:
        """Say once that a channel has disappeared: the rows remember that it was said."""
        gone = [row for row in pending if row.next_try is not None and row.channel not in self.channels]
        new = [row for row in gone if row.error != _ABSENT]
        if not new:
            return
        with self.history.begin() as connection:
            ids = [row.id for row in new]
            connection.execute(sa.update(deliveries).where(deliveries.c.id.in_(ids)).values(error=_ABSENT))
        known = {row.channel for row in gone if row.error == _ABSENT}
        for channel, count in Counter(row.channel for row in gone).items():
            if channel not in known:
                self.log(self.words["absent"].format(channel=channel, count=count))

    def _send(self, row: Any, opened: Any) -> None:
        """Send one message; with a recovery, that it was open need not be told any more."""
        if not self._claim(row):
            return  # another process has just taken it
        ids, body = [row.id] if opened is None else [row.id, opened.id], row.body
        begun = time.monotonic()
        reason = self.channels[row.channel].send(row.title, body, incident=row.incident_id, event=row.event)
        taken = time.monotonic() - begun
        if reason is None:
            self._mark(ids, delivered=self._time(), next_try=None, error=None)
            self._count("sent", row)
            if row.attempts:  # it was told that it had failed
                self.log(self.words["sent"].format(channel=row.channel, title=row.title, tries=row.attempts + 1))
            return
        if taken >= _SLOW:
            self.slow.add(row.channel)
        tries, age = row.attempts + 1, self.now - row.created
        said = {"channel": row.channel, "title": row.title, "tries": tries, "reason": reason}
        if age >= _PATIENCE and tries >= _LEAST_TRIES:
            self._mark(ids, next_try=None, error=reason)
            self._count("given_up", row)
            self.log(self.words["given_up"].format(days=age.days, **said))
        else:
            self._mark([row.id], error=reason)
            self._count("failed", row)
            when = f"{self._next_try(row):%Y-%m-%d %H:%M:%S} UTC"
            self.log(self.words["failed"].format(when=when, **said))

    def _next_try(self, row: Any) -> datetime.datetime:
        after: datetime.datetime = self.now + pause_after(row.attempts + 1)
        return after.astimezone(datetime.UTC)

    def _claim(self, row: Any) -> bool:
        """Count the try before it is made: a crash in it cannot repeat it without pause, nor two processes make it."""
        with self.history.begin() as connection:
            done = connection.execute(
                sa.update(deliveries)
                .where(
                    deliveries.c.id == row.id,
                    deliveries.c.delivered.is_(None),
                    deliveries.c.attempts == row.attempts,
                )
                .values(attempts=row.attempts + 1, next_try=self._next_try(row), error=_BEGUN)
            )
            return bool(done.rowcount == 1)

    def _mark(self, ids: list[int], **values: Any) -> None:
        with self.history.begin() as connection:
            connection.execute(sa.update(deliveries).where(deliveries.c.id.in_(ids)).values(**values))

    def _time(self) -> datetime.datetime:
        """The time by the caller's clock, with what this round has taken so far."""
        return self.now + datetime.timedelta(seconds=time.monotonic() - self.begun)

    def _count(self, outcome: str, row: Any) -> None:
        self.counts[outcome] += 1
        self.outcomes[row.channel, outcome] += 1
