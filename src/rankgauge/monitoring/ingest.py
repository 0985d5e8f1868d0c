"""Taking in a look: record, watches, incidents and alerts in one transaction; it counts wholly or not at all."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.errors import DataError
from rankgauge.experiments.identity import identity_of
from rankgauge.history.schema import incidents, looks, watches
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.drift import Drift, drift_between
from rankgauge.monitoring.messages import message
from rankgauge.monitoring.observing import Observation
from rankgauge.monitoring.outbox import enqueue
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.watching import Event, SystemWatch, figures_of

__all__ = ["Taken", "abandon", "begin_look", "relearn", "take_in", "taken_of"]

_GROUPS = {"quality": ("quality", "slice"), "latency": ("latency",), "errors": ("errors",), "threshold": ("threshold",)}
"""Series that are told in one incident: a fall shows in many measures and slices at once."""
_COMMON = "*"
"""The row of `watches` for what is not of one system."""
_LISTED = 50


@dataclass(frozen=True)
class Taken:
    """What a look came to."""

    number: int
    status: str
    already: bool = False
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    anew: list[str] = field(default_factory=list)
    """Systems that are learned anew, because the test set or the contract is another one."""
    watches: dict[str, SystemWatch] = field(default_factory=dict)


def begin_look(history: History, monitor: str, token: str, started: datetime.datetime) -> int:
    """Note that a look has begun; its number."""
    with history.begin() as connection:
        number = _next(connection, monitor)
        values = {"monitor": monitor, "number": number, "token": token, "started": started}
        connection.execute(sa.insert(looks).values(**values, status="running", detail="{}"))
    return number


def abandon(history: History, monitor: str, waiting: Iterable[str]) -> list[tuple[int, datetime.datetime]]:
    """Mark looks that were broken off, by a crash say: nothing of them counts. Those in `waiting` are complete."""
    kept = list(waiting)
    with history.begin() as connection:
        left = (looks.c.monitor == monitor) & (looks.c.status == "running") & looks.c.token.not_in(kept)
        found = [(row.number, row.started) for row in connection.execute(sa.select(looks).where(left))]
        if found:
            connection.execute(sa.update(looks).where(left).values(status="abandoned"))
    return found


def taken_of(history: History, monitor: str) -> int:
    """How many queries of a stream are done with."""
    with history.read() as connection:
        return int(_state(connection, monitor, _COMMON).get("taken", 0))


def relearn(history: History, monitor: str, now: datetime.datetime) -> int:
    """Forget what was learned, after a change that is meant; open incidents end without a word, and are counted."""
    with history.begin() as connection:
        connection.execute(sa.delete(watches).where(watches.c.monitor == monitor, watches.c.series != _COMMON))
        common = _state(connection, monitor, _COMMON)
        _keep(connection, monitor, _COMMON, 0, {"taken": common.get("taken", 0)})
        still = (incidents.c.monitor == monitor) & incidents.c.closed_at.is_(None) & (incidents.c.kind != "down")
        done = connection.execute(sa.update(incidents).where(still).values(closed_at=now))
        return int(done.rowcount)


def take_in(history: History, plan: MonitorPlan, seen: Observation, now: datetime.datetime) -> Taken:
    """Store a look, advance all watches, open and close incidents, and queue their alerts."""
    with history.begin() as connection:
        row = connection.execute(sa.select(looks).where(looks.c.token == seen.token)).one_or_none()
        if row is not None and row.status in ("done", "invalid"):
            return Taken(row.number, row.status, already=True)
        number = _next(connection, plan.name) if row is None else row.number
        work = _Work(history, connection, plan, seen, number, now)
        status = work.go()
        values = {
            "finished": datetime.datetime.fromisoformat(seen.finished),
            "status": status,
            "record_id": work.record_id,
            "detail": json.dumps({"invalid": seen.invalid, **work.detail}, ensure_ascii=False),
        }
        if row is None:
            started = datetime.datetime.fromisoformat(seen.started)
            fixed = {"monitor": plan.name, "number": number, "token": seen.token, "started": started}
            connection.execute(sa.insert(looks).values(**fixed, **values))
        else:
            connection.execute(sa.update(looks).where(looks.c.id == row.id).values(**values))
    return Taken(number, status, False, work.opened, work.closed, work.anew, work.watches)


def _next(connection: sa.Connection, monitor: str) -> int:
    last = connection.execute(sa.select(sa.func.max(looks.c.number)).where(looks.c.monitor == monitor)).scalar()
    return int(last or 0) + 1


def _state(connection: sa.Connection, monitor: str, series: str) -> dict[str, Any]:
    where = (watches.c.monitor == monitor) & (watches.c.series == series)
    text = connection.execute(sa.select(watches.c.state).where(where)).scalar()
    state: dict[str, Any] = {} if text is None else json.loads(text)
    return state


def _keep(connection: sa.Connection, monitor: str, series: str, look: int, state: Mapping[str, Any]) -> None:
    where = (watches.c.monitor == monitor) & (watches.c.series == series)
    text = json.dumps(state, ensure_ascii=False)
    done = connection.execute(sa.update(watches).where(where).values(look=look, state=text))
    if done.rowcount == 0:
        connection.execute(sa.insert(watches).values(monitor=monitor, series=series, look=look, state=text))


class _Work:
    """One look on its way into the history."""

    def __init__(
        self,
        history: History,
        connection: sa.Connection,
        plan: MonitorPlan,
        seen: Observation,
        number: int,
        now: datetime.datetime,
    ) -> None:
        self.history, self.connection, self.plan, self.seen = history, connection, plan, seen
        self.number, self.now = number, now
        self.record_id: int | None = None
        self.detail: dict[str, Any] = {}
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.anew: list[str] = []
        self.watches: dict[str, SystemWatch] = {}

    def go(self) -> str:
        record, seen = self.seen.record, self.seen
        if record is not None:
            stored = self.history.add(record, label=self.plan.name, connection=self.connection)
            self.record_id = stored.id
        drift = self._drift()
        scored = [] if record is None else [entry["name"] for entry in record["systems"]]
        for system in seen.systems:
            if system in seen.invalid:
                self._down(system, seen.invalid[system])
            elif system in scored:
                assert record is not None
                self._up(system)
                self._watch(record, system, frozenset(drift.queries))
        return "invalid" if seen.invalid and not scored else "done"

    def _drift(self) -> Drift:
        """Hold the gold documents against the first look's; of a stream, each look brings its own."""
        common = _state(self.connection, self.plan.name, _COMMON)
        gold, first = self.seen.gold, common.get("gold")
        judged = _hash(self.seen.record)
        found = Drift()
        if gold is not None and not self.plan.watching.stream:
            if first is None or (judged is not None and common.get("test_set") not in (None, judged)):
                common.update(gold=gold, test_set=judged)
            else:
                found = drift_between(first, gold)
                self._drifted(found)
        common["taken"] = self.seen.taken
        _keep(self.connection, self.plan.name, _COMMON, self.number, common)
        return found

    def _drifted(self, found: Drift) -> None:
        touched = [*found.gone, *found.changed]
        detail = {
            "documents": touched[:_LISTED],
            "queries": found.queries[:_LISTED],
            "gone": len(found.gone),
            "changed": len(found.changed),
        }
        if touched:
            self.detail["drift"] = detail
            self._open("gold documents", "drift", self.number, detail)
        else:
            self._close("gold documents", "drift")

    def _down(self, system: str, reason: str) -> None:
        self._open(system, "down", self.number, {"system": system, "reason": reason[:1000]})

    def _up(self, system: str) -> None:
        self._close(system, "down")

    def _watch(self, record: Mapping[str, Any], system: str, apart: frozenset[str]) -> None:
        state = _state(self.connection, self.plan.name, system)
        identity = _identity(record, stream=self.plan.watching.stream)
        if state and state["identity"] != identity:
            self.anew.append(system)
            state = {}
        watching = self.plan.watching
        watch = SystemWatch.from_dict(state["watch"], watching) if state else self._begin(system)
        events = watch.look(self.number, figures_of(record, system, apart=apart), len(self.seen.systems))
        for group, kinds in _GROUPS.items():
            self._tell(system, group, [event for event in events if event.kind in kinds], watch.alarmed(kinds))
        _keep(self.connection, self.plan.name, system, self.number, {"identity": identity, "watch": watch.to_dict()})
        self.watches[system] = watch

    def _begin(self, system: str) -> SystemWatch:
        if self.plan.baseline is None or self.plan.watching.stream:
            return SystemWatch(system, self.plan.watching)
        return SystemWatch.against(system, self.plan.watching, _baseline(self.history, self.plan, system))

    def _tell(self, system: str, group: str, events: Sequence[Event], alarmed: Sequence[str]) -> None:
        """One incident for all series of a group: opened by the first, closed when the last has recovered."""
        raised = [event for event in events if event.event == "alarm"]
        if raised:
            worst = max(raised, key=lambda event: (event.kind != "slice", -event.began, _loss(event)))
            detail = {**worst.detail, "series": alarmed, "looks": self.number - worst.began + 1}
            self._open(system, group if worst.kind != "slice" else "slice", worst.began, detail, group=group)
        elif not alarmed:
            self._close(system, group)

    def _open(self, series: str, kind: str, began: int, detail: dict[str, Any], *, group: str | None = None) -> None:
        row = self._standing(series, group or kind)
        if row is not None:  # told already: what is new about it is kept, and nobody is woken again
            kept = json.loads(row.detail)
            also = sorted({*kept.get("series", []), *detail.get("series", [])})
            kept.update({"series": also} if also else detail)
            self.connection.execute(
                sa.update(incidents).where(incidents.c.id == row.id).values(detail=json.dumps(kept, ensure_ascii=False))
            )
            return
        values = {
            "monitor": self.plan.name,
            "series": series,
            "kind": kind,
            "opened_look": self.number,
            "opened_at": self.now,
            "began_look": began,
            "began_at": self._started(began),
            "detail": json.dumps(detail, ensure_ascii=False),
        }
        key = self.connection.execute(sa.insert(incidents).values(**values).returning(incidents.c.id)).scalar()
        title, body = message(values, "opened", self.plan.language)
        self._queue(key, "opened", title, body)
        self.opened.append(_headline(title, self.plan.name))

    def _close(self, series: str, group: str) -> None:
        row = self._standing(series, group)
        if row is None:
            return
        ending = {"closed_look": self.number, "closed_at": self.now}
        self.connection.execute(sa.update(incidents).where(incidents.c.id == row.id).values(**ending))
        title, body = message({**row._mapping, **ending}, "recovered", self.plan.language)
        self._queue(row.id, "recovered", title, body)
        self.closed.append(_headline(message(row._mapping, "opened", self.plan.language)[0], self.plan.name))

    def _standing(self, series: str, group: str) -> Any:
        kinds = _GROUPS.get(group, (group,))
        where = (incidents.c.monitor == self.plan.name) & (incidents.c.series == series)
        still = where & incidents.c.kind.in_(kinds) & incidents.c.closed_at.is_(None)
        return self.connection.execute(sa.select(incidents).where(still)).first()

    def _queue(self, incident: Any, event: str, title: str, body: str) -> None:
        enqueue(self.connection, int(incident), event, self.plan.channels, title, body, self.now)

    def _started(self, number: int) -> datetime.datetime:
        if number == self.number:
            return datetime.datetime.fromisoformat(self.seen.started)
        where = (looks.c.monitor == self.plan.name) & (looks.c.number == number)
        found = self.connection.execute(sa.select(looks.c.started).where(where)).scalar()
        return found or self.now


def _headline(title: str, monitor: str) -> str:
    """What happened, without the address that a message needs and a log does not."""
    return title.removeprefix(f"[rankgauge] {monitor}: ")


def _loss(event: Event) -> float:
    return abs(float(event.detail.get("before", 0.0)) - float(event.detail.get("now", 0.0)))


def _hash(record: Mapping[str, Any] | None) -> str | None:
    return None if record is None else identity_of(record).test_set


def _identity(record: Mapping[str, Any], *, stream: bool) -> list[Any]:
    """What a look is held against only if it is the same: judgments, contract, measures."""
    identity = identity_of(record)
    return [None if stream else identity.test_set, identity.contract, [m["name"] for m in record["measures"]]]


def _baseline(history: History, plan: MonitorPlan, system: str) -> dict[str, dict[str, float]]:
    """Scores by measure and query of the baseline a plan names."""
    from rankgauge.history.baselines import baseline_record

    record, named = baseline_record(history, str(plan.baseline), plan.run.folder)
    names = [entry["name"] for entry in record["systems"]]
    chosen = named or (system if system in names else names[0] if len(names) == 1 else None)
    if chosen is None:
        raise DataError(f"monitor.baseline: {plan.baseline} holds {', '.join(names)}, but not {system}")
    return {measure: dict(scores) for measure, scores in figures_of(record, chosen).scores.items()}
