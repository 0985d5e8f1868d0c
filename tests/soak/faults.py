"""A monitor under faults drawn at random, one or two at a time: then all that its log promised is looked for."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rankgauge.history.schema import deliveries
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from tests.history.conftest import Server
from tests.monitoring.workspace import Running, Workspace, rows
from tests.parts import found as part
from tests.retrievers.servers import Asked, Reply, Service, calls
from tests.soak.kills import faults_in, promised_checks

_EVERY = "0.5s"
_PATIENCE = 120.0
"""Seconds after a fault within which the monitor has to check again."""
_QUERIES = 8
_LENGTHS = [(0.5, 6.0)] * 5 + [(6.0, 40.0)]
"""Seconds that a fault lasts, from and to; most are short."""
_SEARCH = """
import json, time
from pathlib import Path
HERE = Path(__file__).parent

def search(query, k):
    orders = json.loads((HERE / "orders.json").read_text())
    if orders.get("slow"):
        time.sleep(orders["slow"])
    if orders.get("down"):
        raise ConnectionError("no route to the server")
    if orders.get("garbage"):
        return [None, {"\\x1b[31m": [query] * 3}, -1]
    return [] if query in orders.get("broken", []) else ["d" + query.removeprefix("word")]
"""


@dataclass
class Soaked:
    """How one monitor came through."""

    database: str
    faults: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    checks: int = 0
    spooled: int = 0
    """Of them, those that had to wait for the history."""
    incidents: int = 0
    alerts: int = 0
    repeated: int = 0
    """Messages that came more than once, which is allowed: a kill came between sending and noting."""
    no_room: int = 0
    """Checks that could not be written anywhere, which the log has said: the disk was full."""
    lost: list[str] = field(default_factory=list)


class Sink:
    """Receives the alerts, or does not."""

    def __init__(self) -> None:
        self.reply = Reply()
        self.taken: Counter[tuple[int, str]] = Counter()

    def answer(self, asked: Asked) -> Reply:
        if self.reply.status == 200 and not self.reply.drop and not self.reply.delay:
            self.taken[asked.body["incident"], asked.body["event"]] += 1
        return self.reply


class Soak:
    """One monitor, its history and its sink."""

    def __init__(self, folder: Path, sink: Sink, service: Service, server: Server | None, seed: int) -> None:
        self.random, self.sink, self.server = random.Random(seed), sink, server
        self.found = Soaked("sqlite" if server is None else "postgresql")
        self.place = str(folder / "history.db") if server is None else server.new()
        extra = f'[[alert]]\nname = "ops"\nurl = "{service.url}/hook"\n'
        self.workspace = Workspace(folder, queries=_QUERIES, lease="2s", unhealthy_after="30s", extra=extra)
        (folder / f"{self.workspace.module}.py").write_text(_SEARCH)
        plan = self.workspace.plan.read_text().replace("retries = 0", "retries = 0\ntimeout = 1.0")
        self.workspace.plan.write_text(plan)
        self.monitor: Running | None = None
        self.log = ""

    # The monitor

    def start(self, *prefix: str) -> None:
        command = [*prefix, *self.workspace.command("--every", _EVERY, "--history", self.place)]
        env = {**os.environ, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "RANKGAUGE_HISTORY_TIMEOUT": "5"}
        self.monitor = Running(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env))
        self.found.starts += 1

    @property
    def running(self) -> Running:
        assert self.monitor is not None
        return self.monitor

    @property
    def pid(self) -> int:
        return self.running.process.pid

    def end(self, number: signal.Signals) -> None:
        """End it by a signal, and keep its log."""
        with suppress(ProcessLookupError):
            self.running.signal(number)
        try:
            status = self.running.process.wait(60)
        except subprocess.TimeoutExpired:
            self.found.lost.append(f"{number.name} did not end the monitor within 60 s")
            self.running.process.kill()
            status = self.running.process.wait()
        if status not in (0, -number):
            self.found.lost.append(f"the monitor ended with {status}:\n{self.running.log[-800:]}")
        self.running.reader.join()
        self.log += self.running.log
        self.monitor = None

    def checked(self, more: int = 1) -> None:
        """Wait until it has checked again."""

        def count() -> int:
            return sum(f" check {kind}" in line for line in self.running.lines for kind in "0123456789")

        wanted, deadline = count() + more, time.monotonic() + _PATIENCE + 5 * more
        while count() < wanted:
            if self.running.process.poll() is not None:
                self.found.lost.append(f"the monitor ended by itself:\n{self.running.log[-800:]}")
                self.end(signal.SIGTERM)
                self.start()
                return
            if time.monotonic() > deadline:
                self.found.lost.append(f"no check within {_PATIENCE:g} s:\n{self.running.log[-800:]}")
                return
            time.sleep(0.05)

    # Faults, each as long as its context lasts

    @contextmanager
    def _ordered(self, **orders: object) -> Iterator[None]:
        self.workspace.order(**orders)
        yield
        self.workspace.order()

    @contextmanager
    def _killed(self) -> Iterator[None]:
        self.end(signal.SIGKILL)
        self.start()
        yield

    @contextmanager
    def _ended(self) -> Iterator[None]:
        self.end(signal.SIGTERM)
        self.start()
        yield

    @contextmanager
    def _another_clock(self) -> Iterator[None]:
        self.end(signal.SIGKILL)
        self.start("faketime", "-f", self.random.choice(["+1d", "-1d", "+3h", "-10m"]))
        yield
        if self.monitor is not None:
            children = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(self.pid)], capture_output=True, text=True, check=False
            )
            for child in map(int, children.stdout.split()):
                os.kill(child, signal.SIGKILL)
            self.end(signal.SIGKILL)
        self.start()

    @contextmanager
    def _stopped(self) -> Iterator[None]:
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)
        yield
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self.server is None:
            connection = sqlite3.connect(self.place, isolation_level=None, timeout=30)
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.close()
            return
        with History.open(self.place) as history, history.begin() as held:
            held.execute(sa.text("LOCK TABLE checks, incidents IN ACCESS EXCLUSIVE MODE"))
            yield

    @contextmanager
    def _no_room(self) -> Iterator[None]:
        """The database cannot grow, nor, half of the time, the spool."""
        pid = self.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (self.random.choice([0, 65536]), hard))
        yield
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

    @contextmanager
    def _restarted(self) -> Iterator[None]:
        assert self.server is not None
        self.server.stop()
        yield
        self.server.start()

    @contextmanager
    def _hanging(self) -> Iterator[None]:
        assert self.server is not None
        with self.server.hanging():
            yield

    @contextmanager
    def _deaf(self) -> Iterator[None]:
        self.sink.reply = self.random.choice([Reply(status=503), Reply(drop=True), Reply(delay=5)])
        yield
        self.sink.reply = Reply()

    def kinds(self) -> dict[str, Callable[[], AbstractContextManager[None]]]:
        words = [f"word{i}" for i in range(_QUERIES)]
        found: dict[str, Callable[[], AbstractContextManager[None]]] = {
            "retriever fails": lambda: self._ordered(down=True),
            "retriever hangs": lambda: self._ordered(slow=3),
            "retriever slow": lambda: self._ordered(slow=0.3),
            "retriever sends garbage": lambda: self._ordered(garbage=True),
            "retriever finds less": lambda: self._ordered(broken=words[: self.random.randint(2, _QUERIES)]),
            "kill -9": self._killed,
            "SIGTERM": self._ended,
            "SIGSTOP": self._stopped,
            "database locked": self._locked,
            "alert sink down": self._deaf,
        }
        if hasattr(resource, "prlimit"):
            found["disk full"] = self._no_room
        if part("faketime") is not None:
            found["clock jump"] = self._another_clock
        if self.server is not None:
            found |= {"server restarted": self._restarted, "server hangs": self._hanging}
        return found

    # Of which two do not go together: what one ends, the other would still hold.
    _ALONE = ("SIGSTOP", "kill -9", "SIGTERM", "clock jump", "disk full", "server restarted", "server hangs")
    _HISTORY = ("database locked", "server restarted", "server hangs")

    def go(self, until: float) -> None:
        """Faults until the time is up, then a last look."""
        kinds = self.kinds()
        self.start()
        self.checked(3)
        while time.monotonic() < until:
            chosen = self.random.sample(sorted(kinds), self.random.choice([1, 1, 2]))
            if sum(name in self._ALONE for name in chosen) > 1 or sum(name in self._HISTORY for name in chosen) > 1:
                chosen = chosen[:1]
            chosen.sort(key=self._ALONE.__contains__)
            with ExitStack() as stack:
                for name in chosen:
                    stack.enter_context(kinds[name]())
                    self.found.faults[name] += 1
                time.sleep(self.random.uniform(*self.random.choice(_LENGTHS)))
            self.checked(2 if self.random.random() < 0.7 else 6)
        self.checked(12)
        self.end(signal.SIGTERM)
        self._hurry()
        self._look()

    def _hurry(self) -> None:
        """Alerts that wait for their next try, up to an hour, are due now."""
        for _ in range(3):
            with History.open(self.place) as history, history.begin() as connection:
                waiting = deliveries.c.next_try.is_not(None)
                past = sa.update(deliveries).where(waiting).values(next_try=deliveries.c.created)
                connection.execute(past)
            done = self.workspace.once("--history", self.place)
            if done.returncode not in (0, 1):
                self.found.lost.append(f"--once ended with {done.returncode}: {done.stderr[-500:]}")
            self.log += done.stderr

    def _look(self) -> None:
        found, lost = self.found, self.found.lost
        found.no_room = self.log.count("this check is lost, nothing can be written")
        for sign in ("Traceback", "cannot be read; it is not counted", "is left for that one", "given up on"):
            lost += [line for line in self.log.splitlines() if sign in line][:5]
        with History.open(self.place) as history:
            lost += faults_in(history, promised_checks(self.log), self.workspace)
            counted = {row["token"] for row in rows(history, "checks") if row["status"] in ("done", "invalid")}
            incidents, sent = rows(history, "incidents"), rows(history, "deliveries")
        spooled = re.findall(r"the check is spooled in \S+-(\w+)\.json", self.log)
        lost += [f"the check {token} was spooled and is not stored" for token in spooled if token not in counted]
        found.checks, found.spooled = len(counted), len(spooled)
        found.incidents, found.alerts = len(incidents), sum(self.sink.taken.values())
        numbered = {key: count for key, count in self.sink.taken.items() if key[0]}
        found.repeated = sum(count - 1 for count in numbered.values())
        told = self.log.count("Z ALERT ")
        if told > len(incidents):
            lost.append(f"the log has {told} alerts, the history {len(incidents)} incidents")
        for row in sent:
            key = (row["incident_id"], row["event"])
            both = {(row["incident_id"], event) for event in ("opened", "recovered")}
            if row["state"] != "delivered":
                lost.append(f"the alert {key} is {row['state']}: {row['error']}")
            elif not both & numbered.keys():
                lost.append(f"the alert {key} counts as delivered, and never came")


def soak(folder: Path, minutes: float, seed: int, *, server: bool) -> Soaked:
    """A monitor on SQLite, or on a PostgreSQL server of its own, for so long."""
    folder.mkdir(parents=True, exist_ok=True)
    sink = Sink()
    with ExitStack() as stack:
        service = stack.enter_context(calls(sink.answer))
        started = None
        if server:
            place = part("postgresql")
            assert place is not None
            # Readable for the server's own user.
            data = stack.enter_context(tempfile.TemporaryDirectory(prefix="rankgauge-soak-"))
            started = Server(Path(place), Path(data))
            stack.callback(started.stop)
        made = Soak(folder, sink, service, started, seed)
        try:
            made.go(time.monotonic() + 60 * minutes)
        finally:
            if made.monitor is not None:
                made.end(signal.SIGKILL)
            (folder / "monitor.log").write_text(made.log)
    return made.found
