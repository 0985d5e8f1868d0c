"""A measure over time as a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.document import (
    Block,
    Cell,
    Charts,
    Column,
    Drawn,
    Marked,
    Paragraph,
    Report,
    Table,
    data_table,
    word,
)
from rankgauge.reports.series import Marks, Series, series_of
from rankgauge.words import Language, Note

if TYPE_CHECKING:
    from rankgauge.reports.chart_specs import Chart

__all__ = ["trend_report"]


def trend_report(points: Sequence[Point], marks: Marks | None = None) -> Report:
    """A chart, and a table for each series with its intervals drawn to one scale; breaks are rows of their own."""
    measure, listed = points[0].measure, series_of(points)
    scale = _scale(points)
    marks = marks or Marks()
    blocks: list[Block] = [Charts("trend", _caption(points, marks), partial(_charts, points, marks=marks))]
    for number, series in enumerate(listed, start=1):
        rows: list[Sequence[Cell]] = []
        for i, point in enumerate(series.points):
            if i in series.breaks:
                rows.append((word(f"trend_{series.breaks[i]}"),))
            rows.append(_cells(point, scale, marks))
        title = word("trend_series", measure=measure, series=series.name)
        blocks.append(Table(f"trend-{number}", _COLUMNS, rows, title))
    if any(series.breaks for series in listed):
        blocks.append(Paragraph(word("trend_broken")))
    return Report(word("trend", measure=measure), blocks, data={"trend": _data(listed)})


_COLUMNS = [
    Column(word("time")),
    Column("#"),
    Column(word("mean"), "score", "mean"),
    Column(word("interval", level=0.95), "score", under="mean"),
    Column(word("trend_change"), "signed", detail="audit"),
    Column("", detail="audit"),
    Column(word("queries"), "count", detail="audit"),
    Column(word("commit"), detail="audit"),
    Column("", "plot"),
]


def _caption(points: Sequence[Point], marks: Marks) -> Note:
    """What is drawn, and nothing else; lines are labelled in the drawing."""
    told = [word("trend_chart", measure=points[0].measure)]
    if any(series.breaks for series in series_of(points)):
        told.append(word("trend_breaks"))
    if any(change.significant for change in marks.changes.values()):
        told.append(word("trend_changes"))
    if not marks.tested:
        told.append(word("trend_untested", n=len(points)))
    text = told[0]
    for note in told[1:]:
        text = word("two_sentences", first=text, second=note)
    return text


def _charts(points: Sequence[Point], language: Language, digits: int, *, marks: Marks) -> list[Chart]:
    from rankgauge.reports.trend_chart import trend_chart

    return [trend_chart(points, language, digits, marks)]


def _ends(point: Point) -> tuple[float, float] | None:
    return None if point.low is None or point.high is None else (point.low, point.high)


def _cells(point: Point, scale: tuple[float, float], marks: Marks) -> tuple[Cell, ...]:
    ends, change = _ends(point), marks.change(point)
    known = (shown(point.created), f"#{point.record_id}", point.value, "" if ends is None else ends)
    mark = (
        Marked((Note("chart.gain" if change.verdict == "better" else "chart.loss"),), change.verdict)
        if change and change.significant
        else ""
    )
    tested = ("" if change is None else change.difference, mark)
    return *known, *tested, point.queries, (point.git or "")[:8], Drawn(point.value, ends, scale)


def _scale(points: Sequence[Point]) -> tuple[float, float]:
    """From the least to the greatest value drawn."""
    values = [value for p in points for value in (p.value, p.low, p.high) if value is not None]
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _data(listed: Sequence[Series]) -> Table:
    """One row for each point, with all the digits of its figures."""
    heads = ("record", "created", "label", "system", "measure", "value", "low", "high", "queries", "git", "changed")
    return data_table("trend", [entry for series in listed for entry in series.entries(heads)], "exact")
