"""A measure over time as a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.document import Block, Cell, Charts, Column, Drawn, Paragraph, Report, Table, data_table, word
from rankgauge.reports.series import Series, series_of
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.reports.chart_specs import Chart

__all__ = ["trend_report"]


def trend_report(points: Sequence[Point]) -> Report:
    """A chart, and a table for each series with its intervals drawn to one scale; breaks are rows of their own."""
    measure, listed = points[0].measure, series_of(points)
    scale = _scale(points)
    blocks: list[Block] = [Charts("trend", word("trend_chart", measure=measure), partial(_charts, points))]
    for number, series in enumerate(listed, start=1):
        rows: list[Sequence[Cell]] = []
        for i, point in enumerate(series.points):
            if i in series.breaks:
                rows.append((word(f"trend_{series.breaks[i]}"),))
            rows.append(_cells(point, scale))
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
    Column(word("queries"), "count", detail="audit"),
    Column(word("commit"), detail="audit"),
    Column("", "plot"),
]


def _charts(points: Sequence[Point], language: Language) -> list[Chart]:
    from rankgauge.reports.trend_chart import trend_chart

    return [trend_chart(points, language)]


def _ends(point: Point) -> tuple[float, float] | None:
    return None if point.low is None or point.high is None else (point.low, point.high)


def _cells(point: Point, scale: tuple[float, float]) -> tuple[Cell, ...]:
    ends = _ends(point)
    known = (shown(point.created), f"#{point.record_id}", point.value, "" if ends is None else ends)
    return *known, point.queries, (point.git or "")[:8], Drawn(point.value, ends, scale)


def _scale(points: Sequence[Point]) -> tuple[float, float]:
    """From the least to the greatest value drawn."""
    values = [value for p in points for value in (p.value, p.low, p.high) if value is not None]
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _data(listed: Sequence[Series]) -> Table:
    """One row for each point, with all the digits of its figures."""
    heads = ("record", "created", "label", "system", "measure", "value", "low", "high", "queries", "git", "changed")
    return data_table("trend", [entry for series in listed for entry in series.entries(heads)], "exact")
