"""A small search service under watch: a corpus, questions, a plan, and a retriever that does as it is told."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.history.schema import checks, deliveries, detector_states, incidents, records
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.alerts.channels import Channel
from rankgauge.monitoring.loop.monitor import Clock, Monitor
from rankgauge.monitoring.loop.plan import MonitorPlan, load_monitor_plan

START = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
_NUMBERS = itertools.count()
# Finds documents by their first word. It reads its orders anew at each call, so that a running monitor meets them too.
_SEARCH = """
import json, os, time
from pathlib import Path
HERE = Path(__file__).parent

def ask(system, query, k):
    with open(HERE / "calls", "a") as calls:
        calls.write(f"{os.getpid()} {system} {query}\\n")
    orders = json.loads((HERE / "orders.json").read_text())
    time.sleep(orders.get("slow", 0))
    if system in orders.get("down", []):
        raise ConnectionError(orders.get("reason", "no route to the server"))
    documents = map(json.loads, (HERE / "corpus.jsonl").read_text("utf-8").splitlines())
    found = [d["_id"] for d in documents if d["text"].split()[0] == query]
    return [] if query in orders.get("broken", []) else found[:k]

def search(query, k):
    return ask("search", query, k)

def other(query, k):
    return ask("other", query, k)

def texts(ids):
    return {d["_id"]: d["text"] for d in map(json.loads, (HERE / "corpus.jsonl").read_text().splitlines())}
"""


class Workspace:
    """The files of a monitored service in one folder."""

    def __init__(self, folder: Path, queries: int = 10, **monitor: Any) -> None:
        self.folder = folder
        self.module = f"service_{next(_NUMBERS)}"
        (folder / f"{self.module}.py").write_text(_SEARCH)
        self.documents = {f"d{i}": f"word{i} and more" for i in range(queries)}
        self.order()
        self.write_corpus()
        self.ask_for(queries)
        self.write_plan(**monitor)

    @property
    def plan(self) -> Path:
        return self.folder / "plan.toml"

    @property
    def spooled(self) -> list[Path]:
        return sorted((self.folder / ".rankgauge" / "spool").glob("*"))

    def order(self, **orders: Any) -> None:
        """What the retriever is to do from now on: down, broken, slow."""
        new = self.folder / "orders.new"
        new.write_text(json.dumps(orders))
        new.replace(self.folder / "orders.json")

    def write_corpus(self) -> None:
        lines = [json.dumps({"_id": doc, "text": text}) for doc, text in self.documents.items()]
        (self.folder / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines))

    def ask_for(self, queries: int, first: int = 0) -> None:
        """The test set: query `word3` finds document `d3`."""
        entries = [
            {"id": f"q{i}", "query": f"word{i}", "relevant_docs": [f"d{i}"]} for i in range(first, first + queries)
        ]
        (self.folder / "questions.json").write_text(json.dumps(entries))

    def write_plan(
        self,
        systems: tuple[str, ...] = ("search",),
        measures: str = '["nDCG@10"]',
        extra: str = "",
        corpus: str = 'corpus = "corpus.jsonl"',
        **monitor: Any,
    ) -> None:
        table = {"latency": False, "slices": False, "tolerance": 0.02, **monitor}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
        found = "\n".join(f'[[system]]\nname = "{name}"\nuse = "{self.module}:{name}"\n' for name in systems)
        self.plan.write_text(
            f'testset = "questions.json"\n{corpus}\nmeasures = {measures}\n\n{found}\n'
            "[calls]\nretries = 0\n\n[monitor]\n" + "\n".join(lines) + f"\n\n{extra}\n"
        )

    def calls(self) -> list[str]:
        """Every question that was asked, with the process that did."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "rankgauge", "monitor", str(self.plan), *map(str, arguments)]

    def once(self, *arguments: object, prefix: tuple[str, ...] = (), **rest: Any) -> subprocess.CompletedProcess[str]:
        """One check in a process of its own."""
        command = [*prefix, *self.command("--once", *arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **rest)

    @contextmanager
    def running(self, *arguments: object, **rest: Any) -> Iterator[Running]:
        """A monitor at work; it is killed at the end if it still runs."""
        process = subprocess.Popen(self.command(*arguments), stderr=subprocess.PIPE, text=True, **rest)
        started = Running(process)
        try:
            yield started
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            started.reader.join()


class Running:
    """A process whose log is read along."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as log:
            self.lines.extend(iter(log.readline, ""))

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def until(self, text: str, count: int = 1) -> str:
        """Wait until the log has a text so many times."""
        eventually(lambda: self.log.count(text) >= count, lambda: f"no {text!r} in:\n{self.log}", self.process)
        return self.log

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.process.wait(30)


def eventually(
    holds: Callable[[], object], otherwise: Callable[[], str], process: subprocess.Popen[str] | None = None
) -> None:
    end = time.monotonic() + 60
    while not holds():
        if process is not None and process.poll() is not None:
            end = min(end, time.monotonic() + 1)  # its last words may still be on their way
        assert time.monotonic() < end, otherwise()
        time.sleep(0.02)


class FakeClock(Clock):
    """Time that passes when it is waited for. `during` is called at each wait and may set the clock."""

    def __init__(self, during: Callable[[FakeClock], None] = lambda clock: None) -> None:
        self.wall, self.time, self.during = START, 0.0, during
        self.waits: list[float] = []

    def now(self) -> datetime.datetime:
        return self.wall

    def passed(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds
        self.wall += datetime.timedelta(seconds=seconds)

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        self.advance(seconds)
        self.during(self)
        return stop.is_set()


class Recorder(Channel):
    """A channel that keeps what it gets, or fails while it is told to."""

    def __init__(self, name: str = "ops", down: str | None = None) -> None:
        super().__init__(name, "console")
        self.down = down
        self.got: list[tuple[str, str, str]] = []

    def send(self, title: str, body: str, *, incident: int, event: str) -> str | None:
        if self.down is None:
            self.got.append((event, title, body))
        return self.down

    @property
    def told(self) -> list[str]:
        return [f"{event} {title.split(': ', 1)[1].removeprefix('recovered: ')}" for event, title, _ in self.got]


class Watch:
    """A monitor in this process: its log, its clock, and what its channel got."""

    def __init__(self, workspace: Workspace, history: History, clock: FakeClock | None = None) -> None:
        self.workspace, self.history, self.clock = workspace, history, clock or FakeClock()
        self.channel = Recorder()
        self.log: list[str] = []

    def plan(self) -> MonitorPlan:
        loaded = load_monitor_plan(self.workspace.plan, history="unused")
        return replace(loaded, channels=[self.channel])

    def monitor(self) -> Monitor:
        """A new start: all that is remembered is in the history."""
        return Monitor(self.plan(), self.history, self.log.append, clock=self.clock)

    def check(self, times: int = 1) -> list[str]:
        """Checks an hour apart, each by a new start; what the log said."""
        before = len(self.log)
        for _ in range(times):
            self.monitor().once()
            self.clock.advance(3600)
        return self.log[before:]

    def rows(self, name: str) -> list[Mapping[str, Any]]:
        return rows(self.history, name)

    def open(self) -> list[str]:
        return [row["kind"] for row in self.rows("incidents") if row["closed_at"] is None]


_TABLES = {
    "checks": checks,
    "incidents": incidents,
    "deliveries": deliveries,
    "detector_states": detector_states,
    "records": records,
}


def rows(history: History, name: str) -> list[Mapping[str, Any]]:
    """A table's rows, oldest first; of records without the documents."""
    table = _TABLES[name]
    columns = [column for column in table.c if column.name != "document"]
    order = table.c.number if name == "checks" else next(iter(table.primary_key.columns))
    with history.read() as connection:
        return [dict(row._mapping) for row in connection.execute(sa.select(*columns).order_by(order))]


def counted_once(history: History, workspace: Workspace | None = None) -> list[int]:
    """The numbers of the checks that count: without gaps or repeats, each with a record of its own."""
    found = rows(history, "checks")
    assert [row["number"] for row in found] == list(range(1, len(found) + 1))
    stored = [row["record_id"] for row in found if row["record_id"] is not None]
    assert len(set(stored)) == len(stored) == len(rows(history, "records"))
    assert all((row["record_id"] is not None) <= (row["status"] == "done") for row in found)
    if workspace is not None:
        assert workspace.spooled == []
    return [row["number"] for row in found if row["status"] == "done"]
