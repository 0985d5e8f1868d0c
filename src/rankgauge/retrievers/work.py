"""The work of one retrieval: what is to be asked, what was answered, and what is worth another attempt."""

from __future__ import annotations

import math
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.answers import Answer
from rankgauge.retrievers.checks import check_number, check_whole
from rankgauge.retrievers.costs import CostOf
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.own_code import text_of, told
from rankgauge.retrievers.samples import Samples
from rankgauge.retrievers.searcher import Response, Searcher
from rankgauge.retrievers.web import LONGEST_PAUSE, RETRIED

__all__ = ["CallSettings", "Slot", "Work", "same_thread", "timed_out", "unreachable", "worth_retrying"]

_LEAST_SILENT: Final = 5  # queries without a connection or an answer from which on a server may be taken for dead
_PASSING: Final = (
    *("timeout", "timedout", "ratelimit", "toomanyrequests", "throttl", "unavailable"),
    *("connectionerror", "connecterror", "networkerror", "remoteprotocolerror"),
)
_SAME_MISTAKE: Final = 3  # calls in a row, none answered before, after which the rest is not asked
_BEGINNING: Final = 40  # characters of an error
_MISTAKES: Final = (TypeError, KeyError, AttributeError, NameError, ImportError, NotImplementedError, RetrieverError)
_SAME_THREAD: Final = ("can only be used in that same thread", "no current event loop in thread")
_TOO_LATE: Final = ("timeout", "timedout")
_NO_CONNECTION: Final = (
    *("connecterror", "connecttimeout", "connectionerror", "newconnection", "connectionrefused", "remoteprotocolerror"),
)


@dataclass(frozen=True)
class CallSettings:
    """How a retriever is called."""

    k: Annotated[int, Meta(ge=1)] | None = 10
    """None: the retriever's own number of results."""
    concurrency: Annotated[int, Meta(ge=1)] = 1
    timeout: Annotated[float, Meta(gt=0)] = 30.0
    retries: Annotated[int, Meta(ge=0)] = 2
    backoff: Annotated[float, Meta(ge=0)] = 0.5
    max_failed: Annotated[float, Meta(ge=0, le=1, description="a share of the queries between 0 and 1")] = 0.05

    def check(self) -> None:
        """Raise an error unless calls can be made with these."""
        for name, least in (("k", 1), ("concurrency", 1), ("retries", 0)):
            if name != "k" or self.k is not None:
                check_whole(name, getattr(self, name), least)
        check_number("timeout", self.timeout, 0.001)
        check_number("backoff", self.backoff, 0)
        check_number("max_failed", self.max_failed, 0, 1)


def worth_retrying(error: BaseException) -> bool:
    """Whether the same call may succeed another time: broken connections, time limits, overload, but no mistakes.

    Errors of clients that are not known here are told by the HTTP status they carry, else by their names.
    """
    if isinstance(error, RetrieverError):
        return error.retry
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    for holder in (error, getattr(error, "response", None), getattr(error, "meta", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 400 <= status < 600:
                return status in RETRIED
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    return any(word in name for name in names for word in _PASSING)


def unreachable(error: BaseException) -> bool:
    """Whether no connection came about or held: it is refused, the host is unknown, or the server closes it.

    What an error came from is looked at too, and errors of clients that are not known here are told by their names.
    """
    return _came_from(error, (ConnectionRefusedError, socket.gaierror), _NO_CONNECTION)


def timed_out(error: BaseException) -> bool:
    """Whether the answer did not come in time, told in the same way."""
    return _came_from(error, (TimeoutError,), _TOO_LATE)


def same_thread(error: BaseException) -> bool:
    """Whether the retriever can be used only in the thread it was made in, as a connection of sqlite3."""
    seen: BaseException | None = error
    while seen is not None:
        if any(word in text_of(seen).lower() for word in _SAME_THREAD):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def mistake_of(error: BaseException) -> tuple[object, ...] | None:
    """What tells an error that every call would end with from others of its kind: where it was raised, and unless its
    class alone shows a mistake in a program, how its text begins: the rest often holds what it was about. None for
    errors that may pass."""
    if worth_retrying(error) or unreachable(error) or timed_out(error):
        return None
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = None if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return type(error), place, None if isinstance(error, _MISTAKES) else text_of(error)[:_BEGINNING]


def _came_from(error: BaseException, kinds: tuple[type[BaseException], ...], words: Sequence[str]) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        names = [kind.__name__.lower() for kind in type(seen).__mro__[:-1]]
        if isinstance(seen, kinds) or any(word in name for name in names for word in words):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class Slot:
    """What one worker is busy with."""

    __slots__ = ("began", "given_up", "query", "repeats", "text", "tries")

    def __init__(self) -> None:
        self.query: str | None = None
        self.text = ""
        self.tries = 0
        self.repeats: list[str] = []  # errors that were worth another attempt
        self.began: float | None = None  # None while no call is under way
        self.given_up = False  # then the worker takes no more queries, and what it brings is too late


class Work:
    """What all workers share. A query leaves `pending` once and gets one answer; what comes too late is dropped."""

    def __init__(
        self,
        searcher: Searcher,
        queries: Mapping[str, str],
        calls: CallSettings,
        journal: Journal | None = None,
        seed: int = 0,
        cost_of: CostOf | None = None,
    ) -> None:
        self.searcher, self.calls, self.journal, self.seed = searcher, calls, journal, seed
        self.cost_of, self.samples = cost_of, Samples()
        self.answers: dict[str, Answer] = {}
        self.pending: deque[tuple[str, str]] = deque()
        self.total = len(queries)
        self.lock = threading.Lock()
        self.stop, self.finished = threading.Event(), threading.Event()
        self.broken: BaseException | None = None
        self._too_silent = max(_LEAST_SILENT, math.floor(calls.max_failed * len(queries)) + 1)
        self._silent, self._heard = 0, False
        self._mistake: tuple[object, ...] | None = None
        self._alike, self._answered = 0, False
        self.cause: BaseException | None = None
        """The first exception of a call that failed for good."""
        self.mistaken = False
        """Whether the rest is not asked, because the first calls failed by one mistake."""
        self.dead = False
        """Whether the rest is not asked: there was no answer at all and too many queries have failed, or too many calls
        hang."""
        for query, text in queries.items():
            record = journal.get(text, calls.k) if journal is not None else None
            if record is None:
                self.pending.append((query, text))
            else:
                self.answers[query] = Answer.from_record(query, record)
                self._answered = True
        if not self.pending:
            self.finished.set()

    def next(self, slot: Slot) -> bool:
        """Put the next query into a worker's slot, if there is one for it."""
        if slot.given_up or self.stop.is_set():
            return False
        try:
            slot.query, slot.text = self.pending.popleft()
        except IndexError:
            return False
        slot.tries, slot.repeats = 0, []
        return True

    def succeeded(self, slot: Slot, response: Response) -> None:
        cost = None if self.cost_of is None else self.cost_of(slot.text, response.raw)
        self.samples.add(response.raw, str(slot.query))
        answer = Answer(str(slot.query), response.hits, response.seconds, faults=response.faults, cost=cost)
        self._answered = True
        self._record(slot, answer)

    def failed(self, slot: Slot, error: BaseException, seconds: float) -> float | None:
        """Seconds to wait before the next attempt, or None when there is none and the failure is recorded."""
        if slot.given_up or self.stop.is_set():
            return None
        said = told(error)
        if self.calls.concurrency > 1 and same_thread(error):
            said += " (with concurrency=1 it is called in your own thread)"
        if slot.tries <= self.calls.retries and worth_retrying(error):
            asked = getattr(error, "retry_after", None)
            if asked is None:
                # From the query and not from a shared generator, whose order would depend on the threads.
                chance = random.Random(f"{self.seed} {slot.tries} {slot.query}").random()
                asked = self.calls.backoff * 2 ** (slot.tries - 1) * (0.5 + chance)
            elif asked > LONGEST_PAUSE:
                said += (
                    f" (not repeated: it asks for a pause of {asked:g} s, and at most {LONGEST_PAUSE:g} s are waited)"
                )
                asked = None
            if asked is not None:
                slot.repeats.append(said)
                return float(asked)
        away = unreachable(error)
        answer = Answer(str(slot.query), [], seconds, said, unreachable=away)
        self.cause = self.cause or error
        self._record(slot, answer, silent=away or timed_out(error))
        self._look_at(mistake_of(error))
        return None

    def _look_at(self, mistake: tuple[object, ...] | None) -> None:
        """End it after a few failures by one mistake: hundreds of paid calls would end like these."""
        with self.lock:
            self._alike = self._alike + 1 if mistake is not None and mistake == self._mistake else 1
            self._mistake = mistake
            if mistake is None or self._answered or self._alike < _SAME_MISTAKE or self.calls.max_failed >= 1:
                return
            if len(self.answers) < self.total:
                self.mistaken = True
                self._end_early()

    def give_up(self, slot: Slot, reason: str) -> bool:
        """Count a call that hangs as failed, unless it has just ended."""
        with self.lock:
            if slot.began is None or slot.given_up:
                return False
            slot.given_up = True
            seconds = time.perf_counter() - slot.began
            self._store(slot, Answer(str(slot.query), [], seconds, reason), silent=True)
            return True

    def take_back(self, slot: Slot) -> None:
        """Let another worker have the query of one that is gone between two calls."""
        with self.lock:
            if not slot.given_up and slot.query is not None and slot.query not in self.answers:
                self.pending.appendleft((slot.query, slot.text))
            slot.given_up = True

    def ask_no_more(self) -> None:
        """Leave the rest: too many calls hang."""
        with self.lock:
            self._end_early()

    def break_off(self, error: BaseException) -> None:
        """End it with an error that is not the retriever's."""
        self.broken = self.broken or error
        self.finished.set()

    def _record(self, slot: Slot, answer: Answer, *, silent: bool = False) -> None:
        with self.lock:
            if not slot.given_up and not self.stop.is_set():
                self._store(slot, answer, silent=silent)

    def _store(self, slot: Slot, answer: Answer, *, silent: bool) -> None:
        answer = answer._replace(attempts=slot.tries, repeats=tuple(slot.repeats))
        if self.journal is not None:
            try:
                self.journal.add(slot.text, self.calls.k, answer.to_record())
            except BaseException as broken:  # such as a full disk
                self.break_off(broken)
                return
        self.answers[answer.query] = answer
        self._heard |= not silent
        self._silent += silent
        if not self._heard and self._silent >= self._too_silent:
            self._end_early()
        if len(self.answers) == self.total:
            self.finished.set()

    def _end_early(self) -> None:
        if len(self.answers) < self.total:
            self.dead = True
            self.stop.set()  # at once: no worker begins another query
            self.finished.set()
