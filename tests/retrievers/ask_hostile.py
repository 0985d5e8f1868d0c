"""Asks a hostile server in every way, in a process of its own with little memory, and prints what each one cost."""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from pathlib import Path

from rankgauge.retrievers import HttpRetriever, run_queries

TIMEOUT = 0.4
AT_A_TIME = 2
LATE = ("continue", "given-up", "slow-body", "slow-headers", "slow-chunks")
QUERIES = {str(number): f"query {number}" for number in range(4)}


def peak() -> float:
    """The most memory this process has had: getrusage counts that of its parent too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main(url: str, names: list[str]) -> None:
    limit = 3 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for name in names:
        retriever = HttpRetriever(f"{url}/{name}", timeout=TIMEOUT if name in LATE else 10)
        most, over = 0, threading.Event()

        def watch(over: threading.Event = over) -> None:
            nonlocal most
            while not over.wait(0.01):
                most = max(most, threading.active_count())

        watcher = threading.Thread(target=watch)
        watcher.start()
        began = time.perf_counter()
        # As by default, the limit of the runner is that of the connection.
        asked = {"timeout": retriever.timeout, "retries": 0, "max_failed": 1.0, "concurrency": AT_A_TIME}
        result = run_queries(retriever, QUERIES, 10, **asked)
        seconds = time.perf_counter() - began
        over.set()
        watcher.join()
        time.sleep(0.7 if name in LATE else 0.05)
        told = {
            "seconds": seconds,
            "threads": most,
            "left": threading.active_count(),
            "megabytes": peak(),
            "errors": list(result.errors),
            "faults": dict(result.faults),
            "found": sum(map(len, result.run.to_dict().values())),
        }
        print(json.dumps([name, told]), flush=True)
        retriever.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
