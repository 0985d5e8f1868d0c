"""Moments as people write them."""

from __future__ import annotations

import datetime
from typing import Any

from rankgauge.errors import DataError
from rankgauge.formats.durations import in_utc, parse_duration

__all__ = ["Moment", "as_moment", "parse_moment", "shown"]

_AGO = ("h", "d", "w")
Moment = datetime.datetime | datetime.date | str


def as_moment(given: Any, *, whole_day: bool = False) -> datetime.datetime | None:
    """The moment that a caller means: itself, the beginning of a date, or a text as `parse_moment` reads it."""
    if isinstance(given, datetime.datetime):
        return in_utc(given)
    return None if given is None else parse_moment(str(given), whole_day=whole_day and isinstance(given, str))


def parse_moment(text: str, *, whole_day: bool = False) -> datetime.datetime:
    """A date (2026-01-31), a time (2026-01-31T12:00), or so long ago (12h, 7d, 4w); UTC unless it says its zone.

    With `whole_day` a bare date means its end: all of that day lies before.
    """
    words = text.strip()
    try:
        if words.endswith(_AGO):
            return datetime.datetime.now(datetime.UTC) - parse_duration(words, _AGO)
        found = datetime.datetime.fromisoformat(words)
        if len(words) == 10 and whole_day:
            found += datetime.timedelta(days=1)
        return in_utc(found)
    except (ValueError, OverflowError):
        raise DataError(
            f"{text!r} is no time; write a date such as 2026-01-31, a time such as 2026-01-31T12:00, or so long ago: "
            "12h, 7d, 4w"
        ) from None


def shown(moment: datetime.datetime) -> str:
    """A moment in UTC, to the minute."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M")
