"""Incidents of a look: opened once, told once, closed by a recovery, or ended when nothing watches over them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.history.schema import incidents, looks
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.messages import message
from rankgauge.monitoring.outbox import enqueue
from rankgauge.monitoring.plan import MonitorPlan

__all__ = ["GROUPS", "Incidents", "open_incidents", "storable"]

GROUPS = {"quality": ("quality", "slice"), "latency": ("latency",), "errors": ("errors",), "threshold": ("threshold",)}
"""Series that are told in one incident: a fall shows in many measures and slices at once."""


class Incidents:
    """The incidents of one monitor, changed within the transaction of one look."""

    def __init__(
        self, connection: sa.Connection, plan: MonitorPlan, number: int, started: str, now: datetime.datetime
    ) -> None:
        self.connection, self.plan, self.number, self.now = connection, plan, number, now
        self.started = datetime.datetime.fromisoformat(started)
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.ended: list[str] = []

    def open(self, series: str, kind: str, began: int, detail: dict[str, Any], *, group: str | None = None) -> None:
        """Open one and queue its alert. What is told already is kept up to date, and nobody is woken again; only a fall
        over all queries is news where a slice alone had fallen before."""
        rows = self._standing(series, group or kind)
        row = next((row for row in rows if kind == "slice" or row.kind == kind), None)
        if row is not None:
            kept = json.loads(row.detail)
            also = sorted({*kept.get("series", []), *detail.get("series", [])})
            kept.update({"series": also} if also else detail)
            self.connection.execute(
                sa.update(incidents).where(incidents.c.id == row.id).values(detail=storable(json.dumps(kept)))
            )
            return
        values = {
            "monitor": self.plan.name,
            "series": series,
            "kind": kind,
            "opened_look": self.number,
            "opened_at": self.now,
            "began_look": began,
            "began_at": self._began(began),
            "detail": json.dumps(detail),
        }
        key = self.connection.execute(sa.insert(incidents).values(**values).returning(incidents.c.id)).scalar()
        self._queue(key, values, "opened")
        self.opened.append(self._headline(values))

    def follow(self, series: str, group: str, last: Mapping[str, Mapping[str, float]]) -> None:
        """Keep how far it went: the first look may have caught it midway, and the recovery names the worst."""
        for row in self._standing(series, group):
            detail = json.loads(row.detail)
            tag = detail.get("slice")
            figure = last.get(f"{series} {detail.get('measure')}" + (f" [{tag}]" if tag else ""))
            before, told = detail.get("before"), detail.get("now")
            if figure is None or before is None or told is None:
                continue
            if (figure["value"] - detail.get("worst", told)) * (told - before) > 0:
                detail["worst"] = figure["value"]
                self.connection.execute(
                    sa.update(incidents).where(incidents.c.id == row.id).values(detail=storable(json.dumps(detail)))
                )

    def close(self, series: str, group: str) -> None:
        """It is over, and that is told."""
        for row in self._standing(series, group):
            ending = self._end(row)
            self._queue(row.id, {**row._mapping, **ending}, "recovered")
            self.closed.append(self._headline(row._mapping))

    def end(self, series: str, group: str) -> None:
        """Nothing can say any more whether it is over: it ends, and a recovery that nobody saw is not told."""
        for row in self._standing(series, group):
            self._end(row)
            self.ended.append(self._headline(row._mapping))

    def end_others(self, series: list[str]) -> None:
        """End the incidents of systems that are no longer watched."""
        others = self._open_ones() & incidents.c.series.not_in(series)
        for row in self.connection.execute(sa.select(incidents).where(others).order_by(incidents.c.id)).all():
            self._end(row)
            self.ended.append(self._headline(row._mapping))

    def _end(self, row: Any) -> dict[str, Any]:
        ending = {"closed_look": self.number, "closed_at": self.now}
        self.connection.execute(sa.update(incidents).where(incidents.c.id == row.id).values(**ending))
        return ending

    def _open_ones(self) -> sa.ColumnElement[bool]:
        return (incidents.c.monitor == self.plan.name) & incidents.c.closed_at.is_(None)

    def _standing(self, series: str, group: str) -> Sequence[Any]:
        kinds = GROUPS.get(group, (group,))
        wanted = self._open_ones() & (incidents.c.series == series) & incidents.c.kind.in_(kinds)
        return self.connection.execute(sa.select(incidents).where(wanted).order_by(incidents.c.id)).all()

    def _queue(self, incident: Any, row: Any, event: str) -> None:
        title, body = map(storable, message(row, event, self.plan.language))
        enqueue(self.connection, int(incident), event, self.plan.channels, title, body, self.now)

    def _headline(self, row: Any) -> str:
        """What happened, without the address that a message needs and a log does not."""
        title = storable(message(row, "opened", self.plan.language)[0])
        return title.removeprefix(f"[rankgauge] {self.plan.name}: ")

    def _began(self, number: int) -> datetime.datetime:
        if number == self.number:
            return self.started
        where = (looks.c.monitor == self.plan.name) & (looks.c.number == number)
        return self.connection.execute(sa.select(looks.c.started).where(where)).scalar() or self.now


def storable(text: str) -> str:
    """The text without what a database or a terminal cannot hold: lone surrogates, and NUL."""
    return text.encode("utf-8", errors="replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def open_incidents(history: History, monitor: str) -> dict[str, int]:
    """How many incidents of each kind are open."""
    count = sa.func.count()
    wanted = sa.select(incidents.c.kind, count).where(incidents.c.monitor == monitor, incidents.c.closed_at.is_(None))
    with history.read() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(wanted.group_by(incidents.c.kind))}
