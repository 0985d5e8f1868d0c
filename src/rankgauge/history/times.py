"""Moments as people write them."""

from __future__ import annotations

import datetime
import re

from rankgauge.errors import DataError

__all__ = ["parse_moment", "shown"]

_AGO = re.compile(r"(\d{1,6})\s*([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def parse_moment(text: str, *, whole_day: bool = False) -> datetime.datetime:
    """A date (2026-01-31), a time (2026-01-31T12:00), or so long ago (12h, 7d, 4w); UTC unless it says its zone.

    With `whole_day` a bare date means its end: all of that day lies before.
    """
    words = text.strip()
    ago = _AGO.fullmatch(words.lower())
    try:
        if ago:
            return datetime.datetime.now(datetime.UTC) - datetime.timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.datetime.fromisoformat(words)
        if len(words) == 10 and whole_day:
            found += datetime.timedelta(days=1)
        return found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise DataError(
            f"{text!r} is no time; write a date such as 2026-01-31, a time such as 2026-01-31T12:00, or so long ago: "
            "12h, 7d, 4w"
        ) from None


def shown(moment: datetime.datetime) -> str:
    """A moment in UTC, to the minute."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M")
