"""Taking in a look: record, watches, incidents and alerts in one transaction; it counts wholly or not at all."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.evaluation.old_identity import identity_of
from rankgauge.history.schema import incidents, looks, watches
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.drift import Drift, drift_between
from rankgauge.monitoring.incidents import GROUPS, Incidents, storable
from rankgauge.monitoring.observing import Observation
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.reference import Reference
from rankgauge.monitoring.states import COMMON, forget_others, keep_state, read_state, read_watch
from rankgauge.monitoring.watching import Event, SystemWatch, figures_of

__all__ = ["Taken", "abandon", "begin_look", "relearn", "take_in", "taken_of"]

_GOLD = "gold documents"
_LISTED = 50
_STEADY = 3
"""Valid looks in a row after which a system with single failures is taken as back; without any, one look is enough."""


@dataclass(frozen=True)
class Taken:
    """What a look came to."""

    number: int
    status: str
    """`done`, `invalid`, or `abandoned` for one whose queries were counted by another look."""
    already: bool = False
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """Incidents that nothing watches over any more."""
    anew: list[str] = field(default_factory=list)
    """Systems that are learned anew, because the test set, the contract or the detector is another one."""
    unheld: list[str] = field(default_factory=list)
    """Systems that cannot be held against the baseline, which is of another test set or contract."""
    watches: dict[str, SystemWatch] = field(default_factory=dict)


def begin_look(history: History, monitor: str, token: str, started: datetime.datetime) -> int:
    """Note that a look has begun; its number."""
    with history.begin() as connection:
        number = _next(connection, monitor)
        values = {"monitor": monitor, "number": number, "token": token, "started": started}
        connection.execute(sa.insert(looks).values(**values, status="running", detail="{}"))
    return number


def abandon(history: History, monitor: str) -> list[tuple[int, datetime.datetime]]:
    """Mark looks that were broken off, by a crash say: nothing of them counts."""
    with history.begin() as connection:
        left = (looks.c.monitor == monitor) & (looks.c.status == "running")
        found = [(row.number, row.started) for row in connection.execute(sa.select(looks).where(left))]
        if found:
            connection.execute(sa.update(looks).where(left).values(status="abandoned"))
    return sorted(found)


def taken_of(history: History, monitor: str) -> int:
    """How many queries of a stream are done with."""
    with history.read() as connection:
        return int(read_state(connection, monitor, COMMON).get("taken", 0))


def relearn(history: History, monitor: str, now: datetime.datetime) -> int:
    """Forget what was learned, after a change that is meant; open incidents end without a word, and are counted."""
    with history.begin() as connection:
        connection.execute(sa.delete(watches).where(watches.c.monitor == monitor, watches.c.series != COMMON))
        common = read_state(connection, monitor, COMMON)
        keep_state(connection, monitor, COMMON, 0, {"taken": common.get("taken", 0)})
        still = (incidents.c.monitor == monitor) & incidents.c.closed_at.is_(None) & (incidents.c.kind != "down")
        done = connection.execute(sa.update(incidents).where(still).values(closed_at=now))
        return int(done.rowcount)


def take_in(
    history: History,
    plan: MonitorPlan,
    seen: Observation,
    now: datetime.datetime,
    reference: Reference | None = None,
) -> Taken:
    """Store a look, advance all watches, open and close incidents, and queue their alerts."""
    with history.begin() as connection:
        row = connection.execute(sa.select(looks).where(looks.c.token == seen.token)).one_or_none()
        if row is not None and row.status in ("done", "invalid"):
            return Taken(row.number, row.status, already=True)
        number = _next(connection, plan.name) if row is None else row.number
        work = _Work(history, connection, plan, seen, number, now, reference)
        status = work.go()
        detail = {"invalid": seen.invalid, **work.detail}
        values = {
            "finished": datetime.datetime.fromisoformat(seen.finished),
            "status": status,
            "record_id": work.record_id,
            "detail": storable(json.dumps(detail, ensure_ascii=False)),
        }
        if row is None:
            started = datetime.datetime.fromisoformat(seen.started)
            fixed = {"monitor": plan.name, "number": number, "token": seen.token, "started": started}
            connection.execute(sa.insert(looks).values(**fixed, **values))
        else:
            connection.execute(sa.update(looks).where(looks.c.id == row.id).values(**values))
    told = work.incidents
    return Taken(number, status, False, told.opened, told.closed, told.ended, work.anew, work.unheld, work.watches)


def _next(connection: sa.Connection, monitor: str) -> int:
    last = connection.execute(sa.select(sa.func.max(looks.c.number)).where(looks.c.monitor == monitor)).scalar()
    return int(last or 0) + 1


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
        reference: Reference | None,
    ) -> None:
        self.history, self.connection, self.plan, self.seen = history, connection, plan, seen
        self.number, self.reference = number, reference
        self.incidents = Incidents(connection, plan, number, seen.started, now)
        self.record_id: int | None = None
        self.detail: dict[str, Any] = {}
        self.anew: list[str] = []
        self.unheld: list[str] = []
        self.watches: dict[str, SystemWatch] = {}

    def go(self) -> str:
        record, seen = self.seen.record, self.seen
        common = read_state(self.connection, self.plan.name, COMMON)
        if self.plan.watching.stream and seen.since != common.get("taken", 0):
            return "abandoned"  # two monitors asked the same queries of a stream, and the other one was first
        if record is not None:
            stored = self.history.add(record, label=self.plan.name, connection=self.connection)
            self.record_id = stored.id
        drift = self._drift(common)
        scored = [] if record is None else [entry["name"] for entry in record["systems"]]
        steady = common.setdefault("steady", {})
        for system in seen.systems:
            if system in seen.invalid:
                reason = {"system": system, "reason": seen.invalid[system][:1000]}
                self.incidents.open(system, "down", self.number, reason)
                steady[system] = 0
            elif system in scored:
                assert record is not None
                steady[system] = steady.get(system, 0) + 1
                if steady[system] >= _STEADY or not _failed(record, system):
                    self.incidents.close(system, "down")
                self._watch(record, system, frozenset(drift.queries))
        keep_state(self.connection, self.plan.name, COMMON, self.number, common)
        self.incidents.end_others([_GOLD, *seen.systems])
        forget_others(self.connection, self.plan.name, seen.systems)
        return "invalid" if seen.invalid and not scored else "done"

    def _drift(self, common: dict[str, Any]) -> Drift:
        """Hold the gold documents against the first look's; of a stream, each look brings its own."""
        gold, found = self.seen.gold, Drift()
        if gold is not None and not self.plan.watching.stream:
            if common.get("gold") is None or common.get("test_set") != self.seen.judged:
                common.update(gold=gold, test_set=self.seen.judged)
            else:
                found = drift_between(common["gold"], gold)
            self._drifted(found)
        common["taken"] = self.seen.taken
        return found

    def _drifted(self, found: Drift) -> None:
        touched = [*found.gone, *found.changed]
        if not touched:
            self.incidents.close(_GOLD, "drift")
            return
        self.detail["drift"] = {
            "documents": touched[:_LISTED],
            "queries": found.queries[:_LISTED],
            "gone": len(found.gone),
            "changed": len(found.changed),
        }
        self.incidents.open(_GOLD, "drift", self.number, self.detail["drift"])

    def _watch(self, record: Mapping[str, Any], system: str, apart: frozenset[str]) -> None:
        name = self.plan.name
        state = read_state(self.connection, name, system)
        identity = _identity(record, stream=self.plan.watching.stream)
        known = read_watch(state, name, system, self.plan.watching) if state else None
        if state and (known is None or state["identity"] != identity):
            self.anew.append(system)
            known = None
        watch = known or self._begin(record, system)
        events = watch.look(self.number, figures_of(record, system, apart=apart), len(self.seen.systems))
        for group, kinds in GROUPS.items():
            self._tell(watch, group, [event for event in events if event.kind in kinds], watch.alarmed(kinds))
        keep_state(self.connection, name, system, self.number, {"identity": identity, "watch": watch.to_dict()})
        self.watches[system] = watch

    def _begin(self, record: Mapping[str, Any], system: str) -> SystemWatch:
        held = self.reference
        if held is None:
            return SystemWatch(system, self.plan.watching)
        if system not in held.scores or not held.holds_for(record):
            self.unheld.append(system)
            return SystemWatch(system, self.plan.watching)
        return SystemWatch.against(system, self.plan.watching, held.scores[system])

    def _tell(self, watch: SystemWatch, group: str, events: Sequence[Event], alarmed: Sequence[str]) -> None:
        """One incident for all series of a group: opened by the first, closed when the last has recovered."""
        system = watch.name
        raised = [event for event in events if event.event == "alarm"]
        if raised:
            worst = max(raised, key=lambda event: (event.kind != "slice", -event.began, _loss(event)))
            detail = {**worst.detail, "series": alarmed, "looks": self.number - worst.began + 1}
            if worst.kind == "quality":
                detail["slices"] = _slices(watch, worst.detail["measure"])
            kind = group if worst.kind != "slice" else "slice"
            self.incidents.open(system, kind, worst.began, detail, group=group)
        if alarmed and group in ("quality", "latency"):
            self.incidents.follow(system, group, watch.last)
        elif not alarmed and events:
            self.incidents.close(system, group)
        elif not alarmed:  # what had raised it is learned anew, or is no longer in the plan
            self.incidents.end(system, group)


def _slices(watch: SystemWatch, measure: str) -> dict[str, list[float]]:
    """Of the slices that stand in alarm, reference and value, the deepest fall first; empty where all of them do."""
    start = f"{watch.name} {measure} ["
    known = {key: last for key, last in watch.last.items() if key.startswith(start) and key in watch.series}
    fallen = {key.removeprefix(start)[:-1]: last for key, last in known.items() if watch.series[key].alarmed}
    if len(fallen) == len(known):
        return {}
    order = sorted(fallen.items(), key=lambda item: -abs(item[1]["reference"] - item[1]["value"]))
    return {tag: [last["reference"], last["value"]] for tag, last in order[:5]}


def _failed(record: Mapping[str, Any], system: str) -> int:
    return figures_of(record, system).failed


def _loss(event: Event) -> float:
    return abs(float(event.detail.get("before", 0.0)) - float(event.detail.get("now", 0.0)))


def _identity(record: Mapping[str, Any], *, stream: bool) -> list[Any]:
    """What a look is held against only if it is the same: judgments, contract, measures."""
    identity = identity_of(record)
    return [None if stream else identity.test_set, identity.contract, [m["name"] for m in record["measures"]]]
