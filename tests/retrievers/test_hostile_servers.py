"""What a server sends without end costs bounded time, threads and memory: measured in a process with little of it."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import RetrieverError
from rankgauge.retrievers import HttpRetriever, from_elasticsearch, run_queries
from rankgauge.retrievers.endpoint import EmbeddingEndpoint
from rankgauge.retrievers.hits import hits_of
from rankgauge.retrievers.searcher import as_searcher
from tests.cli.command import run_command
from tests.parts import ROOT
from tests.retrievers.ask_hostile import AT_A_TIME, QUERIES
from tests.retrievers.hostile import answers, hostile
from tests.retrievers.servers import Reply, calls

TOO_LONG = "the answer has more than 10 MB; ask for fewer or smaller results, or raise max_body"
HEADERS = "the headers of the answer are too long"
LATE = "no answer within 0.4 s"
SAID = {
    "endless": TOO_LONG,
    "chunks": TOO_LONG,
    "large": "the answer has 100 MB, more than 10 MB",
    "slow-body": LATE,
    "given-up": LATE,
    "slow-headers": LATE,
    "slow-chunks": LATE,
    "headers": HEADERS,
    "continue": LATE,
    "trailers": HEADERS,
    "chunk-extension": HEADERS,
    "bomb": TOO_LONG,
    "empty-blocks": TOO_LONG,
    "brotli": "compressed as 'br'",
    "error-body": "status 404 Not Found: xxx",
    "redirect": "redirects are not followed",
    "nested": "nested too deeply",
    "long-id": "the id has 1000000 characters",
    "many-ids": None,
    "plain": None,
}


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, Any]]:
    """What each way has cost, by name."""
    if not sys.platform.startswith("linux"):
        pytest.skip("memory is limited and measured as Linux does it")
    with hostile() as url:
        command = [sys.executable, "-m", "tests.retrievers.ask_hostile", url, *SAID]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_every_way_is_tried(told: dict[str, dict[str, Any]]) -> None:
    assert told.keys() == SAID.keys() == answers(threading.Event()).keys()


@pytest.mark.parametrize("name", SAID)
def test_a_server_without_end_costs_a_bounded_amount(told: dict[str, dict[str, Any]], name: str) -> None:
    cost = told[name]
    expected = SAID[name]
    assert cost["megabytes"] < 400  # of the process, the ways before this one included; Python and numpy take 40
    assert cost["seconds"] < 10
    assert cost["threads"] <= 2 + 3 * AT_A_TIME  # also while those that were given up are ending
    assert cost["left"] == 1, "threads of calls that were given up must end"
    if expected is None:
        assert cost["errors"] == []
        assert cost["found"] == len(QUERIES) * (1 if name == "plain" else 10)
    else:
        assert len(cost["errors"]) == 1
        assert expected in cost["errors"][0]


def test_of_two_equal_limits_one_decides() -> None:
    """The runner's, with its text, in every one of many calls."""
    with hostile() as url:
        retriever = HttpRetriever(f"{url}/slow-headers", timeout=0.25)
        queries = {str(number): str(number) for number in range(96)}
        result = run_queries(retriever, queries, 1, timeout=0.25, concurrency=16, retries=0, max_failed=1.0)
        assert {answer.error for answer in result.answers} == {"no answer within 0.25 s"}
        assert len(result.answers) == 96 or result.reason is not None
        own = HttpRetriever(f"{url}/slow-headers", timeout=0.1)
        result = run_queries(own, dict(list(queries.items())[:16]), 1, timeout=5, concurrency=16, retries=0)
        assert {answer.error for answer in result.answers} == {f"{own.url}: no answer within 0.1 s"}


HANGS = """
import json, socket, sys, threading, time
from rankgauge.retrievers import HttpRetriever, run_queries

plain, asked = socket.getaddrinfo, []

def hangs(host, *rest, **options):
    asked.append(host)
    if host == "hangs.invalid":
        time.sleep(3600)
    return plain(host, *rest, **options)

socket.getaddrinfo = hangs
retriever = HttpRetriever("http://hangs.invalid/", timeout=0.3)
began = time.perf_counter()
for limit in (5, 0.3):
    queries = {str(number): "x" for number in range(20)}
    result = run_queries(retriever, queries, 1, timeout=limit, concurrency=10, retries=0, max_failed=1.0)
    time.sleep(0.7)
    print(json.dumps([time.perf_counter() - began, threading.active_count(), len(asked), list(result.errors)]))
fine = HttpRetriever(sys.argv[1].replace("127.0.0.1", "localhost") + "/plain")
print(json.dumps(fine.search("x", 1)))
try:
    HttpRetriever("http://unknown.invalid/").search("x", 1)
except Exception as error:
    print(json.dumps(str(error)))
"""


def test_a_resolver_that_hangs_costs_one_thread_and_no_more_time_than_allowed() -> None:
    with hostile() as url:
        command = [sys.executable, "-c", HANGS, url]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    first, second, found, unknown = map(json.loads, done.stdout.splitlines())
    assert first[3] == ["http://hangs.invalid/: no answer within 0.3 s"]
    assert second[3] == ["no answer within 0.3 s"]
    for seconds, threads, asked, _ in (first, second):
        assert seconds < 8
        assert threads == 2  # this one and the resolver's
        assert asked == 1
    assert found == ["d1"]
    assert "the host is unknown" in unknown


def test_a_list_that_is_cut_is_told(told: dict[str, dict[str, Any]]) -> None:
    assert told["many-ids"]["faults"] == {"unread": len(QUERIES)}
    assert told["plain"]["faults"] == {}


def test_the_limit_can_be_set() -> None:
    with hostile() as url:
        retriever = HttpRetriever(f"{url}/plain", max_body=10)
        with pytest.raises(
            RetrieverError, match="more than 10 bytes; ask for fewer or smaller results, or raise max_b"
        ):
            retriever.search("x", 1)
        assert HttpRetriever(f"{url}/many-ids", max_body=20_000_000).search("x", 1)[0] == "0"
        index = from_elasticsearch(url, "plain", max_body=7)
        with pytest.raises(RetrieverError, match="more than 7 bytes"):
            index.search("x", 1)
        with pytest.raises(RetrieverError, match="more than 10 MB"):
            EmbeddingEndpoint(f"{url}/endless/embeddings", model="m", tries=1, batch_size=1)(["x"])
    with pytest.raises(Exception, match="max_body=0 must be a whole number of at least 1"):
        HttpRetriever("http://localhost", max_body=0)
    assert HttpRetriever.faults(url="http://localhost", max_body=-1) == [
        "max_body=-1 must be a whole number of at least 1"
    ]


def test_a_plan_can_set_it(tmp_path: Path) -> None:
    (tmp_path / "testset.json").write_text('[{"id": "q1", "query": "x", "relevant_docs": ["d1"]}]')
    with hostile() as url:
        plan = tmp_path / "plan.toml"
        text = f"""testset = "testset.json"
measures = ["R@1"]
[[system]]
name = "service"
use = "http"
parameters = {{ url = "{url}/plain", max_body = LIMIT }}
"""
        for limit, status, said in (
            ("100", 0, ""),
            ("5", 2, "more than 5 bytes; ask for fewer or smaller results, or raise max_body"),
            ('"5"', 2, "max_body"),
            ("0", 2, "max_body"),
        ):
            plan.write_text(text.replace("LIMIT", limit))
            assert said in run_command("run", plan, "--fresh", status=status).stderr


def test_calls_that_hang_are_bounded() -> None:
    """Threads of other code cannot be ended: after so many no more are begun, in this run and in later ones."""
    let_go = threading.Event()

    def hangs_often(query: str, k: int) -> list[str]:
        if query.endswith("0"):
            return ["d1"]
        let_go.wait(60)
        return []

    before = threading.active_count()
    try:
        asked = {str(number): f"query {number}" for number in range(400)}
        result = run_queries(hangs_often, asked, 3, timeout=0.05, concurrency=20, max_failed=1.0)
        assert threading.active_count() - before <= 120
        assert result.given_up
        assert len(result.failed) + len(result.not_asked) + len(result.run.to_dict()) >= 400
        assert "no answer within 0.05 s" in result.errors
        with pytest.raises(RetrieverError, match=r"hangs_often: 1\d\d calls that were given up still hang"):
            run_queries(hangs_often, asked, 3)
    finally:
        let_go.set()
    for _ in range(500):
        if threading.active_count() <= before:
            break
        threading.Event().wait(0.01)
    assert run_queries(hangs_often, {"0": "query 0"}, 3).valid


def test_a_proxy_is_asked_for_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"data": [{"index": 0, "embedding": [1, 2]}]}
    with calls(lambda asked: Reply(vectors)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:secret@"))
        monkeypatch.setenv("no_proxy", "")
        assert EmbeddingEndpoint("http://models.invalid/v1", model="m")(["x"]).tolist() == [[1, 2]]
    (asked,) = proxy.asked
    assert asked.path == "http://models.invalid/v1/embeddings"
    assert asked.headers["Proxy-Authorization"].startswith("Basic ")


def test_a_generator_without_end_is_left() -> None:
    read = 0

    def forever(query: str, k: int) -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield str(read)

    async def endless(query: str, k: int) -> AsyncIterator[str]:
        for number in forever(query, k):
            yield number

    for search in (forever, endless):
        read = 0
        result = run_queries(search, {"q": "x"}, 3, timeout=20)
        assert result.run.to_dict()["q"].keys() == {"1", "2", "3"}
        assert result.faults == {"unread": 1}
        assert "too long to be read to the end" in " ".join(result.remarks)
        assert read <= 3 + 1001


def test_an_async_generator_is_closed() -> None:
    closed = []

    async def endless(query: str, k: int) -> AsyncIterator[str]:
        try:
            number = 0
            while True:
                yield str(number := number + 1)
        finally:
            closed.append(query)

    assert len(asyncio.run(as_searcher(endless).asearch("x", 2))) == 2
    assert closed == ["x"]


class Endless:
    """A sequence that says it has ten entries and has no end."""

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[int]:
        number = 0
        while True:
            yield (number := number + 1)


@pytest.mark.parametrize(
    "results",
    [
        ["d"] * 10_000_000,
        np.arange(10_000_000),
        dict.fromkeys(range(101_000), 1.0),
        {"results": list(range(101_000))},
        Endless(),
    ],
    ids=["list", "array", "mapping", "wrapped", "endless"],
)
def test_a_long_list_is_cut_before_it_is_looked_at(results: Any) -> None:
    hits, faults = hits_of(results, 5)
    assert len(hits) == (1 if isinstance(results, list) else 5)
    assert faults[0].kind == "unread"
    assert faults[0].message == "more than 100005 results where 5 were asked for; the rest was not read"


def test_a_retriever_that_takes_no_k_is_told_too() -> None:
    searcher = as_searcher(lambda query: range(101_000))
    assert [fault.kind for fault in searcher.ask("x", 3).faults] == ["unread"]
    assert as_searcher(lambda query: range(90_000)).ask("x", 3).faults == []


@pytest.mark.parametrize("more", [1.0, 0.5])
def test_what_follows_an_answer_is_not_the_next_one(more: float) -> None:
    """A server, or a proxy before it, that sends an answer twice, or half of it: the rest must not answer the next
    query, and all others one too late."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            while head := client.recv(65536):
                while not head.endswith(b"}"):
                    head += client.recv(65536)
                body = json.dumps({"hits": [{"id": json.loads(head.partition(b"\r\n\r\n")[2])["query"]}]}).encode()
                answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
                client.sendall(answer + answer[: int(len(answer) * more)])

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        retriever = HttpRetriever(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        found = run_queries(retriever, {f"q{n}": f"text{n}" for n in range(6)}, k=1, retries=0)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    assert found.failed == []
    assert {query: list(found.run[query]) for query in found.run} == {f"q{n}": [f"text{n}"] for n in range(6)}
