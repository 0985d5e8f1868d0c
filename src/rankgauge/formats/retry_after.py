"""Retry-After: the pause that a server asks for, as a number of seconds or as a date."""

from __future__ import annotations

import math
import time
from email.utils import parsedate_to_datetime

__all__ = ["retry_after"]


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds to wait, never below 0; None where the header is missing or says neither a number nor a date. `now` is
    the time that a date counts from, in seconds since 1970."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - (time.time() if now is None else now)
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
