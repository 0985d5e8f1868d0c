"""Leases: one holder at a time, whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rankgauge.errors import DataError
from rankgauge.history.holder import Holder, _started
from rankgauge.history.lease import Lease
from rankgauge.history.store import History
from tests.history.conftest import Server

HOLDER = """
import sys
from rankgauge.history.holder import Holder, _started
from rankgauge.history.lease import Lease
from rankgauge.history.store import History
with History.open(sys.argv[1]) as history:
    lease = Lease(history, sys.argv[2])
    print(lease.acquire(), flush=True)
    sys.stdin.readline()
    lease.release()
"""


def holder(place: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, place, name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_one_holder_at_a_time(history: History) -> None:
    first, second = Lease(history, "monitor 夜间/x"), Lease(history, "monitor 夜间/x")
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert (first.held(), second.held()) == (True, False)
    another = Lease(history, "another")
    assert another.acquire()
    another.release()
    with pytest.raises(DataError, match="by another process"):
        second.__enter__()
    first.release()
    first.release()
    assert not first.held()
    with second:
        assert second.held()
        assert not first.acquire()
    assert first.acquire()
    first.release()


def test_names_that_look_alike_are_kept_apart(history: History) -> None:
    leases = [Lease(history, name) for name in ("a b", "a_b", "a/b", "a.b", "x" * 50, "x" * 51)]
    assert [lease.acquire() for lease in leases] == [True] * len(leases)
    for lease in leases:
        lease.release()


def test_another_process_is_refused_until_the_first_is_killed(database: str, history: History) -> None:
    process = holder(database, "nightly")
    try:
        assert answer(process) == "True"
        lease = Lease(history, "nightly")
        assert not lease.acquire()
        assert not lease.held()
        process.kill()
        process.wait()
        assert lease.acquire()  # at once: it is known to be dead
        second = holder(database, "nightly")
        assert answer(second) == "False"
        second.communicate("\n")
        lease.release()
    finally:
        process.kill()
        process.communicate()


def test_only_one_of_many_gets_it(database: str, history: History) -> None:
    processes = [holder(database, "rush") for _ in range(3)]
    answers = [answer(process) for process in processes]
    assert sorted(answers) == ["False"] * 2 + ["True"]
    for process in processes:
        process.communicate("\n")
    lease = Lease(history, "rush")
    assert lease.acquire()
    lease.release()


def test_a_lease_does_not_hinder_writing(history: History) -> None:
    from tests.history.records import make_record

    with Lease(history, "x"):
        assert history.add(make_record()).new


def test_a_removed_lock_file_is_no_lease(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        lease, other = Lease(history, "x"), Lease(history, "x")
        assert lease.acquire()
        (tmp_path / "history.db.x.lock").unlink()
        assert not lease.held()
        assert other.acquire()
        assert not lease.acquire()
        assert not lease.held()
        assert other.held()
        other.release()


@pytest.mark.needs("postgresql")
def test_a_server_that_restarts_keeps_the_lease(server: Server) -> None:
    with History.open(server.new()) as history:
        lease, other = Lease(history, "x"), Lease(history, "x")
        assert lease.acquire()
        server.stop()
        try:
            with pytest.raises(DataError, match="the server cannot be used"):
                lease.acquire()
        finally:
            server.start()
        assert not other.acquire()
        assert lease.acquire()
        assert lease.held()
        lease.release()


@pytest.mark.needs("postgresql")
def test_histories_in_one_database_do_not_share_leases(server: Server) -> None:
    with History.open(server.new()) as first, History.open(server.new()) as second, Lease(first, "x"):
        lease = Lease(second, "x")
        assert lease.acquire()
        lease.release()


def test_memory_is_always_granted() -> None:
    with History.open("sqlite://") as history:
        lease = Lease(history, "x")
        assert not lease.held()
        assert lease.acquire()
        assert lease.held()
        lease.release()
        assert not lease.held()


def test_a_lock_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        (tmp_path / "history.db.x.lock").mkdir()
        with pytest.raises(DataError, match="cannot be opened"):
            Lease(history, "x").acquire()


@pytest.mark.needs("proc")
def test_a_forked_child_has_not_its_parents_lease(history: History) -> None:
    lease = Lease(history, "x")
    assert lease.acquire()
    child = os.fork()
    if child == 0:
        os._exit(10 * lease.held() + lease.acquire())
    assert os.waitpid(child, 0)[1] == 0
    assert lease.acquire()
    lease.release()


@pytest.mark.needs("proc")
def test_who_is_gone() -> None:
    here = Holder.here()
    with subprocess.Popen(["sleep", "60"]) as process:
        other = replace(here, pid=process.pid, started=_started(process.pid) or "")
        assert not other.gone()
        process.kill()
        time.sleep(0.2)
        assert other.gone()  # nobody has asked for its status yet
    assert other.gone()
    assert not here.gone()
    assert replace(here, started="1").gone()  # its number is another's by now
    assert not replace(other, machine="another").gone()
    assert not replace(other, machine="").gone()


def test_what_is_released_can_be_had_at_once(history: History) -> None:
    for _ in range(20):
        lease = Lease(history, "monitor")
        assert lease.acquire()
        lease.release()
