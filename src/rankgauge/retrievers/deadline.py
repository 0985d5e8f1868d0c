"""Until when a call may take: who asks a retriever says so, and what waits for others underneath holds to it."""

from __future__ import annotations

import math
import time
from contextvars import ContextVar
from typing import Final

__all__ = ["deadline_of", "give_up_after", "over"]

_LATER: Final = 0.5  # seconds after which what a given-up call waits for is closed: its caller looks at the clock first
_APART: Final = 0.1  # seconds between two limits that are told apart
_caller: ContextVar[float] = ContextVar("rankgauge.deadline", default=math.inf)


def give_up_after(seconds: float) -> None:
    """Calls from here on, in this thread or task, are given up so many seconds from now."""
    _caller.set(time.monotonic() + seconds)


def deadline_of(timeout: float) -> float:
    """The moment by which a call has to end that may take `timeout` seconds, or less where its caller allows less.

    Of two limits one decides, and says so: where the caller's comes first, or with this one, it is the caller's, and
    the call ends a little later.
    """
    own, caller = time.monotonic() + timeout, _caller.get()
    return own if own < caller - _APART else caller + _LATER


def over() -> bool:
    """Whether the caller waits no longer, so that another try would be in vain."""
    return time.monotonic() >= _caller.get()
