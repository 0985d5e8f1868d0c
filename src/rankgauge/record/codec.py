"""Records as JSON: decoded by msgspec into their types, upgraded from older versions.

msgspec and not pydantic, because it costs a fifth of the import time, needs nothing else, and a record is written by a
program: the first fault with its place is enough to tell that it is damaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from rankgauge.errors import FormatError, RankgaugeError

__all__ = ["FORMAT", "VERSION", "decode", "encode"]

T = TypeVar("T")

FORMAT = "rankgauge.record"
VERSION = 2

# Only intervals of compared rows can be open; JSON has no infinity.
_OPEN = {"low": -math.inf, "high": math.inf}

# From each version to the one after it. Version 1 was never released.
_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def encode(record: object) -> dict[str, Any]:
    """A record as JSON holds it; an open end of an interval is null."""
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(record, str_keys=True)
    # A part that its file did not have is no attribute of its own, and not found.
    found["comparison"] = _with_ends(found.get("comparison"), lambda _, end: end if math.isfinite(end) else None)
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
    try:
        for number in range(version, VERSION):
            value = _UPGRADES[number](value)
        if "comparison" in value:
            compared = _with_ends(value["comparison"], lambda key, end: _OPEN[key] if end is None else end)
            value = {**value, "comparison": compared}
        return msgspec.convert(value, document, str_keys=True)
    except RecursionError:
        raise FormatError(name, ["it is nested too deeply: the record is damaged"]) from None
    except msgspec.ValidationError as error:
        raise FormatError(name, [f"{_placed(str(error))}: the record is damaged"]) from None
    except RankgaugeError as error:  # of a part that looks at its own values
        raise FormatError(name, [f"{error}: the record is damaged"]) from None


def _placed(text: str) -> str:
    """msgspec's message, the place first: systems[0].name: Expected `str`, got `int`."""
    said, _, place = text.partition(" - at `$")
    return f"{place.rstrip('`').lstrip('.')}: {said}" if place else said


def _with_ends(value: Any, change: Callable[[str, Any], Any]) -> Any:
    """A part of a record with the ends of all its intervals changed; what was given is not."""
    if isinstance(value, list):
        return [_with_ends(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    ends = _OPEN if "method" in value else {}
    return {key: change(key, item) if key in ends else _with_ends(item, change) for key, item in value.items()}
