"""The monitor: looks on schedule, one process at a time, and a log that says what happened.

A look is asked and scored (`observing`), put down as a file, taken into the history in one transaction (`ingest`), and
its alerts are sent (`outbox`). Each step can be repeated after a failure of the next without anything counted twice.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.history.lease import Lease
from rankgauge.history.schema import looks
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.clock import Clock, Jumps
from rankgauge.monitoring.incidents import open_incidents
from rankgauge.monitoring.ingest import Taken, abandon, begin_look, take_in, taken_of
from rankgauge.monitoring.masking import masked, one_line
from rankgauge.monitoring.metrics import Metrics
from rankgauge.monitoring.observing import Observation, new_token, observe, pending, put_down
from rankgauge.monitoring.opening import file_of, open_history
from rankgauge.monitoring.outbox import deliver_due
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.reference import load_reference
from rankgauge.monitoring.sight import Sight
from rankgauge.monitoring.status import watches_of
from rankgauge.monitoring.telling import in_units, measure_look, measured, scores_of, tell_look
from rankgauge.monitoring.words import WORDS
from rankgauge.plans.running import Progress

__all__ = ["Clock", "Monitor"]

_RETRY = 5.0
_LONGEST_RETRY = 60.0


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
        write = self.log
        self.log = lambda text: write(one_line(masked(text)))
        self.lease = Lease(self.history, f"monitor {self.plan.name}")
        self._file = file_of(self.history.location)
        self._replaced = False
        self.sight = Sight(self.plan, self.say, self.clock)
        self.reference = load_reference(self.history, self.plan)
        self.stood_by = False
        """Whether `once` found another monitor at work."""
        self.looking = False
        self._trouble: str | None = None
        """Why the history takes nothing, while it does not."""
        self._tidied = False
        self._noted: set[Path] = set()
        self._jumps = Jumps(self.clock)
        self._plan_file = self._read_plan()
        self._took = 0.0
        """Seconds that the last look asked and scored."""
        self._slow = False

    def say(self, key: str, **values: Any) -> None:
        one = f"{key}_one" if values.get("count") == 1 else key
        self.log(self.words.get(one, self.words[key]).format(**values))

    def once(self) -> Taken | None:
        """One look, stored and told. None where another monitor holds the lease, or the history could not take it."""
        if not self.lease.acquire():
            self.stood_by = True
            self.say("held", name=self.plan.name)
            return None
        try:
            self._tidy()
            taken = self.look()
            if self._trouble is None:
                self.deliver()
            return taken
        finally:
            self.lease.release()

    def forever(self, every: float) -> None:
        """Look, wait, look again. What fails is logged and tried again; only `stop` ends it."""
        standing_by = False
        due = self.clock.passed()
        self._jumps.begin()
        while not self.stop.is_set():
            self._note_plan()
            stood_by = standing_by
            held, standing_by = self._hold(standing_by)
            self._tidied = self._tidied and held
            if held and not self._tidied:
                self._safely(self._tidy)
            due -= self._asleep()
            if standing_by or stood_by:  # the other one looked until now: nothing was missed
                due = self.clock.passed()
            if held and self.clock.passed() >= due:
                due = self._look_late(due, every)
            if held:
                self._safely(self._store_pending)
                if self._trouble is None:
                    self._safely(self.deliver)
            self._safely(lambda: self.sight.tell(every))
            pause = min(_RETRY, every)
            if held:
                least = _RETRY if self._trouble is not None else _LONGEST_RETRY
                pause = min(max(due - self.clock.passed(), 0.0), least)
            if self.clock.wait(self.stop, pause):
                break
        self.lease.release()

    def _look_late(self, due: float, every: float) -> float:
        """The look that is due, and one alone however many were missed; when the next one is due."""
        start = self.clock.passed()
        idle = start - due - self._took  # a look that takes long has missed nothing
        if idle >= every:
            self.say("missed", count=math.floor(idle / every))
        self.looking, self._took = True, 0.0
        if not self._safely(self.look):
            self._tidied = False  # it may have left a look that never ended
        self.looking = False
        if self._took > every and not self._slow:
            self.say("slow", took=in_units(self._took), every=in_units(every))
        self._slow = self._took > every
        return max(due + every * math.ceil((start - due + 1e-9) / every), start)

    def look(self) -> Taken | None:
        """One look; None where the history could not take it yet."""
        token, since, stream = new_token(), 0, self.plan.watching.stream
        # Looks count in the order in which they were made, so what waits goes first.
        ready = self._store_pending()
        if ready is not None:
            try:
                with self._alone():
                    begin_look(self.history, self.plan.name, token, self.clock.now())
                    since = taken_of(self.history, self.plan.name) if stream else 0
            except RankgaugeError as error:
                self._troubled(error)
                ready = None
        if ready is None and stream:  # which queries are new is not known
            return None
        begun = self.clock.passed()
        seen = observe(self.plan, token, self.clock.now, taken=since, progress=self.progress)
        self._took = self.clock.passed() - begun
        return self._keep(seen)

    def _keep(self, seen: Observation) -> Taken | None:
        """Put the observation down, then take it in; a failure of either leaves the other."""
        try:
            path = put_down(seen, self.plan.pending)
        except (RankgaugeError, OSError) as error:
            return self._without_file(seen, error)
        taken = (self._store_pending(seen.token) or {}).get(seen.token)
        if taken is None:
            self.say("kept", path=path)
        return taken

    def _without_file(self, seen: Observation, problem: Exception) -> Taken | None:
        try:
            return self._take_in(seen)
        except RankgaugeError as error:
            figures = ", ".join(scores_of(seen.record)) or self.words["no_score"]
            why = problem if isinstance(problem, OSError) else problem.__context__
            self.say("lost", error=getattr(why, "strerror", None) or problem, figures=figures)
            self._troubled(error)
            self.sight.lose(str(error))
            self._tidied = False
            return None

    def _take_in(self, seen: Observation) -> Taken:
        with self._alone():
            self._reopen()
            if not self.lease.acquire():  # as after a server's restart; whoever has it now is taking looks in
                raise DataError(self.words["lease"].format(name=self.plan.name))
            taken = take_in(self.history, self.plan, seen, self.clock.now(), self.reference)
        self._well()
        if not taken.already:
            tell_look(self.say, seen, taken, self.language)
            metrics = self.metrics
            if metrics is not None and taken.status != "abandoned":
                self._safely(lambda: measure_look(metrics, seen, taken, open_incidents(self.history, self.plan.name)))
        return taken

    def _store_pending(self, newest: str = "") -> dict[str, Taken] | None:
        """Take in what waits, oldest first, by its token; None where something has to wait on."""
        waiting = pending(self.plan.pending, self.plan.name)
        for path in waiting.damaged:
            self.say("damaged", path=path)
        for path in {*waiting.later} - self._noted:
            self._noted.add(path)
            self.say("later", path=path)
        done: dict[str, Taken] = {}
        for path, seen in waiting.looks:
            try:
                done[seen.token] = self._take_in(seen)
            except RankgaugeError as error:
                self._troubled(error)
                return None
            path.unlink(missing_ok=True)
        late = len(done.keys() - {newest})
        if late:
            self.say("late", count=late)
        return done

    def _tidy(self) -> None:
        """After a start: take in what waits, and mark what was broken off."""
        if self._store_pending() is None:
            return
        try:
            broken_off = abandon(self.history, self.plan.name)
        except RankgaugeError as error:
            self._troubled(error)
            return
        self._tidied = True
        for number, started in broken_off:
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
        self.metrics.begin(
            self.plan.name,
            names,
            last_look=last,
            last_valid_look=valid or self.clock.now(),  # so that a monitor that never gets a score is found
            open_incidents=open_incidents(self.history, self.plan.name),
        )
        metrics = self.metrics
        self._safely(lambda: metrics.figures(self.plan.name, **measured(watches_of(self.history, self.plan))))

    def _hold(self, standing_by: bool) -> tuple[bool, bool]:
        """Whether this process has the lease, and whether it stands by for another one."""
        try:
            self._reopen()
            if self.lease.held():
                return True, False
            granted = self.lease.acquire()
        except RankgaugeError as error:
            self._troubled(error)
            return False, standing_by
        self._well()
        if granted:
            if standing_by:
                self.say("took", name=self.plan.name)
            return True, False
        if not standing_by:
            self.say("standby", name=self.plan.name)
        return False, True

    def _troubled(self, error: Exception) -> None:
        """The history takes nothing: that is said once, not at every try."""
        if str(error) != self._trouble:
            self.say("unstored", error=error)
        self._trouble = str(error)
        self.sight.gone(self._trouble)

    def _well(self) -> None:
        if self._trouble is not None:
            self._trouble = None
            self.say("back")
            self.sight.back()

    def _reopen(self) -> None:
        """Open the history anew where its file is gone, or another one: what is written to a removed file is lost."""
        place = self.history.location
        if self._file is None or file_of(place) == self._file:
            return
        if not self._replaced:
            self.say("replaced", place=place)
            self._replaced = True
        self.history.close()
        self.lease.release()
        self.history = open_history(self.plan, place)
        self.lease = Lease(self.history, f"monitor {self.plan.name}")
        self._file, self._replaced, self._tidied = file_of(place), False, False

    def _read_plan(self) -> str | None:
        try:
            return hashlib.sha256(self.plan.run.path.read_bytes()).hexdigest()
        except OSError:
            return None

    def _note_plan(self) -> None:
        """Say once that the plan's file is another one by now; this start keeps to the one it has read."""
        now = self._read_plan()
        if now is not None and now != self._plan_file:
            self._plan_file = now
            self.say("changed", path=self.plan.run.path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A number that is taken means that another monitor has the lease by now."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise DataError(self.words["lease"].format(name=self.plan.name)) from None

    def _safely(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except RankgaugeError as error:
            self.say("broken", error=error)
        except Exception as error:  # a monitor that has ended tells nothing
            self.say("broken", error=f"{type(error).__name__}: {error}")
        else:
            return True
        return False

    def _asleep(self) -> float:
        """Seconds that the clock went on and this process did not: the machine slept. A clock set back is only told."""
        jump = self._jumps.seconds()
        if jump:
            self.say("set_back" if jump < 0 else "set_on", seconds=abs(jump))
        return max(jump, 0.0)
