"""Passes over live retrievers: limits, retries, hanging calls, failures and what is reported of them."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rankgauge import evaluate
from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.model.corpus import Corpus
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from rankgauge.retrievers.work import CallSettings, Slot, Work, worth_retrying
from rankgauge.stats.latency import Latency
from rankgauge.words import Note, tell
from tests.retrievers.servers import Asked, Reply, calls

QUERIES = {f"q{number}": f"text {number}" for number in range(40)}


def right(query: str, k: int) -> list[str]:
    return [f"{query}/{number}" for number in range(k)]


class Meter:
    """A retriever that counts its calls and how many run at once, as threads or as tasks."""

    def __init__(self, pause: float = 0.003) -> None:
        self.pause, self.running, self.most = pause, 0, 0
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def enter(self, query: str) -> None:
        with self.lock:
            self.asked[query] += 1
            self.running += 1
            self.most = max(self.most, self.running)

    def leave(self) -> None:
        with self.lock:
            self.running -= 1


class Threaded(Meter):
    def search(self, query: str, k: int) -> list[str]:
        self.enter(query)
        time.sleep(self.pause)
        self.leave()
        return right(query, k)


class Tasked(Meter):
    async def search(self, query: str, k: int) -> list[str]:
        self.enter(query)
        await asyncio.sleep(self.pause)
        self.leave()
        return right(query, k)


@pytest.mark.parametrize("kind", [Threaded, Tasked])
@pytest.mark.parametrize("concurrency", [1, 4, 100])
def test_every_query_once_within_the_limit(kind: type[Threaded | Tasked], concurrency: int) -> None:
    meter = kind(0.02 if concurrency > 1 else 0.001)
    result = run_queries(meter, QUERIES, 3, concurrency=concurrency)
    assert meter.asked == Counter(QUERIES.values())
    assert meter.most <= concurrency
    assert meter.most >= min(concurrency, 4)
    assert result.valid
    assert [answer.query for answer in result.answers] == list(QUERIES)
    assert all([hit.id for hit in answer.hits] == right(QUERIES[answer.query], 3) for answer in result.answers)
    assert all(answer.attempts == 1 and not answer.cached and answer.error is None for answer in result.answers)
    assert result.latency.count == 40
    assert result.latency.concurrency == concurrency
    assert result.latency.p50 >= meter.pause
    assert result.throughput == pytest.approx(40 / result.wall_seconds)
    assert result.name == kind.__name__


def test_the_run_can_be_scored() -> None:
    result = run_queries(right, {"a": "x", "b": "y"}, 2)
    assert result.run.to_dict() == {"a": {"x/0": 2.0, "x/1": 1.0}, "b": {"y/0": 2.0, "y/1": 1.0}}
    assert evaluate({"a": {"x/1": 1}, "b": {"y/0": 1}}, result.run, "RR").mean["RR"] == 0.75


def test_latency_is_the_retrievers_alone() -> None:
    seconds = [0.001, 0.004, 0.002, 0.1, 0.003]
    latency = Latency.of(seconds, 1)
    assert latency.mean == pytest.approx(np.mean(seconds))
    assert [latency.p50, latency.p95, latency.p99] == pytest.approx(np.percentile(seconds, [50, 95, 99]))
    assert str(Latency.of([], 1)) == "no calls to time"
    assert Latency.of([], 1).p50 != Latency.of([], 1).p50  # NaN
    assert Latency.of([0.5], 2).to_dict() == {
        "count": 1,
        "concurrency": 2,
        "mean": 0.5,
        "p50": 0.5,
        "p95": 0.5,
        "p99": 0.5,
    }


class Flaky:
    """Fails the first times that a query is asked."""

    def __init__(self, times: int, error: BaseException) -> None:
        self.times, self.error = times, error
        self.asked: Counter[str] = Counter()
        self.at: list[float] = []

    def search(self, query: str, k: int) -> list[str]:
        self.asked[query] += 1
        self.at.append(time.perf_counter())
        if self.asked[query] <= self.times:
            raise self.error
        return right(query, k)


class AsyncFlaky(Flaky):
    async def search(self, query: str, k: int) -> list[str]:  # type: ignore[override]
        return super().search(query, k)


class ThrottledError(Exception):
    """As clients name it; whoever says so has been reached."""


@pytest.mark.parametrize("kind", [Flaky, AsyncFlaky])
def test_retries(kind: type[Flaky]) -> None:
    flaky = kind(2, TimeoutError("gone"))
    result = run_queries(flaky, QUERIES, 2, retries=2, backoff=0.001, concurrency=3)
    assert result.valid
    assert not result.failed
    assert set(flaky.asked.values()) == {3}
    assert {answer.attempts for answer in result.answers} == {3}
    assert result.repeated == 80
    (note,) = [note for note in result.notes if note.key == "live.repeated"]
    assert note.parameters["n"] == 80
    assert note.parameters["error"].startswith("TimeoutError: gone")
    again = kind(2, ThrottledError("gone"))
    result = run_queries(again, QUERIES, 2, retries=1, backoff=0.001, concurrency=3)
    assert not result.valid
    assert result.failed == list(QUERIES)
    assert set(again.asked.values()) == {2}
    line = Flaky.search.__code__.co_firstlineno + 4
    assert list(result.errors.values()) == [40]
    assert re.fullmatch(rf"ThrottledError: gone \(.*test_runner.py:{line}\)", next(iter(result.errors)))
    assert result.reason.key == "live.failed"
    assert "40 of 40 queries failed, more than the 5 % allowed; most often: ThrottledError: gone" in tell(
        result.reason, "en"
    )


def pauses(query: str, seed: int) -> list[float | None]:
    """The pauses after each of four failures."""
    work = Work(as_searcher(right), {query: "x"}, CallSettings(1, timeout=1, retries=3), seed=seed)
    slot, found = Slot(), []
    assert work.next(slot)
    for _ in range(4):
        slot.tries += 1
        found.append(work.failed(slot, TimeoutError(), 0.1))
    return found


def test_pauses_grow_and_are_seeded() -> None:
    first = pauses("q", 1)
    for attempt, pause in enumerate(first[:3]):
        assert pause is not None
        assert 0.5 * 2**attempt * 0.5 <= pause < 0.5 * 2**attempt * 1.5
    assert first[3] is None
    assert pauses("q", 1) == first
    assert pauses("q", 2) != first
    assert pauses("other", 1) != first  # so that queries refused together do not come back together


def test_pauses_are_waited_for() -> None:
    flaky = Flaky(2, TimeoutError())
    result = run_queries(flaky, {"q": "x"}, 1, backoff=0.04)
    assert result.valid
    waited = [b - a for a, b in pairwise(flaky.at)]
    assert waited[0] >= 0.02
    assert waited[1] >= 0.04
    assert result.answers[0].seconds < 0.02  # the last call alone


def test_mistakes_are_not_retried() -> None:
    for error in (KeyError("x"), TypeError("x"), RetrieverError("no"), ValueError("x"), SystemExit(3)):
        flaky = Flaky(1, error)
        result = run_queries(flaky, {"q": "x"}, 1)
        assert flaky.asked["x"] == 1
        assert result.failed == ["q"]
        assert result.run.to_dict() == {"q": {}}


def test_what_is_worth_retrying() -> None:
    class ApiError(Exception):
        def __init__(self, **fields: Any) -> None:
            vars(self).update(fields)

    class RateLimitError(Exception):
        pass

    class ReadTimeout(Exception):
        pass

    assert worth_retrying(RetrieverError("x", retry=True))
    assert worth_retrying(ConnectionRefusedError())
    assert worth_retrying(RateLimitError())
    assert worth_retrying(ReadTimeout())
    assert worth_retrying(ApiError(status_code=503))
    assert worth_retrying(ApiError(response=ApiError(status_code=429)))
    assert not worth_retrying(ApiError(status_code=404))
    assert not worth_retrying(ApiError(meta=ApiError(status=400)))
    assert not worth_retrying(ApiError())
    assert not worth_retrying(FileNotFoundError())


def test_a_long_pause_is_not_waited_for() -> None:
    flaky = Flaky(1, RetrieverError("come back tomorrow", retry=True, retry_after=86400))
    result = run_queries(flaky, {"q": "x"}, 1)
    assert result.failed == ["q"]
    assert result.wall_seconds < 5


@pytest.mark.parametrize(("failures", "valid"), [(0, True), (2, True), (3, False)])
def test_validity(failures: int, valid: bool) -> None:
    bad = set(list(QUERIES.values())[5 : 5 + failures])  # after an answer: the first ones alike would end it

    def search(query: str, k: int) -> list[str]:
        if query in bad:
            raise ValueError("broken")
        return right(query, k)

    result = run_queries(search, QUERIES, 1, max_failed=0.05)
    assert result.valid is valid
    assert bool(result.reason) is not valid
    assert result.failed == list(QUERIES)[5 : 5 + failures]
    assert result.latency.count == 40 - failures
    assert all(result.run.to_dict()[query] == {} for query in result.failed)


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Set at the end, so that calls that hang come to their end."""
    event = threading.Event()
    yield event
    event.set()


def test_hanging_calls_are_given_up(released: threading.Event) -> None:
    late: list[str] = []

    def search(query: str, k: int) -> list[str]:
        if query in ("text 3", "text 4", "text 30"):
            released.wait(20)
            late.append(query)
        return right(query, k)

    started = time.perf_counter()
    result = run_queries(search, QUERIES, 2, concurrency=2, timeout=0.3, max_failed=0.1)
    assert time.perf_counter() - started < 5
    assert result.failed == ["q3", "q4", "q30"]
    assert result.valid
    assert {answer.error for answer in result.answers if answer.error} == {"no answer within 0.3 s"}
    before = list(result.answers)
    released.set()
    time.sleep(0.1)
    assert sorted(late) == ["text 3", "text 30", "text 4"]
    assert result.answers == before  # what comes late is not taken


def test_a_call_that_was_given_up_is_not_retried(released: threading.Event) -> None:
    asked: Counter[str] = Counter()

    def search(query: str, k: int) -> list[str]:
        asked[query] += 1
        if query == "text 3":
            released.wait(20)
            raise ConnectionResetError("late")
        return right(query, k)

    result = run_queries(search, {"a": "text 3", "b": "text 4"}, 2, timeout=0.1, retries=5, backoff=0)
    assert result.failed == ["a"]
    released.set()
    time.sleep(0.1)
    assert asked == {"text 3": 1, "text 4": 1}


def test_all_calls_hang(released: threading.Event) -> None:
    def search(query: str, k: int) -> list[str]:
        released.wait(20)
        return right(query, k)

    result = run_queries(search, dict(list(QUERIES.items())[:5]), 2, concurrency=3, timeout=0.1)
    assert len(result.failed) == 5
    assert not result.given_up  # nothing is left to ask
    assert not result.valid
    assert result.latency.count == 0
    assert result.throughput == 0


@pytest.mark.parametrize("kind", ["threads", "tasks", "client"])
def test_a_retriever_that_never_answers_is_not_asked_on(released: threading.Event, kind: str) -> None:
    """Five calls without an answer, and the rest is not asked: forty times the time limit would be waited for nothing.
    One answer is enough to be asked on."""
    asked: list[str] = []

    def hanging(query: str, k: int) -> list[str]:
        asked.append(query)
        if kind == "client":
            raise TimeoutError("the read timed out")
        released.wait(20)
        return right(query, k)

    async def waiting(query: str, k: int) -> list[str]:
        asked.append(query)
        await asyncio.sleep(20)
        return right(query, k)

    search = waiting if kind == "tasks" else hanging
    result = run_queries(search, QUERIES, 2, timeout=0.05, retries=0)
    assert len(asked) == len(result.failed) == 5
    assert result.given_up
    assert not result.valid
    assert not result.interrupted
    assert not result.unreachable  # it may have been reached
    assert result.reason.key == "live.unreachable"
    assert [result.reason.parameters[name] for name in ("failed", "asked", "rest")] == [5, 40, 35]

    def seldom(query: str, k: int) -> list[str]:
        return right(query, k) if query == "text 2" else hanging(query, k)

    answered = run_queries(seldom, dict(list(QUERIES.items())[:10]), 2, timeout=0.05, retries=0)
    assert len(answered.answers) == 10
    assert not answered.given_up


def test_hanging_tasks_are_cancelled() -> None:
    cancelled: list[str] = []

    async def search(query: str, k: int) -> list[str]:
        if query == "text 3":
            try:
                await asyncio.sleep(20)
            except asyncio.CancelledError:
                cancelled.append(query)
                raise
        return right(query, k)

    result = run_queries(search, QUERIES, 2, concurrency=2, timeout=0.2)
    assert result.failed == ["q3"]
    assert result.answers[3].error == "no answer within 0.2 s"
    assert cancelled == ["text 3"]


def test_a_blocked_event_loop_is_left(released: threading.Event) -> None:
    async def search(query: str, k: int) -> list[str]:
        if query == "text 3":
            released.wait(20)  # does not give way
        await asyncio.sleep(0.001)
        return right(query, k)

    started = time.perf_counter()
    result = run_queries(search, QUERIES, 2, concurrency=2, timeout=0.2, max_failed=0.1)
    assert time.perf_counter() - started < 10
    assert "q3" in result.failed
    assert 1 <= len(result.failed) <= 2
    assert len(result.answers) == 40


def test_a_cancellation_inside_the_retriever_is_a_failure() -> None:
    async def search(query: str, k: int) -> list[str]:
        if query == "text 3":
            raise asyncio.CancelledError
        return right(query, k)

    assert run_queries(search, QUERIES, 2).failed == ["q3"]


def test_inside_a_running_loop() -> None:
    """As in a notebook."""

    async def cell() -> Any:
        return run_queries(Tasked(), QUERIES, 2, concurrency=8)

    assert asyncio.run(cell()).valid


def script(text: str, *, limit: float = 20) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=limit, check=False
    )


def test_the_program_ends_although_a_call_hangs() -> None:
    done = script(
        """
        import time
        from rankgauge.retrievers.runner import run_queries
        result = run_queries(lambda query, k: time.sleep(3600), {"a": "x", "b": "y"}, 1, timeout=0.2)
        print(len(result.failed))
        """
    )
    assert done.stdout == "2\n"
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("prefix", ["", "async "])
def test_ctrl_c_keeps_what_is_done(prefix: str) -> None:
    done = script(
        f"""
        import asyncio, os, signal, time
        from rankgauge.retrievers.runner import run_queries
        {prefix}def search(query, k):
            if query == "text 5":
                os.kill(os.getpid(), signal.SIGINT)
                {"await asyncio.sleep(30)" if prefix else "time.sleep(30)"}
            return [query]
        queries = {{str(number): f"text {{number}}" for number in range(20)}}
        result = run_queries(search, queries, 1)
        print(len(result.answers), result.valid, result.reason.key, sorted(result.run.queries))
        """
    )
    assert done.stdout == "5 False live.interrupted ['0', '1', '2', '3', '4']\n"
    assert done.stderr == ""


def test_faults_and_unknown_ids() -> None:
    def search(query: str, k: int) -> list[Any]:
        if query == "text 0":
            return ["d1", "d1", "x9"]
        if query == "text 1":
            return [("d1", 1.0), ("d2", 2.0), ("d3", 0.5), ("x8", 0.1)]
        return ["d1", None]

    result = run_queries(search, dict(list(QUERIES.items())[:4]), 3, known_ids=Corpus({"d1": "", "d2": "", "d3": ""}))
    assert result.faults == {"duplicate": 1, "unsorted": 1, "too_many": 1, "no_id": 2}
    assert result.unknown_ids == ["x9"]  # x8 was cut off
    notes = {note.key: note.parameters for note in result.notes}
    assert notes["live.no_id"]["lists"] == 2
    assert notes["live.unknown_ids"] == {"n": 1, "total": 4, "id": "x9"}
    assert run_queries(right, {"a": "x"}, 1).unknown_ids == []
    every = run_queries(right, {"a": "x"}, 1, known_ids={"d1"})
    assert every.notes[0].key == "live.all_ids_unknown"


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    run_queries(Threaded(0.01), QUERIES, 1, concurrency=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40, 40)
    assert seen == sorted(seen)
    assert len(seen) > 1

    def broken(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_queries(Threaded(0.01), QUERIES, 1, progress=broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 1.5}, "k=1.5"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"timeout": 0}, "timeout=0"),
        ({"retries": -1}, "retries=-1"),
        ({"backoff": -1}, "backoff=-1"),
        ({"max_failed": 2}, "max_failed=2"),
        ({"queries": {}}, "no queries"),
        ({"queries": ["x"]}, "dictionary from id to text"),
        ({"queries": {"q": 7}}, "must be texts"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        run_queries(right, **{"queries": QUERIES, "k": 1, **options})
    assert issubclass(DataError, RankgaugeError)


def test_an_unstable_server() -> None:
    """A third of all requests fail in one of several ways; every answer is right in the end."""

    def answer(asked: Asked) -> Reply:
        number = len(service.asked)
        found = {"hits": [{"id": doc} for doc in right(asked.body["query"], asked.body["k"])]}
        if number % 3:
            return Reply(found)
        return [Reply("", 500), Reply(drop=True), Reply("", 429, {"Retry-After": "0"}), Reply(found, missing=5)][
            number % 4
        ]

    with calls(answer) as service:
        result = run_queries(HttpRetriever(service.url), QUERIES, 2, concurrency=4, retries=6, backoff=0.001)
    assert not result.failed
    assert all([hit.id for hit in answer.hits] == right(QUERIES[answer.query], 2) for answer in result.answers)
    assert max(answer.attempts for answer in result.answers) > 1


def test_many_different_errors_are_summed_up() -> None:
    def broken(query: str, k: int) -> list[str]:
        raise ValueError(f"{query}: " + "x" * 1000)

    result = run_queries(broken, {f"q{i}": f"text {i}" for i in range(9)}, 3)
    assert len(result.errors) == 9
    assert all(len(error) > 1000 for error in result.errors)  # whole for programs, short for people
    assert len(result.notes) == 6
    assert result.notes[-1] == Note("live.more_errors", {"n": 4}, "warning")
    assert all(len(tell(note, "en")) < 400 for note in result.notes)


class ConnectError(Exception):
    """As httpx has it."""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ConnectionRefusedError("no"), True),
        (socket.gaierror(-2, "unknown"), True),
        (ConnectError("no"), True),
        (ValueError("no"), False),
        (TimeoutError("slow"), False),
        (RetrieverError("500", retry=True), False),
    ],
)
def test_servers_that_nobody_reaches(error: Exception, expected: bool) -> None:
    def wrapped(query: str, k: int) -> list[str]:
        try:
            raise error
        except Exception:
            raise RetrieverError("it did not work") from None

    def plain(query: str, k: int) -> list[str]:
        raise error

    for search in (wrapped, plain):
        assert run_queries(search, {"q": "text"}, 3, retries=0).unreachable is expected
    mixed = run_queries(
        lambda query, k: [query] if query == "a" else plain(query, k), {"a": "a", "b": "b"}, 3, retries=0
    )
    assert not mixed.unreachable
