"""A monitor in operation: its log for programs, alerts of an earlier start, a holder that makes no checks, locks, and
a retriever that changes the folder."""

from __future__ import annotations

import datetime
import json
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from rankgauge.history.incidents import list_deliveries
from rankgauge.history.store import History
from rankgauge.monitoring.alerts.delivery import deliver_due
from tests.cli.command import run_command
from tests.monitoring.workspace import FakeClock, Recorder, Watch, Workspace, counted_once, rows
from tests.retrievers.servers import Reply, calls


@pytest.fixture
def service(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def place(service: Workspace) -> Path:
    return service.folder / ".rankgauge" / "history.db"


# The log


def objects(text: str) -> list[dict[str, Any]]:
    """The lines of a log, each of which is an object with the same keys."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all([*one] == ["time", "level", "key", "message", "parameters"] for one in found)
    assert all(datetime.datetime.fromisoformat(one["time"]).tzinfo is not None for one in found)
    return found


def test_a_log_of_objects(service: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what a system prints, what goes to the console as an alert, and masked."""
    module = service.folder / f"{service.module}.py"
    module.write_text(
        module.read_text().replace("    orders = json", "    print('asking', query)\n    orders = json", 1)
    )
    service.order(down=["search"], reason="no route to http://me:s3cr3t-word@host/?api_key=abcdef123456")
    done = service.once("--log-format", "json", "--json")
    assert done.returncode == 1
    found = objects(done.stderr)
    checked = next(one for one in found if one["key"] == "monitor.invalid")
    assert checked["level"] == "warning"
    assert checked["message"].startswith("check 1: no score was taken: ")
    assert checked["parameters"]["number"] == 1
    assert checked["parameters"]["reasons"][0]["parameters"]["system"] == "search"
    assert any(one["key"] == "output" and one["message"] == "asking word0" for one in found)
    assert any(one["key"] == "output" and one["message"] == "rankgauge incident=1 event=opened" for one in found)
    assert json.loads(done.stdout)["open"] == {"down": 1}
    assert "s3cr3t-word" not in done.stderr
    assert "abcdef123456" not in done.stderr
    service.order()
    with service.running("--every", "1h", "--log-format", "json", "--lang", "zh") as monitor:
        monitor.until("monitor.done")
        assert monitor.stop() == 0
    last = next(one for one in objects(monitor.log) if one["key"].startswith("monitor.stopping"))
    assert last["level"] == "info"
    assert last["message"].startswith(("正在停止", "本次检查"))


def test_the_end_of_a_command_is_an_object_too(service: Workspace) -> None:
    service.plan.write_text(service.plan.read_text().replace("tolerance = 0.02", 'tolerance = 7\nkind = "x"'))
    done = run_command("monitor", service.plan, "--once", "--log-format", "json", status=2)
    (told,) = objects(done.stderr)
    assert (told["level"], told["key"]) == ("error", "error")
    assert "monitor.tolerance" in told["message"]
    assert "monitor.kind" in told["message"]
    assert "monitor.tolerance" in run_command("monitor", service.plan, "--once", status=2).stderr


# Alerts of an earlier start


def test_alerts_that_one_start_could_not_deliver_are_sent_by_the_next(service: Workspace) -> None:
    """At once, however long the pause was to be, and before anything is asked."""
    refused = [True]
    with calls(lambda asked: Reply(status=503 if refused else 200)) as receiver:
        service.write_plan(thresholds=["nDCG@10 < 0.5"], extra=f'[[alert]]\nname = "ops"\nurl = "{receiver.url}"')
        service.order(broken=[f"word{i}" for i in range(8)])
        first = service.once()
        assert first.returncode == 1
        assert "alert channel ops: " in first.stderr
        assert "was not delivered (try 1)" in first.stderr
        refused.clear()
        receiver.asked.clear()
        again = service.once()
        assert "was delivered at try 2" in again.stderr
        assert again.stderr.index("was delivered at try 2") < again.stderr.index("check 2: ")
        assert [asked.body["incident"] for asked in receiver.asked] == ["1"] or len(receiver.asked) == 1
        with History.open(place(service)) as history:
            assert [row["state"] for row in rows(history, "deliveries")] == ["delivered"]


@pytest.mark.parametrize("how", ["--relearn", "--every"])
def test_any_start_sends_them(service: Workspace, how: str) -> None:
    refused = [True]
    with calls(lambda asked: Reply(status=503 if refused else 200)) as receiver:
        service.write_plan(thresholds=["nDCG@10 < 0.5"], extra=f'[[alert]]\nname = "ops"\nurl = "{receiver.url}"')
        service.order(broken=[f"word{i}" for i in range(8)])
        service.once()
        refused.clear()
        if how == "--relearn":
            said = run_command("monitor", service.plan, "--relearn", status=None).stderr
        else:
            with service.running("--every", "1h") as monitor:
                said = monitor.until("check 2: ")
        assert "was delivered at try 2" in said


def test_a_try_that_ended_nobody_knows_how_keeps_its_pause(service: Workspace) -> None:
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        service.write_plan(thresholds=["nDCG@10 < 0.5"])
        service.order(broken=[f"word{i}" for i in range(8)])
        watch.channel.down = "no"
        watch.check()
        (row,) = list_deliveries(history)
        now = watch.clock.now() - datetime.timedelta(seconds=3599)
        with history.begin() as connection:
            connection.exec_driver_sql("UPDATE deliveries SET state = 'sending'")
        channel = Recorder()
        done = deliver_due(history, [channel], now, at_once=True)
        assert (done.waiting, channel.got) == (1, [])
        with history.begin() as connection:
            connection.exec_driver_sql("UPDATE deliveries SET state = 'waiting'")
        assert deliver_due(history, [channel], now).waiting == 1
        assert deliver_due(history, [channel], now, at_once=True).sent == 1
        assert row.attempts == 1


# Standing by


def test_a_holder_that_makes_no_checks_is_reported_by_the_one_that_stands_by(service: Workspace) -> None:
    """Once in the log and once over the channels, and again when it is over."""
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(2)
        watch.clock = FakeClock()
        monitor = watch.monitor()
        watch.log.clear()
        for second in range(0, 4500, 10):
            if second in (700, 900, 4000):  # the holder makes a check; the first one late, but not for long
                Watch(service, history).check()
            monitor.standby.look(history, 300, standing_by=True)
            watch.clock.advance(10)
        (bad, title, body), (good, *_, again) = watch.channel.got
        assert (bad, title) == ("unhealthy", "[rankgauge] plan: the monitor is unhealthy: no checks are made")
        assert body.startswith("Since 2026-03-01 12:20 UTC: another monitor holds the lease, but makes no checks; ")
        assert good == "healthy"
        assert again.startswith("Checks are made again; there were none since 2026-03-01 12:20 UTC.")
        assert len([line for line in watch.log if "makes no checks" in line]) == 2
        monitor.standby.look(history, 300, standing_by=False)
        assert len(watch.channel.got) == 2


def test_a_holder_that_is_stopped(service: Workspace) -> None:
    """Two real processes; the one at work is stopped, and goes on later."""
    service.write_plan(unhealthy_after="1s")
    with service.running("--every", "0.5s") as first:
        first.until("check 2: ")
        with service.running("--every", "0.5s") as second:
            second.until("another monitor is running 'plan'; standing by")
            first.signal(signal.SIGSTOP)
            second.until("another monitor holds the lease, but makes no checks")
            second.until("the monitor is unhealthy: no checks are made")
            first.signal(signal.SIGCONT)
            second.until("the monitor is healthy again")
            assert second.stop() == 0
        assert first.stop() == 0
    assert second.log.count("no checks are made") == 1


# Locks


def test_checks_during_a_long_lock_are_made_on_schedule_and_kept(
    service: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of 50 s, while a writer is waited for a tenth of 30 s. All are kept, in their order, none is missed."""
    monkeypatch.setenv("RANKGAUGE_HISTORY_TIMEOUT", "3")
    with service.running("--every", "0.5s") as monitor:
        monitor.until("check 2: ")
        locked = sqlite3.connect(place(service), isolation_level=None)
        locked.execute("BEGIN IMMEDIATE")
        before = len(service.calls())
        time.sleep(5)
        made = (len(service.calls()) - before) // 10
        spooled = len(service.spooled)
        locked.execute("ROLLBACK")
        locked.close()
        monitor.until("the history can be used again")
        monitor.until("spooled checks that are ingested by now: ")
        assert monitor.stop() == 0
    assert made >= 7, monitor.log  # of 10
    assert spooled >= made - 1
    assert "missed" not in monitor.log
    assert "lost" not in monitor.log
    with History.open(place(service)) as history:
        numbers = counted_once(history, service)
        assert len(numbers) == len(service.calls()) // 10
        started = [row["started"] for row in rows(history, "checks") if row["status"] == "done"]
        assert started == sorted(started)


# The folder


def test_a_retriever_that_changes_the_folder_moves_nothing(
    service: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan, history, spool, baseline and corpus are where they were, though all were named by relative paths."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(Workspace, "plan", Path("plan.toml"))
    module = service.folder / f"{service.module}.py"
    module.write_text(
        module.read_text().replace("    orders = json", f"    os.chdir({str(elsewhere)!r})\n    orders = json", 1)
    )
    with service.running("--every", "0.3s", "--history", "here.db", cwd=service.folder) as monitor:
        monitor.until("check 4: ")
        assert monitor.stop() == 0
    assert os.listdir(elsewhere) == []
    assert "removed or replaced" not in monitor.log
    assert "check 1: search nDCG@10 1.0000" in monitor.log
    with History.open(service.folder / "here.db") as history:
        assert len(counted_once(history, service)) >= 4
