"""Records as JSON: decoded by msgspec into their types, checked for contradictions, upgraded from older versions.

msgspec and not pydantic, because it costs a fifth of the import time, needs nothing else, and a record is written by a
program: the first fault with its place is enough to tell that it is damaged.
"""

from __future__ import annotations

import datetime
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.record.record import Record

__all__ = ["FORMAT", "LARGEST", "VERSION", "decode", "encode", "load_record"]

FORMAT = "rankgauge.record"
VERSION = 2
LARGEST = 1e100
"""Larger numbers cannot be squared."""

# From each version to the one after it. Version 1 was never released.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def load_record(path: str | os.PathLike[str]) -> Record:
    """A record from a file."""
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import Source

    source = Source(path)
    return decode(read_json(source), source.name)


def encode(record: Record) -> dict[str, Any]:
    """A record as JSON holds it; an open end of an interval is null."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(record, str_keys=True)
    for interval in _intervals(found):
        for end in ("low", "high"):
            interval[end] = interval[end] if math.isfinite(interval[end]) else None
    return {"format": FORMAT, "version": VERSION, **found}


def decode(value: Any, name: str = "the record") -> Record:
    """A record of a version this release reads, without contradictions, or a `FormatError`."""
    import msgspec

    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormatError(name, ["this is no rankgauge record"])
    version = value.get("version")
    if version == 1:
        raise FormatError(name, ["record version 1 was never released and is not read; measure again"])
    if not isinstance(version, int) or not 2 <= version <= VERSION:
        raise FormatError(
            name, [f"record version {version!r} is not known to this release (up to {VERSION}); update rankgauge"]
        )
    for number in range(version, VERSION):
        value = _UPGRADES[number](value)
    try:
        record = msgspec.convert(_with_open_ends(value), Record, str_keys=True)
    except msgspec.ValidationError as error:
        raise FormatError(name, [f"{_placed(str(error))}: the record is damaged"]) from None
    faults = list(_contradictions(record))
    if faults:
        raise FormatError(name, [f"{fault}: the record is damaged" for fault in faults])
    return record


def _placed(text: str) -> str:
    """msgspec's message, the place first: systems[0].name: Expected `str`, got `int`."""
    said, _, place = text.partition(" - at `$")
    return f"{place.rstrip('`').lstrip('.')}: {said}" if place else said


def _intervals(value: Any) -> Iterator[dict[str, Any]]:
    """The intervals of the compared rows, the only ones that can be open."""
    compared = value.get("comparison") if isinstance(value, dict) else None
    rows, parts = (compared.get(key) if isinstance(compared, dict) else None for key in ("rows", "slices"))
    found = [*(rows if isinstance(rows, list) else []), *(parts if isinstance(parts, list) else [])]
    for row in found:
        inner = row.get("row", row) if isinstance(row, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("interval"), dict):
            yield inner["interval"]


def _with_open_ends(value: dict[str, Any]) -> dict[str, Any]:
    """The same with infinities where an end is open; what was given is not changed."""
    if not any(None in (interval.get("low"), interval.get("high")) for interval in _intervals(value)):
        return value
    import copy

    changed = {**value, "comparison": copy.deepcopy(value["comparison"])}
    for interval in _intervals(changed):
        for end, infinite in (("low", -math.inf), ("high", math.inf)):
            if interval.get(end, 0.0) is None:
                interval[end] = infinite
    return changed


def _contradictions(record: Record) -> Iterator[str]:
    """What the types cannot see: a time that is none, lists of other lengths, a mean that is not its scores'."""
    try:
        datetime.datetime.fromisoformat(record.created)
    except ValueError:
        yield f"'created' is {record.created!r}, which is no time such as 2026-01-31T12:00:00+00:00"
    if not record.systems:
        yield "there is no system"
    if record.kind == "comparison" and record.comparison is None:
        yield "there is no comparison"
    query, times = next(iter(Counter(record.queries).most_common(1)), ("", 0))
    if times > 1:
        yield f"query {query!r} stands twice"
    names = [system.name for system in record.systems]
    if len(set(names)) < len(names):
        yield "two systems have the same name"
    for about in record.measures:
        if about.bounds is not None and not about.bounds[0] < about.bounds[1]:
            yield f"measure {about.name!r}: its bounds are {list(about.bounds)}"
    from rankgauge.measures.measure import AGGREGATES

    for system in record.systems:
        for about in record.measures:
            place = f"system {system.name!r}, {about.name}"
            told, values = system.means.get(about.name), system.per_query.get(about.name)
            counted = system.counted.get(about.name)
            n = len(record.queries)
            if told is None or not abs(told.value) < LARGEST:
                yield f"{place}: no mean"
            elif n and (values is None or len(values) != n):
                yield f"{place}: not {n} scores"
            elif n and counted is not None and len(counted) != n:
                yield f"{place}: not told which queries count"
            elif values and about.aggregate in AGGREGATES:
                yield from _unlike_its_scores(place, told.value, values, counted, about.aggregate)


def _unlike_its_scores(
    place: str, told: float, values: list[float], counted: list[bool] | None, how: str
) -> Iterator[str]:
    import numpy as np

    from rankgauge.engine.averaging import aggregate

    kept = np.array(values, dtype=np.float64)
    kept = kept if counted is None else kept[np.array(counted, dtype=bool)]
    if not (np.abs(kept) < LARGEST).all():
        yield f"{place}: a score is no number"
    elif len(kept) and not math.isclose(found := aggregate(how, kept), told, rel_tol=1e-9, abs_tol=1e-12):
        what = {"geometric": "geometric mean"}.get(how, how)
        yield f"{place}: the {what} is {told:.6g}, its scores' {found:.6g}"
