"""Until when a call may take: who asks a retriever says so, and what waits for others underneath holds to it."""

from __future__ import annotations

import math
import time
from contextvars import ContextVar

__all__ = ["deadline_of", "end_at", "over"]

_end: ContextVar[float] = ContextVar("rankgauge.deadline", default=math.inf)


def end_at(moment: float) -> None:
    """Calls from here on, in this thread or task, are to end by a moment of `time.monotonic`."""
    _end.set(moment)


def deadline_of(timeout: float) -> float:
    """The moment by which a call has to end that may take `timeout` seconds, or less where its caller allows less."""
    return min(time.monotonic() + timeout, _end.get())


def over() -> bool:
    """Whether the caller waits no longer, so that another try would be in vain."""
    return time.monotonic() >= _end.get()
