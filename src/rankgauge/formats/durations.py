"""Durations as people write them, 200ms, 30s, 15m, 12h, 90d, 4w; and as servers do, in the header Retry-After.
Moments in UTC."""

from __future__ import annotations

import datetime
import math
import re
import time
from collections.abc import Collection

__all__ = ["UNITS", "in_utc", "parse_duration", "retry_after"]

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
"""Seconds of each unit."""
_WORDS = {
    "µs": "us",
    "μs": "us",
    "sec": "s",
    "second": "s",
    "min": "m",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
}
_WRITTEN = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([^\W\d]+)")


def parse_duration(text: str, units: Collection[str] = UNITS) -> datetime.timedelta:
    """The duration that a text means: a number and one of the units, which may also be written out (2 weeks).

    `ValueError` where it is none, `OverflowError` where it is longer than any: callers say what they wanted. `units`
    are those of `UNITS` that make sense to the caller, so that 200m is not taken for a latency.
    """
    found = _WRITTEN.fullmatch(text.strip().lower())
    word = "" if found is None else found[2]
    unit = word if word in UNITS else _WORDS.get(word.removesuffix("s") if word not in _WORDS else word, "")
    if found is None or unit not in units:
        raise ValueError(f"{text!r} is no duration")
    return datetime.timedelta(seconds=float(found[1]) * UNITS[unit])


def in_utc(moment: datetime.datetime) -> datetime.datetime:
    """The moment in UTC, which it is taken for where it tells no zone."""
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds to wait, never below 0; None where the header is missing or says neither a number nor a date. `now` is
    the time that a date counts from, in seconds since 1970."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(value).timestamp() - (time.time() if now is None else now)
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
