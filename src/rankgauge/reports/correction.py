"""Samples drawn for checking, and figures corrected by them, as reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rankgauge.reports.document import Block, Cell, Column, Marked, Notes, Pair, Paragraph, Report, Table
from rankgauge.stats.intervals import Interval
from rankgauge.testsets.correction import Corrected, CorrectedDifference
from rankgauge.testsets.sampling import Sample
from rankgauge.words import Note

__all__ = ["corrected_report", "sample_report"]

_FEW_ROWS = 6


def sample_report(sample: Sample) -> Report:
    """What was drawn, by stratum."""
    return Report(Note("correction.draw_title"), list(_sample_blocks(sample)))


def _sample_blocks(sample: Sample) -> Iterator[Block]:
    about = {"n": len(sample.drawn), "all": len(sample.strata), "pairs": len(sample.pool), "seed": sample.seed}
    yield Paragraph(Note("correction.drawn", about), "lead")
    sizes, drawn = Counter(sample.strata.values()), Counter(one.stratum for one in sample.drawn)
    yield Paragraph(Note(f"correction.drawn_by_{sample.by}", {"strata": len(sizes)}))
    if len(sizes) > 1:
        columns = [Column(Note("correction.stratum"))]
        columns += [Column(Note(f"correction.stratum_{name}"), "count") for name in ("queries", "drawn")]
        rows: list[list[Cell]] = [[str(one + 1), sizes[one], drawn[one]] for one in sorted(sizes)]
        yield Table("strata", columns, rows, light=True)
    yield Notes([Note("correction.draw_next")])


def corrected_report(found: Corrected) -> Report:
    """The decision, the differences behind it, the means, and what to know of both."""
    return Report(Note("correction.title"), list(_blocks(found)))


def _blocks(found: Corrected) -> Iterator[Block]:
    warned = any(note.level == "warning" for note in found.notes)
    first = found.differences[0].verdict if found.differences else "better"
    yield Paragraph(found.lead, "lead", status="warn" if warned else "open" if first == "inconclusive" else "pass")
    about = {"checked": found.checked, "queries": found.queries, "labels": found.labels, "strata": found.strata}
    if found.conversations is None:
        yield Paragraph(Note("correction.from", about))
    else:
        yield Paragraph(Note("correction.from_conversations", {**about, "conversations": found.conversations}))
    if found.differences:
        yield _differences(found)
    yield _means(found)
    yield Notes(found.notes)


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _differences(found: Corrected) -> Table:
    joint = "joint_interval" if len(found.differences) > 1 else "interval"
    columns = [
        Column(Note("correction.measure")),
        Column(Note("correction.pair")),
        Column(Note("correction.judge"), "signed", drop=1),
        Column(Note("correction.corrected"), "signed"),
        Column(Note(f"correction.{joint}"), "bounds"),
        Column(Note("correction.verdict")),
        Column(Note("correction.off"), "signed", detail="evidence"),
        Column(Note("correction.people"), "bounds", detail="evidence"),
        Column(Note("correction.worth"), "count", detail="evidence"),
    ]
    return Table("differences", columns, [_difference(row) for row in found.differences], light=True)


def _difference(row: CorrectedDifference) -> list[Cell]:
    own = row.estimate
    verdict = Marked((Note(f"comparison.verdict_{row.verdict}"),), row.verdict)
    worth = None if own.worth is None else round(own.worth)
    ends = _ends(own.interval)
    return [row.measure, Pair(row.a, row.b), own.judge, own.value, ends, verdict, own.bias, _ends(own.people), worth]


def _means(found: Corrected) -> Table:
    columns = [
        Column(Note("correction.measure")),
        Column(Note("correction.system")),
        Column(Note("correction.judge"), "score"),
        Column(Note("correction.corrected"), "score"),
        Column(Note("correction.interval"), "score"),
        Column(Note("correction.off"), "signed"),
        Column(Note("correction.off_interval"), "bounds", detail="evidence"),
        Column(Note("correction.people"), "score", detail="evidence"),
        Column(Note("correction.reliance"), "share", detail="evidence"),
    ]
    rows: list[list[Cell]] = []
    for row in found.means:
        own = row.estimate
        ends = [_ends(own.interval), own.bias, _ends(own.bias_interval), _ends(own.people)]
        rows.append([row.measure, row.system, own.judge, own.value, *ends, own.reliance])
    return Table("means", columns, rows, detail="answer" if len(rows) <= _FEW_ROWS else "evidence", light=True)
