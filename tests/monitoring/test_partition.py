"""A monitor whose server hangs, is cut off, or stands behind a pooler: it tells in time, ends when it is told to, and
one alone checks and writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankgauge.history.store import History
from tests.history.conftest import Pooler, Server
from tests.history.partition import Network
from tests.monitoring.workspace import Workspace, counted_once, eventually, rows
from tests.retrievers.servers import Asked, Reply, Service, calls

AWAY = "the history cannot be used now: "
BACK = "the history can be used again"


@pytest.fixture
def receiver() -> Iterator[Service]:
    def taken(request: Asked) -> Reply:
        return Reply(status=200)

    with calls(taken) as receiver:
        yield receiver


@pytest.fixture
def service(tmp_path: Path, receiver: Service, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A monitor with short limits, and a channel that is no part of its history."""
    monkeypatch.setenv("RANKGAUGE_HISTORY_TIMEOUT", "1")
    alert = f'[[alert]]\nname = "ops"\nurl = "{receiver.url}/hook"'
    return Workspace(tmp_path, every="1s", lease="2s", unhealthy_after="3s", extra=alert)


def told(receiver: Service) -> list[str]:
    return [request.body["event"] for request in receiver.asked]


@pytest.mark.needs("postgresql")
def test_a_server_that_hangs_is_told_and_left(service: Workspace, server: Server, receiver: Service) -> None:
    with service.running("--history", server.new()) as monitor:
        monitor.until("check 2: ")
        with server.hanging():
            begun = time.monotonic()
            monitor.until(AWAY)
            eventually(lambda: told(receiver), lambda: f"nobody was told:\n{monitor.log}")
            assert time.monotonic() - begun < 15
            assert set(told(receiver)) == {"unhealthy"}
        monitor.until(BACK)
        eventually(lambda: "healthy" in told(receiver), lambda: f"nobody was told:\n{monitor.log}")
        done = monitor.log.count("nDCG@10 1.0000")
        monitor.until("nDCG@10 1.0000", done + 1)
        with server.hanging():
            time.sleep(1)
            begun = time.monotonic()
            assert monitor.stop() == 0
            assert time.monotonic() - begun < 12
    assert server.password not in monitor.log


@pytest.mark.needs("postgresql")
def test_a_network_that_is_cut(service: Workspace, server: Server, tmp_path: Path) -> None:
    """Without a rival the monitor goes on when it heals: it is in nobody's way, its own old session's neither."""
    place = server.new()
    with Network(server.port) as network, service.running("--history", network.through(place)) as first:
        first.until("check 1: ")
        network.cut()
        first.until(AWAY)
        network.heal()
        first.until(BACK)
        done = first.log.count("nDCG@10 1.0000")
        first.until("nDCG@10 1.0000", done + 1)
        assert "standing by" not in first.log

        with service.running("--history", place) as second:
            second.until("standing by")
            network.cut()
            begun = time.monotonic()
            second.until("took over 'plan'")
            assert time.monotonic() - begun < 10
            second.until("nDCG@10 1.0000", 2)
            network.heal()
            first.until("the lease on 'plan' was lost, another monitor has it; this one writes nothing more")
            first.until("standing by")
            before, checks = len(service.calls()), second.log.count("nDCG@10 1.0000")
            second.until("nDCG@10 1.0000", checks + 2)
            assert {line.split()[0] for line in service.calls()[before:]} == {str(second.process.pid)}
            assert first.stop() == second.stop() == 0
    with History.open(place) as history:
        assert {row["status"] for row in rows(history, "checks")} <= {"done", "abandoned"}
        counted_once(history)


@pytest.mark.needs("postgresql", "pgbouncer")
def test_through_a_pooler_one_alone_checks(service: Workspace, pooler: Pooler) -> None:
    place = pooler.new()
    for _ in range(2):
        once = service.once("--history", place)
        assert once.returncode == 0, once.stderr
    with service.running("--history", place) as first:
        first.until("check 4: ")
        with service.running("--history", place) as second:
            second.until("standing by")
            beside = service.once("--history", place)
            assert beside.returncode == 3, beside.stderr
            first.until("nDCG@10 1.0000", 4)
            assert str(second.process.pid) not in {line.split()[0] for line in service.calls()}
            assert first.stop() == 0
            second.until("took over 'plan'")
            second.until("nDCG@10 1.0000")
            assert second.stop() == 0
    service.order(down=["search"])
    once = service.once("--history", place)
    assert once.returncode == 1, once.stderr
    with History.open(place) as history:
        counted_once(history, service)


def test_a_retriever_that_hangs_is_told(tmp_path: Path, receiver: Service) -> None:
    """Whatever hangs: the watchdog needs neither the history nor the loop."""
    alert = f'[[alert]]\nname = "ops"\nurl = "{receiver.url}/hook"'
    service = Workspace(tmp_path, queries=1, every="1s", unhealthy_after="1s", extra=alert)
    with service.running() as monitor:
        monitor.until("check 1: ")
        service.order(slow=3)
        monitor.until("the monitor hangs: a retriever does not answer")
        service.order()
        monitor.until("the monitor goes on")
        eventually(lambda: len(told(receiver)) == 2, lambda: f"nobody was told:\n{monitor.log}")
        assert monitor.stop() == 0
    assert told(receiver) == ["unhealthy", "healthy"]
    assert receiver.asked[0].body["title"] == "[rankgauge] plan: the monitor is unhealthy: it hangs"
