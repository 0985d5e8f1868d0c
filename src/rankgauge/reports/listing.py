"""The records of a history as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.history.rows import Mean, Stored
from rankgauge.history.times import shown
from rankgauge.reports.document import Cell, Column, Table, word

__all__ = ["listed", "listing_table"]

_COLUMNS = 3


def listing_table(
    records: Sequence[Stored],
    means: Mapping[int, Sequence[Mean]],
    baselines: Mapping[int, Sequence[str]],
    *,
    measures: Sequence[str] = (),
    system: str | None = None,
) -> Table:
    """One line for each system of each record; what they share stands on the first. Empty columns are left out."""
    columns = list(measures) or _first(records, means)
    lines: list[dict[str, Cell]] = []
    for record in records:
        values: dict[str, dict[str, float]] = {}
        for mean in means.get(record.id, ()):
            if system in (None, mean.system):
                values.setdefault(mean.system, {})[mean.measure] = mean.value
        head: dict[str, Cell] = {
            "id": str(record.id),
            "time": shown(record.created),
            "label": record.label or "",
            "commit": (record.git or "")[:8],
            "baseline_of": ", ".join(baselines.get(record.id, ())),
        }
        for name, own in values.items() or {"": {}}.items():
            lines.append({**head, "system": name, **{measure: own.get(measure) for measure in columns}})
            head = {}
    shown_first = [key for key in ("id", "time", "label", "system") if key != "label" or any(r.label for r in records)]
    shown_last = [key for key in ("commit", "baseline_of") if any(line.get(key) for line in lines)]
    keys = [*shown_first, *shown_last, *columns]
    named = [Column(word(key) if key != "id" else key) for key in (*shown_first, *shown_last)]
    rows = [[line.get(key, "") for key in keys] for line in lines]
    return Table("records", [*named, *(Column(measure, "score") for measure in columns)], rows)


def _first(records: Sequence[Stored], means: Mapping[int, Sequence[Mean]]) -> list[str]:
    """The first measures of the records shown."""
    return list(dict.fromkeys(mean.measure for record in records for mean in means.get(record.id, ())))[:_COLUMNS]


def listed(record: Stored, means: Sequence[Mean], baselines: Sequence[str]) -> dict[str, Any]:
    """A record of the list, for programs."""
    systems: dict[str, dict[str, Any]] = {}
    for mean in means:
        entry = {"value": mean.value, "low": mean.low, "high": mean.high, "queries": mean.queries}
        systems.setdefault(mean.system, {})[mean.measure] = entry
    known = {name: value for name, value in vars(record).items() if name not in ("new", "labelled")}
    times = {"created": record.created.isoformat(), "stored": record.stored.isoformat()}
    return {**known, **times, "baselines": list(baselines), "means": systems}
