"""`call_all`: many calls of a language model, at a time and at a pace, within a budget, each paid for once.

Whoever asks says what each answer is read as; what cannot be read is a failure, with the answer's own text. Failures
alone are asked again: within a run a few times, and by the next run, which finds all other answers kept.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Generic, Literal, TypeVar

from rankgauge.errors import DataError, RetrieverError
from rankgauge.retrievers.web import LONGEST_PAUSE
from rankgauge.testsets.chat import ChatModel, Reply
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_cost import Ledger, Stake, most_tokens
from rankgauge.testsets.chat_pace import CallSettings, Pace
from rankgauge.testsets.chat_requests import CallFailure, Calls, ChatRequest, Estimate, UnusableError

__all__ = ["call_all", "estimate_calls"]

T = TypeVar("T")
_LOOK: Final = 0.05  # seconds between two looks at what was done
_SYNC: Final = 2.0  # seconds after which answers are handed to the disk
_LONGEST: Final = 60.0  # seconds of the longest pause that nobody asked for
_AGAIN: Final = 1  # times that an answer which cannot be read is asked for again in one run
_HOPELESS: Final = frozenset((401, 402, 403, 404))
"""Statuses that no other request will change."""
_NO_MONEY: Final = "insufficient_quota"
"""The code in an answer 429 of an account without money."""
_MOST_OVERLOAD: Final = 8  # times that one request is refused for overload
_FIRST: Final = 3
"""Requests that fail before any was answered, after which no more are made; and tries of a server that is not there."""
_DEFAULT: Final = CallSettings()


def estimate_calls(model: ChatModel, requests: Sequence[ChatRequest], cache: AnswerCache | None = None) -> Estimate:
    """What the calls will cost; answers that are kept cost nothing."""
    _check(requests)
    open_ones = [one for one in requests if cache is None or cache.get(_key(model, one)) is None]
    prompt = sum(one.likely_prompt for one in open_ones)
    completion = sum(min(one.expected, model.max_tokens) for one in open_ones)
    most = sum(most_tokens(one.messages, one.schema) for one in open_ones)
    prices = model.prices
    return Estimate(
        len(open_ones),
        len(requests) - len(open_ones),
        prompt,
        completion,
        None if prices is None else prices.of(prompt, completion),
        None if prices is None else prices.of(most, model.max_tokens * len(open_ones)),
        prices.unit if prices else "",
    )


def call_all(
    model: ChatModel,
    requests: Sequence[ChatRequest],
    read: Callable[[ChatRequest, Reply], T],
    *,
    ledger: Ledger | None = None,
    cache: AnswerCache | None = None,
    settings: CallSettings = _DEFAULT,
    on_answer: Callable[[ChatRequest, T, Reply], object] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Calls[T]:
    """Ask all requests of a model.

    `read` makes of a reply what is wanted, or raises `UnusableError`; it may be called by several threads. `on_answer`
    is told of each usable answer as it comes, one at a time, kept ones first. `progress` gets the number of requests
    that are done and of all. Ctrl-C ends it with what is done, once the calls under way have ended; a second one ends
    it at once. A key that is refused, and a server that only fails, end it too: with a `RetrieverError` where there is
    no answer at all.
    """
    _check(requests)
    ledger = Ledger() if ledger is None else ledger
    ledger.check(model.prices)
    work = _Work(model, requests, read, ledger, cache, settings, on_answer)
    try:
        work.take_kept()
        work.finish(progress)
    finally:
        work.stop.set()
        if cache is not None:
            cache.sync()
    return work.result()


def _check(requests: Sequence[ChatRequest]) -> None:
    if len({one.name for one in requests}) < len(requests):
        raise DataError("two requests have the same name")


def _key(model: ChatModel, request: ChatRequest) -> str:
    return AnswerCache.key(model, request.messages, request.schema, request.sample)


class _Work(Generic[T]):
    """The requests that are open, and what came of the others."""

    def __init__(
        self,
        model: ChatModel,
        requests: Sequence[ChatRequest],
        read: Callable[[ChatRequest, Reply], T],
        ledger: Ledger,
        cache: AnswerCache | None,
        settings: CallSettings,
        on_answer: Callable[[ChatRequest, T, Reply], object] | None,
    ) -> None:
        self.model, self.requests, self.read, self.ledger = model, requests, read, ledger
        self.cache, self.settings, self.on_answer = cache, settings, on_answer
        self.pace = Pace(settings)
        self.pending: deque[ChatRequest] = deque()
        self.answers: dict[str, T] = {}
        self.replies: dict[str, Reply] = {}
        self.failures: dict[str, CallFailure] = {}
        self.stop = threading.Event()
        self.stopped: Literal["", "budget", "interrupted", "failing"] = ""
        self.broken: BaseException | None = None
        self.last_error: RetrieverError | None = None
        self._row = 0  # failures without an answer between them
        self._answers = False  # whether the server ever answered
        self._mutex = threading.Lock()  # of all above
        self._telling = threading.Lock()
        self._random = random.Random(0)

    @property
    def done(self) -> int:
        return len(self.answers) + len(self.failures)

    def take_kept(self) -> None:
        """What is kept and can be read is an answer; all else is asked."""
        for request in self.requests:
            reply = None if self.cache is None else self.cache.get(_key(self.model, request))
            if reply is None:
                self.pending.append(request)
                continue
            try:
                answer = self.read(request, reply)
            except UnusableError:  # what reads them has become stricter
                self.pending.append(request)
            else:
                self.ledger.kept()
                self._keep(request, answer, reply)

    def finish(self, progress: Callable[[int, int], object] | None) -> None:
        """Wait until all requests are answered or given up."""
        count = min(self.settings.concurrency, len(self.pending))
        # Daemons, so that a second Ctrl-C ends the program.
        threads = [threading.Thread(target=self._run, daemon=True, name="rankgauge") for _ in range(count)]
        for thread in threads:
            thread.start()
        told, synced = -1, time.monotonic()
        try:
            while True:
                alive = [thread for thread in threads if thread.is_alive()]
                if progress is not None and told != self.done:
                    told = self.done
                    progress(told, len(self.requests))
                if not alive:
                    break
                alive[0].join(_LOOK)
                if self.cache is not None and time.monotonic() - synced > _SYNC:
                    self.cache.sync()
                    synced = time.monotonic()
        except KeyboardInterrupt:
            self._end("interrupted")
            with suppress(KeyboardInterrupt):
                for thread in threads:
                    thread.join()
        if self.broken is not None:
            raise self.broken
        if self.stopped == "failing" and not self.answers and self.last_error is not None:
            raise self.last_error

    def result(self) -> Calls[T]:
        with self._mutex:
            order = [one.name for one in self.requests]
            return Calls(
                {name: self.answers[name] for name in order if name in self.answers},
                {name: self.replies[name] for name in order if name in self.replies},
                [self.failures[name] for name in order if name in self.failures],
                [name for name in order if name not in self.answers and name not in self.failures],
                self.stopped,
                self.ledger.spent,
            )

    def _end(self, why: Literal["budget", "interrupted", "failing"]) -> None:
        with self._mutex:
            self.stopped = self.stopped or why
        self.stop.set()

    def _run(self) -> None:
        try:
            while not self.stop.is_set():
                with self._mutex:
                    if not self.pending:
                        return
                    request = self.pending.popleft()
                self._ask(request)
        except BaseException as error:  # a mistake of ours, or of `on_answer`, must not leave the caller waiting
            with self._mutex:
                self.broken = self.broken or error
            self.stop.set()

    def _ask(self, request: ChatRequest) -> None:
        """One request, again where that may help."""
        failure, unusable, overload, tries = None, 0, 0, 0
        stake = self._stake(request)
        while self._may_try(tries, overload):
            if self.stop.wait(self.pace.reserve(request.likely_prompt + min(request.expected, self.model.max_tokens))):
                return  # it is left, not failed
            if not self.ledger.take(stake):
                self._end("budget")
                return
            tries += 1
            try:
                reply = self._paid(request, stake)
            except RetrieverError as error:
                failure = CallFailure(request.name, "call", str(error), tries=tries)
                if self._is_hopeless(error, tries) or not error.retry:
                    break
                overload += _is_overload(error)
                self._wait(error, tries, last=not self._may_try(tries, overload))
                continue
            try:
                answer = self.read(request, reply)
            except UnusableError as error:
                failure = CallFailure(request.name, error.reason, error.detail, reply.refusal or reply.text, tries)
                self._note(request, reply, str(error))
                unusable += 1
                if unusable > _AGAIN:
                    break
            else:
                self._note(request, reply)
                self._keep(request, answer, reply)
                return
        if failure is not None:
            self._failed(failure)

    def _may_try(self, tries: int, overload: int) -> bool:
        return tries - overload <= self.settings.retries and overload < _MOST_OVERLOAD

    def _stake(self, request: ChatRequest) -> Stake:
        most = most_tokens(request.messages, request.schema)
        return self.ledger.stake(most, self.model.max_tokens, self.model.prices)

    def _paid(self, request: ChatRequest, stake: Stake) -> Reply:
        """The reply, with what it cost. A call that broke or came late may have been answered, and counts as such."""
        prices = self.model.prices
        try:
            reply = self.model.ask(request.messages, request.schema)
        except RetrieverError as error:
            self.ledger.settle(stake, None, None, prices, paid=error.status is None and error.sent)
            if _asks_too_long(error):
                raise _too_long(error) from None
            raise
        except BaseException:
            self.ledger.settle(stake, None, None, prices)
            raise
        self.ledger.settle(stake, reply.prompt_tokens, reply.completion_tokens, prices)
        self.pace.answered()
        with self._mutex:
            self._row, self._answers = 0, True
        return reply

    def _is_hopeless(self, error: RetrieverError, tries: int) -> bool:
        """Whether no other request will fare better; then none is made."""
        with self._mutex:
            self.last_error = error
            absent = not error.sent and not self._answers and tries >= _FIRST
        broke = error.status == 429 and _NO_MONEY in str(error)
        hopeless = absent or broke or error.status in _HOPELESS or _asks_too_long(error)
        if hopeless:
            self._end("failing")
        return hopeless

    def _failed(self, failure: CallFailure) -> None:
        with self._mutex:
            self.failures[failure.name] = failure
            self._row += failure.reason == "call"
            row, most = self._row, self.settings.give_up if self._answers else min(_FIRST, self.settings.give_up)
        if row >= most:
            self._end("failing")

    def _wait(self, error: RetrieverError, tries: int, *, last: bool) -> None:
        """The pause before the next try; after the last one, only what the server asks of all calls."""
        own = min(_LONGEST, self.settings.backoff * 2 ** min(tries - 1, 10)) * self._random.uniform(0.5, 1.5)
        if _is_overload(error):
            self.pace.overloaded(own if error.retry_after is None else error.retry_after)  # a server counts all calls
        elif not last:
            self.stop.wait(own)  # an error that names a pause is overload

    def _note(self, request: ChatRequest, reply: Reply, error: str = "") -> None:
        if self.cache is not None:
            self.cache.add(_key(self.model, request), request.name, reply, error)

    def _keep(self, request: ChatRequest, answer: T, reply: Reply) -> None:
        if self.on_answer is not None:
            with self._telling:
                self.on_answer(request, answer, reply)
        with self._mutex:
            self.answers[request.name] = answer
            self.replies[request.name] = reply


def _is_overload(error: RetrieverError) -> bool:
    """Whether the server asks for patience: too many requests, or a pause that it names."""
    return error.status == 429 or (error.status is not None and error.retry_after is not None)


def _asks_too_long(error: RetrieverError) -> bool:
    return error.retry_after is not None and error.retry_after > LONGEST_PAUSE


def _too_long(error: RetrieverError) -> RetrieverError:
    said = f"{error}; it asks for a pause of {error.retry_after:g} s, and at most {LONGEST_PAUSE:g} s are waited"
    return RetrieverError(said, retry_after=error.retry_after, status=error.status, sent=error.sent)
