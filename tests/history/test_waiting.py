"""A PostgreSQL server that hangs or is cut off: everything ends in time. And poolers, which keep no session."""

from __future__ import annotations

import _thread
import json
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from rankgauge.errors import DataError
from rankgauge.history.faults import LeaseLostError
from rankgauge.history.holder import Holder
from rankgauge.history.lease import Lease
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.history.waiting import seconds_to_wait
from tests.history.conftest import Pooler, Server
from tests.history.partition import Network
from tests.history.records import make_record

DEAD = Holder("far", 1, "another machine", "1")
pytestmark = pytest.mark.needs("postgresql")


@pytest.fixture
def network(server: Server) -> Iterator[Network]:
    with Network(server.port) as network:
        yield network


def ended_within(seconds: float, history: History, said: str) -> None:
    begun = time.monotonic()
    with pytest.raises(DataError, match=said):
        history.records()
    assert time.monotonic() - begun < seconds


def cut_off(history: History, how: Network | AbstractContextManager[None], statement: str = "SELECT 1") -> None:
    """A transaction in the middle of which nothing more is answered."""
    with history.begin() as connection:
        connection.execute(sa.text(statement))
        if isinstance(how, Network):
            how.cut()
            connection.execute(sa.text("SELECT 1"))
        else:
            with how:
                connection.execute(sa.text("SELECT 1"))


def test_a_statement_of_a_server_that_hangs_ends(server: Server) -> None:
    with History.open(server.new(), timeout=0.5) as history:
        history.add(make_record())
        with server.hanging():
            ended_within(6, history, "the server cannot be used")
            with pytest.raises(DataError, match="the server cannot be used"):
                History.open(history.location, timeout=0.5)
        assert len(history.records()) == 1


def test_a_transaction_of_a_server_that_hangs_ends(server: Server) -> None:
    with History.open(server.new(), timeout=0.5) as history:
        begun = time.monotonic()
        with pytest.raises(DataError, match=r"no answer within 0\.5 s"):
            cut_off(history, server.hanging())
        assert time.monotonic() - begun < 3


def test_a_statement_on_a_network_that_is_cut_ends(server: Server, network: Network) -> None:
    with History.open(network.through(server.new()), timeout=0.5) as history:
        history.add(make_record())
        network.cut()
        ended_within(6, history, "the server cannot be used")
        network.heal()
        assert len(history.records()) == 1


def test_a_statement_can_be_interrupted(server: Server) -> None:
    with History.open(server.new(), timeout=30) as history, server.hanging():
        begun = time.monotonic()
        timer = threading.Timer(0.5, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            history.records()
        assert time.monotonic() - begun < 3


def test_the_server_ends_what_a_lost_client_left(server: Server, network: Network) -> None:
    """A transaction that was cut off holds its locks for a bounded time."""
    place = server.new()
    with History.open(network.through(place), timeout=0.5) as lost, History.open(place, timeout=10) as history:
        with pytest.raises(DataError, match="the server cannot be used"):
            cut_off(lost, network, "LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
        begun = time.monotonic()
        assert history.records() == []
        assert time.monotonic() - begun < 3


def test_the_server_gives_up_a_lost_client(server: Server) -> None:
    limits = {
        "tcp_keepalives_idle": "10",
        "tcp_user_timeout": "2000",
        "statement_timeout": "2s",
        "lock_timeout": "2s",
        "idle_in_transaction_session_timeout": "4s",
    }
    with History.open(server.new(), timeout=2) as history, history.read() as connection:
        assert {name: connection.execute(sa.text(f"SHOW {name}")).scalar() for name in limits} == limits
        with pytest.raises(DataError, match=r"more seconds with RANKGAUGE_HISTORY_TIMEOUT"), history.read() as other:
            other.execute(sa.text("SELECT pg_sleep(60)"))


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "1e9"])
def test_a_limit_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_HISTORY_TIMEOUT", text)
    with pytest.raises(DataError, match=r"RANKGAUGE_HISTORY_TIMEOUT: .* is no number of seconds"):
        seconds_to_wait()


# The lease


def test_a_lease_behind_a_cut_network_is_taken_over_and_fenced(server: Server, network: Network) -> None:
    place = server.new()
    with History.open(network.through(place), timeout=0.5) as far, History.open(place) as near:
        lost, taker = Lease(far, "x", seconds=1.5), Lease(near, "x", seconds=1.5)
        ghost = far.fenced(lost.fence)
        assert lost.acquire()
        ghost.add(make_record())
        time.sleep(2)
        assert not taker.acquire()  # it is renewed
        with pytest.raises(DataError, match="the server cannot be used"):
            cut_off(ghost, network)  # in the middle of a transaction that holds the row
        begun = time.monotonic()
        while not taker.acquire():
            assert time.monotonic() - begun < 5
            time.sleep(0.05)
        assert not lost.held()
        network.heal()
        with pytest.raises(LeaseLostError, match="nothing was written"):
            ghost.add(make_record(1))
        assert not lost.acquire()
        assert len(near.records()) == 1
        near.fenced(taker.fence).add(make_record(2))
        taker.release()
        assert lost.acquire()
        lost.release()


def test_a_holder_elsewhere_keeps_it_until_it_expires(server: Server) -> None:
    with History.open(server.new()) as history:
        first, second = Lease(history, "x", seconds=30), Lease(history, "x")
        assert first.acquire()
        with history.begin() as connection:  # as written on another machine that died
            connection.execute(
                sa.text("UPDATE leases SET token = 7, holder = :holder"), {"holder": json.dumps(vars(DEAD))}
            )
        assert not second.acquire()
        assert not first.acquire()
        assert not first.held()
        for expires in ("now() - interval '1 s'", "now() + interval '1 h'"):  # and by a clock that was set back since
            with history.begin() as connection:
                connection.execute(sa.text(f"UPDATE leases SET expires = {expires}"))
            assert second.acquire()
            assert not first.acquire()
            second.release()


# Poolers


@pytest.mark.needs("pgbouncer")
def test_a_history_through_a_pooler(pooler: Pooler) -> None:
    place = pooler.new()
    with History.open(place) as first, History.open(place) as second:
        for number in range(12):
            for history in (first, second):
                history.add(make_record(number))
                history.records()
        assert len(second.records()) == 12
        leases = [Lease(history, "x") for history in (first, second) for _ in range(3)]
        assert [lease.acquire() for lease in leases] == [True] + [False] * 5
        assert [lease.acquire() for lease in leases] == [True] + [False] * 5
        leases[0].release()
        assert leases[5].acquire()
        leases[5].release()


@pytest.mark.needs("pgbouncer")
def test_a_pooler_without_transactions_is_refused(pooler: Pooler) -> None:
    with pytest.raises(DataError, match=r"(?i)transaction"):
        History.open(pooler.url("statements"))
