"""The monitor: looks on schedule, one process at a time, and a log that says what happened.

A look is asked and scored (`observing`), put down as a file, taken into the history in one transaction (`ingest`), and
its alerts are sent (`outbox`). Each step can be repeated after a failure of the next without anything counted twice.
"""

from __future__ import annotations

import datetime
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.experiments.running import Progress
from rankgauge.history.lease import Lease
from rankgauge.history.schema import incidents, looks
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.ingest import Taken, abandon, begin_look, take_in, taken_of
from rankgauge.monitoring.metrics import Metrics
from rankgauge.monitoring.observing import Observation, new_token, observe, pending, put_down
from rankgauge.monitoring.outbox import deliver_due
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.words import WORDS

__all__ = ["Clock", "Monitor", "open_incidents"]

_RETRY = 5.0
_LONGEST_RETRY = 60.0
_JUMP = 30.0
"""Seconds by which the clock may differ from the time that passed before it is worth a line in the log."""


class Clock:
    """Time as the monitor sees it: the clock on the wall, and the time that passes."""

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC)

    def passed(self) -> float:
        return time.monotonic()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait; True when it is time to stop."""
        return stop.wait(seconds)


@dataclass
class Monitor:
    """Watches the systems of a plan. `once` looks once, `forever` on schedule until `stop` is set."""

    plan: MonitorPlan
    history: History
    log: Callable[[str], None]
    language: str = "en"
    clock: Clock = field(default_factory=Clock)
    metrics: Metrics | None = None
    progress: Progress | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.words = WORDS[self.language]
        self.lease = Lease(self.history, f"monitor {self.plan.name}")
        self.stood_by = False
        """Whether `once` found another monitor at work."""
        self._away = False
        self._seen = self.clock.now(), self.clock.passed()

    def say(self, key: str, **values: Any) -> None:
        self.log(self.words[key].format(**values))

    def once(self) -> Taken | None:
        """One look, stored and told. None where another monitor holds the lease."""
        if not self.lease.acquire():
            self.stood_by = True
            self.say("held", name=self.plan.name)
            return None
        try:
            self._tidy()
            taken = self.look()
            self.deliver()
            return taken
        finally:
            self.lease.release()

    def forever(self, every: float) -> None:
        """Look, wait, look again. What fails is logged and tried again; only `stop` ends it."""
        tidy = False
        standing_by = False
        due = self.clock.passed()
        self._seen = self.clock.now(), self.clock.passed()
        while not self.stop.is_set():
            held, standing_by = self._hold(standing_by)
            tidy = tidy and held
            if held and not tidy:
                tidy = self._safely(self._tidy)
            due -= self._asleep()
            if held and self.clock.passed() >= due:
                late = self.clock.passed() - due
                if late >= every:
                    self.say("missed", count=math.floor(late / every))
                start = self.clock.passed()
                self._safely(self.look)
                due = max(due + every * math.ceil((start - due + 1e-9) / every), start)
            if held:
                self._safely(self._store_pending)
                self._safely(self.deliver)
            pause = _RETRY if not held or self._away else min(max(due - self.clock.passed(), 0.0), _LONGEST_RETRY)
            if self.clock.wait(self.stop, pause):
                break
        self.lease.release()

    def look(self) -> Taken | None:
        """One look; None where the history could not take it yet."""
        token = new_token()
        taken = 0
        try:
            begin_look(self.history, self.plan.name, token, self.clock.now())
            taken = taken_of(self.history, self.plan.name) if self.plan.watching.stream else 0
        except RankgaugeError as error:
            if self.plan.watching.stream:  # which queries are new is not known
                raise
            self.say("unstored", error=error, seconds=_RETRY)
        seen = observe(self.plan, token, self.clock.now, taken=taken, progress=self.progress)
        return self._keep(seen)

    def _keep(self, seen: Observation) -> Taken | None:
        """Put the observation down, then take it in; a failure of either leaves the other."""
        path = None
        try:
            path = put_down(seen, self.plan.pending)
        except (RankgaugeError, OSError) as error:
            problem: Exception = error
        try:
            taken = self._take_in(seen)
        except RankgaugeError as error:
            self._away = True
            if path is None:
                self.say("lost", error=f"{problem}; {error}")
            else:
                self.say("kept", error=error, path=path)
            return None
        if path is not None:
            path.unlink(missing_ok=True)
        return taken

    def _take_in(self, seen: Observation) -> Taken:
        try:
            taken = take_in(self.history, self.plan, seen, self.clock.now())
        except sa.exc.IntegrityError:  # another monitor took the number: it has the lease by now
            self.say("lease", name=self.plan.name)
            taken = take_in(self.history, self.plan, seen, self.clock.now())
        if self._away:
            self._away = False
            self.say("back")
        if not taken.already:
            self._report(seen, taken)
        return taken

    def _store_pending(self) -> None:
        """Take in what could not be taken in before."""
        waiting = pending(self.plan.pending, self.plan.name)
        if not waiting:
            return
        for number, (path, seen) in enumerate(waiting):
            try:
                self._take_in(seen)
            except RankgaugeError as error:
                self._away = True
                if number == 0:
                    self.say("unstored", error=error, seconds=_RETRY)
                return
            path.unlink(missing_ok=True)

    def _tidy(self) -> None:
        """After a start: take in what waits, and mark what was broken off."""
        waiting = pending(self.plan.pending, self.plan.name)
        if waiting:
            self.say("waiting", count=len(waiting))
            self._store_pending()
        left = [seen.token for _, seen in pending(self.plan.pending, self.plan.name)]
        for number, started in abandon(self.history, self.plan.name, left):
            self.say("abandoned", number=number, started=f"{started:%Y-%m-%d %H:%M:%S} UTC")

    def deliver(self) -> None:
        """Send the alerts that are due."""
        done = deliver_due(
            self.history,
            self.plan.channels,
            self.clock.now(),
            self.log,
            monitor=self.plan.name,
            language=self.language,
        )
        if self.metrics is not None:
            self.metrics.alerts(done.outcomes)

    def begin_metrics(self) -> None:
        """Let the metrics begin where earlier starts ended."""
        assert self.metrics is not None
        ended = sa.func.max(looks.c.finished)
        mine = looks.c.monitor == self.plan.name
        with self.history.read() as connection:
            last = connection.execute(sa.select(ended).where(mine)).scalar()
            valid = connection.execute(sa.select(ended).where(mine, looks.c.status == "done")).scalar()
        names = [channel.name for channel in self.plan.channels]
        self.metrics.begin(self.plan.name, names, last_look=last, last_valid_look=valid)

    def _hold(self, standing_by: bool) -> tuple[bool, bool]:
        """Whether this process has the lease, and whether it stands by for another one."""
        try:
            if self.lease.held():
                return True, False
            if self.lease.acquire():
                if standing_by:
                    self.say("took", name=self.plan.name)
                return True, False
        except RankgaugeError as error:
            if not self._away:
                self.say("unstored", error=error, seconds=_RETRY)
            self._away = True
            return False, standing_by
        if not standing_by:
            self.say("standby", name=self.plan.name)
        return False, True

    def _safely(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except RankgaugeError as error:
            self.say("broken", error=error)
            return False
        return True

    def _asleep(self) -> float:
        """Seconds that the clock went on and this process did not: the machine slept. A clock set back is only told."""
        before, self._seen = self._seen, (self.clock.now(), self.clock.passed())
        jump = (self._seen[0] - before[0]).total_seconds() - (self._seen[1] - before[1])
        if abs(jump) <= _JUMP:
            return 0.0
        self.say("set_back" if jump < 0 else "set_on", seconds=abs(jump))
        return max(jump, 0.0)

    def _report(self, seen: Observation, taken: Taken) -> None:
        """The look in the log, and in the metrics."""
        figures = [
            f"{key} {last['value']:.4f}"
            for watch in taken.watches.values()
            for key, last in watch.last.items()
            if not key.endswith(("]", " errors", " p95"))
        ]
        for system in taken.anew:
            self.say("anew", system=system, number=taken.number)
        if taken.status == "invalid":
            self.say("invalid", number=taken.number, reason="; ".join(seen.invalid.values()))
        elif seen.record is None:
            self.say("nothing", number=taken.number)
        else:
            self.say("done", number=taken.number, figures=", ".join(figures))
            for system, reason in seen.invalid.items():
                self.say("partly", number=taken.number, system=system, reason=reason)
        for title in taken.opened:
            self.say("opened", title=title)
        for title in taken.closed:
            self.say("closed", title=title)
        if self.metrics is not None:
            self._measure(self.metrics, seen, taken)

    def _measure(self, metrics: Metrics, seen: Observation, taken: Taken) -> None:
        scores, references, evidence, failed = {}, {}, {}, {}
        latency: dict[tuple[str, str | float], float | None] = {}
        for name, watch in taken.watches.items():
            for key, last in watch.last.items():
                figure = key.removeprefix(f"{name} ")
                if figure == "errors":
                    failed[name] = round(last["value"] * last["queries"])
                elif figure == "p95":
                    latency[name, "0.95"] = last["value"]
                else:
                    measure, _, tag = figure.partition(" [")
                    where = (name, measure, tag.removesuffix("]"))
                    scores[where], references[where] = last["value"], last["reference"]
                    detector = watch.series[key].detector
                    evidence[where] = None if detector is None else detector.evidence / math.log(10)
        metrics.look(
            self.plan.name,
            status=taken.status,
            finished=datetime.datetime.fromisoformat(seen.finished),
            scores=scores,
            references=references,
            log10_evidence=evidence,
            latency=latency,
            failed=failed,
            open_incidents=open_incidents(self.history, self.plan.name),
        )


def open_incidents(history: History, monitor: str) -> dict[str, int]:
    """How many incidents of each kind are open."""
    count = sa.func.count()
    wanted = sa.select(incidents.c.kind, count).where(incidents.c.monitor == monitor, incidents.c.closed_at.is_(None))
    with history.read() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(wanted.group_by(incidents.c.kind))}
