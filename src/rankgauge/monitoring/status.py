"""How a monitor stands: its last look, every figure it watches, what is open, and what could not be delivered."""

from __future__ import annotations

import json
import math
from typing import Any

from rankgauge.history.schema import deliveries, incidents, looks, watches
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.monitoring.states import COMMON, read_state, read_watch
from rankgauge.monitoring.watching import SystemWatch

__all__ = ["status_of", "watches_of"]


def status_of(history: History, plan: MonitorPlan) -> dict[str, Any]:
    """The state of a monitor, as JSON can hold it."""
    with history.read() as connection:
        mine = looks.c.monitor == plan.name
        last = connection.execute(sa.select(looks).where(mine).order_by(looks.c.number.desc()).limit(1)).first()
        count = sa.select(looks.c.status, sa.func.count()).where(mine).group_by(looks.c.status)
        counts = {row[0]: row[1] for row in connection.execute(count)}
        standing = (incidents.c.monitor == plan.name) & incidents.c.closed_at.is_(None)
        found = connection.execute(sa.select(incidents).where(standing).order_by(incidents.c.id)).all()
        waiting = (
            sa.select(sa.func.count())
            .select_from(deliveries.join(incidents))
            .where(
                incidents.c.monitor == plan.name, deliveries.c.delivered.is_(None), deliveries.c.next_try.is_not(None)
            )
        )
        undelivered = connection.execute(waiting).scalar() or 0
    systems = watches_of(history, plan).values()
    return {
        "monitor": plan.name,
        "looks": counts,
        "last": None
        if last is None
        else {"number": last.number, "status": last.status, "started": last.started.isoformat()},
        "series": [entry for watch in systems for entry in _series(watch)],
        "false_alarm_every": plan.watching.false_alarm_every,
        "incidents": [
            {
                "id": row.id,
                "series": row.series,
                "kind": row.kind,
                "opened": row.opened_at.isoformat(),
                "began": None if row.began_at is None else row.began_at.isoformat(),
                "detail": json.loads(row.detail),
            }
            for row in found
        ],
        "undelivered": undelivered,
    }


def watches_of(history: History, plan: MonitorPlan) -> dict[str, SystemWatch]:
    """All systems as they were watched last, less those that the next look learns anew."""
    known = sa.select(watches.c.series).where(watches.c.monitor == plan.name).order_by(watches.c.series)
    with history.read() as connection:
        names = [name for name in connection.execute(known).scalars() if name != COMMON]
        states = {name: read_state(connection, plan.name, name) for name in names}
    found = {name: read_watch(state, plan.name, name, plan.watching) for name, state in states.items()}
    return {name: watch for name, watch in found.items() if watch is not None}


def _series(watch: SystemWatch) -> list[dict[str, Any]]:
    entries = []
    for key, series in watch.series.items():
        last = watch.last.get(key, {})
        detector = series.detector
        entries.append(
            {
                "series": key,
                "phase": series.phase,
                "alarm": series.alarmed,
                "value": last.get("value"),
                "reference": last.get("reference"),
                "queries": last.get("queries"),
                "evidence": None if detector is None else max(detector.evidence / math.log(10), 0.0),
                "needed": None
                if detector is None
                else math.log10(detector.recovery if detector.alarmed else detector.threshold),
                "noise": None if detector is None else getattr(detector.noise, "scale", None),
                "correlation": None if detector is None else getattr(detector.noise, "correlation", None),
            }
        )
    return entries
