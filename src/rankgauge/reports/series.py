"""Points of a history as series, and where a series stops being one quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.history.rows import Point

__all__ = ["Series", "series_of", "trend_data"]


@dataclass(frozen=True)
class Series:
    """The points of one system (under one label, where there are several), oldest first."""

    name: str
    points: Sequence[Point]
    breaks: Mapping[int, str]
    """Index of a point: what differs from the point before it, `test_set`, `contract` or `both`."""

    def entries(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The points for programs; `changed` is what changed before a point, `record` the id of its record."""
        found = []
        for i, point in enumerate(self.points):
            known = {**vars(point), "created": point.created.isoformat()}
            known |= {"record": point.record_id, "changed": self.breaks.get(i)}
            found.append({name: known[name] for name in names})
        return found


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


def trend_data(points: Sequence[Point]) -> dict[str, Any]:
    """The trend for programs: series of points, each point with what changed before it."""
    names = ("record", "created", "uid", "value", "low", "high", "queries", "git", "test_set", "contract", "changed")
    return {
        "measure": points[0].measure,
        "series": [
            {
                "name": series.name,
                "system": series.points[0].system,
                "label": series.points[0].label,
                "points": series.entries(names),
            }
            for series in series_of(points)
        ],
    }
