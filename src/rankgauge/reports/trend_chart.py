"""The chart of a measure over time."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.chart_specs import Chart, Row, Spec, colors, plain, rounded, spec_of, words_of
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
    span = points[-1].created - points[0].created
    parts = Counter(row["part"] for row in rows if row["kind"] == "point")
    spec = spec_of(
        "trend",
        language,
        axis=words_of(language)("trend_axis", measure=measure),
        form="%Y-%m-%d" if span > datetime.timedelta(days=4) else "%m-%d %H:%M",
        names=names,
        colors=colors(names),
        legend={"columns": min(4, len(names))} if len(names) > 1 else None,
        single=[part for part, count in parts.items() if count == 1],  # a band needs two points; one has a bar
        size=8 if len(points) > _MARKED * len(names) else 50,
    )
    broken = any(row["kind"] == "break" for row in rows)
    return spec if broken else spec | {"layer": spec["layer"][1:]}
