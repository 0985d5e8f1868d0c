"""The monitor under real faults: killed, locked out, without disk, asleep, twice at work. Nothing is lost, nothing
counts twice, and the log says what happened."""

from __future__ import annotations

import datetime
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rankgauge.history.lease import Lease
from rankgauge.history.store import History
from rankgauge.monitoring.loop.plan import load_monitor_plan
from tests.history.conftest import Server
from tests.monitoring.workspace import FakeClock, Watch, Workspace, counted_once, eventually, rows
from tests.retrievers.servers import Asked, Reply, calls

KEPT = "the check is spooled in "
BACK = "the history can be used again"


@pytest.fixture
def service(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def place(service: Workspace) -> Path:
    return service.folder / ".rankgauge" / "history.db"


def asked(service: Workspace, more: int = 1) -> None:
    """Wait until so many more questions have been asked: a check is under way."""
    wanted = len(service.calls()) + more
    eventually(lambda: len(service.calls()) >= wanted, lambda: "no question was asked")


def test_killed_in_the_middle_of_a_pass(service: Workspace) -> None:
    service.order(slow=0.5)
    with service.running("--every", "1h") as monitor:
        asked(service, 2)
        monitor.signal(signal.SIGKILL)
    service.order()
    done = service.once()
    assert done.returncode == 0, done.stderr
    assert "check 1, begun " in done.stderr
    assert "was broken off; nothing of it was counted" in done.stderr
    assert "check 2: search nDCG@10 1.0000" in done.stderr
    with History.open(place(service)) as history:
        assert counted_once(history, service) == [2]
        assert [row["status"] for row in rows(history, "checks")] == ["abandoned", "done"]


KILLED = """
import os, signal, sys
import rankgauge.monitoring.loop.ingest as ingest
import rankgauge.monitoring.loop.monitor as monitor
from rankgauge.cli import main

def die(*arguments, **rest):
    os.kill(os.getpid(), signal.SIGKILL)

def die_after(step):
    def stepped(*arguments, **rest):
        step(*arguments, **rest)
        die()
    return stepped

moment = sys.argv.pop(1)
if moment == "spooled":
    monitor.ingest = die
elif moment == "half ingested":
    ingest.forget_systems = die
else:
    monitor.ingest = die_after(monitor.ingest)
main()
"""


@pytest.mark.parametrize("moment", ["spooled", "half ingested", "ingested"])
def test_killed_between_two_steps(service: Workspace, moment: str) -> None:
    """The observation lies in its file; whether it has been taken in or not, it counts once."""
    killed_between(service, moment, place(service))


@pytest.mark.needs("postgresql")
@pytest.mark.parametrize("moment", ["spooled", "ingested"])
def test_killed_between_two_steps_before_a_server(
    service: Workspace, server: Server, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease of the killed one does not hold up the next."""
    address = server.new()
    monkeypatch.setenv("RANKGAUGE_HISTORY", address)
    killed_between(service, moment, address)


def killed_between(service: Workspace, moment: str, where: str | Path) -> None:
    service.order(down=["search"])
    command = [sys.executable, "-c", KILLED, moment, "monitor", str(service.plan), "--once"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [path.suffix for path in service.spooled] == [".json"]
    with History.open(where) as history:
        before = [row["status"] for row in rows(history, "checks")]
        assert before == ["invalid" if moment == "ingested" else "running"]
        watch = Watch(service, history)
        said = watch.check(1)
        assert counted_once(history, service) == []
        assert [row["status"] for row in rows(history, "checks")] == ["invalid", "invalid"]
        assert len(rows(history, "incidents")) == 1
        assert len(rows(history, "deliveries")) == 1
        assert not any("broken off" in line for line in said)
        assert any("ingested by now: 1" in line for line in said)


def locked(service: Workspace) -> sqlite3.Connection:
    """Another writer who does not let go."""
    connection = sqlite3.connect(place(service), isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_the_database_locked_when_a_check_ends(service: Workspace) -> None:
    service.order(slow=0.05)
    history = f"sqlite:///{place(service)}?timeout=0.3"
    place(service).parent.mkdir()
    with service.running("--every", "1s", "--history", history) as monitor:
        monitor.until("check 1: ")
        asked(service)
        writer = locked(service)
        monitor.until(KEPT, 2)  # that of the check at hand, and of the next one
        assert len(service.spooled) >= 2
        assert monitor.log.count("locked: another process") == 1
        writer.close()
        monitor.until(BACK)
        monitor.until("spooled checks that are ingested by now: ")
        done = monitor.log.count("nDCG@10 1.0000")
        monitor.until("nDCG@10 1.0000", done + 1)
        assert monitor.stop() == 0
    with History.open(place(service)) as opened:
        numbers = counted_once(opened, service)
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) == monitor.log.count("nDCG@10 1.0000")
        started = [row["started"] for row in rows(opened, "checks")]
        assert started == sorted(started)


def test_the_database_locked_when_a_single_check_ends(service: Workspace) -> None:
    service.order(slow=0.1)
    with History.open(_made(service)) as opened:
        with service.running("--once", "--history", f"sqlite:///{place(service)}?timeout=0.3") as monitor:
            asked(service)
            writer = locked(service)
            assert monitor.process.wait(60) == 2
        writer.close()
        assert "locked: another process" in monitor.log
        assert KEPT in monitor.log
        assert len(service.spooled) == 1
        service.order()
        said = Watch(service, opened).check(1)
        assert said[0] == "check 1: search nDCG@10 1.0000"
        assert said[1].endswith("ingested by now: 1")
        assert counted_once(opened, service) == [1, 2]


def _made(service: Workspace) -> Path:
    place(service).parent.mkdir(exist_ok=True)
    return place(service)


@pytest.mark.needs("postgresql")
def test_the_server_stopped_and_started_again(
    service: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKGAUGE_HISTORY", server.new())
    with service.running("--every", "1s") as monitor:
        monitor.until("check 1: ")
        service.order(slow=0.1)
        asked(service)
        server.stop()
        try:
            monitor.until(KEPT)
            service.order()
        finally:
            server.start()
        monitor.until(BACK)
        monitor.until("spooled checks that are ingested by now: 1")
        done_before = monitor.log.count("nDCG@10 1.0000")
        monitor.until("nDCG@10 1.0000", done_before + 2)
        with History.open() as history:
            assert not Lease(history, "monitor plan").acquire()  # it has it again
            assert monitor.stop() == 0
            numbers = counted_once(history, service)
            assert len(numbers) == monitor.log.count("nDCG@10 1.0000")
            assert numbers == list(range(1, len(numbers) + 1))
    assert server.password not in monitor.log


def test_no_room_on_the_disk(service: Workspace) -> None:
    """A limit on the size of files stands for a full disk: writing fails, reading does not."""
    with service.running("--every", "0.5s") as monitor:
        monitor.until("check 2: ")
        unlimited = resource.prlimit(monitor.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(monitor.process.pid, resource.RLIMIT_FSIZE, (3000, unlimited[1]))
        monitor.until("this check is lost, nothing can be written (", 2)
        monitor.until("the monitor is unhealthy: checks are lost")
        assert "the disk is full, or the file has reached its limit" in monitor.log
        lost = next(line for line in monitor.log.splitlines() if "this check is lost" in line)
        assert lost.endswith("; it had: search nDCG@10 1.0000")
        assert len(lost) < 120
        with sqlite3.connect(place(service)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        resource.prlimit(monitor.process.pid, resource.RLIMIT_FSIZE, unlimited)
        monitor.until(BACK)
        done_before = monitor.log.count(": search nDCG@10 1.0000")
        monitor.until(": search nDCG@10 1.0000", done_before + 2)
        monitor.until("the monitor is healthy again")
        assert monitor.stop() == 0
    assert monitor.log.count("the monitor is unhealthy") == monitor.log.count("the monitor is healthy again") == 1
    with History.open(place(service)) as history:
        lines = [line for line in monitor.log.splitlines() if line.endswith("search nDCG@10 1.0000")]
        kept = [line for line in lines if "this check is lost" not in line]
        assert len(counted_once(history, service)) == len(kept)
        assert {row["status"] for row in rows(history, "checks")} <= {"done", "abandoned"}


@pytest.mark.parametrize("how", ["removed", "replaced", "with its folder"])
def test_the_history_removed_under_it(service: Workspace, how: str) -> None:
    """What is written to a removed file is lost: it is opened anew, and nothing is written to the old one."""
    with service.running("--every", "0.5s") as monitor:
        monitor.until("check 2: ")
        if how == "with its folder":
            place(service).parent.rename(service.folder / "old")
            removed = service.folder / "old" / "history.db"
        else:
            removed = service.folder / "old.db"
            if how == "replaced":
                elsewhere = service.folder / "elsewhere"  # two monitors of one folder would share its spool
                elsewhere.mkdir()
                with History.open(service.folder / "other.db") as other:
                    Watch(Workspace(elsewhere), other).check(4)
                for path in service.folder.glob("other.db*"):
                    path.rename(place(service).with_name(path.name.replace("other", "next")))
            if how == "replaced":  # without a moment in which there is none, and the monitor would begin one itself
                os.link(place(service), removed)
                for path in place(service).parent.glob("history.db-*"):
                    path.rename(service.folder / path.name.replace("history", "old"))
                place(service).with_name("next.db").replace(place(service))
            else:
                for path in sorted(place(service).parent.glob("history.db*")):
                    path.rename(service.folder / path.name.replace("history", "old"))
        log = monitor.until("history.db was removed or replaced; it is opened anew")
        before = log.count("nDCG@10 1.0000")
        monitor.until("nDCG@10 1.0000", before + 2)
        with History.open(place(service)) as history:
            assert not Lease(history, "monitor plan").acquire()  # it has that of the new one
            assert monitor.stop() == 0
            numbers = counted_once(history, service)
    assert monitor.log.count("was removed or replaced") == 1
    assert "this failed" not in monitor.log
    first = 5 if how == "replaced" else 1
    assert f"check {first}: search" in monitor.log[log.index("was removed") :]
    with History.open(removed) as old:
        assert len(counted_once(old)) + len(numbers) == monitor.log.count("nDCG@10 1.0000") + first - 1


@pytest.mark.needs("postgresql")
def test_a_server_that_is_away_at_the_start(
    service: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKGAUGE_HISTORY", server.new())
    server.stop()
    away = True
    try:
        once = service.once()
        assert once.returncode == 2
        assert "the server cannot be used" in once.stderr
        with service.running("--every", "0.5s") as stopped:
            stopped.until("the history cannot be used now: ")
            assert stopped.stop() == 0
        assert "stopping\n" in stopped.log
        with service.running("--every", "0.5s") as monitor:
            monitor.until("the history cannot be used now: ")
            assert service.calls() == []
            server.start()
            away = False
            monitor.until(BACK)
            monitor.until("check 1: search nDCG@10 1.0000")
            assert monitor.stop() == 0
    finally:
        if away:
            server.start()
    assert monitor.log.count("the history cannot be used now") == 1
    assert server.password not in monitor.log + once.stderr
    monkeypatch.setenv("RANKGAUGE_HISTORY", str(service.folder / "absent" / "history.db"))
    with service.running("--every", "1s") as wrong:  # waiting would not mend this
        assert wrong.process.wait(30) == 2
    assert "does not exist; make it first" in wrong.log


@pytest.mark.needs("postgresql")
def test_a_server_away_for_long_is_told_once(
    service: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Straight over the channel: what goes through the history would wait for it. A short absence is not told."""
    monkeypatch.setenv("RANKGAUGE_HISTORY", server.new())
    down: list[float] = []

    def during(clock: FakeClock) -> None:
        away = (1000 <= clock.time < 1300) or (3000 <= clock.time < 4000)
        if away and not down:
            server.stop()
            down.append(clock.time)
        elif not away and down:
            server.start()
            down.clear()
        watch.channel.down = "no route" if 3000 <= clock.time < 3700 else None
        if clock.time > 5000:
            monitor.stop.set()

    try:
        with History.open() as history:
            watch = Watch(service, history, FakeClock(during))
            monitor = watch.monitor()
            monitor.forever(300)
    finally:
        if down:
            server.start()
    (bad, bad_title, bad_body), (good, good_title, good_body) = watch.channel.got
    assert (bad, bad_title) == ("unhealthy", "[rankgauge] plan: the monitor is unhealthy: its history cannot be used")
    assert "Since 2026-03-01 12:5" in bad_body
    assert "the server cannot be used" in bad_body
    assert server.password not in bad_body
    assert (good, good_title) == ("healthy", "[rankgauge] plan: the monitor is healthy again")
    assert "it could not be used since 2026-03-01 12:5" in good_body
    refused = [line for line in watch.log if ": the monitor is unhealthy" in line and "no route" in line]
    assert 1 <= len(refused) <= 3  # tried again each minute
    assert watch.log.count(BACK) == 2


def test_checks_that_take_longer_than_the_time_between_them(service: Workspace) -> None:
    service.order(slow=0.11)
    with service.running("--every", "0.8s") as monitor:
        monitor.until("nDCG@10 1.0000", 3)
        text = service.plan.read_text()
        service.plan.write_text(text + "\n# another one\n")
        monitor.until("plan.toml changed; restart to use it")
        monitor.until("nDCG@10 1.0000", 5)
        assert monitor.stop() == 0
    assert monitor.log.count("longer than the interval of 0.8 s") == 1
    assert "missed" not in monitor.log
    assert monitor.log.count("changed; restart") == 1


def test_one_check_that_was_missed(service: Workspace) -> None:
    jumps = [150.0]

    def during(clock: FakeClock) -> None:
        if clock.time > 100 and jumps:
            clock.advance(jumps.pop())  # held up, as by a busy machine
        if clock.time > 600:
            monitor.stop.set()

    with History.open(":memory:") as history:
        watch = Watch(service, history, FakeClock(during))
        monitor = watch.monitor()
        monitor.forever(100)
    assert [line for line in watch.log if "missed" in line] == [
        "1 check was missed while this machine was asleep or busy, or the history unavailable; checking now"
    ]


@pytest.mark.needs("faketime")
def test_the_clock_set_back_by_a_day(service: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """An alert that failed by a clock that was ahead is tried by the next start, not tomorrow, and arrives once."""
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    refused = [True]

    def answer(request: Asked) -> Reply:
        return Reply(status=503 if refused else 200)

    with calls(answer) as receiver:
        service.write_plan(extra=f'[[alert]]\nname = "ops"\nurl = "{receiver.url}/hook"')
        service.order(down=["search"])
        first = service.once(prefix=("faketime", "-f", "+1d"))
        assert first.returncode == 1, first.stderr
        assert "was not delivered (try 1)" in first.stderr
        refused.clear()
        second = service.once()
        assert second.returncode == 1, second.stderr
        assert "was delivered at try 2" in second.stderr
        with History.open(place(service)) as history:
            (delivery,) = rows(history, "deliveries")
            assert delivery["delivered"] <= datetime.datetime.now(datetime.UTC)
            service.once(prefix=("faketime", "-f", "+2h"))
            assert len(receiver.asked) == 2
            counted_once(history, service)
            started = [row["started"] for row in rows(history, "checks")]
            assert started[1] < started[2] < started[0]
            assert len(rows(history, "incidents")) == 1


def test_two_monitors_at_once(service: Workspace) -> None:
    with service.running("--every", "1s") as first:
        first.until("check 1: ")
        with service.running("--every", "1s") as second:
            second.until("standing by")
            beside = service.once()
            assert beside.returncode == 3
            assert "another monitor is running 'plan'; nothing was checked" in beside.stderr
            assert {line.split()[0] for line in service.calls()} == {str(first.process.pid)}
            first.signal(signal.SIGKILL)
            second.until("took over 'plan'")
            second.until("nDCG@10 1.0000")
            assert second.stop() == 0
    assert "missed" not in second.log
    asking = [line.split()[0] for line in service.calls()]
    assert asking == sorted(asking, key=[str(first.process.pid), str(second.process.pid)].index)
    with History.open(place(service)) as history:
        done = counted_once(history, service)
        assert len(done) >= first.log.count("nDCG@10 1.0000") + second.log.count("nDCG@10 1.0000")


def test_checks_missed_while_stopped(service: Workspace) -> None:
    with service.running("--every", "0.5s") as monitor:
        monitor.until("check 2: ")
        monitor.signal(signal.SIGSTOP)
        time.sleep(2.2)
        done_before = len([line for line in service.calls() if line.endswith("word0")])
        woken = time.monotonic()
        monitor.signal(signal.SIGCONT)
        monitor.until(" checks were missed while ")
        monitor.until("nDCG@10 1.0000", 4)
        since = time.monotonic() - woken
        more = len([line for line in service.calls() if line.endswith("word0")]) - done_before
        assert monitor.stop() == 0
    assert more <= since / 0.5 + 2  # on schedule again: what was missed is not made up for
    with History.open(place(service)) as history:
        counted_once(history, service)


def test_a_receiver_that_refuses_and_comes_back(service: Workspace) -> None:
    refused = [True]
    with (
        calls(lambda request: Reply(status=500 if refused else 200)) as receiver,
        History.open(":memory:") as history,
    ):
        service.write_plan(extra=f'[[alert]]\nname = "ops"\nurl = "{receiver.url}/hook"')
        service.order(down=["search"])
        watch = Watch(service, history)
        watch.channel = load_monitor_plan(service.plan).channels[0]  # type: ignore[assignment]
        said = watch.check(2)
        assert sum("alert channel ops: " in line and "was not delivered" in line for line in said) == 2
        refused.clear()
        said = watch.check(2)
        assert sum("was delivered at try" in line for line in said) == 1
        taken = [request.body for request in receiver.asked][-1]
        assert (taken["incident"], taken["event"]) == (1, "opened")
        assert len(receiver.asked) == 3  # refused twice, taken once


def test_a_receiver_that_hangs_does_not_hold_up_the_checks(service: Workspace) -> None:
    with calls(lambda request: Reply(delay=60)) as receiver, History.open(":memory:") as history:
        service.write_plan(systems=("search", "other"), extra=f'[[alert]]\nname = "ops"\nurl = "{receiver.url}/hook"')
        service.order(down=["search", "other"])
        watch = Watch(service, history)
        (channel,) = load_monitor_plan(service.plan).channels
        channel.limit = 0.3
        watch.channel = channel  # type: ignore[assignment]
        begun = time.monotonic()
        said = watch.check(3)
        assert time.monotonic() - begun < 10
        assert any("no answer within 0.3 s" in line for line in said)
        assert [row["status"] for row in rows(history, "checks")] == ["invalid"] * 3


def test_no_secret_anywhere(service: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "T0ken-9f8e7d6c"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("OPS_URL", f"http://bot:{token}@127.0.0.1:{port}/hook/{token}?key={token}")
    service.write_plan(extra='[[alert]]\nname = "ops"\nurl = "${OPS_URL}"')
    service.order(down=["search"])
    done = service.once("--json")
    assert done.returncode == 1
    assert "alert channel ops: " in done.stderr
    with History.open(place(service)) as history:
        plan = replace(load_monitor_plan(service.plan), name="another")
        assert token not in repr(plan)
        assert rows(history, "deliveries")[0]["error"]
    shown = subprocess.run(service.command("--status"), capture_output=True, text=True, timeout=60, check=False)
    assert "alerts that are still to be delivered: 1" in shown.stdout
    files = [path for path in service.folder.rglob("*") if path.is_file()]
    assert place(service) in files
    for content in [done.stdout, done.stderr, shown.stdout, shown.stderr]:
        assert token not in content
    for path in files:
        assert token.encode() not in path.read_bytes(), path
    assert os.environ["OPS_URL"].count(token) == 3
