"""run_queries: every query once to a live retriever, several at a time, with time limits, retries and a journal."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RetrieverError
from rankgauge.retrievers.answers import Answer, RetrievalResult
from rankgauge.retrievers.checks import check_progress
from rankgauge.retrievers.costs import CostOf, check_cost
from rankgauge.retrievers.deadline import give_up_after
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.rising import with_order_settled
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.work import CallSettings, Slot, Work, same_thread

__all__ = ["Answer", "RetrievalResult", "run_queries"]

_LOOK: Final = 0.05  # seconds between two looks at the clock for calls that hang
_SYNC: Final = 0.25  # seconds between two waits for the disk
_GRACE: Final = 1.0  # seconds for a cancelled coroutine to end
_MOST_HANGING: Final = 100  # calls of one retriever
_hanging: dict[str, list[threading.Thread]] = {}  # by name: what was given up and cannot be ended


@named_arguments
def run_queries(
    searcher: Any,
    queries: Mapping[str, str],
    k: int | None,
    *,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    journal: Journal | None = None,
    known_ids: Iterable[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    seed: int = 0,
    cost: str | Callable[[str, Any], float | None] | None = None,
    cost_unit: str | None = None,
) -> RetrievalResult:
    """Ask a retriever for the first k documents of every query (id -> text), `concurrency` calls at a time. With
    k=None it is not told how many, and all it gives by itself count.

    A retriever is called in threads, an async one in tasks of one event loop. A call that takes longer than `timeout`
    seconds is given up, and its query has failed; a retriever's own limit counts where it is shorter. Connections of
    our own are closed then; a thread that hangs elsewhere cannot be ended, but does not keep the program from ending.
    One call at a time, a retriever that only works in the thread it was made in, as a connection of sqlite3, is called
    in the caller's: there a call that takes too long has failed too, but is waited for.
    Errors worth retrying are retried `retries` times, after backoff * 2^(attempt-1) seconds times a random factor
    between 0.5 and 1.5, or after the pause that the retriever asked for. With a journal, answers it holds are not asked
    again. `progress` gets the number of finished queries and of all. Ctrl-C ends it with what is done.
    When there was no answer at all (no connection, or none in time), and more than `max_failed` of the queries, at
    least 5, have failed so, the rest is not asked; nor when 100 calls of a retriever hang, and then another run of it
    is an error; nor when the first three calls fail by the same mistake.

    `cost` is what an answer cost: a path into what the retriever returned ("usage.total_tokens"), a header of an
    `HttpRetriever`'s answer ("header:x-cost"), or a function of the query's text and what the retriever returned.
    """
    searcher = as_searcher(searcher)
    _check_queries(queries)
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    calls.check()
    check_cost(cost, cost_unit)
    if k is None and not searcher.depth.optional:
        raise RetrieverError(
            f"{searcher.name} has to be told how many documents to give, so k=None cannot keep its own number; give k, "
            "such as k=10"
        )
    check_progress(progress)
    if (hanging := _still_hanging(searcher.name)) >= _MOST_HANGING:
        raise RetrieverError(
            f"{searcher.name}: {hanging} calls that were given up still hang, so no more are made; "
            "start the program again"
        )
    work = Work(searcher, queries, calls, journal, seed, None if cost is None else CostOf(cost, cost_unit))
    workers = (_Loops if searcher.is_async else _Threads)(work, concurrency)
    start = time.perf_counter()
    try:
        workers.finish(progress)
    except KeyboardInterrupt:
        if len(work.answers) == work.total:  # else the result says itself that it is not complete
            raise
    finally:
        work.stop.set()
        if journal is not None:
            journal.sync()
    seconds = time.perf_counter() - start
    with work.lock:
        answers = with_order_settled([work.answers[query] for query in queries if query in work.answers])
    known: Set[str] | None = None
    if known_ids is not None:
        known = known_ids if isinstance(known_ids, Set) else frozenset(known_ids)
    done = {answer.query for answer in answers}
    return RetrievalResult(
        searcher.name,
        k,
        concurrency,
        len(queries),
        answers,
        seconds,
        max_failed,
        known,
        [query for query in queries if query not in done],
        work.dead,
        searcher.is_async,
        workers.at_home,
        work.mistaken,
        work.cause,
        searcher.depth,
        work.samples,
        work.cost_of,
    )


class _LateError(RetrieverError, TimeoutError):
    """A call that took longer than it may."""


class _Workers:
    """Keeps workers busy and looks at the clock."""

    grace = 0.0
    at_home = False
    """Whether the calls are made in the caller's thread."""

    def __init__(self, work: Work, concurrency: int) -> None:
        self.work = work
        self.slots = [Slot() for _ in range(min(concurrency, len(work.pending)))]

    def start(self) -> None:
        raise NotImplementedError

    def replace(self, number: int) -> None:
        """Put a worker in the place of one that hangs."""
        raise NotImplementedError

    def end(self) -> None:
        """Tell workers that go on by themselves that all is done."""

    def go_on(self) -> None:
        """Make a call in the caller's thread, where workers cannot."""

    def finish(self, progress: Callable[[int, int], object] | None) -> None:
        """Wait until all queries are answered or given up."""
        work, told, synced = self.work, -1, time.perf_counter()
        look = min(_LOOK, work.calls.timeout / 4)
        try:
            self.start()
            over = False
            while not over:
                over = work.finished.wait(0 if self.at_home else look)
                if self.at_home and not over:
                    self.go_on()
                now = time.perf_counter()
                for number, slot in enumerate(self.slots):
                    began = slot.began
                    if began is not None and now - began > work.calls.timeout + self.grace:
                        self._hangs(number, slot)
                if progress is not None and told != (done := len(work.answers)):
                    told = done
                    progress(done, work.total)
                if work.journal is not None and now - synced > _SYNC:
                    work.journal.sync()
                    synced = now
            if work.broken is not None:
                raise work.broken
        finally:
            work.stop.set()
            self.end()

    def _hangs(self, number: int, slot: Slot) -> None:
        if self.work.give_up(slot, f"no answer within {self.work.calls.timeout:g} s"):
            self.replace(number)


class _Threads(_Workers):
    """A thread for each call at a time."""

    def start(self) -> None:
        for number in range(len(self.slots)):
            self._launch(number)

    def __init__(self, work: Work, concurrency: int) -> None:
        super().__init__(work, concurrency)
        self._threads: dict[int, threading.Thread] = {}

    def replace(self, number: int) -> None:
        name = self.work.searcher.name
        _hanging.setdefault(name, []).append(self._threads[number])
        if _still_hanging(name) >= _MOST_HANGING:
            self.work.ask_no_more()
            return
        self.slots[number] = Slot()
        self._launch(number)

    def _launch(self, number: int) -> None:
        # Daemons, so that one that hangs does not keep the program from ending.
        thread = threading.Thread(target=self._run, args=(self.slots[number],), daemon=True, name="rankgauge")
        self._threads[number] = thread
        thread.start()

    def _run(self, slot: Slot) -> None:
        try:
            self._ask(slot)
        except BaseException as error:  # a mistake of ours must not leave the caller waiting
            self.work.break_off(error)

    def _ask(self, slot: Slot) -> None:
        while not self.at_home and self.work.next(slot):
            if not self._asked(slot):
                return

    def _asked(self, slot: Slot) -> bool:
        """One query asked, again where that may help; False where this worker is to end."""
        work = self.work
        ask, k, limit = work.searcher.ask, work.calls.k, work.calls.timeout
        pause: float | None = 0.0
        while pause is not None:
            if pause and work.stop.wait(pause):
                return False
            slot.tries += 1
            give_up_after(limit)
            slot.began = began = time.perf_counter()
            try:
                response = ask(slot.text, k)
                if self.at_home and response.seconds > limit:
                    raise _LateError(f"no answer within {limit:g} s")
            except BaseException as error:
                slot.began = None
                if self.at_home and isinstance(error, KeyboardInterrupt):
                    raise
                if not self.at_home and len(self.slots) == 1 and same_thread(error):
                    work.take_back(slot)
                    self.at_home = True
                    return False
                pause = work.failed(slot, error, time.perf_counter() - began)
            else:
                slot.began = pause = None
                work.succeeded(slot, response)
        return True

    def go_on(self) -> None:
        slot = self.slots[0] = Slot()  # the worker's own is given up
        if self.work.next(slot):
            # In a context of its own: the limit of this call is none of what the caller does later.
            contextvars.copy_context().run(self._asked, slot)


class _Loops(_Workers):
    """Tasks of one event loop in a thread of its own; another loop when a call blocks it."""

    grace = _GRACE

    def start(self) -> None:
        self._ending: Callable[[], object] = lambda: None
        threading.Thread(target=self._thread, daemon=True, name="rankgauge").start()

    def replace(self, number: int) -> None:
        for slot in self.slots:
            if not self.work.give_up(slot, "a call blocked the event loop: it did not await"):
                self.work.take_back(slot)
        self.slots = [Slot() for _ in self.slots]
        self.start()

    def end(self) -> None:
        self._ending()

    def _thread(self) -> None:
        try:
            asyncio.run(self._tasks())
        except BaseException as error:
            if not self.work.stop.is_set():
                self.work.break_off(error)

    async def _tasks(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                loop.call_soon_threadsafe(task.cancel)

        self._ending = end
        await asyncio.gather(*(self._run(slot) for slot in self.slots))

    async def _run(self, slot: Slot) -> None:
        work, task = self.work, asyncio.current_task()
        assert task is not None
        while work.next(slot):
            pause: float | None = 0.0
            while pause is not None:
                if pause:
                    await asyncio.sleep(pause)
                    if slot.given_up:  # another loop has it now
                        return
                slot.tries += 1
                give_up_after(work.calls.timeout)
                slot.began = began = time.perf_counter()
                limit = asyncio.timeout(work.calls.timeout)
                try:
                    async with limit:
                        response = await work.searcher.aask(slot.text, work.calls.k)
                except BaseException as error:
                    slot.began = None
                    if task.cancelling():
                        raise
                    late = _LateError(f"no answer within {work.calls.timeout:g} s") if limit.expired() else None
                    pause = work.failed(slot, late or error, time.perf_counter() - began)
                else:
                    slot.began = pause = None
                    work.succeeded(slot, response)


def _still_hanging(name: str) -> int:
    """How many calls of a retriever were given up and have not ended since."""
    alive = [thread for thread in _hanging.get(name, ()) if thread.is_alive()]
    if alive:
        _hanging[name] = alive
    else:
        _hanging.pop(name, None)
    return len(alive)


def _check_queries(queries: Any) -> None:
    if not isinstance(queries, Mapping):
        raise DataError(f"queries are a dictionary from id to text, not a {type(queries).__name__}")
    if not queries:
        raise DataError("there are no queries to ask")
    for query, text in queries.items():
        if not isinstance(query, str) or not isinstance(text, str):
            raise DataError(f"query {query!r}: both id and text must be texts, not {type(text).__name__}")
