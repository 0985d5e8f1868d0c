"""Deliveries: once each, in order, patiently, and again after a crash. On SQLite and on PostgreSQL."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.history.incidents import (
    FAILED,
    PENDING,
    add_incident,
    close_incident,
    enqueue,
    list_deliveries,
    list_incidents,
    open_by_kind,
)
from rankgauge.history.monitored import Delivery, Finding, Incident
from rankgauge.history.sql import Connection
from rankgauge.history.store import History
from rankgauge.model.series import SeriesKey
from rankgauge.monitoring.alerts.channels import Channel, check_alerts
from rankgauge.monitoring.alerts.delivery import Delivered, deliver_due, pause_after
from rankgauge.monitoring.alerts.messages import message, texts
from rankgauge.words import LANGUAGES, Language, Note, tell
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


FELL, BACK = Note("monitor.reason", {"reason": "it fell"}), Note("monitor.reason", {"reason": "it is back"})


def open_incident(connection: Connection, monitor: str = "search", at: datetime.datetime = START) -> int:
    key = SeriesKey("s", "nDCG@10")
    return add_incident(connection, monitor, "quality", key, Finding(), opened=(1, at), began=(1, at)).id


def titled(text: str) -> Note:
    return Note("monitor.unreadable", {"error": text})


def put(connection: Connection, number: int, event: str, names: list[str], at: datetime.datetime) -> int:
    body = [FELL if event == "opened" else BACK]
    return enqueue(connection, number, event, names, titled(f"{event} {number}"), body, at)


def new(history: History, channels: list[Channel], at: datetime.datetime = START, monitor: str = "search") -> int:
    with history.begin() as connection:
        number = open_incident(connection, monitor, at)
        put(connection, number, "opened", [channel.name for channel in channels], at)
    return number


def recover(history: History, number: int, channels: list[Channel], at: datetime.datetime) -> None:
    with history.begin() as connection:
        put(connection, number, "recovered", [channel.name for channel in channels], at)


def rows(history: History) -> list[Delivery]:
    return sorted(list_deliveries(history), key=lambda row: row.id)


class Said:
    """A log."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def __call__(self, note: Note) -> None:
        self.notes.append(note)

    @property
    def lines(self) -> list[str]:
        return [tell(note, "en") for note in self.notes]


def test_one_message_for_each_channel_and_never_twice(history: History) -> None:
    ops, team = Recorder("ops"), Recorder("team")
    number = new(history, [ops, team])
    with history.begin() as connection:
        names = ["ops", "team", "third"]
        assert enqueue(connection, number, "opened", names, titled("other"), [FELL], START) == 1
    assert [(row.channel, row.title) for row in rows(history)] == [
        ("ops", titled(f"opened {number}")),
        ("team", titled(f"opened {number}")),
        ("third", titled("other")),
    ]
    assert {row.state for row in rows(history)} == {"waiting"}
    told = deliver_due(history, [ops, team, Recorder("third")], START)
    assert told == Delivered(sent=3, outcomes={("ops", "sent"): 1, ("team", "sent"): 1, ("third", "sent"): 1})
    assert ops.got == team.got == [(number, "opened", f"opened {number}", "Reason: it fell")]
    assert deliver_due(history, [ops, team], START + DAY) == Delivered()
    for row in rows(history):
        assert row.state == "delivered"
        assert row.delivered is not None
        assert START <= row.delivered < START + MINUTE
        assert (row.attempts, row.next_try, row.error) == (1, None, None)


def test_a_message_and_its_incident_are_kept_together_or_not_at_all(history: History) -> None:
    def fail(connection: Connection) -> None:
        put(connection, open_incident(connection), "opened", ["ops"], START)
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
    ops, said = Recorder("ops", down="error=503"), Said()
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
        told = deliver_due(history, [ops], now, said)
        tried.append(now)
        assert told.outcomes == {("ops", "given_up" if now >= START + 3 * DAY else "failed"): 1}
    assert tried == expected
    assert ops.tries == len(expected) == row.attempts
    assert (row.delivered, row.state, row.error) == (None, "given_up", "error=503")
    assert [row.id for row in list_deliveries(history, states=FAILED)] == [row.id]
    told_of = {"channel": "ops", "title": f"opened {number}", "reason": "error=503"}
    assert said.notes[0] == Note("monitor.alert_failed", {**told_of, "tries": 1, "next_try": START + MINUTE})
    assert said.notes[-1] == Note("monitor.alert_given_up", {**told_of, "tries": len(expected), "days": 3})
    assert said.lines[0].endswith("was not delivered (try 1): error=503; next try 2026-03-01 12:01 UTC")
    ops.down = None
    assert deliver_due(history, [ops], now + DAY) == Delivered()  # given up is given up
    recover(history, number, [ops], now + DAY)
    assert deliver_due(history, [ops], now + DAY).sent == 1  # but the recovery tells it
    assert ops.got == [(number, "recovered", f"recovered {number}", "Reason: it is back")]


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
    assert [(event, body) for _, event, _, body in ops.got] == [
        ("opened", "Reason: it fell"),
        ("recovered", "Reason: it is back"),
    ]


def test_what_was_never_told_is_told_with_the_recovery(history: History) -> None:
    ops, team = Recorder("ops", down="unreachable"), Recorder("team")
    number = new(history, [ops, team])
    assert deliver_due(history, [ops, team], START).outcomes == {("ops", "failed"): 1, ("team", "sent"): 1}
    recover(history, number, [ops, team], START + HOUR)
    assert deliver_due(history, [ops, team], START + HOUR).outcomes == {("ops", "failed"): 1, ("team", "sent"): 1}
    ops.down = None
    assert deliver_due(history, [ops, team], START + 2 * HOUR).outcomes == {("ops", "sent"): 1}
    assert ops.got == [(number, "recovered", f"recovered {number}", "Reason: it is back")]
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
    ops, said = Recorder("ops"), Said()
    new(history, [ops])
    new(history, [ops])
    for _ in range(3):
        assert deliver_due(history, [Recorder("team")], START, said) == Delivered(absent=2)
    assert said.notes == [Note("monitor.channel_absent", {"channel": "ops", "count": 2})]
    assert [row.state for row in list_deliveries(history, states=PENDING)] == ["absent"] * 2
    assert deliver_due(history, [ops], START + DAY, said).sent == 2
    assert len(said.notes) == 1


def test_the_messages_of_other_monitors_are_theirs(history: History) -> None:
    ops, theirs, said = Recorder("ops"), Recorder("ops"), Said()
    mine, other = new(history, [ops]), new(history, [theirs], monitor="other")
    assert deliver_due(history, [ops], START, said, monitor="search").sent == 1
    assert deliver_due(history, [], START, said, monitor="search") == Delivered()
    assert [number for number, *_ in ops.got] == [mine]
    assert deliver_due(history, [theirs], START, monitor="other").sent == 1
    assert [number for number, *_ in theirs.got] == [other]
    assert not said.notes


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
    assert len(list_incidents(history, "meanwhile")) == 1


def test_after_a_slow_failure_the_rest_of_a_channel_waits(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.monitoring.alerts.delivery._SLOW", 0.02)
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
            "from rankgauge.monitoring.alerts.channels import check_alerts\n"
            "from rankgauge.monitoring.alerts.delivery import deliver_due\n"
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
        assert row.state == "sending"  # how it ended is not known
        assert deliver_due(history, made, START).waiting == 1  # a crash is no reason to hurry
        assert deliver_due(history, made, START + MINUTE).sent == 1
    assert [(asked.body["incident"], asked.body["event"]) for asked in server.asked] == [(number, "opened")] * 2
    (row,) = rows(history)
    assert row.delivered is not None
    assert row.attempts == 2


def test_no_secret_in_the_database_or_the_log(history: History, database: str) -> None:
    token, said = "T0ken/with+signs&中文", Said()

    def echo(asked: Asked) -> Reply:
        return Reply(f"{asked.path} {asked.headers}".encode(), status=401)

    with calls(echo) as server:
        base = server.url.replace("http://", f"http://user:{quote(token, safe='')}@")
        made, faults = check_alerts([{"name": "ops", "url": "${URL}"}], {"URL": f"{base}/{quote(token, safe='')}"})
        assert not faults
        new(history, list(made))
        assert deliver_due(history, made, START, said).failed == 1
    assert "401" in said.lines[0]
    kept = "\n".join(repr(row) for row in rows(history))
    files = [path.read_bytes() for path in Path(database).parent.glob("history.db*")] if "://" not in database else []
    for form in (token, quote(token, safe=""), quote(token), "T0ken"):
        assert form not in kept
        assert form not in said.lines[0]
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
                assert got == [("opened", "Reason: it fell")]
            else:
                assert got in (
                    [("opened", "Reason: it fell"), ("recovered", "Reason: it is back")],
                    [("recovered", "Reason: it is back")],
                )


# What the messages say.

SERIES: dict[str, SeriesKey | None] = {
    "quality": SeriesKey("bm25", "nDCG@10"),
    "slice": SeriesKey("bm25", "R@10", "billing"),
    "latency": SeriesKey("bm25", "p95"),
    "errors": SeriesKey("bm25", "errors"),
    "down": SeriesKey("bm25", ""),
    "drift": None,
    "threshold": SeriesKey("bm25", "R@10"),
    "start": SeriesKey("bm25", ""),
    "forgotten": None,
}
FINDINGS = {
    "start": Finding(reason=Note("monitor.start_reasons", {"reasons": [Note("monitor.no_score")]})),
    "forgotten": Finding(reason=Note("monitor.forgotten_titles", {"titles": [Note("monitor.drift")]}), gone=1),
    "quality": Finding(before=0.512, now=0.431, checks=12),
    "slice": Finding(before=0.8, now=0.6),
    "latency": Finding(before=0.12, now=1.5),
    "errors": Finding(now=0.06, limit=0.0),
    "down": Finding(reason=Note("monitor.unreadable", {"error": "connection\nrefused"})),
    "drift": Finding(documents=[f"d{i}" for i in range(1, 8)], gone=20, changed=3, queries=["q1", "q2", "q3"]),
    "threshold": Finding(now=0.61, limit=0.7),
}
SAID = {
    "start": ("monitoring of bm25 starts on a broken system", "not taken as normal.\nReason: no score", "正常水平"),
    "forgotten": (
        "history lost: 1 open incident was forgotten",
        "no trace of 1 incident.\nThey were: gold documents are gone or changed.",
        "这些事件是：标准答案文档已消失或被修改。",
    ),
    "quality": ("nDCG@10 of bm25 fell", "fell from 0.5120 to 0.4310 (−15.8 %)", "从 0.5120 降到 0.4310（−15.8 %）。"),
    "slice": (
        "R@10 of bm25 (queries tagged billing) fell",
        "these queries alone",
        "标签为 billing 的查询：bm25 的 R@10",
    ),
    "latency": ("p95 latency of bm25 rose", "from 120 ms to 1.50 s (+1150.0 %).", "p95 延迟从 120 ms"),
    "errors": (
        "bm25 leaves queries unanswered",
        "6.0 % of the queries got no answer.\nThe limit is 0.0 %.",
        "6.0 % 的查询没有得到应答",
    ),
    "down": ("no score of bm25 could be taken", "Reason: connection\\nrefused", "没有得到任何分数"),
    "drift": (
        "gold documents are gone or changed",
        "d5 and 18 more.\nGone: 20. Changed: 3.\nQueries concerned: q1, q2, q3.",
        "这不是排序退化",
    ),
    "threshold": ("R@10 of bm25 is below its limit", "is 0.6100.\nThe limit is 0.7000.", "限值为 0.7000。"),
}


def incident(kind: str, finding: Finding | None = None, key: SeriesKey | None = None) -> Incident:
    about = key or SERIES[kind]
    named = (None, None, None) if about is None else (about.system, about.measure or None, about.tag)
    times = (2, START, 1, START - DAY, 9, START + DAY + 90 * MINUTE)
    return Incident(7, "search", kind, *named, *times, FINDINGS[kind] if finding is None else finding)


def told(found: Incident, event: str, language: Language = "en") -> tuple[str, str]:
    return texts(*message(found, event), language)


@pytest.mark.parametrize("kind", SERIES)
def test_messages(kind: str) -> None:
    headline, english, chinese = SAID[kind]
    title, body = told(incident(kind), "opened")
    assert title == f"[rankgauge] search: {headline}"
    assert english in body
    assert "began about 2026-02-28 12:00 UTC and was noticed 2026-03-01 12:00 UTC" in body
    assert chinese in told(incident(kind), "opened", "zh")[1]
    title, body = told(incident(kind), "recovered")
    assert title == f"[rankgauge] search: recovered: {headline}"
    assert body.startswith("Recovered 2026-03-02 13:30 UTC, after 2 d 1 h.\nIt was: ")
    chinese = told(incident(kind), "recovered", "zh")[1]
    assert chinese.startswith("已于 2026-03-02 13:30 UTC 恢复，历时 2 天 1 小时。\n此前的情况：")


def test_limits_of_latencies_are_times() -> None:
    found = incident("threshold", Finding(now=0.3, limit=0.2), SeriesKey("bm25", "p95"))
    title, body = told(found, "opened")
    assert title.endswith("p95 latency of bm25 is above its limit")
    assert "p95 latency of bm25 is 300 ms.\nThe limit is 200 ms." in body


def test_the_recovery_tells_the_worst() -> None:
    found = incident("quality", replace(FINDINGS["quality"], worst=0.3))
    assert "to 0.4310 (" in told(found, "opened")[1]
    assert "to 0.3000 (" in told(found, "recovered")[1]


def test_what_an_incident_is_not() -> None:
    exact = replace(FINDINGS["quality"], exact=True)
    assert [note.key for note in message(incident("quality"), "opened")[1]][-2:] == [
        "monitor.checks_since",
        "monitor.not_quality",
    ]
    assert message(incident("quality", exact), "opened")[1][-1].key == "monitor.exact"
    both = [note.key for note in message(incident("slice", replace(FINDINGS["slice"], exact=True)), "opened")[1]]
    assert both[-2:] == ["monitor.exact", "monitor.not_slice"]


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (90, "1 min 30 s"),
        (7200, "2 h"),
        (7260, "2 h 1 min"),
        (86400 * 3, "3 d"),
    ],
)
def test_how_long_it_was(passed: int, said: str) -> None:
    found = replace(incident("quality"), closed_at=START - DAY + datetime.timedelta(seconds=passed))
    assert f", after {said}." in told(found, "recovered")[1]


def test_a_clock_set_back_leaves_the_time_out() -> None:
    found = replace(incident("quality"), closed_at=START - 2 * DAY)
    assert told(found, "recovered")[1].startswith("Recovered 2026-02-27 12:00 UTC.\n")


def test_incidents_in_the_history(history: History) -> None:
    """What a dashboard reads: open ones, those of a time, and what is known of them."""
    with history.begin() as connection:
        for kind, key in SERIES.items():
            add_incident(connection, "m", kind, key, FINDINGS[kind], opened=(2, START), began=(1, START - DAY))
        late = {"opened": (9, START + DAY), "began": (9, START + DAY)}
        closed = add_incident(connection, "m", "down", SERIES["down"], FINDINGS["down"], **late)
        close_incident(connection, closed, 10, START + 2 * DAY)
    found = list_incidents(history, "m")
    assert [one.kind for one in found] == ["down", *reversed(SERIES)]
    assert {one.kind: one.finding for one in found} == FINDINGS
    assert (found[0].closed_check, found[0].closed_at) == (10, START + 2 * DAY)
    assert open_by_kind(history, "m") == dict.fromkeys(reversed(SERIES), 1)
    assert len(list_incidents(history, still_open=True)) == len(SERIES)
    assert [one.id for one in list_incidents(history, "m", since=START + HOUR)] == [closed.id]
    assert len(list_incidents(history, "m", until=START + HOUR)) == len(SERIES)
    assert list_incidents(history, "other") == []


def test_an_id_that_no_database_can_hold(history: History) -> None:
    odd = SeriesKey("s", "AP", "a\0b\udcff")
    with history.begin() as connection:
        made = add_incident(
            connection,
            "m",
            "slice",
            odd,
            Finding(series=[odd], before=0.5, now=0.1),
            opened=(1, START),
            began=(1, START),
        )
        enqueue(connection, made.id, "opened", ["ops"], *message(made, "opened"), START)
    (found,) = list_incidents(history, "m")
    assert found.finding.series == [odd]
    (row,) = list_deliveries(history)
    for language in LANGUAGES:
        title, body = texts(row.title, row.body, language)
        (title + body).encode()


number = st.one_of(st.none(), st.floats(-1e9, 1e9))
names = st.text(max_size=5)


@settings(max_examples=300)
@given(
    st.sampled_from(list(SERIES)),
    st.builds(
        Finding,
        before=number,
        now=st.floats(-1e9, 1e9),
        worst=number,
        limit=st.floats(-1e9, 1e9),
        exact=st.booleans(),
        checks=st.one_of(st.none(), st.integers(1, 9)),
        tags=st.dictionaries(names, st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=3),
        reason=st.builds(titled, names),
        documents=st.lists(names, max_size=8),
        queries=st.lists(names, max_size=8),
        gone=st.integers(0, 99),
    ),
    st.sampled_from(["opened", "recovered"]),
    st.sampled_from(LANGUAGES),
)
def test_every_message_can_be_told(kind: str, finding: Finding, event: str, language: Language) -> None:
    if kind in ("quality", "slice", "latency") and finding.before is None:
        finding = replace(finding, before=0.5)
    title, body = told(incident(kind, finding), event, language)
    assert title.strip()
    assert body.strip()
    assert "\n" not in title


def test_a_reason_that_is_a_whole_page_is_cut() -> None:
    found = incident("down", Finding(reason=titled("word " * 10_000)))
    body = told(found, "opened")[1]
    assert len(body) < 1500
    assert "(50007 characters in all)" in body
