"""Deliveries: once each, in order, patiently, and again after a crash. On SQLite and on PostgreSQL."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.history.schema import deliveries, incidents
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.channels import Channel, check_alerts
from rankgauge.monitoring.messages import message
from rankgauge.monitoring.outbox import Delivered, deliver_due, enqueue, pause_after
from tests.retrievers.servers import Asked, Reply, calls

START = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
MINUTE, HOUR, DAY = (datetime.timedelta(minutes=n) for n in (1, 60, 1440))


class Recorder(Channel):
    """A channel that keeps what it gets, or fails while it is told to."""

    def __init__(self, name: str, down: str | None = None) -> None:
        super().__init__(name, "console")
        self.down, self.got = down, []  # type: tuple[str | None, list[tuple[int, str, str, str]]]
        self.tries = 0
        self.during: Callable[[], None] = lambda: None

    def send(self, title: str, body: str, *, incident: int, event: str) -> str | None:
        self.tries += 1
        self.during()
        if self.down is None:
            self.got.append((incident, event, title, body))
        return self.down


def open_incident(connection: sa.Connection, monitor: str = "search", at: datetime.datetime = START) -> int:
    row = {"monitor": monitor, "series": "s", "kind": "quality", "opened_look": 1, "opened_at": at, "detail": "{}"}
    return int(connection.execute(sa.insert(incidents).values(**row).returning(incidents.c.id)).scalar_one())


def new(history: History, channels: list[Channel], at: datetime.datetime = START, monitor: str = "search") -> int:
    with history.begin() as connection:
        number = open_incident(connection, monitor, at)
        enqueue(connection, number, "opened", channels, f"opened {number}", "it fell", at)
    return number


def recover(history: History, number: int, channels: list[Channel], at: datetime.datetime) -> None:
    with history.begin() as connection:
        enqueue(connection, number, "recovered", channels, f"recovered {number}", "it is back", at)


def rows(history: History) -> list[Any]:
    with history.read() as connection:
        return list(connection.execute(sa.select(deliveries).order_by(deliveries.c.id)))


def test_one_message_for_each_channel_and_never_twice(history: History) -> None:
    ops, team = Recorder("ops"), Recorder("team")
    number = new(history, [ops, team])
    with history.begin() as connection:
        assert enqueue(connection, number, "opened", [ops, team, "third"], "other", "text", START) == 1
    assert [(row.channel, row.title) for row in rows(history)] == [
        ("ops", f"opened {number}"),
        ("team", f"opened {number}"),
        ("third", "other"),
    ]
    told = deliver_due(history, [ops, team, Recorder("third")], START)
    assert told == Delivered(sent=3, outcomes={("ops", "sent"): 1, ("team", "sent"): 1, ("third", "sent"): 1})
    assert ops.got == team.got == [(number, "opened", f"opened {number}", "it fell")]
    assert deliver_due(history, [ops, team], START + DAY) == Delivered()
    for row in rows(history):
        assert START <= row.delivered < START + MINUTE
        assert (row.attempts, row.next_try, row.error) == (1, None, None)


def test_a_message_and_its_incident_are_kept_together_or_not_at_all(history: History) -> None:
    def fail(connection: sa.Connection) -> None:
        enqueue(connection, open_incident(connection), "opened", ["ops"], "t", "b", START)
        raise RuntimeError

    with pytest.raises(RuntimeError), history.begin() as connection:
        fail(connection)
    assert not rows(history)


def test_oldest_first(history: History) -> None:
    ops = Recorder("ops")
    late = new(history, [ops], START + HOUR)
    early = new(history, [ops], START)
    deliver_due(history, [ops], START + 2 * HOUR)
    assert [number for number, *_ in ops.got] == [early, late]


def test_patience(history: History) -> None:
    """Tries after 1, 2, 4, ... minutes, then every hour; given up after three days, and never before."""
    ops, said = Recorder("ops", down="error=503"), []
    number = new(history, [ops])
    expected, at, pause = [], START, MINUTE
    while at < START + 3 * DAY:
        expected.append(at)
        at, pause = at + pause, min(pause * 2, HOUR)
    expected.append(at)
    tried, now = [], START
    while (row := rows(history)[0]).next_try is not None:
        now = row.next_try
        assert deliver_due(history, [ops], now - datetime.timedelta(seconds=1)).waiting == 1
        told = deliver_due(history, [ops], now, said.append)
        tried.append(now)
        assert told.outcomes == {("ops", "given_up" if now >= START + 3 * DAY else "failed"): 1}
    assert tried == expected
    assert ops.tries == len(expected) == row.attempts
    assert row.delivered is None
    assert row.error == "error=503"
    assert said[0] == (
        f"alert channel ops: 'opened {number}' was not delivered (try 1): error=503; next try 2026-03-01 12:01:00 UTC"
    )
    assert (
        said[-1] == f"alert channel ops: given up on 'opened {number}' after {len(expected)} tries in 3 days: error=503"
    )
    ops.down = None
    assert deliver_due(history, [ops], now + DAY) == Delivered()  # given up is given up
    recover(history, number, [ops], now + DAY)
    assert deliver_due(history, [ops], now + DAY).sent == 1  # but the recovery tells it
    assert ops.got == [(number, "recovered", f"recovered {number}", "it is back")]


def test_a_monitor_that_was_off_for_days_still_tries(history: History) -> None:
    ops = Recorder("ops", down="error=503")
    new(history, [ops])
    for i in range(9):
        assert deliver_due(history, [ops], START + 10 * DAY + i * HOUR).failed == 1
    assert deliver_due(history, [ops], START + 11 * DAY, language="zh").given_up == 1


def test_pauses() -> None:
    assert [pause_after(n) for n in range(9)] == [MINUTE * n for n in (1, 1, 2, 4, 8, 16, 32, 60, 60)]
    assert pause_after(10**6) == HOUR


def test_opened_before_recovered(history: History) -> None:
    ops = Recorder("ops")
    number = new(history, [ops])
    assert deliver_due(history, [ops], START).sent == 1
    recover(history, number, [ops], START + HOUR)
    assert deliver_due(history, [ops], START + HOUR).sent == 1
    assert [(event, body) for _, event, _, body in ops.got] == [("opened", "it fell"), ("recovered", "it is back")]


def test_what_was_never_told_is_told_with_the_recovery(history: History) -> None:
    ops, team = Recorder("ops", down="unreachable"), Recorder("team")
    number = new(history, [ops, team])
    assert deliver_due(history, [ops, team], START).outcomes == {("ops", "failed"): 1, ("team", "sent"): 1}
    recover(history, number, [ops, team], START + HOUR)
    assert deliver_due(history, [ops, team], START + HOUR).outcomes == {("ops", "failed"): 1, ("team", "sent"): 1}
    ops.down = None
    assert deliver_due(history, [ops, team], START + 2 * HOUR).outcomes == {("ops", "sent"): 1}
    assert ops.got == [(number, "recovered", f"recovered {number}", "it is back")]
    assert len(team.got) == 2
    assert all(row.delivered for row in rows(history))
    assert deliver_due(history, [ops, team], START + DAY) == Delivered()


def test_both_are_given_up_together(history: History) -> None:
    ops = Recorder("ops", down="unreachable")
    number = new(history, [ops])
    recover(history, number, [ops], START)
    for i in range(100):
        deliver_due(history, [ops], START + i * HOUR)
    assert [row.next_try for row in rows(history)] == [None, None]
    assert ops.tries < 100


def test_a_channel_that_left_the_plan(history: History) -> None:
    ops, said = Recorder("ops"), []
    new(history, [ops])
    new(history, [ops])
    for _ in range(3):
        assert deliver_due(history, [Recorder("team")], START, said.append) == Delivered(absent=2)
    assert said == ["alert channel ops is not in the plan; 2 of its messages are kept until it is back"]
    assert deliver_due(history, [ops], START + DAY, said.append).sent == 2
    assert len(said) == 1


def test_the_messages_of_other_monitors_are_theirs(history: History) -> None:
    ops, theirs, said = Recorder("ops"), Recorder("ops"), []
    mine, other = new(history, [ops]), new(history, [theirs], monitor="other")
    assert deliver_due(history, [ops], START, said.append, monitor="search").sent == 1
    assert deliver_due(history, [], START, said.append, monitor="search") == Delivered()
    assert [number for number, *_ in ops.got] == [mine]
    assert deliver_due(history, [theirs], START, monitor="other").sent == 1
    assert [number for number, *_ in theirs.got] == [other]
    assert not said


def test_a_clock_that_was_set_back(history: History) -> None:
    ops = Recorder("ops", down="unreachable")
    new(history, [ops])
    for i in range(9):
        deliver_due(history, [ops], START + i * HOUR)
    ops.down = None
    past = START - 365 * DAY
    assert deliver_due(history, [ops], past).waiting == 1
    assert rows(history)[0].next_try == past + HOUR
    assert deliver_due(history, [ops], past + HOUR / 2).waiting == 1
    assert rows(history)[0].next_try == past + HOUR
    assert deliver_due(history, [ops], past + HOUR).sent == 1


def test_a_slow_channel_locks_nothing(history: History, database: str) -> None:
    ops = Recorder("ops")
    new(history, [ops])

    def write() -> None:
        with History.open(database, timeout=0.5) as other, other.begin() as connection:
            open_incident(connection, "meanwhile")

    ops.during = write
    assert deliver_due(history, [ops], START).sent == 1
    with history.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).where(incidents.c.monitor == "meanwhile")) == 1


def test_after_a_slow_failure_the_rest_of_a_channel_waits(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.monitoring.outbox._SLOW", 0.02)
    slow, team = Recorder("slow", down="no answer"), Recorder("team")
    slow.during = lambda: time.sleep(0.03)
    for _ in range(3):
        new(history, [slow, team])
    assert deliver_due(history, [slow, team], START) == Delivered(
        sent=3, failed=1, waiting=2, outcomes={("slow", "failed"): 1, ("team", "sent"): 3}
    )


def test_two_processes_do_not_send_the_same(history: History) -> None:
    ops = Recorder("ops")
    new(history, [ops])
    ops.during = lambda: deliver_due(history, [second], START) and None
    second = Recorder("ops")
    assert deliver_due(history, [ops], START).sent == 1
    assert not second.got


def test_a_kill_between_sending_and_marking_sends_again(history: History, database: str) -> None:
    """The server kills the sender before it answers: the message has arrived, but nobody knows."""
    killed: list[int] = []

    def kill(asked: Asked) -> Reply:
        if not killed:
            killed.append(sender.pid)
            os.kill(sender.pid, signal.SIGKILL)
        return Reply({})

    with calls(kill) as server:
        made, faults = check_alerts([{"name": "ops", "url": "${URL}"}], {"URL": server.url})
        assert not faults
        number = new(history, list(made))
        code = (
            "import datetime, os, sys\n"
            "from rankgauge.monitoring.channels import check_alerts\n"
            "from rankgauge.monitoring.outbox import deliver_due\n"
            "from rankgauge.history.store import History\n"
            "channels, _ = check_alerts([{'name': 'ops', 'url': '${URL}'}])\n"
            "sys.stdin.readline()\n"
            "with History.open(os.environ['DATABASE']) as history:\n"
            f"    deliver_due(history, channels, datetime.datetime.fromisoformat({START.isoformat()!r}))\n"
        )
        environ = {**os.environ, "URL": server.url, "DATABASE": database}
        sender = subprocess.Popen([sys.executable, "-c", code], env=environ, stdin=subprocess.PIPE)
        assert sender.stdin is not None
        sender.stdin.write(b"\n")
        sender.stdin.close()
        assert sender.wait(30) == -signal.SIGKILL
        (row,) = rows(history)
        assert (row.delivered, row.attempts, row.next_try) == (None, 1, START + MINUTE)
        assert row.error == "sending began, and how it ended is not known"
        assert deliver_due(history, made, START).waiting == 1  # a crash is no reason to hurry
        assert deliver_due(history, made, START + MINUTE).sent == 1
    assert [(asked.body["incident"], asked.body["event"]) for asked in server.asked] == [(number, "opened")] * 2
    (row,) = rows(history)
    assert row.delivered is not None
    assert row.attempts == 2


def test_no_secret_in_the_database_or_the_log(history: History, database: str) -> None:
    token, said = "T0ken/with+signs&中文", []

    def echo(asked: Asked) -> Reply:
        return Reply(f"{asked.path} {asked.headers}".encode(), status=401)

    with calls(echo) as server:
        base = server.url.replace("http://", f"http://user:{quote(token, safe='')}@")
        made, faults = check_alerts([{"name": "ops", "url": "${URL}"}], {"URL": f"{base}/{quote(token, safe='')}"})
        assert not faults
        new(history, list(made))
        assert deliver_due(history, made, START, said.append).failed == 1
    assert "401" in said[0]
    kept = "\n".join(str(dict(row._mapping)) for row in rows(history))
    files = [path.read_bytes() for path in Path(database).parent.glob("history.db*")] if "://" not in database else []
    for form in (token, quote(token, safe=""), quote(token), "T0ken"):
        assert form not in kept
        assert form not in said[0]
        assert all(form.encode() not in data for data in files)


# A simulation against what must always hold.

step = st.one_of(
    st.tuples(st.just("open"), st.just(0)),
    st.tuples(st.just("recover"), st.integers(0, 5)),
    st.tuples(st.just("fail"), st.sampled_from(["ops", "team"])),
    st.tuples(st.just("mend"), st.sampled_from(["ops", "team"])),
    st.tuples(st.just("deliver"), st.integers(0, 180)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(step, max_size=30))
def test_whatever_happens(steps: list[tuple[str, Any]]) -> None:
    """Each event reaches each channel once, recovery last; what waited when it recovered comes as one message."""
    channels = {"ops": Recorder("ops"), "team": Recorder("team")}
    listed: list[Channel] = list(channels.values())
    opened: list[int] = []
    recovered: list[int] = []
    now = START
    with History.open("sqlite://") as history:
        for action, value in steps:
            if action == "open":
                opened.append(new(history, listed, now))
            elif action == "recover" and value < len(opened) and opened[value] not in recovered:
                recover(history, opened[value], listed, now)
                recovered.append(opened[value])
            elif action == "fail":
                channels[value].down = "down"
            elif action == "mend":
                channels[value].down = None
            elif action == "deliver":
                now += datetime.timedelta(minutes=value)
                deliver_due(history, listed, now)
        for channel in channels.values():
            channel.down = None
        deliver_due(history, listed, now + HOUR)
        assert all(row.delivered for row in rows(history))
    for channel in channels.values():
        for number in opened:
            got = [(event, body) for incident, event, _, body in channel.got if incident == number]
            if number not in recovered:
                assert got == [("opened", "it fell")]
            else:
                assert got in (
                    [("opened", "it fell"), ("recovered", "it is back")],
                    [("recovered", "it is back")],
                )


# What the messages say.

DETAILS: dict[str, dict[str, Any]] = {
    "quality": {"system": "bm25", "measure": "nDCG@10", "before": 0.512, "now": 0.431, "evidence": 253.2, "looks": 12},
    "slice": {"system": "bm25", "measure": "R@10", "slice": "billing", "before": 0.8, "now": 0.6},
    "latency": {"system": "bm25", "measure": "p95", "before": 0.12, "now": 1.5, "limit": 0.2},
    "errors": {"system": "bm25", "now": 12, "queries": 200, "limit": 2},
    "down": {"system": "bm25", "reason": "connection\nrefused"},
    "drift": {"documents": ["d1", "d2", "d3", "d4", "d5", "d6", "d7"], "gone": 20, "changed": 3, "queries": 3},
    "threshold": {"system": "bm25", "measure": "R@10", "now": 0.61, "limit": 0.7},
}
SAID = {
    "quality": ("nDCG@10 of bm25 fell", "fell from 0.5120 to 0.4310 (-15.8 %)", "从 0.5120 降到 0.4310（-15.8 %）。"),
    "slice": (
        "R@10 of bm25 (queries tagged billing) fell",
        "these queries alone",
        "标签为 billing 的查询：bm25 的 R@10",
    ),
    "latency": (
        "p95 latency of bm25 rose",
        "from 120 ms to 1.50 s (+1150.0 %).\nThe limit is 200 ms",
        "p95 延迟从 120 ms",
    ),
    "errors": ("bm25 leaves queries unanswered", "12 of 200 queries got no answer", "200 个查询中有 12 个没有得到回答"),
    "down": ("no score of bm25 could be taken", "Reason: connection refused", "没有得到任何分数"),
    "drift": (
        "gold documents are gone or changed",
        "d5 and 18 more.\nGone: 20. Changed: 3.\nQueries concerned: 3.",
        "这不是排序退化",
    ),
    "threshold": ("R@10 of bm25 is below its limit", "is 0.6100.\nThe limit is 0.7000.", "限值为 0.7000。"),
}


def incident(kind: str, detail: Any) -> dict[str, Any]:
    times = {"began_at": START - DAY, "opened_at": START, "closed_at": START + DAY + 90 * MINUTE}
    return {"id": 7, "monitor": "search", "series": "bm25/x", "kind": kind, "detail": detail, **times}


@pytest.mark.parametrize("kind", DETAILS)
def test_messages(kind: str) -> None:
    headline, english, chinese = SAID[kind]
    row = incident(kind, json.dumps(DETAILS[kind]))
    title, body = message(row, "opened", "en")
    assert title == f"[rankgauge] search: {headline}"
    assert english in body
    assert "began about 2026-02-28 12:00 UTC and was noticed 2026-03-01 12:00 UTC" in body
    assert chinese in message(row, "opened", "zh")[1]
    title, body = message(row, "recovered", "en")
    assert title == f"[rankgauge] search: recovered: {headline}"
    assert body.startswith("Recovered 2026-03-02 13:30 UTC, after 2 d 1 h.\nIt was: ")
    assert message(row, "recovered", "zh")[1].startswith("已于 2026-03-02 13:30 UTC 恢复，历时 2 天 1 小时。\n")


def test_shares_and_times_are_shown_as_such() -> None:
    detail = {"system": "bm25", "now": 0.06, "limit": 0.0, "queries": 12}
    body = message(incident("errors", detail), "opened", "en")[1]
    assert "6.0 % of the queries got no answer.\nQueries without an answer: 12.\nThe limit is 0.0 %." in body
    title, body = message(
        incident("threshold", {"system": "bm25", "measure": "p95", "now": 0.3, "limit": 0.2}), "opened"
    )
    assert title.endswith("p95 latency of bm25 is above its limit")
    assert "p95 latency of bm25 is 300 ms.\nThe limit is 200 ms." in body


def test_a_row_of_the_table_is_an_incident(history: History) -> None:
    with history.begin() as connection:
        open_incident(connection)
        row = connection.execute(sa.select(incidents)).one()
    assert message(row, "opened", "en") == message(dict(row._mapping), "opened", "en")
    assert "Noticed 2026-03-01 12:00 UTC." in message(row, "opened", "en")[1]


odd = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=8)
)
names = ("system", "measure", "slice", "before", "now", "limit", "evidence", "looks", "reason", "documents", "queries")


@settings(max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from(("monitor", "series", "kind", "opened_at", "began_at", "closed_at", "detail")), odd
    ),
    st.one_of(odd, st.dictionaries(st.sampled_from(names), odd)),
    st.sampled_from([*DETAILS, "strange"]),
    st.sampled_from(["opened", "recovered"]),
    st.sampled_from(["en", "zh"]),
)
def test_messages_never_fail(row: dict[str, Any], detail: Any, kind: str, event: str, language: str) -> None:
    for given_row in (row, {**row, "kind": kind, "detail": detail}, {**incident(kind, detail), **row}):
        title, body = message(given_row, event, language)
        assert title.strip()
        assert body.strip()
        assert "\n" not in title
