"""Records as JSON: decoded by msgspec into their types, upgraded from older versions.

msgspec and not pydantic, because it costs a fifth of the import time, needs nothing else, and a record is written by a
program: the first fault with its place is enough to tell that it is damaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from rankgauge.errors import FormatError

__all__ = ["FORMAT", "VERSION", "decode", "encode"]

T = TypeVar("T")

FORMAT = "rankgauge.record"
VERSION = 2

# From each version to the one after it. Version 1 was never released.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def encode(record: object) -> dict[str, Any]:
    """A record as JSON holds it; an open end of an interval is null."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(record, str_keys=True)
    for interval in _intervals(found):
        for end in ("low", "high"):
            interval[end] = interval[end] if math.isfinite(interval[end]) else None
    return {"format": FORMAT, "version": VERSION, **found}


def decode(value: Any, document: type[T], name: str = "the record") -> T:
    """A record of a version this release reads, or a `FormatError`."""
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
        return msgspec.convert(_with_open_ends(value), document, str_keys=True)
    except msgspec.ValidationError as error:
        raise FormatError(name, [f"{_placed(str(error))}: the record is damaged"]) from None


def _placed(text: str) -> str:
    """msgspec's message, the place first: systems[0].name: Expected `str`, got `int`."""
    said, _, place = text.partition(" - at `$")
    return f"{place.rstrip('`').lstrip('.')}: {said}" if place else said


def _intervals(value: Any) -> Iterator[dict[str, Any]]:
    """The intervals of the compared rows, the only ones that can be open."""
    compared = value.get("comparison") if isinstance(value, dict) else None
    rows = (compared or {}).get("rows") or []
    parts = (compared or {}).get("slices") or []
    for row in [*rows, *(part.get("row") for part in parts if isinstance(part, dict))]:
        if isinstance(row, dict) and isinstance(row.get("interval"), dict):
            yield row["interval"]


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
