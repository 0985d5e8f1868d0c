"""The chart of a measure over time."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from rankgauge.history.rows import Point
from rankgauge.history.times import shown
from rankgauge.reports.chart_specs import Chart, Row, Spec, colors, counted, plain, rounded, spec_of, words_of
from rankgauge.reports.series import Marks, series_of
from rankgauge.reports.tables import width_of
from rankgauge.words import Language, say

__all__ = ["trend_chart"]

_MARKED = 80
"""Up to so many points each has its mark."""
_HELD = 0.04
"""Of the time shown, for which the newest interval is held."""
_HEIGHT = 320
_LABEL_LINE = 16
_PADDING = 4
"""Two pixels more for each column of a label right of the plot, for a browser may have a wider font."""


def trend_chart(
    points: Sequence[Point], language: Language = "en", digits: int = 4, marks: Marks | None = None
) -> Chart:
    """The chart: for each series its means and intervals, each held until the next record, interrupted where the
    quantity changed; with the lines it is held against, and what changed significantly."""
    words, listed, marks = words_of(language), series_of(points), marks or Marks()
    hold = (points[-1].created - points[0].created) * _HELD or datetime.timedelta(hours=12)
    rows: list[Row] = []
    for number, series in enumerate(listed):
        name, part = plain(series.name), 0
        for i, point in enumerate(series.points):
            if i in series.breaks:
                between = point.created - (point.created - series.points[i - 1].created) / 2
                rows.append(rows[-1] | {"kind": "end", "created": _stamp(between)})
                part += 1
                why = say(f"report.trend_{series.breaks[i]}", language)
                rows.append({"kind": "break", "created": _stamp(between), "series": name, "why": why})
            rows.append(_point(point, language, marks) | {"series": name, "part": f"{number}-{part}"})
        rows.append(rows[-1] | {"kind": "end", "created": _stamp(series.points[-1].created + hold)})
    rows += _level_rows(points, marks, hold, language, digits)
    measure = plain(points[0].measure)
    spec = _spec(rows, [plain(series.name) for series in listed], measure, points, language, digits)
    about = counted((point.queries for point in points), language, points[0].measure)
    return Chart("trend", words("trend", measure=measure), spec, rows, 320, points[0].measure, about)


def _point(point: Point, language: Language, marks: Marks) -> Row:
    change, words = marks.change(point), words_of(language)
    shown_change = words("gain" if change.verdict == "better" else "loss") if change and change.significant else None
    return {
        "kind": "point",
        "created": _stamp(point.created),
        "value": rounded(point.value),
        "low": rounded(point.low),
        "high": rounded(point.high),
        "change": shown_change,
        "time": shown(point.created),
        "record": f"#{point.record_id}",
        "n": point.queries,
        "commit": (point.git or "–")[:8],
    }


def _level_rows(
    points: Sequence[Point], marks: Marks, hold: datetime.timedelta, language: Language, digits: int
) -> list[Row]:
    """Baselines and targets; their labels stand right of the plot, one above the other where they would meet."""
    values = [value for point in points for value in (point.value, point.low, point.high) if value is not None]
    values += [level.value for level in marks.levels]
    apart = (max(values) - min(values)) * _LABEL_LINE / _HEIGHT
    rows: list[Row] = []
    place = -math.inf
    for level in sorted(marks.levels, key=lambda level: level.value):
        place = max(level.value, place + apart)
        ends = {"created": _stamp(level.first.created), "until": _stamp(level.last.created + hold)}
        number = f"{level.value:.{digits}f}".replace("-", "−")
        word = plain(say(level.words.key, language, **{**level.words.parameters, "value": number}))
        rows.append({"kind": level.kind, "value": rounded(level.value), "place": rounded(place), "word": word} | ends)
    return rows


def _stamp(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")


def _spec(
    rows: Sequence[Row], names: list[str], measure: str, points: Sequence[Point], language: Language, digits: int
) -> Spec:
    span = points[-1].created - points[0].created
    spec = spec_of(
        "trend",
        language,
        digits,
        axis=words_of(language)("trend_axis", measure=measure),
        form="%Y-%m-%d" if span > datetime.timedelta(days=4) else "%m-%d %H:%M",
        names=names,
        colors=colors(names),
        legend={"columns": min(4, len(names))} if len(names) > 1 else None,
        size=8 if len(points) > _MARKED * len(names) else 50,
    )
    drawn = {row["kind"] for row in rows} | {"change" for row in rows if row.get("change")}
    labels = max((width_of(row["word"]) for row in rows if "word" in row), default=0)
    spec["padding"] = dict.fromkeys(("left", "top", "bottom"), _PADDING) | {"right": _PADDING + 2 * labels}
    # What is not there has no layer, so that no legend tells of it.
    return spec | {"layer": [layer for layer in spec["layer"] if drawn & set(layer["name"].split("-"))]}
