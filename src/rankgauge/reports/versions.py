"""The first screen of a sweep: the version to take, and the best of them with their intervals drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankgauge.record import Record, Version
from rankgauge.reports.calls import mark_of, sweep_notes, tuned_notes
from rankgauge.reports.calls_charts import parameters_text
from rankgauge.reports.chunk_sweeps import chunk_notes
from rankgauge.reports.columns import scale_of
from rankgauge.reports.document import Block, Cell, Column, Drawn, Notes, Paragraph, Table, table_of, word
from rankgauge.reports.evaluation import ends_of
from rankgauge.words import Note

__all__ = ["versions_part"]

_SHOWN = 12


def versions_part(record: Record) -> Iterator[Block]:
    """What a reader of a sweep sees first."""
    (sweep,) = record.sweeps
    lead = list(tuned_notes(record))
    yield from (Paragraph(note, "lead") for note in lead)
    sign = 1 if sweep.lower_is_better else -1
    yield _table(record, sorted(sweep.versions, key=lambda version: sign * version.mean)[:_SHOWN])
    if len(sweep.versions) > _SHOWN:
        yield Paragraph(word("more_versions", n=len(sweep.versions) - _SHOWN), "hint")
    # The first note says once more which is the best.
    yield Notes([*chunk_notes(record, sweep), *list(sweep_notes(sweep))[bool(lead) :]])


def _table(record: Record, versions: list[Version]) -> Table:
    (sweep,) = record.sweeps
    ends = {version.label: ends_of(version.interval) for version in versions}
    scale = scale_of([pair for pair in ends.values() if pair], [version.mean for version in versions])
    level = next((version.interval.level for version in versions if version.interval is not None), 0.95)
    columns: list[tuple[Column, Callable[[Version], Cell]]] = [
        (Column(word("version")), lambda version: version.label),
        (Column(word("parameters")), lambda version: parameters_text(version.parameters)),
        (Column(sweep.measure, "score"), lambda version: version.mean),
        (
            Column(word("interval", level=level), "plot", drop=1),
            lambda version: Drawn(version.mean, ends[version.label], scale),
        ),
        (Column(word("mark")), lambda version: mark_of(version, sweep)),
    ]
    if any(version.chunks is not None for version in versions):
        columns.append((Column(Note("chunks.column"), "figure", drop=3), lambda version: version.chunks))
    if any(version.p50 is not None for version in versions):
        columns.append((Column(word("p50"), "latency", drop=2), lambda version: version.p50))
    if any(version.ann_recall is not None for version in versions):
        columns.append((Column(word("ann_recall"), "score", drop=3), lambda version: version.ann_recall))
    return table_of("versions", versions, columns, light=True)
