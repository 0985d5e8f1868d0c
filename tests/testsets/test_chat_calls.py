"""Many calls: budgets that hold, a pace that is kept, failures asked again, answers paid for once."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import DataError, RetrieverError
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat import Reply as Answer
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_calls import call_all, estimate_calls
from rankgauge.testsets.chat_cost import Budget, Ledger
from rankgauge.testsets.chat_json import json_in
from rankgauge.testsets.chat_pace import CallSettings, Pace
from rankgauge.testsets.chat_requests import Calls, ChatRequest, UnusableError
from tests.retrievers.servers import Asked, Reply
from tests.testsets.chat_server import Model, completion, model, said

FAST = CallSettings(concurrency=4, backoff=0.01)


def requests(n: int) -> list[ChatRequest]:
    return [ChatRequest(f"r{i}", ({"role": "user", "content": f"number {i}."},)) for i in range(n)]


def grade(request: ChatRequest, reply: Answer) -> int:
    try:
        return int(json_in(reply.text)["grade"])
    except (ValueError, KeyError) as error:
        raise UnusableError("unreadable", str(error)) from None


def ask(server: Model, n: int, budget: Budget = Budget(), settings: CallSettings = FAST, **more: Any) -> Calls[int]:  # noqa: B008
    asking = ChatModel(server.endpoint, "tested", max_tokens=20, prices=more.pop("prices", (1.0, 2.0)), timeout=5)
    return call_all(asking, requests(n), grade, ledger=Ledger(budget), settings=settings, **more)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    with AnswerCache(tmp_path / "deep" / "answers.jsonl") as found:
        yield found


def test_all_are_answered_once_in_order(cache: AnswerCache) -> None:
    told: list[tuple[int, int]] = []
    with model(lambda asked: {"grade": 1}) as server:
        found = ask(server, 40, cache=cache, progress=lambda done, of: told.append((done, of)))
        assert list(found.answers) == [f"r{i}" for i in range(40)]
        assert (found.spent.calls, found.spent.kept, len(server.asked)) == (40, 0, 40)
        assert found.spent.cost == pytest.approx(40 * (100 * 1 + 10 * 2) / 1e6)
        assert told[-1] == (40, 40)
        again = ask(server, 40, cache=cache)
        assert again.answers == found.answers
        assert (again.spent.calls, again.spent.kept, again.spent.cost) == (0, 40, 0.0)
    assert len(server.asked) == 40


def test_what_decides_about_an_answer_is_its_key(cache: AnswerCache) -> None:
    asking = ChatModel("http://localhost/v1", "m")
    one = requests(1)[0]
    keys = {
        AnswerCache.key(ChatModel(url, name, **options), messages, schema, sample)
        for url, name, options, messages, schema, sample in [
            ("http://localhost/v1", "m", {}, one.messages, None, 0),
            ("http://localhost/v2", "m", {}, one.messages, None, 0),
            ("http://localhost/v1", "n", {}, one.messages, None, 0),
            ("http://localhost/v1", "m", {"temperature": 1}, one.messages, None, 0),
            ("http://localhost/v1", "m", {"max_tokens": 9}, one.messages, None, 0),
            ("http://localhost/v1", "m", {"extra": {"seed": 1}}, one.messages, None, 0),
            ("http://localhost/v1", "m", {}, ({"role": "user", "content": "else"},), None, 0),
            ("http://localhost/v1", "m", {}, one.messages, {"type": "object"}, 0),
            ("http://localhost/v1", "m", {}, one.messages, None, 1),
        ]
    }
    assert len(keys) == 9
    cache.add("k", "name", Answer("x"))
    assert cache.get("k") == Answer("x")
    assert estimate_calls(asking, [one], cache).kept == 0


def test_only_failures_are_asked_again(cache: AnswerCache) -> None:
    """Every third answer is unreadable twice, so it fails in the first run; the second run asks for these alone."""
    seen = Counter[str]()

    def answer(asked: Asked) -> Any:
        seen[said(asked)] += 1
        number = int(said(asked).split()[1].rstrip("."))
        return "no" if number % 3 == 0 and seen[said(asked)] <= 2 else {"grade": number % 4}

    with model(answer) as server:
        first = ask(server, 30, cache=cache)
        assert [one.name for one in first.failures] == [f"r{i}" for i in range(0, 30, 3)]
        assert {(one.reason, one.raw, one.tries) for one in first.failures} == {("unreadable", "no", 2)}
        asked = len(server.asked)
        second = ask(server, 30, cache=cache)
        assert len(second.answers) == 30
        assert len(server.asked) - asked == 10


@pytest.mark.parametrize("calls", [0, 1, 7, 20])
def test_a_budget_of_calls_is_never_passed(calls: int, cache: AnswerCache) -> None:
    with model(lambda asked: {"grade": 1}) as server:
        found = ask(server, 20, Budget(calls=calls), cache=cache)
        assert len(server.asked) == calls == len(found.answers)
        assert len(found.left) == 20 - calls
        assert found.stopped == ("budget" if calls < 20 else "")
        assert len(ask(server, 20, cache=cache).answers) == 20
    assert len(server.asked) == 20


@pytest.mark.parametrize("cost", [0.0, 0.0002, 0.0005, 0.002])
@pytest.mark.parametrize("told", [True, False])
def test_a_budget_of_money_is_never_passed(cost: float, told: bool) -> None:
    """Whatever an answer costs, up to what a request can cost at most; also where the server tells no tokens."""

    def answer(asked: Asked) -> Any:
        n = int(said(asked).split()[1].rstrip("."))
        body = completion('{"grade": 1}', prompt=20 + n, answer=1 + n % 20)
        return Reply(body if told else {**body, "usage": None})

    with model(answer) as server:
        found = ask(server, 60, Budget(cost=cost), CallSettings(concurrency=8, backoff=0.01))
        real = sum((20 + n) + 2 * (1 + n % 20) for n in range(60) if f"r{n}" in found.answers) / 1e6
    assert real <= (found.spent.cost or 0.0) + 1e-12 <= cost + 1e-12
    assert found.spent.guessed == (0 if told else found.spent.calls)
    if cost == 0.002 and told:  # it is used up to less than what one call can cost
        assert cost - (found.spent.cost or 0) < 0.0002


def test_a_budget_of_tokens_and_several_limits() -> None:
    with model(lambda asked: {"grade": 1}) as server:
        found = ask(server, 50, Budget(tokens=1500))
        assert found.spent.tokens <= 1500
        assert found.stopped == "budget"
        assert len(ask(server, 50, Budget(calls=5, tokens=10**6, cost=1.0)).answers) == 5
        with pytest.raises(DataError, match="needs the prices"):
            ask(server, 5, Budget(cost=1.0), prices=None)
    with pytest.raises(DataError, match="budget: calls"):
        Budget(calls=-1)


def test_calls_that_broke_count_as_paid_and_refusals_do_not() -> None:
    def answer(asked: Asked) -> Any:
        n = int(said(asked).split()[1].rstrip("."))
        return Reply(None, drop=True) if n == 0 else Reply({}, 503) if n == 1 else {"grade": 1}

    with model(answer) as server:
        found = ask(server, 3, settings=CallSettings(concurrency=1, retries=0, backoff=0.01))
    assert [one.name for one in found.failures][:1] == ["r0"]
    assert found.spent.guessed == 1
    assert found.spent.prompt_tokens > 100  # the one answer, and the most that the broken call may have taken


def test_overload_is_waited_for_and_asked_again() -> None:
    times: list[float] = []
    gate = itertools.count()

    def answer(asked: Asked) -> Any:
        times.append(time.monotonic())
        return Reply({}, 429, {"Retry-After": "0.4"}) if next(gate) < 2 else {"grade": 1}

    with model(answer) as server:
        found = ask(server, 6, settings=CallSettings(concurrency=2, backoff=0.01))
    assert len(found.answers) == 6
    assert max(b - a for a, b in itertools.pairwise(times)) >= 0.35


def test_errors_are_asked_again_as_often_as_wanted() -> None:
    gate = itertools.count()
    with model(lambda asked: Reply({}, 500) if next(gate) < 3 else {"grade": 1}) as server:
        assert len(ask(server, 1).answers) == 1
        assert len(server.asked) == 4
    with model(lambda asked: Reply({}, 500)) as server:
        with pytest.raises(RetrieverError, match="status 500"):
            ask(server, 30, settings=CallSettings(concurrency=1, retries=1, backoff=0.01))
        assert len(server.asked) == 6  # three requests, twice each


def test_nothing_is_waited_for_after_the_last_try(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", _recorded(threading.Event.wait, waits))
    with model(lambda asked: Reply({}, 500)) as server, pytest.raises(RetrieverError, match="status 500"):
        ask(server, 3, settings=CallSettings(concurrency=1, retries=2, backoff=0.004))
    assert len(server.asked) == 9
    assert len([one for one in waits if 0 < one < 0.04]) == 6  # between three tries of three requests


def _recorded(wait: Callable[..., bool], waits: list[float]) -> Callable[..., bool]:
    def recorded(self: threading.Event, timeout: float | None = None) -> bool:
        if timeout is not None:
            waits.append(timeout)
        return wait(self, timeout)

    return recorded


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("answered", [0, 3])
def test_a_pause_that_is_too_long_ends_it(status: int, answered: int) -> None:
    """A day's quota that is used up: nobody wants to find out tomorrow that nothing was done."""
    gate = itertools.count()
    tomorrow = Reply({}, status, {"Retry-After": "86400"})
    with model(lambda asked: {"grade": 1} if next(gate) < answered else tomorrow) as server:
        settings = CallSettings(concurrency=1, backoff=0.01)
        if not answered:
            with pytest.raises(RetrieverError, match="pause of 86400 s, and at most 300 s are waited") as error:
                ask(server, 9, settings=settings)
            assert error.value.status == status
        else:
            found = ask(server, 9, settings=settings)
            assert (len(found.answers), len(found.left), found.stopped) == (3, 5, "failing")
            assert "pause of 86400 s" in found.failures[0].detail
    assert len(server.asked) == answered + 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_key_that_is_refused_ends_it_at_once(status: int) -> None:
    with model(lambda asked: Reply({}, status)) as server, pytest.raises(RetrieverError, match=str(status)):
        ask(server, 100)
    assert len(server.asked) <= 4


def test_an_account_without_money_ends_it(cache: AnswerCache) -> None:
    gate = itertools.count()
    broke = Reply({"error": {"code": "insufficient_quota"}}, 429)
    with model(lambda asked: {"grade": 1} if next(gate) < 10 else broke) as server:
        found = ask(server, 100, cache=cache)
    assert (len(found.answers), found.stopped) == (10, "failing")
    assert len(server.asked) <= 14
    assert len(found.left) >= 86


def test_a_server_that_is_not_there() -> None:
    began = time.monotonic()
    asking = ChatModel("http://127.0.0.1:9/v1", "m")
    with pytest.raises(RetrieverError, match="refused"):
        call_all(asking, requests(50), grade, settings=FAST)
    assert time.monotonic() - began < 3


def test_a_mistake_of_the_caller_is_raised() -> None:
    def broken(request: ChatRequest, answer: int, reply: Answer) -> None:
        raise KeyError("mine")

    with model(lambda asked: {"grade": 1}) as server, pytest.raises(KeyError, match="mine"):
        ask(server, 20, on_answer=broken)
    with pytest.raises(DataError, match="same name"):
        estimate_calls(ChatModel("http://localhost/v1", "m"), requests(2) + requests(1))


def test_interrupts_keep_what_is_under_way(cache: AnswerCache) -> None:
    started = threading.Event()

    def answer(asked: Asked) -> Any:
        started.set()
        return Reply(completion('{"grade": 1}'), delay=0.3)

    def interrupt(done: int, of: int) -> None:
        started.wait(2)
        raise KeyboardInterrupt

    with model(answer) as server:
        found = ask(server, 50, cache=cache, progress=interrupt)
        assert found.stopped == "interrupted"
        assert len(found.answers) == len(server.asked) <= 4
        assert len(cache) == len(found.answers)


def test_calls_are_spread_over_a_minute() -> None:
    now = [0.0]
    pace = Pace(CallSettings(requests_per_minute=60, tokens_per_minute=6000), lambda: now[0])
    assert [pace.reserve(10) for _ in range(3)] == pytest.approx([0.0, 1.0, 2.0])
    assert pace.reserve(300) == pytest.approx(3.0)  # 300 of 6000 tokens take 3 s
    assert pace.reserve(10) == pytest.approx(6.0)
    pace.overloaded(20)
    assert pace.reserve(1) == pytest.approx(20.0)
    now[0] = 100.0
    assert pace.reserve(1) == 0.0


def test_requests_in_a_minute_hold_over_a_connection() -> None:
    times: list[float] = []

    def answer(asked: Asked) -> Any:
        times.append(time.monotonic())
        return {"grade": 1}

    with model(answer) as server:
        ask(server, 8, settings=CallSettings(concurrency=8, requests_per_minute=1200))
    assert times[-1] - times[0] >= 7 * 0.05 * 0.9


def test_a_damaged_cache(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with AnswerCache(path) as cache:
        cache.add("k", "n", Answer("x"))
        cache.add("l", "n", Answer("bad"), "unreadable")
        assert cache.get("l") is None
        with pytest.raises(RetrieverError, match="in use by another process"):
            AnswerCache(path)
    path.write_bytes(path.read_bytes() + b'{"key": "half')
    with AnswerCache(path) as cache:
        assert cache.get("k") == Answer("x")
        assert len(cache) == 1
    path.write_text("not mine\n")
    with pytest.raises(RetrieverError, match="no journal of rankgauge"):
        AnswerCache(path)
    with pytest.raises(RetrieverError, match="kept"):
        AnswerCache("/dev/null/x/y.jsonl")
