"""The first screen of a report: the decision or the means, what was tuned, and remarks."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.record import Record
from rankgauge.reports.columns import LATER, answer, head_of, in_order, scale_of, time_columns, times_of, value_of
from rankgauge.reports.document import (
    Block,
    Cell,
    Column,
    Drawn,
    Notes,
    Paragraph,
    Reading,
    Table,
    Target,
    word,
)
from rankgauge.reports.remarks import remarks_of
from rankgauge.words import Note

__all__ = ["answer_part"]


def answer_part(record: Record) -> Iterator[Block]:
    """What a reader sees first."""
    if record.comparison is None or not record.comparison.rows:
        yield from _evaluated(record)
        yield from _tuned(record)
    else:
        from rankgauge.reports.leaderboard import changed_part, leaderboard_part  # which a table of means does without

        yield from leaderboard_part(record, record.comparison)
        yield from _tuned(record)
        yield from changed_part(record, record.comparison)
    if any(system.no_answer is not None for system in record.systems):
        from rankgauge.reports.no_answer import no_answer_lines  # most test sets have none

        yield from no_answer_lines(record)
    if record.losses:
        from rankgauge.reports.losses import losses_lines

        yield from losses_lines(record)
    remarks = remarks_of(record)
    if remarks:
        yield Notes(remarks, answer("remarks", n=len(remarks)), bulleted=True, folded=True)


def _tuned(record: Record) -> Iterator[Block]:
    if record.sweeps:
        from rankgauge.reports.calls import tuned_notes

        notes = list(tuned_notes(record))
        if notes:
            yield Notes(notes)


def _evaluated(record: Record) -> Iterator[Block]:
    """Means of one system with what they say, or of several, best first."""
    if not record.measures:
        return
    if len(record.systems) != 1:
        if record.systems:
            first = record.measures[0].name
            counts = [system.means[first].queries for system in record.systems]
            if min(counts) == max(counts):
                yield Paragraph(answer("evaluated_all", n=max(counts), measure=first), "lead")
            else:
                yield Paragraph(answer("evaluated_apart", least=min(counts), n=max(counts), measure=first), "lead")
            yield _standing(record)
            yield Paragraph(answer("compare"), "hint")
        return
    (system,) = record.systems
    queries = max(mean.queries for mean in system.means.values())
    turns = next((note for note in system.notes if note.key == "conversations.clustered"), None)
    lead = answer("evaluated", system=system.name, n=queries)
    if turns is not None:
        lead = Note("conversations.evaluated", {**turns.parameters, "system": system.name, "n": queries})
    yield Paragraph(lead, "lead")
    rows: list[tuple[Cell, ...]] = []
    for about in record.measures:
        mean = system.means[about.name]
        ends = None if mean.interval is None else (mean.interval.low, mean.interval.high)
        rows.append((about.name, value_of(about, mean.value), ends, Reading(about.name, mean.value)))
    level = _level(record)
    columns = [
        Column(word("measure")),
        Column(word("mean"), "score"),
        Column(word("interval", level=level), "score"),
        Column(answer("means")),
    ]
    targets = [Target(about.name, system.name) for about in record.measures]
    yield Table("answer", columns, rows, light=True, leads_to=targets)


def _standing(record: Record) -> Table:
    """Systems by their first measure, with its interval drawn: no verdict, for nothing was tested."""
    first, *others = record.measures
    systems = in_order(record, first)
    intervals = {system.name: system.means[first.name].interval for system in systems}
    ends = {name: (own.low, own.high) for name, own in intervals.items() if own is not None}
    scale = scale_of([*ends.values()], [system.means[first.name].value for system in systems])
    counts = {system.name: system.means[first.name].queries for system in systems}
    apart = len({*counts.values()}) > 1  # means of other queries are not held against each other unseen
    rows = [
        (
            system.name,
            value_of(first, system.means[first.name].value),
            Drawn(system.means[first.name].value, ends.get(system.name), scale),
            *([counts[system.name]] if apart else []),
            *(value_of(about, system.means[about.name].value) for about in others),
            *times_of(record, system),
        )
        for system in systems
    ]
    columns = [
        Column(word("system")),
        head_of(first),
        Column(word("interval", level=_level(record)), "plot", drop=1),
        *([Column(word("queries"), "count")] if apart else []),
        *(head_of(about, LATER + i) for i, about in enumerate(others)),
        *time_columns(record),
    ]
    targets = [Target(first.name, system.name) for system in systems]
    return Table("leaderboard", columns, rows, light=True, leads_to=targets)


def _level(record: Record) -> float:
    found = (mean.interval for system in record.systems for mean in system.means.values())
    return next((interval.level for interval in found if interval is not None), 0.95)
