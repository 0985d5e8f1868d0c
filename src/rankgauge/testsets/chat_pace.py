"""Pace: requests and tokens in a minute, spread evenly, and a pause for all where a server asks one caller for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rankgauge.arguments import named_arguments
from rankgauge.retrievers.checks import check_number, check_whole

__all__ = ["CallSettings", "Pace"]

_MINUTE = 60.0
_LEAST, _MOST = 0.05, 5.0
"""Seconds between two calls after overload."""


@named_arguments
@dataclass(frozen=True)
class CallSettings:
    """How many calls are made: at a time, in a minute, and again after failures. After `give_up` requests that failed
    for good, without an answer between them, no more calls are made."""

    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    retries: int = 4
    backoff: float = 1.0
    give_up: int = 10

    def __post_init__(self) -> None:
        check_whole("concurrency", self.concurrency, 1, 1000)
        check_whole("retries", self.retries, 0, 100)
        check_whole("give_up", self.give_up, 1)
        check_number("backoff", self.backoff, 0)
        for name in ("requests_per_minute", "tokens_per_minute"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0.001)


class Pace:
    """When the next call may begin. Each refusal for overload doubles the time between two calls, and each answer takes
    a little of that back, so that a server's limit is found where nobody told it."""

    def __init__(self, settings: CallSettings, clock: Callable[[], float] = time.monotonic) -> None:
        requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
        self._of_request = _MINUTE / requests if requests else 0.0
        self._of_token = _MINUTE / tokens if tokens else 0.0
        self._clock, self._mutex = clock, threading.Lock()
        self._next = self._apart = 0.0

    def reserve(self, tokens: int) -> float:
        """Seconds to wait before a call of about so many tokens; its place is taken with this."""
        with self._mutex:
            now = self._clock()
            begin = max(now, self._next)
            self._next = begin + max(self._of_request, self._of_token * tokens, self._apart)
            return begin - now

    def overloaded(self, seconds: float) -> None:
        """No call begins for so long, and then they come more slowly."""
        with self._mutex:
            self._next = max(self._next, self._clock() + seconds)
            self._apart = min(max(2 * self._apart, _LEAST), _MOST)

    def answered(self) -> None:
        with self._mutex:
            self._apart = 0.0 if self._apart < _LEAST / 2 else 0.9 * self._apart
