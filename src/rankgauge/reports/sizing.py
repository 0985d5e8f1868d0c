"""How large a test set has to be, as a report."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.reports.document import Block, Cell, Column, Marked, Notes, Paragraph, Report, Table
from rankgauge.testsets.size_options import SizeOption
from rankgauge.testsets.sizing import SizePlan
from rankgauge.words import Note
from rankgauge.words.numbers import count, small

__all__ = ["size_report"]

_SHOWN = 6


def size_report(found: SizePlan) -> Report:
    """The recommendation, what else there is, and what to know."""
    return Report(Note("sizing.title"), list(_blocks(found)))


def _blocks(found: SizePlan) -> Iterator[Block]:
    yield Paragraph(found.lead, "lead", status="open" if found.recommended is None else "pass")
    yield _table(found, found.options[:_SHOWN])
    if len(found.options) > _SHOWN:
        rest = _table(found, found.options[_SHOWN:])
        yield Table("more_options", rest.columns, rest.rows, detail="evidence")
    yield Notes(found.notes)


def _table(found: SizePlan, options: list[SizeOption]) -> Table:
    judged = found.judge is not None
    columns = [
        Column(Note("sizing.by")),
        Column(Note("sizing.depth"), "count"),
        Column(Note("sizing.each"), "count"),
        Column(Note("sizing.queries"), "count"),
        *([Column(Note("sizing.checked"), "count")] if judged else []),
        Column(Note("sizing.people_labels"), "count", drop=1),
        *([Column(Note("sizing.judge_labels"), "count", detail="evidence")] if judged else []),
        Column(Note("sizing.cost"), "count"),
        Column(Note("sizing.detectable"), "count"),
        Column(Note("sizing.remark")),
    ]
    return Table("options", columns, [_row(found, option) for option in options])


def _row(found: SizePlan, option: SizeOption) -> list[Cell]:
    judged = found.judge is not None
    by: Cell = Note(f"sizing.by_{option.by}")
    depth: Cell = Note("sizing.all") if option.depth is None else option.depth
    return [
        by,
        depth,
        round(option.labels_per_query),
        option.queries,
        *([option.checked] if judged else []),
        count(option.people_labels),
        *([count(option.judge_labels)] if judged else []),
        count(option.cost) if option.cost >= 100 else f"{option.cost:.2f}",
        small(option.detectable),
        _remark(found, option),
    ]


def _remark(found: SizePlan, option: SizeOption) -> Cell:
    if not option.same_verdict:
        return Marked((Note("sizing.turns"),), "warn")
    if not option.trusted(found.difference):
        return Marked((Note("sizing.shifts", {"shift": option.shift}),), "warn")
    if not option.enough:
        return Marked((Note("sizing.too_few"),), "quiet")
    return Marked((Note("sizing.recommended"),), "better") if option is found.recommended else ""
