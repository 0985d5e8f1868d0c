"""The means at other overlaps of chunk and passage, beside the one that was chosen."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.record import Record
from rankgauge.reports.document import Block, Cell, Column, Heading, Table, word
from rankgauge.words import Note
from rankgauge.words.numbers import plain

__all__ = ["overlap_part"]


def overlap_part(record: Record) -> Iterator[Block]:
    """One row for each system and overlap, where labels are passages."""
    found = [(system.name, system.coverage.passages) for system in record.systems if system.coverage is not None]
    resolved = [(name, passages.overlaps) for name, passages in found if passages is not None and passages.overlaps]
    if not resolved:
        return
    names = list(resolved[0][1][0].means)
    rows: list[tuple[Cell, ...]] = []
    for system, overlaps in resolved:
        for row in overlaps:
            rows.append((system, plain(row.overlap), row.in_no_chunk, *(row.means[name] for name in names)))
    columns = [Column(word("system")), Column(Note("spans.overlap")), Column(Note("spans.lost"), "count")]
    yield Heading(Note("spans.overlaps"), "overlaps")
    yield Table("overlaps", [*columns, *(Column(name, "score") for name in names)], rows, detail="evidence")
