"""Ingesting a check: record, watches, incidents and alerts in one transaction; it counts wholly or not at all."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from rankgauge.history.checks import (
    COMMON,
    check_transaction,
    find_check,
    finish_check,
    forget_systems,
    keep_state,
    next_number,
)
from rankgauge.history.incidents import close_incident, missing_of, open_of
from rankgauge.history.monitored import Check, Finding, OpenIncident, Status
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.alerts.incidents import GROUPS, Incidents
from rankgauge.monitoring.alerts.messages import headline
from rankgauge.monitoring.detection.drift import Drift, drift_between
from rankgauge.monitoring.detection.figures import Figures, figures_of
from rankgauge.monitoring.detection.start import missed_targets, nothing_found
from rankgauge.monitoring.detection.watch import Event, SystemWatch
from rankgauge.monitoring.loop.memory import kept_state, watch_in
from rankgauge.monitoring.loop.observing import Observation
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.monitoring.loop.reference import Reference
from rankgauge.record import Record
from rankgauge.record.identity import identity_of
from rankgauge.words import Note

__all__ = ["Ingested", "ingest", "relearn"]

_LISTED = 50
_TOLD = 5
_STEADY = 3
"""Valid checks in a row after which a system with single failures is taken as back; without any, one is enough."""


@dataclass(frozen=True)
class Ingested:
    """What a check came to."""

    number: int
    status: Status
    """`done`, `invalid`, or `abandoned` for one whose queries were counted by another check."""
    already: bool = False
    opened: list[Note] = field(default_factory=list)
    closed: list[Note] = field(default_factory=list)
    ended: list[Note] = field(default_factory=list)
    """Incidents that nothing watches over any more."""
    anew: list[str] = field(default_factory=list)
    """Systems that are learned anew, because the test set, the contract or the detector is another one."""
    unheld: list[str] = field(default_factory=list)
    """Systems that cannot be held against the baseline, which is of another test set or contract."""
    mended: list[str] = field(default_factory=list)
    """Systems that were broken when their watch began and are not any more; normal is learned from here on."""
    open: list[OpenIncident] | None = None
    """The incidents that are open by now; None where they were not looked at."""
    watches: dict[str, SystemWatch] = field(default_factory=dict)


def relearn(history: History, monitor: str, now: datetime.datetime) -> int:
    """Forget what was learned, after a change that is meant; open incidents end without a word, and are counted."""
    with history.begin() as connection:
        forget_systems(connection, monitor, keep=[])
        taken = kept_state(connection, monitor).get("taken", 0)
        keep_state(connection, monitor, COMMON, 0, {"taken": taken})
        ended = [incident for incident in open_of(connection, monitor) if incident.kind != "down"]
        for incident in ended:
            close_incident(connection, incident, None, now)
    return len(ended)


def ingest(
    history: History,
    plan: MonitorPlan,
    seen: Observation,
    now: datetime.datetime,
    reference: Reference | None = None,
    known_open: Sequence[OpenIncident] = (),
) -> Ingested:
    """Store a check, advance all watches, open and close incidents, and queue their alerts. Incidents that are known to
    have been open, and that the history has not heard of, are told as lost."""
    with check_transaction(history, plan.name) as connection:
        known = find_check(connection, seen.token)
        if known is not None and known.status in ("done", "invalid"):
            return Ingested(known.number, known.status, already=True)
        number = next_number(connection, plan.name) if known is None else known.number
        channels = [channel.name for channel in plan.channels]
        told = Incidents(connection, plan.name, channels, number, seen.started, now)
        work = _Work(history, plan, seen, reference, told)
        lost = _tell_forgotten(told, missing_of(connection, plan.name, known_open))
        status = work.go()
        if not lost and work.settled:
            told.close(None, "forgotten")
        detail = {"invalid": msgspec.to_builtins(seen.invalid), **work.detail}
        times = (seen.started, seen.finished)
        finish_check(connection, Check(0, plan.name, number, seen.token, *times, status, work.record_id, detail))
        still_open = [
            OpenIncident(found.id, found.opened_at, headline(found)) for found in open_of(connection, plan.name)
        ]
    return Ingested(
        number,
        status,
        opened=told.opened,
        closed=told.closed,
        ended=told.ended,
        anew=work.anew,
        unheld=work.unheld,
        mended=work.mended,
        open=still_open,
        watches=work.watches,
    )


def _tell_forgotten(incidents: Incidents, missing: Sequence[OpenIncident]) -> bool:
    """Open an incident for those that the history lost; whether there are any."""
    if missing:
        titles = [found.title for found in missing]
        more = len(titles) - _TOLD
        told = Note("monitor.forgotten_titles", {"titles": titles[:_TOLD]})
        if more > 0:
            told = Note("monitor.forgotten_titles_more", {"titles": titles[:_TOLD], "more": more})
        finding = Finding(reason=told, gone=len(titles))
        incidents.open("forgotten", None, incidents.number, finding)
    return bool(missing)


@dataclass
class _Work:
    """One check on its way into the history."""

    history: History
    plan: MonitorPlan
    seen: Observation
    reference: Reference | None
    incidents: Incidents
    """With the number of the check, and the connection that all is done by."""
    record_id: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    anew: list[str] = field(default_factory=list)
    unheld: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    watches: dict[str, SystemWatch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection, self.number = self.incidents.connection, self.incidents.number

    def go(self) -> Status:
        record, seen = self.seen.record, self.seen
        common = kept_state(self.connection, self.plan.name)
        if self.plan.watching.stream and seen.since != common.get("taken", 0):
            return "abandoned"  # two monitors asked the same queries of a stream, and the other one was first
        if record is not None:
            stored = self.history.add(record, label=self.plan.name, connection=self.connection)
            self.record_id = stored.id
        drift = self._drift(common)
        scored = [] if record is None else [system.name for system in record.systems]
        steady = common.setdefault("steady", {})
        for system in seen.systems:
            if system in seen.invalid:
                reason = Finding(reason=seen.invalid[system])
                self.incidents.open("down", SeriesKey(system, ""), self.number, reason)
                steady[system] = 0
            elif record is not None and system in scored:
                calls = record.system(system).calls
                steady[system] = steady.get(system, 0) + 1
                if steady[system] >= _STEADY or calls is None or not calls.failed:
                    self.incidents.close(system, "down")
                self._watch(record, system, frozenset(drift.queries))
        keep_state(self.connection, self.plan.name, COMMON, self.number, common)
        self.incidents.end_others(seen.systems)
        forget_systems(self.connection, self.plan.name, keep=seen.systems)
        return "invalid" if seen.invalid and not scored else "done"

    def _drift(self, common: dict[str, Any]) -> Drift:
        """Hold the gold documents against the first check's; of a stream, each check brings its own."""
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
        if not found:
            self.incidents.close(None, "drift")
            return
        drift = Finding(
            gone=len(found.gone),
            changed=len(found.changed),
            documents=[*found.gone, *found.changed][:_LISTED],
            queries=found.queries[:_LISTED],
        )
        self.detail["drift"] = msgspec.to_builtins(drift)
        self.incidents.open("drift", None, self.number, drift)

    def _watch(self, record: Record, system: str, drifted: frozenset[str]) -> None:
        name = self.plan.name
        state = kept_state(self.connection, name, system)
        identity = _identity(record, stream=self.plan.watching.stream)
        known = watch_in(state, name, system, self.plan.watching) if state else None
        if state and (known is None or state["identity"] != identity):
            self.anew.append(system)
            known = None
        watch = known or self._begin(record, system)
        found = figures_of(record, system, drifted=drifted)
        broken = self._start(watch, record, found, new=known is None, broken=bool(state.get("broken")))
        events = watch.update(self.number, found, len(self.seen.systems))
        for group, kinds in GROUPS.items():
            self._report(watch, group, [event for event in events if event.kind in kinds], watch.alarmed(kinds))
        kept = {"identity": identity, "watch": watch.to_dict(), **({"broken": True} if broken else {})}
        keep_state(self.connection, name, system, self.number, kept)
        self.watches[system] = watch

    def _start(self, watch: SystemWatch, record: Record, found: Figures, *, new: bool, broken: bool) -> bool:
        """Whether a system is broken that was so from the start, and an incident for it. What was learned meanwhile is
        forgotten when it is mended."""
        system = watch.name
        if not (new or broken or watch.learning):
            return False
        crossed = watch.crossed(found) if new or broken else []  # which are told as such
        faults = nothing_found(record, found)
        if new or broken:
            faults = missed_targets(record, system, self.plan.gate) | faults
        told = [note for measure, note in faults.items() if measure not in crossed]
        if told:
            reason = Note("monitor.start_reasons", {"reasons": told})
            self.incidents.open("start", SeriesKey(system, ""), self.number, Finding(reason=reason))
        else:
            self.incidents.close(system, "start")
        if faults or crossed:
            return True
        if broken and not self._held(record, system):
            watch.forget_quality()
            self.incidents.close(system, "quality")
            self.mended.append(system)
        return False

    @property
    def settled(self) -> bool:
        """Whether all that is watched is known again, and well."""
        watches = self.watches.values()
        alarmed = any(watch.alarmed(kinds) for watch in watches for kinds in GROUPS.values())
        return bool(self.watches) and not alarmed and not any(watch.learning for watch in watches)

    def _held(self, record: Record, system: str) -> bool:
        """Whether a system is held against a baseline instead of learned."""
        held = self.reference
        return held is not None and system in held.scores and held.holds_for(record)

    def _begin(self, record: Record, system: str) -> SystemWatch:
        if self.reference is not None and self._held(record, system):
            return SystemWatch.against(system, self.plan.watching, self.reference.scores[system])
        if self.reference is not None:
            self.unheld.append(system)
        return SystemWatch(system, self.plan.watching)

    def _report(self, watch: SystemWatch, group: str, events: Sequence[Event], alarmed: Sequence[SeriesKey]) -> None:
        """One incident for all series of a group: opened by the first, closed when the last has recovered."""
        system = watch.name
        raised = [event for event in events if event.event == "alarm"]
        if raised:
            worst = max(raised, key=lambda event: (event.kind != "slice", -event.began, _loss(event.finding)))
            tags = watch.fallen_tags(worst.key.measure) if worst.kind == "quality" else {}
            checks = self.number - worst.began + 1
            finding = replace(worst.finding, tags=tags, series=list(alarmed), checks=checks)
            self.incidents.open(worst.kind, worst.key, worst.began, finding, group=group)
        if alarmed and group in ("quality", "latency"):
            self.incidents.follow(system, group, lambda key: watch.last[key].value if key in watch.last else None)
        elif not alarmed and events:
            self.incidents.close(system, group)
        elif not alarmed:  # what had raised it is learned anew, or is no longer in the plan
            self.incidents.end(system, group)


def _loss(finding: Finding) -> float:
    return abs((finding.before or 0.0) - (finding.now or 0.0))


def _identity(record: Record, *, stream: bool) -> list[Any]:
    """What a check is held against only if it is the same: judgments, contract, measures."""
    identity = identity_of(record)
    return [None if stream else identity.test_set, identity.contract, [measure.name for measure in record.measures]]
