"""What the metrics of a monitor are told: where earlier starts ended, and each check."""

from __future__ import annotations

import datetime

from rankgauge.history.checks import last_check, list_checks
from rankgauge.history.incidents import open_by_kind
from rankgauge.history.store import History
from rankgauge.monitoring.loop.ingest import Ingested
from rankgauge.monitoring.loop.memory import watches_of
from rankgauge.monitoring.loop.metrics import Metrics
from rankgauge.monitoring.loop.observing import Observation
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.monitoring.loop.status import series_of

__all__ = ["begin", "begin_figures", "tell_check"]


def begin(metrics: Metrics, history: History, plan: MonitorPlan, now: datetime.datetime) -> None:
    """Let the metrics begin where earlier starts ended."""
    ended = [check.finished for check in list_checks(history, plan.name, limit=100) if check.finished is not None]
    valid = last_check(history, plan.name, "done")
    metrics.begin(
        plan.name,
        [channel.name for channel in plan.channels],
        last_check=next(iter(ended), None),
        # so that a monitor that never gets a score is found
        last_valid_check=now if valid is None else valid.finished,
        open_incidents=open_by_kind(history, plan.name),
    )


def begin_figures(metrics: Metrics, history: History, plan: MonitorPlan) -> None:
    """The figures as the last check left them."""
    metrics.figures(plan.name, series_of(watches_of(history, plan).values()))


def tell_check(metrics: Metrics, history: History, seen: Observation, done: Ingested) -> None:
    """A check that was ingested."""
    metrics.check(
        seen.monitor,
        status=done.status,
        finished=seen.finished,
        series=series_of(done.watches.values()),
        open_incidents=open_by_kind(history, seen.monitor),
    )
