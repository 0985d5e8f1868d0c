"""The queries behind the incidents of a monitor, as candidates: those that fell most where a measure fell, and those
whose gold documents are gone or changed."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.history.checks import list_checks, monitors
from rankgauge.history.incidents import list_incidents
from rankgauge.history.monitored import Incident
from rankgauge.history.store import History
from rankgauge.model.query import Query
from rankgauge.model.testset import TestSet
from rankgauge.record import Record
from rankgauge.stats.levels import check_whole
from rankgauge.words import Note

__all__ = ["IncidentQueries", "IncidentQuery", "incident_queries"]


@dataclass(frozen=True)
class IncidentQuery:
    """A query that an incident is about."""

    id: str
    text: str
    incident: int
    kind: str
    fell: float | None = None
    """By how much its score fell; None where the incident is not about a score."""


@dataclass(frozen=True)
class IncidentQueries:
    """Queries of incidents: `.test_set` has each once, without labels, tagged with the kinds of its incidents."""

    listed: list[IncidentQuery]
    incidents: int
    unread: list[int] = field(default_factory=list)
    """Incidents whose scores are no longer kept."""
    name: str = "incidents"

    @property
    def test_set(self) -> TestSet:
        texts = {one.id: one.text for one in self.listed}
        tags = {
            query: tuple(dict.fromkeys(f"incident {one.kind}" for one in self.listed if one.id == query))
            for query in texts
        }
        return TestSet((Query(text, {}, query, tags[query]) for query, text in texts.items()), name=self.name)

    @property
    def notes(self) -> list[Note]:
        """How many queries of how many incidents."""
        notes = [Note("candidates.incident_unread", {"id": number}, "warning") for number in self.unread]
        if not self.listed:
            return [Note("candidates.incident_none"), *notes]
        counts = {"n": len({one.id for one in self.listed}), "incidents": self.incidents - len(self.unread)}
        return [Note("candidates.incident_queries", counts), *notes, Note("candidates.review")]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        listed = [vars(one) for one in self.listed]
        return {"format": "rankgauge.incident-queries", "version": 1, "unread": self.unread, "queries": listed}


@named_arguments
def incident_queries(
    history: History,
    monitor: str,
    *,
    incident: int | None = None,
    since: datetime.datetime | None = None,
    n: int = 20,
    test_set: TestSet | None = None,
    name: str = "incidents",
) -> IncidentQueries:
    """The queries behind a monitor's incidents, or behind one of them. Of an incident about a measure they are the n
    whose scores fell most between the last check before it and the one that noticed it. `test_set` gives the texts,
    which the records of a monitor do not hold."""
    if not isinstance(history, History):
        raise DataError(f"`history` must be a History, not a {type(history).__name__}; give History.open(path)")
    n = check_whole("n", n, 1)
    if monitor not in (there := monitors(history)):
        raise DataError(f"the history has no monitor {monitor!r}; it has: {', '.join(there) or 'none'}")
    found = list_incidents(history, monitor, since=since)
    if incident is not None:
        found = [one for one in found if one.id == incident]
        if not found:
            raise DataError(f"the history has no incident {incident} of monitor {monitor!r}")
    texts = {} if test_set is None else {query.id: query.text for query in test_set}
    records = _Records(history, monitor)
    listed: list[IncidentQuery] = []
    unread = []
    for one in found:
        named = dict[str, float | None].fromkeys(one.finding.queries)
        if one.measure is not None and one.system is not None and one.kind in ("quality", "slice", "threshold"):
            pair = records.around(one)
            if pair is None:
                unread.append(one.id)
            else:
                named |= dict(_fallen(one, *pair, n))
        listed += [
            IncidentQuery(query, texts.get(query, query), one.id, one.kind, fall) for query, fall in named.items()
        ]
    return IncidentQueries(listed, len(found), unread, name)


class _Records:
    """The records of a monitor's checks by their numbers, each read when it is asked for."""

    def __init__(self, history: History, monitor: str) -> None:
        self._history = history
        self._ids = {one.number: one.record_id for one in list_checks(history, monitor) if one.record_id is not None}

    def around(self, incident: Incident) -> tuple[Record, Record] | None:
        """The record before an incident began, and the one that noticed it."""
        began = incident.began_check or incident.opened_check
        before = max((number for number in self._ids if number < began), default=None)
        after = self._ids.get(incident.opened_check)
        if before is None or after is None:
            return None
        try:
            return self._history.record(self._ids[before]), self._history.record(after)
        except RankgaugeError:
            return None


def _fallen(incident: Incident, before: Record, after: Record, n: int) -> Iterator[tuple[str, float]]:
    """The queries whose scores got worse by most."""
    assert incident.measure is not None
    try:
        name = after.measure_name(incident.measure)
        old = before.system(incident.system).scores(before.measure_name(incident.measure), before.queries)
        new = after.system(incident.system).scores(name, after.queries)
    except RankgaugeError:
        return
    sign = -1 if after.measure(name).lower_is_better else 1
    own = after.queries if incident.tag is None else after.queries_by_tag.get(incident.tag, [])
    falls = [(sign * (old[query] - new[query]), query) for query in own if query in old and query in new]
    for fell, query in sorted(falls, key=lambda pair: (-pair[0], pair[1]))[:n]:
        if fell > 0:
            yield query, fell
