"""What calling a retriever through `run_queries` costs, and what concurrency gains. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rankgauge.retrievers.http import HttpRetriever
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.runner import run_queries

K = 10
ROUNDS = 9
DELAY = 0.020
GOALS = {"own_cost": 0.05, "speedup": 25}


def sleeping(query: str, k: int) -> list[tuple[str, float]]:
    """A retriever that waits 1 ms, as for another machine."""
    time.sleep(0.001)
    return [(f"d{number}", 1.0 - number / 100) for number in range(k)]


def computing(query: str, k: int) -> list[tuple[str, float]]:
    """A retriever that computes for 1 ms."""
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass
    return [(f"d{number}", 1.0 - number / 100) for number in range(k)]


def overhead(retriever: Callable[[str, int], object], count: int = 400, *, journal: bool = False) -> dict[str, float]:
    """Milliseconds for each query, bare and through the runner, and what the runner costs, in two ways.

    against_bare = wall time of a pass / that of a bare loop - 1, the best of each. own_cost = wall time of a pass /
    time inside the retriever - 1, the median of all rounds. How long a sleep of 1 ms takes differs between two loops by
    as much as the runner costs, so the first is noisy on a busy machine; the second is taken within one pass.
    """
    queries = {str(number): f"query {number}" for number in range(count)}
    bare, passed, added = [], [], []
    for number in range(ROUNDS):
        start = time.perf_counter()
        for text in queries.values():
            retriever(text, K)
        bare.append(time.perf_counter() - start)
        with tempfile.TemporaryDirectory() as folder:
            kept = Journal(Path(folder) / "journal", {"round": number}) if journal else None
            start = time.perf_counter()
            result = run_queries(retriever, queries, K, journal=kept)
            passed.append(time.perf_counter() - start)
            if kept is not None:
                kept.close()
        assert result.valid
        added.append(passed[-1] / sum(answer.seconds for answer in result.answers) - 1)
    best, through = min(bare) / count * 1000, min(passed) / count * 1000
    return {
        "bare_ms": best,
        "runner_ms": through,
        "against_bare": through / best - 1,
        "own_cost": sorted(added)[ROUNDS // 2],
    }


async def _serve() -> None:
    """Answers every request after 20 ms; the smallest server that keeps connections."""
    found = json.dumps({"hits": [{"id": f"d{number}", "score": 1.0 - number / 100} for number in range(K)]}).encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(found), found)

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(DELAY)
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def speedup(concurrency: int = 32, count: int = 3200) -> dict[str, float]:
    """Queries per second from a local endpoint, one at a time and many at a time."""
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.runner", "serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        retriever = HttpRetriever(f"http://127.0.0.1:{port}/", scores="$.hits[*].score")
        queries = {str(number): f"query {number}" for number in range(count)}
        few = dict(list(queries.items())[: count // concurrency])
        one = run_queries(retriever, few, K)
        many = run_queries(retriever, queries, K, concurrency=concurrency)
        assert one.valid, one.reason
        assert many.valid, many.reason
    finally:
        server.terminate()
        server.wait()
    return {
        "sequential_per_second": one.throughput,
        "concurrent_per_second": many.throughput,
        "speedup": many.throughput / one.throughput,
        "sequential_p50_ms": one.latency.p50 * 1000,
        "concurrent_p50_ms": many.latency.p50 * 1000,
        "concurrent_p99_ms": many.latency.p99 * 1000,
    }


def main() -> None:
    results = {
        "goals": GOALS,
        "sleeping 1 ms": overhead(sleeping),
        "computing 1 ms": overhead(computing),
        "sleeping 1 ms, with a journal": overhead(sleeping, journal=True),
        "http 20 ms, 32 at a time": speedup(),
    }
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_serve())
    else:
        main()
