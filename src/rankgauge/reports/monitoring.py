"""The state of a monitor, for people."""

from __future__ import annotations

import math

from rankgauge.monitoring.detection.watch import LATENCY
from rankgauge.monitoring.loop.status import MonitorStatus, SeriesStatus
from rankgauge.reports.tables import Table, render_terminal
from rankgauge.visible import uncommanded, visible
from rankgauge.words import Language, Note, say
from rankgauge.words.numbers import milliseconds, percent, score

__all__ = ["render_status"]

_COLUMNS = ("series", "state", "value", "reference", "noise", "evidence", "needed")


def render_status(
    status: MonitorStatus, *, language: Language = "en", digits: int = 4, width: int | None = None
) -> str:
    """Last check, all figures, open incidents."""
    last = status.last
    if last is None:
        return say("monitor.no_check", language, monitor=status.monitor) + "\n"
    counts = [
        Note("monitor.status_count", {"status": Note(f"monitor.status_{name}"), "count": count})
        for name, count in sorted(status.checks.items())
    ]
    ended = {"number": last.number, "status": Note(f"monitor.status_{last.status}"), "started": last.started}
    lines = [say("monitor.last_check", language, monitor=status.monitor, **ended, counts=counts), ""]
    if status.series:
        header = [say(f"monitor.column_{name}", language) for name in _COLUMNS]
        rows = [_row(entry, language, digits) for entry in status.series]
        lines += [render_terminal(Table(header, rows, 2), width=width)]
        lines += [say("monitor.evidence_meaning", language, every=status.false_alarm_every)]
    for incident in status.incidents:
        told = {
            "opened": incident.opened_at,
            "kind": Note(f"monitor.kind_{incident.kind}"),
            "series": incident.system
            or Note("monitor.its_history" if incident.kind == "forgotten" else "monitor.gold_documents"),
            "began": incident.began_at or incident.opened_at,
        }
        lines.append(say("monitor.open_incident", language, **told))
    if not status.incidents:
        lines.append(say("monitor.no_incident", language))
    if status.undelivered:
        lines.append(say("monitor.undelivered", language, count=status.undelivered))
    return uncommanded("\n".join(lines) + "\n")


def _row(entry: SeriesStatus, language: Language, digits: int) -> list[str]:
    latency = entry.key.measure == LATENCY

    def figure(value: float | None) -> str:
        return "" if value is None else milliseconds(value) if latency else score(value, digits)

    noise = figure(entry.noise)
    if latency and entry.noise is not None:  # that of their logarithm: shown as the share that it is
        noise = percent(math.expm1(entry.noise), 0)
    return [
        visible(str(entry.key)),
        say("monitor.phase_alarm" if entry.alarm else f"monitor.phase_{entry.phase}", language),
        figure(entry.value),
        figure(entry.reference),
        noise,
        "" if entry.evidence is None else score(entry.evidence, 1),
        "" if entry.needed is None else score(entry.needed, 1),
    ]
