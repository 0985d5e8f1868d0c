"""Each command killed with `kill -9` at moments drawn at random over the time that it takes.

What a command had promised before (it ended with its status, or its log said so) must be there, once; what it had not
finished is there wholly or not at all, and the next start goes on.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rankgauge.formats.sources import write_whole
from rankgauge.history.store import History
from rankgauge.record import Record
from tests.history.records import make_record
from tests.monitoring.workspace import Workspace, counted_once, rows

COMMAND = [sys.executable, "-m", "rankgauge"]
_QUERIES = 40
_TOGETHER = 5
_IN_FLIGHT = 2
_SEARCH = """
import pathlib, time
log = pathlib.Path(__file__).with_name("asked.txt")
def search(query, k):
    with log.open("a") as file:
        file.write(query + "\\n")
    time.sleep(0.02)
    return [f"{query}-{i}" for i in range(k)]
"""
_PLAN = """
testset = "testset.json"
measures = ["R@5"]
[calls]
k = 5
concurrency = 2
[[system]]
name = "slow"
use = "killed_search_module:search"
[outputs]
record = "record.json"
"""


@dataclass
class Killed:
    """How the kills of one command went."""

    command: str
    kills: int = 0
    ended: int = 0
    """Starts that ended by themselves: before their kill came, or to see that the command still works."""
    lost: list[str] = field(default_factory=list)
    """What was promised and is not there, there twice, or there in part; empty is what is hoped for."""

    def expect(self, holds: object, otherwise: str) -> None:
        if not holds:
            self.lost.append(otherwise)


@dataclass
class Killer:
    """Starts commands in a folder and kills them."""

    folder: Path
    random: random.Random
    found: Killed
    _took: float = 0.0

    def rounds(self, times: int) -> Iterator[int]:
        """Numbers, until so many starts were killed; one that ended before its kill came is made up for."""
        for number in range(4 * times + 4):
            if self.found.kills >= times:
                return
            yield number

    def run(self, *arguments: object, statuses: tuple[int, ...] = (0,)) -> int:
        """Undisturbed; how long it takes tells when to kill."""
        begun = time.monotonic()
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )
        self._took = time.monotonic() - begun
        self.found.ended += 1
        self.found.expect(done.returncode in statuses, f"status {done.returncode} after a kill: {done.stderr[-500:]}")
        return done.returncode

    def kill(self, *arguments: object) -> tuple[bool, str]:
        """Start it and kill it; whether it had ended by itself with 0, and what its log said."""
        log = self.folder / "killed.log"
        with log.open("wb") as out:
            child = subprocess.Popen(
                [*COMMAND, *map(str, arguments)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=out
            )
            try:
                child.wait(self.random.uniform(0.2, 1.0) * self._took)
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
            status = child.wait()
        self.found.kills += status == -signal.SIGKILL
        self.found.ended += status != -signal.SIGKILL
        return status == 0, log.read_text("utf-8", errors="replace")


def _run(killer: Killer, times: int) -> None:
    folder, found = killer.folder, killer.found
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"text {i}-1"]} for i in range(_QUERIES)]
    (folder / "testset.json").write_text(json.dumps(queries))
    (folder / "killed_search_module.py").write_text(_SEARCH)
    (folder / "plan.toml").write_text(_PLAN)
    asked, record = folder / "asked.txt", folder / "record.json"
    killer.run("run", "plan.toml")
    finished, before = 1, record.read_bytes()
    for _ in killer.rounds(times):
        killer.kill("run", "plan.toml")
        now = record.read_bytes()
        finished, before = finished + (now != before), now
        mean = Record.load(record).systems[0].means["R@5"].value
        found.expect(mean == 1.0, f"the record says {mean}")
    killer.run("run", "plan.toml")
    count = len(asked.read_text().splitlines())
    most = _QUERIES * (finished + 1) + _IN_FLIGHT * found.kills
    found.expect(count <= most, f"{count} queries were asked, {most} are explained: answers were lost")
    found.expect(not list((folder / ".rankgauge").rglob("*.jsonl")), "a journal is left after a run that ended")


def _gate(killer: Killer, times: int) -> None:
    folder, found = killer.folder, killer.found
    for name, shift in (("base.json", 0.0), ("new.json", 0.01)):
        write_whole(folder / name, make_record(1, queries=200, shift=shift).to_json().encode())
    before = [(folder / name).read_bytes() for name in ("base.json", "new.json")]
    outputs = ["--junit", "gate.xml", "--summary", "gate.md", "-o", "gate.html"]
    command = ["gate", "new.json", "--baseline", "base.json", "--max-age", "99999d", *outputs]
    killer.run(*command)
    whole = {name: len((folder / name).read_bytes()) for name in ("gate.xml", "gate.md", "gate.html")}
    for _ in killer.rounds(times):
        for name in whole:
            (folder / name).unlink(missing_ok=True)
        killer.kill(*command)
        for name, size in whole.items():
            there = (folder / name).read_bytes() if (folder / name).exists() else b""
            found.expect(not there or abs(len(there) - size) < 100, f"{name} has {len(there)} bytes, not {size}")
    killer.run(*command)
    after = [(folder / name).read_bytes() for name in ("base.json", "new.json")]
    found.expect(before == after, "a gate changed what it read")


def _sound(path: Path, found: Killed) -> None:
    connection = sqlite3.connect(path)
    (told,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    found.expect(told == "ok", f"the database is damaged: {told}")


def _history_add(killer: Killer, times: int) -> None:
    folder, found, promised = killer.folder, killer.found, 0
    for number in killer.rounds(times):
        lines = [json.dumps(make_record(number * _TOGETHER + i, queries=60).to_dict()) for i in range(_TOGETHER)]
        (folder / "records.jsonl").write_text("\n".join(lines))
        command = ["history", "add", "records.jsonl", "--history", "history.db"]
        ended = killer.run(*command) == 0 if number == 0 else killer.kill(*command)[0]
        promised += _TOGETHER if ended else 0
        with History.open(folder / "history.db") as history:
            stored = history.records()
            found.expect(len(stored) % _TOGETHER == 0, f"{len(stored)} records: a command stored some of its five")
            found.expect(len(stored) >= promised, f"{promised} records were promised, {len(stored)} are there")
            for one in stored[: 2 * _TOGETHER]:
                found.expect(history.record(one) is not None, f"record {one.id} cannot be read")
            promised = len(stored)
    _sound(folder / "history.db", found)


def _history_prune(killer: Killer, times: int) -> None:
    folder, found, keep = killer.folder, killer.found, 3
    write_whole(folder / "base.json", make_record(0).to_json().encode())
    killer.run("baseline", "set", "main", "base.json", "--history", "history.db")
    command = ["history", "prune", "--keep", keep, "--yes", "--history", "history.db"]
    killer.run(*command)
    for number in killer.rounds(times):
        with History.open(folder / "history.db") as history:
            with history.begin() as connection:
                for i in range(1, 31):
                    history.add(make_record(number * 30 + i), connection=connection)
            before = {one.id for one in history.records()}
        ended, _ = killer.kill(*command)
        with History.open(folder / "history.db") as history:
            after = {one.id for one in history.records()}
            wanted = {1, *sorted(before)[-keep:]}
            found.expect(after in (before, wanted), f"{len(before)} records became {len(after)}: pruned in part")
            found.expect(not ended or after == wanted, "a prune that ended had removed nothing")
            found.expect([one.record_id for one in history.baselines()] == [1], "the baseline's record is gone")
    killer.run(*command)
    _sound(folder / "history.db", found)


def _baseline(action: str) -> Callable[[Killer, int], None]:
    def go(killer: Killer, times: int) -> None:
        folder, found = killer.folder, killer.found
        promised = 1
        for number in killer.rounds(times):
            write_whole(folder / "new.json", make_record(number, queries=200, shift=0.01 * number).to_json().encode())
            command = ["baseline", "set" if number == 0 else action, "main", "new.json", "--history", "history.db"]
            command += ["--force", "--note", "soak"] if number and action == "promote" else []
            ended = killer.run(*command) == 0 if number == 0 else killer.kill(*command)[0]
            with History.open(folder / "history.db") as history:
                versions = [one.version for one in history.baselines("main")]
            found.expect(sorted(versions) == list(range(1, len(versions) + 1)), f"versions {versions}")
            least = promised + (1 if ended and number else 0)
            found.expect(least <= len(versions) <= promised + 1, f"{least} versions were promised, not {versions}")
            promised = len(versions)
        killer.run("gate", "new.json", "--baseline", "main", "--history", "history.db", statuses=(0, 1))
        _sound(folder / "history.db", found)

    return go


def promised_checks(log: str) -> dict[int, str]:
    """The checks that a monitor's log says are stored, with the score it says."""
    return {int(number): value for number, value in re.findall(r" check (\d+): search nDCG@10 ([\d.]+)", log)}


def faults_in(history: History, promised: dict[int, str], workspace: Workspace) -> Iterator[str]:
    """What is not as a monitor's log promised it, or there twice."""
    try:
        counted = set(counted_once(history, workspace))
    except AssertionError as error:
        yield f"checks do not count once: {error}"
        return
    for number in promised:
        if number not in counted:
            yield f"check {number} was told in the log, and is not stored"
    checks = {row["number"]: row for row in rows(history, "checks")}
    for number in sorted(counted & promised.keys()):
        mean = history.record(checks[number]["record_id"]).system("search").means["nDCG@10"].value
        if f"{mean:.4f}" != promised[number]:
            yield f"check {number} was {promised[number]} in the log and is {mean:.4f} in its record"
    yield from _incident_faults(history, checks)


def _incident_faults(history: History, checks: dict[int, object]) -> Iterator[str]:
    incidents = rows(history, "incidents")
    spans: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in incidents:
        ended = float("inf") if row["closed_check"] is None else row["closed_check"]
        spans.setdefault((row["kind"], row["system"]), []).append((row["opened_check"], ended))
    for key, found in spans.items():
        found.sort()
        for (_, end), (begin, _) in itertools.pairwise(found):
            if begin < end:
                yield f"two incidents of {key} at once, at check {begin}"
    for number, check in checks.items():
        invalid = check["status"] == "invalid"  # type: ignore[index]
        down = [span for span in spans.get(("down", "search"), []) if span[0] <= number < span[1]]
        if invalid and not down:
            yield f"check {number} took no score, and no incident is open for it"
    queued = {row["incident_id"] for row in rows(history, "deliveries")}
    for row in incidents:
        if row["id"] not in queued:
            yield f"incident {row['id']} ({row['kind']}) has no alert"


def _monitor(*, once: bool) -> Callable[[Killer, int], None]:
    def go(killer: Killer, times: int) -> None:
        found = killer.found
        service = Workspace(killer.folder, queries=8)
        place = killer.folder / ".rankgauge" / "history.db"
        promised: dict[int, str] = {}
        killer.run("monitor", "plan.toml", "--once")
        arguments = ["--once"] if once else ["--every", "0.2s"]
        for number in killer.rounds(times):
            service.order(**({"down": ["search"]} if number % 3 == 1 else {}), slow=0.02)
            if not once:
                killer._took = 3.0  # a monitor does not end by itself
            ended, log = killer.kill("monitor", "plan.toml", *arguments)
            promised |= promised_checks(log)
            found.expect("Traceback" not in log, log[-500:])
            if ended and once:
                found.expect(promised_checks(log), "a check ended with 0 and told nothing")
        service.order()
        for _ in range(2):
            killer.run("monitor", "plan.toml", "--once", statuses=(0, 1))
        with History.open(place) as history:
            found.lost += faults_in(history, promised, service)
            found.expect(all(row["closed_at"] for row in rows(history, "incidents")), "an incident is still open")
            states = [row["state"] for row in rows(history, "deliveries")]
            found.expect(set(states) <= {"delivered"}, f"alerts on the console are not delivered: {states}")
        _sound(place, found)

    return go


COMMANDS: dict[str, Callable[[Killer, int], None]] = {
    "run": _run,
    "gate": _gate,
    "history add": _history_add,
    "history prune": _history_prune,
    "baseline set": _baseline("set"),
    "baseline promote": _baseline("promote"),
    "monitor --once": _monitor(once=True),
    "monitor": _monitor(once=False),
}


def kill_command(name: str, folder: Path, times: int, seed: int = 0) -> Killed:
    """Kill a command so many times, and look at what is left."""
    folder.mkdir(parents=True, exist_ok=True)
    found = Killed(name)
    try:
        COMMANDS[name](Killer(folder, random.Random(f"{seed} {name}"), found), times)
    except Exception as error:  # whatever cannot be read any more
        found.lost.append(f"{type(error).__name__}: {error}")
    return found
