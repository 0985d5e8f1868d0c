"""The monitor: checks on schedule, one process at a time, and a log that says what happened.

In a check the retrievers are called and scored (`observing`), the result is spooled as a file (`spool`) and ingested
into the history in one transaction (`ingest`), and its alerts are sent (`alerts.delivery`). Each step can be repeated
after a failure of the next without anything counted twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats import Source
from rankgauge.history.checks import abandon_checks, begin_check
from rankgauge.history.faults import LeaseLostError
from rankgauge.history.lease import Lease
from rankgauge.history.location import file_identity
from rankgauge.history.store import History
from rankgauge.monitoring.alerts.delivery import deliver_due
from rankgauge.monitoring.loop.describe import describe, scores_of
from rankgauge.monitoring.loop.health import Health
from rankgauge.monitoring.loop.holding import Holding
from rankgauge.monitoring.loop.ingest import Ingested, ingest
from rankgauge.monitoring.loop.log import LogFormat, log_line
from rankgauge.monitoring.loop.measured import begin, begin_figures, tell_check
from rankgauge.monitoring.loop.memory import queries_taken
from rankgauge.monitoring.loop.metrics import Metrics
from rankgauge.monitoring.loop.observing import Observation, new_token, observe
from rankgauge.monitoring.loop.open_incidents import OpenIncidents
from rankgauge.monitoring.loop.opening import open_history
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.monitoring.loop.reference import load_reference
from rankgauge.monitoring.loop.schedule import Clock, Schedule
from rankgauge.monitoring.loop.spool import spool, spooled
from rankgauge.monitoring.loop.standby import Standby
from rankgauge.monitoring.loop.watchdog import Watchdog
from rankgauge.plans.running import Progress
from rankgauge.words import Language, Note

__all__ = ["Clock", "Monitor"]

_RETRY = 5.0
_SHARE = 8
"""A locked file is waited for no longer than this part of the time between checks: the spool can wait."""
_LONGEST_RETRY = 60.0


@named_arguments
@dataclass
class Monitor:
    """Watches the systems of a plan. `once` checks once, `forever` on schedule until `stop` is set."""

    plan: MonitorPlan
    history: History
    log: Callable[[str], None]
    language: Language = "en"
    """Of the log; that of the alerts is the plan's."""
    log_format: LogFormat = "text"
    """Of what `log` is given: a sentence, or a JSON object with its time."""
    clock: Clock = field(default_factory=Clock)
    metrics: Metrics | None = None
    progress: Progress | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        if not isinstance(self.plan, MonitorPlan) or not isinstance(self.history, History):
            raise DataError("Monitor() takes what load_monitor_plan(path) and History.open(place) give")
        self._every: float | None = None
        self._use(self.history)
        self._replaced = False
        health = (self.plan.name, self.plan.channels, self.plan.language, self.note, self.clock)
        self.health = Health(*health, patience=self.plan.unhealthy_after)
        self.holding = Holding(self.plan.name, self.health, self.say)
        progress = Health(*health, patience=self.plan.unhealthy_after, of="progress")
        self.watchdog = Watchdog(progress, beside=self.health)
        holder = Health(*health, patience=self.plan.unhealthy_after, of="holder")
        self.standby = Standby(self.plan.name, holder)
        self.reference = load_reference(self.history, self.plan)
        self.open_incidents = OpenIncidents.of(self.plan, self.history.location)
        self.stood_by = False
        """Whether `once` found another monitor at work."""
        self.checking = False
        self._tidied = self._retried = False
        self._noted: set[Path] = set()
        self._plan_file = self.plan.run.sha256
        self._took = 0.0
        """Seconds that the last check called and scored."""

    def _use(self, history: History) -> None:
        """Write to this history, as long as the lease on it is held."""
        self.lease = Lease(history, f"monitor {self.plan.name}", seconds=self.plan.lease)
        self.history = history.fenced(self.lease.fence)
        self._brisk = self.history if self._every is None else self.history.waiting(self._every / _SHARE)
        self._file = file_identity(history.location.path)

    def note(self, note: Note) -> None:
        self.log(log_line(note, self.language, self.log_format, self.clock.now()))

    def say(self, key: str, **parameters: Any) -> None:
        self.note(Note(f"monitor.{key}", parameters))

    def once(self) -> Ingested | None:
        """One check, stored and told. None where another monitor holds the lease, or the history could not take it."""
        if not self.lease.acquire():
            self.stood_by = True
            self.say("held", name=self.plan.name)
            return None
        try:
            self._tidy()
            self._safely(self.retry_alerts)
            done = self.check()
            if self.health.trouble is None:
                self.deliver()
            return done
        finally:
            self.lease.release()

    def forever(self, every: float) -> None:
        """Check, wait, check again. What fails is logged and tried again; only `stop` ends it."""
        self.watchdog.every = self._every = every
        self._brisk = self.history.waiting(every / _SHARE)
        with self.watchdog:
            self._go_on(every)
            self.lease.release()

    def _go_on(self, every: float) -> None:
        schedule = Schedule(self.clock, every)
        while not self.stop.is_set():
            self.watchdog.at("history")
            self._note_plan()
            stood_by = self.holding.standing_by
            held = self.holding.ask(self._acquire)
            self._tidied = self._tidied and held
            if held and not self._tidied:
                self._safely(self._tidy)
            if held and not self._retried and self.health.trouble is None:
                self._retried = self._safely(self.retry_alerts)
            jump = schedule.follow_clock()
            if jump:
                self.say("clock_back" if jump < 0 else "clock_forward", seconds=abs(jump))
            if self.holding.standing_by or stood_by:  # the other one checked until now: nothing was missed
                schedule.restart()
            if held and schedule.wait() <= 0:
                self._check_on(schedule)
            if held:
                self._safely(self._ingest_spooled)
                if self.health.trouble is None:
                    self._safely(self.deliver)
            self.watchdog.at("alerts")
            self._safely(lambda: self.health.report(every))
            if self.health.trouble is None:
                self._safely(lambda: self.standby.look(self.history, every, standing_by=self.holding.standing_by))
            pause = min(_RETRY, every)
            if held:
                pause = min(schedule.wait(), _LONGEST_RETRY if self.health.trouble is None else _RETRY)
            self.watchdog.rest()
            if self.clock.wait(self.stop, pause):
                break
        self.watchdog.at("history")

    def _check_on(self, schedule: Schedule) -> None:
        """The check that is due, and one alone however many were missed."""
        missed = schedule.begin_check()
        if missed:
            self.say("missed", count=missed)
        self.checking, self._took = True, 0.0
        if not self._safely(self.check):
            self._tidied = False  # it may have left a check that never ended
        self.checking = False
        if schedule.end_check(self._took):
            self.say("slow", took=self._took, every=schedule.every)

    def check(self) -> Ingested | None:
        """One check; None where the history could not ingest it yet."""
        token, since, stream = new_token(), 0, self.plan.watching.stream
        # Checks count in the order in which they were made, so what waits goes first.
        ready = self._ingest_spooled()
        if ready is not None:
            try:
                begin_check(self._brisk, self.plan.name, token, self.clock.now())
                since = queries_taken(self.history, self.plan.name) if stream else 0
            except RankgaugeError as error:
                self.holding.failed(error)
                ready = None
        if ready is None and stream:  # which queries are new is not known
            return None
        begun = self.clock.passed()
        self.watchdog.at("calls")
        seen = observe(self.plan, token, self.clock.now, taken=since, progress=self._progressed)
        self._took = self.clock.passed() - begun
        self.watchdog.at("history")
        return self._keep(seen)

    def _progressed(self, system: str, done: int, total: int) -> None:
        self.watchdog.at("calls")
        if self.progress is not None:
            self.progress(system, done, total)

    def _keep(self, seen: Observation) -> Ingested | None:
        """Spool the observation, then ingest it; a failure of either leaves the other."""
        try:
            path = spool(seen, self.plan.spool)
        except (RankgaugeError, OSError) as error:
            return self._without_file(seen, error)
        done = (self._ingest_spooled(seen.token) or {}).get(seen.token)
        if done is None:
            self.say("spooled", path=self.plan.run.shown(path))
        return done

    def _without_file(self, seen: Observation, problem: Exception) -> Ingested | None:
        try:
            return self._ingest(seen)
        except RankgaugeError as error:
            why = problem if isinstance(problem, OSError) else problem.__context__
            said = getattr(why, "strerror", None) or str(problem)
            self.say("lost", error=said, figures=scores_of(seen.record))
            self.health.lose(str(error))
            self._tidied = False
            return None

    def _ingest(self, seen: Observation) -> Ingested:
        if not self._acquire():  # as after a server's restart; whoever has it now is ingesting checks
            raise LeaseLostError(f"the lease on {self.plan.name!r} was lost; another monitor has it")
        known = self.open_incidents.known()
        done = ingest(self._brisk, self.plan, seen, self.clock.now(), self.reference, known)
        self.health.available()
        if done.open is not None:
            self._safely(partial(self.open_incidents.keep, done.open))
        if not done.already:
            for note in describe(seen, done):
                self.note(note)
            if self.metrics is not None and done.status != "abandoned":
                self._safely(partial(tell_check, self.metrics, self.history, seen, done))
        return done

    def _ingest_spooled(self, newest: str = "") -> dict[str, Ingested] | None:
        """Ingest what waits, oldest first, by its token; None where something has to wait on."""
        found = spooled(self.plan.spool, self.plan.name)
        for path in found.damaged:
            self.say("damaged", path=path)
        for path in {*found.later} - self._noted:
            self._noted.add(path)
            self.say("later_release", path=path)
        done: dict[str, Ingested] = {}
        for path, seen in found.waiting:
            try:
                done[seen.token] = self._ingest(seen)
            except RankgaugeError as error:
                self.holding.failed(error)
                return None
            path.unlink(missing_ok=True)
        late = len(done.keys() - {newest})
        if late:
            self.say("late", count=late)
        return done

    def _tidy(self) -> None:
        """After a start: ingest what waits, and mark what was broken off."""
        if self._ingest_spooled() is None:
            return
        try:
            broken_off = abandon_checks(self._brisk, self.plan.name)
        except RankgaugeError as error:
            self.holding.failed(error)
            return
        self._tidied = True
        for check in broken_off:
            self.say("abandoned", number=check.number, started=check.started)

    def deliver(self, *, at_once: bool = False) -> None:
        """Send the alerts that are due; `at_once` also those that failed and would be tried later."""
        self.watchdog.at("alerts")
        done = deliver_due(
            self.history,
            self.plan.channels,
            self.clock.now(),
            self.note,
            monitor=self.plan.name,
            language=self.plan.language,
            at_once=at_once,
        )
        if self.metrics is not None:
            self.metrics.alerts(done.outcomes)

    def retry_alerts(self) -> None:
        """After a start: what an earlier one could not deliver is tried before anything is asked. The one that knew
        when to try again may have ended."""
        self.deliver(at_once=True)

    def begin_metrics(self) -> None:
        """Let the metrics begin where earlier starts ended."""
        assert self.metrics is not None
        metrics = self.metrics
        begin(metrics, self.history, self.plan, self.clock.now())
        self._safely(lambda: begin_figures(metrics, self.history, self.plan))

    def _acquire(self) -> bool:
        self._reopen()
        return self.lease.acquire()

    def _reopen(self) -> None:
        """Open the history anew where its file is gone, or another one: what is written to a removed file is lost."""
        place = self.history.location
        if self._file is None or file_identity(place.path) == self._file:
            return
        if not self._replaced:
            self.say("replaced", place=str(place))
            self._replaced = True
        self.history.close()
        self.lease.release()
        self._use(open_history(self.plan, place))
        self._replaced = self._tidied = False

    def _note_plan(self) -> None:
        """Say once that the plan's file is another one by now; this start keeps to the one it has read."""
        try:
            now = Source(self.plan.run.path).sha256()
        except RankgaugeError:  # it is not there right now
            return
        if now != self._plan_file:
            self._plan_file = now
            self.say("plan_changed", path=self.plan.run.given)

    def _safely(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except RankgaugeError as error:
            self.say("failed_step", error=str(error))
        except Exception as error:  # a monitor that has ended reports nothing
            self.say("failed_step", error=f"{type(error).__name__}: {error}")
        else:
            return True
        return False
