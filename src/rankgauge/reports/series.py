"""Points of a history as series, where a series stops being one quantity, and what it is read against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.history.rows import Point
from rankgauge.words import Note

__all__ = ["Change", "Level", "Marks", "Series", "series_of", "trend_data"]


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


@dataclass(frozen=True)
class Level:
    """A line to hold a trend against, over the points that measure the same quantity."""

    words: Note
    kind: str
    """`baseline` or `target`."""
    value: float
    first: Point
    last: Point


@dataclass(frozen=True)
class Change:
    """The difference from the record before, tested query by query; the p-value is corrected for the whole series."""

    difference: float
    p: float | None
    verdict: str
    """`better`, `worse`, or `inconclusive`."""

    @property
    def significant(self) -> bool:
        return self.verdict in ("better", "worse")


@dataclass(frozen=True)
class Marks:
    """Lines, and changes by record and system."""

    levels: Sequence[Level] = ()
    changes: Mapping[tuple[int, str], Change] = field(default_factory=dict)
    tested: bool = True
    """False where there were too many records to test them."""

    def data(self) -> dict[str, Any]:
        """For programs."""
        lines = [
            {"kind": level.kind, "value": level.value, "name": level.words.parameters.get("name")}
            for level in self.levels
        ]
        found = [
            {
                "record": number,
                "system": system,
                "difference": own.difference,
                "p_corrected": own.p,
                "verdict": own.verdict,
            }
            for (number, system), own in self.changes.items()
        ]
        return {"lines": lines, "changes": found if self.tested else None}

    def change(self, point: Point) -> Change | None:
        return self.changes.get((point.record_id, point.system))


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


def trend_data(points: Sequence[Point], marks: Marks | None = None) -> dict[str, Any]:
    """The trend for programs: series of points, each point with what changed before it; and its marks."""
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
        **({} if marks is None else marks.data()),
    }
