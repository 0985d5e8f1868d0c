"""What a check came to, for the log."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.monitoring.loop.ingest import Ingested
from rankgauge.monitoring.loop.observing import Observation
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["describe", "scores_of"]


def describe(seen: Observation, done: Ingested) -> Iterator[Note]:
    """The check in the log."""
    number = done.number
    for system in done.anew:
        yield Note("monitor.anew", {"system": system, "number": number})
    for system in done.unheld:
        yield Note("monitor.unheld", {"system": system})
    for system in done.mended:
        yield Note("monitor.mended", {"system": system, "number": number})
    if done.status == "abandoned":
        yield Note("monitor.repeated", {"number": number})
    elif done.status == "invalid":
        reasons = [
            Note("monitor.system_reason", {"system": system, "reason": reason})
            for system, reason in seen.invalid.items()
        ]
        yield Note("monitor.invalid", {"number": number, "reasons": reasons})
    elif seen.record is None:
        yield Note("monitor.nothing", {"number": number})
    else:
        figures = [
            Note("monitor.figure", {"series": str(key), "value": last.value})
            for watch in done.watches.values()
            for key, last in watch.last.items()
            if watch.kind_of(key) == "quality"
        ]
        yield Note("monitor.done", {"number": number, "figures": figures})
        for system, reason in seen.invalid.items():
            yield Note("monitor.partly", {"number": number, "system": system, "reason": reason})
    for key, titles in (("opened", done.opened), ("closed", done.closed), ("ended", done.ended)):
        for title in titles:
            yield Note(f"monitor.{key}", {"title": title})


def scores_of(record: Record | None) -> list[Note]:
    """The means of a record, for a check that went no further."""
    if record is None:
        return [Note("monitor.no_score")]
    return [
        Note("monitor.figure", {"series": f"{system.name} {measure}", "value": mean.value})
        for system in record.systems
        for measure, mean in system.means.items()
    ]
