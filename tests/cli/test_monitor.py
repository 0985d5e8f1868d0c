"""`rankgauge monitor` as a user runs it."""

from __future__ import annotations

import datetime
import json
import math
import signal
import time
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from rankgauge.history.baselines import set_baseline
from rankgauge.history.lease import Lease
from rankgauge.history.monitored import Check
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.loop.status import MonitorStatus, SeriesStatus
from rankgauge.reports.monitoring import render_status
from tests.cli.command import Done, run_command
from tests.monitoring.workspace import Workspace, counted_once, eventually, rows


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.chdir(tmp_path)
    return Workspace(tmp_path, thresholds=["nDCG@10 < 0.5"])


def monitor(*arguments: object, status: int | None = 0) -> Done:
    return run_command("monitor", "plan.toml", *arguments, status=status)


def place(service: Workspace) -> Path:
    return service.folder / ".rankgauge" / "history.db"


def test_check_asks_nothing_and_makes_nothing(service: Workspace) -> None:
    assert monitor("--check").stdout == (
        "plan.toml: monitor 'plan', search, alerts to console: nothing wrong with it\n"
    )
    assert "没有问题" in monitor("--check", "--lang", "zh").stdout
    assert service.calls() == []
    assert not (service.folder / ".rankgauge").exists()
    service.write_plan(tolerance=7, kind="x", extra="[[alert]]\nname = 3")
    said = monitor("--check", status=2).stderr
    for place in ("monitor.tolerance", "monitor.kind", "alert 1: name must be", "alert 1: url is missing"):
        assert place in said


def test_check_finds_a_baseline_that_is_missing(service: Workspace) -> None:
    service.write_plan(baseline="good")
    assert "there is no history at" in monitor("--check", status=2).stderr
    service.write_plan()
    monitor("--once")
    service.write_plan(baseline="good")
    for how in ("--check", "--once"):
        said = monitor(how, status=2).stderr
        assert "monitor.baseline: " in said
        assert "has no baseline 'good'; it has none yet" in said
    with History.open(place(service)) as history:
        document = history.record("latest")
        set_baseline(history, "good", document)
    monitor("--check")
    (service.folder / "good.json").write_text(document.to_json())
    service.write_plan(baseline="good.json")
    monitor("--check")
    service.write_plan(baseline="absent.json")
    assert "monitor.baseline" in monitor("--check", status=2).stderr


def test_check_finds_what_is_not_there(service: Workspace) -> None:
    """All of it at once, and a baseline too where the history can be read."""
    service.write_plan(history="absent/history.db", documents="no_such_module:texts", tolerance=3)
    said = monitor("--check", status=2).stderr
    assert "monitor.tolerance: " in said
    assert "monitor.history: " in said
    assert "absent' does not exist; make it first" in said
    assert "monitor.documents: 'no_such_module' cannot be imported" in said
    service.write_plan(history=".", documents=f"{service.module}:HERE")
    said = monitor("--check", status=2).stderr
    assert "this is a folder; name a file in it" in said
    service.write_plan(history="plan.toml")
    assert "plan.toml: this is no history, nor any SQLite database" in monitor("--check", status=2).stderr
    service.write_plan(history=".", documents=f"{service.module}:HERE")
    assert f"monitor.documents: {service.module}:HERE is no function" in said
    service.write_plan(documents=f"{service.module}:texts", baseline="good", tolerance=3)
    monitor("--relearn", status=2)
    service.write_plan()
    monitor("--once")
    service.write_plan(documents=f"{service.module}:texts", baseline="good", tolerance=3)
    said = monitor("--check", status=2).stderr
    assert "2 faults" in said
    assert "monitor.baseline: " in said
    assert "has no baseline 'good'" in said
    service.write_plan(documents=f"{service.module}:texts")
    monitor("--check")


def test_checks_and_their_exit_statuses(service: Workspace) -> None:
    first = monitor("--once", "--json")
    assert json.loads(first.stdout) == {
        "monitor": "plan",
        "check": 1,
        "status": "done",
        "opened": [],
        "closed": [],
        "open": {},
    }
    assert first.stderr.endswith("check 1: search nDCG@10 1.0000\n")
    monitor("--once")
    monitor("--once")
    service.order(broken=["word1", "word2"])
    monitor("--once")
    monitor("--once")
    fallen = monitor("--once", "--json", status=1)
    assert json.loads(fallen.stdout)["opened"] == ["nDCG@10 of search fell"]
    assert json.loads(fallen.stdout)["open"] == {"quality": 1}
    assert "[rankgauge] plan: nDCG@10 of search fell\n" in fallen.stderr
    assert "rankgauge incident=1 event=opened" in fallen.stderr
    service.order(down=["search"])
    down = monitor("--once", "--json", "--lang", "zh", status=1)
    assert json.loads(down.stdout)["status"] == "invalid"
    assert "第 7 次检查：没有得到分数" in down.stderr
    service.order()
    while monitor("--once", status=None).status:
        assert len(rows_of(service, "checks")) < 20
    assert rows_of(service, "incidents")[0]["closed_at"] is not None
    with History.open(place(service)) as history:
        counted_once(history, service)
        with Lease(history, "monitor plan"):
            held = monitor("--once", "--json", status=3)
            assert held.stdout == ""
            assert "another monitor is running 'plan'; nothing was checked" in held.stderr
            said = "stop the monitor first, relearn, start it again"
            assert said in monitor("--relearn", status=2).stderr
    service.plan.write_text("nonsense")
    monitor("--once", status=2)


def rows_of(service: Workspace, name: str) -> list[dict[str, object]]:
    with History.open(place(service)) as history:
        return [dict(row) for row in rows(history, name)]


def test_status_and_relearning(service: Workspace) -> None:
    assert monitor("--status").stdout == "plan: no check yet\n"
    assert monitor("--status", "--lang", "zh").stdout == "plan：尚未检查\n"
    for _ in range(3):
        monitor("--once")
    service.order(broken=[f"word{i}" for i in range(6)])
    for _ in range(3):
        monitor("--once", status=1)
    shown = monitor("--status").stdout
    assert "plan: check 6 (done), " in shown
    assert "checks so far: done 6" in shown
    assert "search nDCG@10" in shown
    assert "ALARM" in shown
    assert "a false alarm comes once in 10,000 checks on average, or more rarely" in shown
    assert shown.count("open since ") == 2
    chinese = monitor("--status", "--lang", "zh").stdout
    assert "告警" in chinese
    assert "第 6 次检查（完成），" in chinese
    assert "累计：完成 6" in chinese
    assert "起未恢复：质量下降，search" in chinese
    assert "起未恢复" in chinese
    state = json.loads(monitor("--status", "--json").stdout)
    assert [incident["kind"] for incident in state["incidents"]] == ["threshold", "quality"]
    assert state["last"]["number"] == 6
    assert all(entry["evidence"] is None or entry["evidence"] >= 0 for entry in state["series"])
    assert {tuple(entry["key"].values()): entry["alarm"] for entry in state["series"]} == {
        ("search", "nDCG@10", None): True,
        ("search", "errors", None): False,
        ("search", "nDCG@10 < 0.5", None): True,
    }
    calls = len(service.calls())
    assert monitor("--relearn").stdout == (
        "plan: learned figures forgotten, 2 open incidents ended; the next check begins anew\n"
    )
    assert "重新开始学习" in monitor("--relearn", "--lang", "zh").stdout
    assert "no open incident" in monitor("--status").stdout
    assert len(service.calls()) == calls
    monitor("--once", status=1)  # the limit holds still
    service.write_plan()
    for _ in range(4):
        monitor("--once")  # what was a fall has been accepted


def test_when_to_check_has_to_be_said(service: Workspace) -> None:
    assert "say when to check" in monitor(status=2).stderr
    said = monitor("--every", "often", status=2).stderr
    assert "is no time between checks" in said
    assert "from 0.1s to 366d" in said


def test_one_incident_that_ends_is_one(service: Workspace) -> None:
    service.write_plan(thresholds=["nDCG@10 < 0.5"])
    service.order(broken=[f"word{i}" for i in range(6)])
    monitor("--once", status=1)
    assert ", 1 open incident ended; " in monitor("--relearn").stdout


def test_latency_noise_is_a_share() -> None:

    entry = SeriesStatus(SeriesKey("search", "p95"), "watching", False, 0.2, 0.1, 9, 0.0, 4.5, math.log(1.12), 0.0)
    series = [entry, replace(entry, key=SeriesKey("search", "R@5"), noise=0.01)]
    noon = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
    last = Check(1, "m", 9, "token", noon, None, "abandoned", None, {})
    state = MonitorStatus("m", {"done": 8, "abandoned": 1}, last, series, 10_000, [], 0)
    shown = render_status(state)
    assert "200 ms" in shown
    assert " 12 % " in shown
    assert "0.0100" in shown
    chinese = render_status(state, language="zh")
    assert "第 9 次检查（中断）" in chinese
    assert "累计：中断 1、完成 8" in chinese


def test_a_stop_between_checks(service: Workspace) -> None:
    with service.running("--every", "1h", "--lang", "zh") as running:
        running.until("第 1 次检查：")
        eventually(lambda: (service.folder / ".rankgauge" / "spool").is_dir(), lambda: "no check was spooled")
        eventually(lambda: service.spooled == [], lambda: "the check was not ingested")
        time.sleep(0.3)
        assert running.stop() == 0
    assert "正在停止" in running.log
    assert "本次检查后停止" not in running.log


def test_a_state_of_a_later_release_is_no_traceback(service: Workspace) -> None:
    from rankgauge.history.schema import detector_states
    from rankgauge.history.sql import sa

    monitor("--once")
    with History.open(place(service)) as history, history.begin() as connection:
        later = {"identity": [], "watch": {"version": 99}}
        connection.execute(sa.update(detector_states).where(detector_states.c.system == "search").values(state=later))
    for how in ("--once", "--status"):
        assert "a later release may have written it" in monitor(how, status=2).stderr
    monitor("--relearn")
    monitor("--once")
    assert [row["status"] for row in rows_of(service, "checks")] == ["done"] * 3


def test_on_schedule_with_metrics_until_it_is_stopped(service: Workspace) -> None:
    service.order(down=["search"])
    with service.running("--every", "0.5s", "--metrics-port", "0") as running:
        log = running.until("check 1: ")
        assert "no score was taken" in log
        address = log.split("metrics at ")[1].split()[0]
        service.order()
        running.until("recovered: no score of search could be taken")
        with urlopen(address, timeout=30) as answer:
            text = answer.read().decode()
        assert 'rankgauge_score{measure="nDCG@10",monitor="plan",system="search",tag=""} 1.0' in text
        assert 'rankgauge_incidents_open{kind="down",monitor="plan"} 0.0' in text
        assert 'rankgauge_checks_total{monitor="plan",status="invalid"}' in text
        assert 'rankgauge_alerts_total{channel="console",outcome="sent"}' in text
        service.order(slow=0.1)
        done = running.log.count("nDCG@10 1.0000")
        before = len(service.calls())
        eventually(lambda: len(service.calls()) > before, lambda: "no check began")
        assert running.stop() == 0  # after the check at hand
    assert "stopping after this check" in running.log
    assert running.log.count("nDCG@10 1.0000") > done
    with History.open(place(service)) as history:
        counted_once(history, service)
        assert {row["status"] for row in rows(history, "checks")} == {"done", "invalid"}


def test_a_second_signal_ends_it_at_once(service: Workspace) -> None:
    service.order(slow=1)
    with service.running("--every", "1h") as running:
        eventually(service.calls, lambda: "no check began")
        running.signal(signal.SIGTERM)
        running.until("stopping after this check")
        running.signal(signal.SIGTERM)
        assert running.process.wait(30) == 130
    assert "interrupted" in running.log
    assert [row["status"] for row in rows_of(service, "checks")] == ["running"]
    service.order()
    assert "check 1, begun " in monitor("--once").stderr


def test_a_port_in_use_is_said(service: Workspace) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "is in use" in monitor("--once", "--metrics-port", port, status=2).stderr
