"""Charts fitted to the width of a file: long names take several lines instead of being cut.

`templates/charts.js` does the same for the width of a page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankgauge.reports.chart_specs import LINE, Chart, Spec, shown
from rankgauge.reports.tables import width_of

__all__ = ["broken", "complete"]

_WIDTH = 640
"""Of what is drawn, without labels."""
_LABEL = 42
"""Columns of a label beside a forest plot."""
_COLUMN = 6.7
"""Pixels of a column of text at the size of labels."""
_TITLE_COLUMN = 8.2
_TEXT_LINE = 14
_LINES = 4
"""A name that takes more lines is cut."""
_BREAK = re.compile(r"(?<=[\s\-_/·:\uff0c\u3001\uff08])(?=\S)|(?<=[\u3000-\u9fff\uff00-\uffef])(?=[\u3000-\u9fff])")


def broken(text: str, most: float) -> list[str]:
    """A text in lines of so many columns at most, broken between words, parts of a name or characters."""
    if width_of(text) <= most:
        return [text]
    lines, line = [], ""
    for piece in _pieces(text, int(most)):
        if line and width_of(line.rstrip() + piece.rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += piece
    lines.append(line.rstrip())
    return lines if len(lines) <= _LINES else [*lines[: _LINES - 1], f"{lines[_LINES - 1][:-1]}…"]


def _pieces(text: str, most: int) -> list[str]:
    """What may stand on a line of its own; a word that is longer than a line is cut."""
    found = []
    for piece in _BREAK.split(text):
        step = most if width_of(piece) == len(piece) else max(1, most // 2)
        found += [piece[i : i + step] for i in range(0, len(piece), step)] if width_of(piece) > most else [piece]
    return found


def _label(text: str) -> list[str]:
    """A label beside a plot; each name of a pair has its own lines."""
    names = text.replace(" − ", " −\n").split("\n") if width_of(text) > _LABEL else [text]
    return [line for name in names for line in broken(name, _LABEL)]


def complete(chart: Chart) -> Spec:
    """A chart with title and data, to be drawn as a file."""
    spec, rows = dict(chart.spec), shown(chart.rows)
    if spec.get("height") == {"step": LINE}:
        longest = 1
        for row in rows:
            lines = _label(row["label"])
            row["label"] = "\n".join(lines)
            longest = max(longest, len(lines))
        spec["height"] = {"step": max(LINE, _TEXT_LINE * longest + 12)}
    if "facet" in spec:
        spec["spec"] = {**spec["spec"], "width": _WIDTH}
    else:
        spec.setdefault("width", _WIDTH)
    height = spec.get("height")
    room = {"x": spec.get("width", _WIDTH), "y": height if isinstance(height, int) else _WIDTH}
    below = {"subtitle": broken(chart.about, room["x"] / _COLUMN)} if chart.about else {}
    title = {"text": broken(chart.title, room["x"] / _TITLE_COLUMN), **below}
    found: Spec = {"title": title, **_titled(spec, room), "data": {"name": "rows", "values": rows}}
    return found


def _titled(value: Any, room: Mapping[str, float], axis: str = "") -> Any:
    """Titles of axes in as many lines as they take, and legends in as many columns as there is room for."""
    if isinstance(value, list):
        return [_titled(entry, room) for entry in value]
    if not isinstance(value, dict):
        return value
    found = {key: _titled(entry, room, key) for key, entry in value.items()}
    if axis in room and isinstance(found.get("title"), str):
        lines = broken(found["title"], room[axis] / _COLUMN)
        found["title"] = lines if len(lines) > 1 else lines[0]
    legend = found.get("legend")
    if axis == "color" and isinstance(legend, dict) and "columns" in legend:
        longest = max(map(width_of, found["scale"]["domain"]), default=1)
        most = max(1, int(room["x"] // (longest * _COLUMN + 36)))
        found["legend"] = {**legend, "columns": min(legend["columns"], most)}
    return found
