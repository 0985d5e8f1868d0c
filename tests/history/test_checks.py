"""Checks of monitors in the history: what a dashboard reads, and what is written once however often it is tried."""

from __future__ import annotations

import datetime

import pytest

from rankgauge.history.checks import (
    COMMON,
    CheckTakenError,
    abandon_checks,
    begin_check,
    check_counts,
    check_transaction,
    find_check,
    finish_check,
    forget_systems,
    keep_state,
    known_systems,
    last_check,
    list_checks,
    monitors,
    next_number,
    read_state,
    started_at,
)
from rankgauge.history.monitored import Check, Status
from rankgauge.history.schema import detector_states
from rankgauge.history.sql import sa
from rankgauge.history.store import History

START = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


def check(history: History, monitor: str, hour: int, status: Status = "done") -> None:
    """A check from beginning to end."""
    token, started = f"{monitor} {hour}", START + hour * HOUR
    number = begin_check(history, monitor, token, started)
    detail = {"invalid": {}} if status == "done" else {"invalid": {"bm25": {"key": "a.b", "parameters": {"x": "\0"}}}}
    with check_transaction(history, monitor) as connection:
        finished = started + HOUR / 60
        finish_check(connection, Check(0, monitor, number, token, started, finished, status, None, detail))


def test_checks_between_two_times(history: History) -> None:
    for hour in range(5):
        check(history, "search", hour, "invalid" if hour == 2 else "done")
    check(history, "other", 1)
    begin_check(history, "search", "now", START + 5 * HOUR)
    assert monitors(history) == ["other", "search"]
    assert check_counts(history, "search") == {"done": 4, "invalid": 1, "running": 1}
    assert [found.number for found in list_checks(history, "search")] == [6, 5, 4, 3, 2, 1]
    between = list_checks(history, "search", since=START + HOUR, until=START + 3 * HOUR)
    assert [(found.number, found.status) for found in between] == [(3, "invalid"), (2, "done")]
    assert between[0].detail["invalid"]["bm25"]["parameters"] == {"x": "\0"}
    assert between[0].finished == START + 2 * HOUR + HOUR / 60
    assert [found.number for found in list_checks(history, "search", status="done", limit=2)] == [5, 4]
    last, valid = last_check(history, "search"), last_check(history, "search", "done")
    assert last is not None
    assert valid is not None
    assert (last.number, last.status, last.finished, valid.number) == (6, "running", None, 5)
    assert last_check(history, "nobody") is None


def test_what_was_broken_off_is_marked_once(history: History) -> None:
    check(history, "search", 0)
    begin_check(history, "search", "a", START + HOUR)
    begin_check(history, "other", "b", START)
    assert [(found.number, found.started) for found in abandon_checks(history, "search")] == [(2, START + HOUR)]
    assert abandon_checks(history, "search") == []
    assert check_counts(history, "search") == {"abandoned": 1, "done": 1}
    assert check_counts(history, "other") == {"running": 1}


def test_a_number_belongs_to_one_check(history: History) -> None:
    check(history, "search", 0)
    with (
        pytest.raises(CheckTakenError, match="the hold on 'search' was lost"),
        check_transaction(history, "search") as connection,
    ):
        finish_check(connection, Check(0, "search", 1, "another", START, START, "done", None, {}))
    with history.read() as connection:
        assert find_check(connection, "another") is None
        assert next_number(connection, "search") == 2
        assert started_at(connection, "search", 1) == START
        assert started_at(connection, "search", 9) is None


def test_what_a_monitor_remembers(history: History) -> None:
    with history.begin() as connection:
        assert read_state(connection, "m", "bm25") == {}
        for system in ("bm25", "dense", COMMON):
            keep_state(connection, "m", system, 1, {"of": system, "odd": "\0\udcff"})
        keep_state(connection, "other", "bm25", 1, {})
        keep_state(connection, "m", "bm25", 2, {"of": "bm25 again"})
        assert read_state(connection, "m", "bm25") == {"of": "bm25 again"}
        assert read_state(connection, "m", "dense") == {"of": "dense", "odd": "\0\udcff"}
        assert known_systems(connection, "m") == ["bm25", "dense"]
        forget_systems(connection, "m", keep=["dense"])
        assert known_systems(connection, "m") == ["dense"]
        assert read_state(connection, "m", COMMON) == {"of": COMMON, "odd": "\0\udcff"}
        assert known_systems(connection, "other") == ["bm25"]
        for text in ("no JSON", "[1]"):
            connection.execute(sa.update(detector_states).values(state=sa.literal(text, sa.Text)))
            assert read_state(connection, "m", "dense") is None
