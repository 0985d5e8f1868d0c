"""What is wrong with a record although its types are right: it contradicts itself, or cannot be told."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.engine.averaging import aggregate
from rankgauge.formats.durations import in_utc
from rankgauge.measures.measure import AGGREGATES
from rankgauge.record.parts import Mean, ScoredMeasure, SystemResult
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note, has_text, tell

if TYPE_CHECKING:
    from rankgauge.record.comparison import Row

__all__ = ["LARGEST", "contradictions", "faulty_parts"]

LARGEST = 1e100
"""Larger numbers cannot be squared."""
_LARGEST_COUNT = 2**53


def contradictions(
    created: str, queries: list[str], measures: list[ScoredMeasure], systems: list[SystemResult], rows: Collection[Row]
) -> Iterator[str]:
    """What the types cannot see: a time that is none, lists of other lengths, a mean that is not its scores'."""
    try:
        in_utc(datetime.datetime.fromisoformat(created))
    except (ValueError, OverflowError):  # or one that lies beyond all years in UTC
        yield f"'created' is {created!r}, which is no time such as 2026-01-31T12:00:00+00:00"
    if not systems:
        yield "there is no system"
    query, times = next(iter(Counter(queries).most_common(1)), ("", 0))
    if times > 1:
        yield f"query {query!r} stands twice"
    names = {system.name for system in systems}
    if len(names) < len(systems):
        yield "two systems have the same name"
    for name in sorted({name for row in rows for name in (row.a, row.b)} - names):
        yield f"the comparison is of {name!r}, which is no system of the record"
    known = {about.name for about in measures}
    for name in sorted({row.measure for row in rows} - known):
        yield f"the comparison is by {name!r}, which is no measure of the record"
    for about in measures:
        if about.bounds is not None and not about.bounds[0] < about.bounds[1]:
            yield f"measure {about.name!r}: its bounds are {list(about.bounds)}"
    for system in systems:
        for about in measures:
            place = f"system {system.name!r}, {about.name}"
            told, values = system.means.get(about.name), system.per_query.get(about.name)
            counted = system.counted.get(about.name)
            n = len(queries)
            if told is None or not abs(told.value) < LARGEST:
                yield f"{place}: no mean"
            elif (n or values) and (values is None or len(values) != n):
                yield f"{place}: not {n} scores"
            elif n and counted is not None and len(counted) != n:
                yield f"{place}: not told which queries count"
            elif (outside := _outside(told.value, values, about)) is not None:
                low, high = about.bounds or (0, 0)
                yield f"{place}: {outside:.6g} lies outside its range, {low:g} to {high:g}"
            elif values and about.aggregate in AGGREGATES:
                yield from _unlike_its_scores(place, told.value, values, counted, about.aggregate)


def _outside(told: float, values: list[float] | None, about: ScoredMeasure) -> float | None:
    """A score, or a mean without scores, that the measure cannot have."""
    if about.bounds is None:
        return None
    low, high = about.bounds
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    looked_at = values or ([told] if about.aggregate == "mean" else [])
    return next((value for value in looked_at if not low - slack <= value <= high + slack), None)


def _unlike_its_scores(
    place: str, told: float, values: list[float], counted: list[bool] | None, how: str
) -> Iterator[str]:
    kept = np.array(values, dtype=np.float64)
    kept = kept if counted is None else kept[np.array(counted, dtype=bool)]
    if not (np.abs(kept) < LARGEST).all():
        yield f"{place}: a score is no number"
    elif len(kept) and not math.isclose(found := aggregate(how, kept), told, rel_tol=1e-9, abs_tol=1e-12):
        what = {"geometric": "geometric mean"}.get(how, how)
        yield f"{place}: the {what} is {told:.6g}, its scores' {found:.6g}"


def faulty_parts(value: Any, place: str = "") -> Iterator[str]:
    """Intervals, counts and notes anywhere in a record that cannot be."""
    if isinstance(value, Note):
        yield from _untold(value, place)
        return
    if isinstance(value, int) and abs(value) > _LARGEST_COUNT:
        yield f"{place}: the number is too large"
    elif isinstance(value, Interval):
        if not (value.low <= value.high and 0 < value.level < 1):
            yield f"{place}: {value.low:g} to {value.high:g} at {value.level:g} is no interval"
    elif isinstance(value, Mean) and value.queries < 0:
        yield f"{place}: a mean of {value.queries} queries"
    if isinstance(value, list) and value and not isinstance(value[0], str | float | bool):
        for number, item in enumerate(value):
            yield from faulty_parts(item, f"{place}[{number}]")
    elif isinstance(value, dict) or is_dataclass(value):
        for name, item in (value if isinstance(value, dict) else vars(value)).items():
            yield from faulty_parts(item, f"{place}.{name}" if place else str(name))


def _untold(note: Note, place: str) -> Iterator[str]:
    """A note whose text lacks a parameter. A key that is not known is a later release's."""
    try:
        if has_text(note.key):
            tell(note, "en")
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        yield f"{place}: the note {note.key} lacks what its text needs"
