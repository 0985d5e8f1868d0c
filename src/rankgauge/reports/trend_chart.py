"""The chart of a measure over time."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.chart_specs import Chart, Row, Spec, colors, interval_text, plain, rounded
from rankgauge.reports.chart_theme import GREY, words_of
from rankgauge.reports.series import series_of
from rankgauge.words import Language, say

__all__ = ["trend_chart"]

_MARKED = 80
"""Up to so many points each has its mark."""


def trend_chart(points: Sequence[Point], language: Language = "en") -> Chart:
    """The chart: a line with a band for each series, interrupted where the quantity changed."""
    words, listed = words_of(language), series_of(points)
    rows: list[Row] = []
    for number, series in enumerate(listed):
        part = 0
        for i, point in enumerate(series.points):
            name = plain(series.name)
            if i in series.breaks:
                part += 1
                why = say(f"report.trend_{series.breaks[i]}", language)
                before = series.points[i - 1].created
                between = before + (point.created - before) / 2
                rows.append({"kind": "break", "created": _stamp(between), "series": name, "why": why})
            rows.append(
                {
                    "kind": "point",
                    "created": _stamp(point.created),
                    "series": name,
                    "part": f"{number}-{part}",
                    "value": rounded(point.value),
                    "low": rounded(point.low),
                    "high": rounded(point.high),
                    "time": shown(point.created),
                    "record": f"#{point.record_id}",
                    "n": point.queries,
                    "commit": (point.git or "–")[:8],
                }
            )
    measure = plain(points[0].measure)
    spec = _spec(rows, [plain(series.name) for series in listed], measure, points, language)
    return Chart("trend", words("trend", measure=measure), spec, rows, 320, points[0].measure)


def _stamp(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")


def _spec(rows: Sequence[Row], names: list[str], measure: str, points: Sequence[Point], language: Language) -> Spec:
    words = words_of(language)
    span = points[-1].created - points[0].created
    form = "%Y-%m-%d" if span > datetime.timedelta(days=4) else "%m-%d %H:%M"
    x: Spec = {
        "field": "created",
        "type": "temporal",
        "title": words("time"),
        "scale": {"type": "utc", "padding": 14},
        "axis": {"format": form, "grid": False, "labelOverlap": True, "labelSeparation": 8},
    }
    y: Spec = {
        "type": "quantitative",
        "title": words("trend_axis", measure=measure),
        "scale": {"zero": False, "nice": True, "padding": 6},
    }
    color = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": colors(names)},
        "legend": {"columns": min(4, len(names))} if len(names) > 1 else None,
    }
    detail = {"field": "part", "type": "nominal"}
    many = len(points) > _MARKED * len(names)
    parts: dict[str, int] = {}
    for row in rows:
        if row["kind"] == "point":
            parts[row["part"]] = parts.get(row["part"], 0) + 1
    single = [part for part, count in parts.items() if count == 1]  # a band needs two points; one has a bar
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "area", "opacity": 0.16, "line": False},
            "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}, "detail": detail},
        },
        {
            "transform": [
                {"filter": "isValid(datum.low) && isValid(datum.high)"},
                {"filter": {"field": "part", "oneOf": single}},
            ],
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.35, "strokeCap": "round"},
            "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"y": {"field": "value", **y}, "detail": detail},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 8 if many else 50, "opacity": 1},
            "encoding": {
                "y": {"field": "value", **y},
                "tooltip": [
                    {"field": "record", "title": "#"},
                    {"field": "time", "title": words("time")},
                    {"field": "series", "title": words("series")},
                    {"field": "value", "title": words("average"), "format": ".4f"},
                    {"field": "interval", "title": words("interval")},
                    {"field": "n", "title": words("n")},
                    {"field": "commit", "title": words("commit")},
                ],
            },
        },
    ]
    drawn = {
        "transform": [{"filter": "datum.kind === 'point'"}, interval_text(".4f")],
        "encoding": {"x": x, "color": color},
        "layer": layers,
    }
    broken: list[Spec] = [
        {
            "transform": [
                {"filter": "datum.kind === 'break'"},
                {"aggregate": [{"op": "count", "as": "count"}], "groupby": ["created", "why"]},
            ],
            "encoding": {"x": x},
            "layer": [
                {"mark": {"type": "rule", "color": GREY, "strokeWidth": 1.5, "strokeDash": [5, 4]}},
                {
                    "mark": {"type": "text", "align": "left", "dx": 5, "dy": 4, "color": GREY, "fontSize": 11},
                    "encoding": {"text": {"field": "why"}, "y": {"value": 4}},
                },
            ],
        }
    ]
    return {"height": 320, "layer": [*(broken if any(row["kind"] == "break" for row in rows) else []), drawn]}
