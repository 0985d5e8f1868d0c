"""A measure over time: for the terminal, for programs, and as a page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.chart_theme import FONT
from rankgauge.reports.tables import Table, render_csv
from rankgauge.words.visible import visible
from rankgauge.words import Language

__all__ = ["WORDS", "Series", "render_trend", "series_of", "trend_csv", "trend_data", "trend_html"]

_PLOT = (16, 60)
"""Least and greatest width of the drawn intervals."""
WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "title": "{measure} over time",
        "axis": "{measure}, mean with its interval",
        "time": "time (UTC)",
        "series": "series",
        "mean": "mean",
        "interval": "interval",
        "queries": "queries",
        "commit": "commit",
        "test_set": "other test set",
        "contract": "other contract",
        "both": "other test set and contract",
        "broken": "At each break the test set or the contract changed: means before and after it are not the same "
        "quantity, and their difference says nothing about the system.",
    },
    "zh": {
        "title": "{measure} 随时间的变化",
        "axis": "{measure}：均值及其置信区间",
        "time": "时间（UTC）",
        "series": "序列",
        "mean": "均值",
        "interval": "置信区间",
        "queries": "查询数",
        "commit": "提交",
        "test_set": "测试集已更换",
        "contract": "契约已更换",
        "both": "测试集和契约已更换",
        "broken": "断开处测试集或契约发生了变化：前后的均值不是同一个量，其差值不能说明系统的变化。",
    },
}


@dataclass(frozen=True)
class Series:
    """The points of one system (under one label, where there are several), oldest first."""

    name: str
    points: Sequence[Point]
    breaks: Mapping[int, str]
    """Index of a point: what differs from the point before it, `test_set`, `contract` or `both`."""


def series_of(points: Sequence[Point]) -> list[Series]:
    """Points by system; points with different labels are different series."""
    several = len({point.label for point in points}) > 1
    found: dict[str, list[Point]] = {}
    for point in points:
        name = f"{point.label} · {point.system}" if several and point.label else point.system
        found.setdefault(name, []).append(point)
    return [Series(name, listed, _breaks(listed)) for name, listed in found.items()]


def _breaks(points: Sequence[Point]) -> dict[int, str]:
    breaks = {}
    for i in range(1, len(points)):
        test_set = points[i].test_set != points[i - 1].test_set
        contract = points[i].contract != points[i - 1].contract
        if test_set or contract:
            breaks[i] = "both" if test_set and contract else "test_set" if test_set else "contract"
    return breaks


def render_trend(
    points: Sequence[Point],
    *,
    digits: int = 4,
    language: Language = "en",
    width: int | None = None,
    color: bool = False,
) -> str:
    """One line for each point, with its interval drawn to the scale of all lines; breaks are lines of their own."""
    words, listed = WORDS[language], series_of(points)
    low, high = _scale(points)
    pieces = []
    for series in listed:
        rows = [_cells(point, digits) for point in series.points]
        if width is not None and width - _left(rows) < _PLOT[0]:  # narrow: the drawing tells the interval
            rows = [row[:-1] for row in rows]
        widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
        left = _left(rows)
        room = max(_PLOT[0], min(_PLOT[1], (width or 100) - left))
        head = visible(f"{points[0].measure}, {series.name}")
        ends = f"{low:.{digits}f}", f"{high:.{digits}f}"
        blank = " " * max(1, room - len(ends[0]) - len(ends[1]))
        lines = [f"\x1b[1m{head}\x1b[0m" if color else head]
        lines.append(" " * left + ends[0] + blank + ends[1])
        for i, (point, row) in enumerate(zip(series.points, rows, strict=True)):
            if i in series.breaks:
                lines.append(f"── {words[series.breaks[i]]} ──")
            cells = "   ".join(
                cell.ljust(w) if j < 2 else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            lines.append(f"{cells}   {_drawn(point, low, high, room)}".rstrip())
        pieces.append("\n".join(lines) + "\n")
    if any(series.breaks for series in listed):
        pieces.append(words["broken"] + "\n")
    return "\n".join(pieces)


def _left(rows: Sequence[Sequence[str]]) -> int:
    """The width of all columns before the drawing."""
    return sum(max(len(row[j]) for row in rows) + 3 for j in range(len(rows[0])))


def _cells(point: Point, digits: int) -> list[str]:
    interval = "" if point.low is None or point.high is None else f"[{point.low:.{digits}f}, {point.high:.{digits}f}]"
    return [shown(point.created), f"#{point.record_id}", f"{point.value:.{digits}f}", interval]


def _scale(points: Sequence[Point]) -> tuple[float, float]:
    """From the least to the greatest value drawn."""
    values = [value for p in points for value in (p.value, p.low, p.high) if value is not None]
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _drawn(point: Point, low: float, high: float, room: int) -> str:
    """├────●────┤ at its place between low and high."""

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (room - 1))

    line = [" "] * room
    if point.low is not None and point.high is not None:
        first, last = place(point.low), place(point.high)
        line[first : last + 1] = "─" * (last + 1 - first)
        line[first], line[last] = "├", "┤"
    line[place(point.value)] = "●"
    return "".join(line)


def trend_data(points: Sequence[Point]) -> dict[str, Any]:
    """The trend for programs: series of points, each point with what changed before it."""
    return {
        "measure": points[0].measure,
        "series": [
            {
                "name": series.name,
                "system": series.points[0].system,
                "label": series.points[0].label,
                "points": [
                    {
                        "record": point.record_id,
                        "uid": point.uid,
                        "created": point.created.isoformat(),
                        "value": point.value,
                        "low": point.low,
                        "high": point.high,
                        "queries": point.queries,
                        "git": point.git,
                        "test_set": point.test_set,
                        "contract": point.contract,
                        "changed": series.breaks.get(i),
                    }
                    for i, point in enumerate(series.points)
                ],
            }
            for series in series_of(points)
        ],
    }


def trend_csv(points: Sequence[Point]) -> str:
    """One row for each point, with all the digits of its figures."""
    rows = []
    for series in series_of(points):
        for i, point in enumerate(series.points):
            ends = ["" if end is None else repr(end) for end in (point.low, point.high)]
            rows.append(
                [
                    str(point.record_id),
                    point.created.isoformat(),
                    point.label or "",
                    point.system,
                    point.measure,
                    repr(point.value),
                    *ends,
                    str(point.queries),
                    point.git or "",
                    series.breaks.get(i, ""),
                ]
            )
    header = ["record", "created", "label", "system", "measure", "value", "low", "high", "queries", "git", "changed"]
    return render_csv(Table(header, rows))


def trend_html(points: Sequence[Point], svg: str, *, digits: int = 4, language: Language = "en") -> str:
    """One page that needs nothing else: the chart as it was drawn, and every point below it."""
    words = WORDS[language]
    title = html.escape(words["title"].format(measure=points[0].measure))
    heads = "".join(f"<th>{words[key]}</th>" for key in ("time", "series", "mean", "interval", "queries", "commit"))
    body = []
    for series in series_of(points):
        for i, point in enumerate(series.points):
            if i in series.breaks:
                body.append(f'<tr class="break"><td colspan="7">{words[series.breaks[i]]}</td></tr>')
            number, (time, _, value, interval) = point.record_id, _cells(point, digits)
            cells = (time, series.name, value, interval, str(point.queries), (point.git or "")[:8])
            body.append(f"<tr><td>#{number}</td>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>")
    note = f"<p>{words['broken']}</p>" if 'class="break"' in "".join(body) else ""
    return f"""<!doctype html>
<html lang="{"zh-CN" if language == "zh" else "en"}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
body {{ font: 15px/1.5 {FONT}; color: #1c2430; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
svg {{ max-width: 100%; height: auto }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #e6e9ee }}
.break td {{ color: #566072; font-style: italic }}
</style></head>
<body><h1>{title}</h1>
{svg}
{note}
<table><thead><tr><th>#</th>{heads}</tr></thead>
<tbody>
{chr(10).join(body)}
</tbody></table></body></html>
"""
