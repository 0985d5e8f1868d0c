"""An unhealthy monitor reports it once over each channel, and once when it is healthy again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rankgauge.monitoring.loop.health import Health
from rankgauge.monitoring.loop.plan import load_monitor_plan
from rankgauge.words import Language, Note
from rankgauge.words.numbers import span
from tests.monitoring.workspace import FakeClock, Recorder, Workspace


class Watched:
    """Health with two channels, by a clock that is set."""

    def __init__(self, folder: Path, language: Language = "en") -> None:
        self.channels = [Recorder("ops"), Recorder("boss")]
        plan = replace(load_monitor_plan(Workspace(folder).plan), channels=self.channels, language=language)
        self.clock = FakeClock()
        self.log: list[Note] = []
        self.health = Health(plan.name, plan.channels, plan.language, self.log.append, self.clock)

    def go_on(self, seconds: float, every: float = 60) -> list[list[str]]:
        """Time passes; what each channel has got by then."""
        for _ in range(int(seconds // 30)):
            self.clock.advance(30)
            self.health.report(every)
        return [[event for event, _, _ in channel.got] for channel in self.channels]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_short_absence_is_not_told(watched: Watched) -> None:
    watched.health.unavailable("locked")
    assert watched.go_on(570) == [[], []]
    watched.health.available()
    assert watched.go_on(3600) == [[], []]


def test_a_long_one_is_told_once(watched: Watched) -> None:
    for _ in range(3):
        watched.health.unavailable("postgresql://me:pw@db: the server\ncannot be used")
        watched.go_on(210)
    assert watched.go_on(90000) == [["unhealthy"], ["unhealthy"]]
    title, body = watched.channels[0].got[0][1:]
    assert title == "[rankgauge] plan: the monitor is unhealthy: its history cannot be used"
    assert body.startswith("Since 2026-03-01 12:00 UTC: postgresql://me:***@db: the server\\ncannot be used\n")
    watched.health.available()
    assert watched.go_on(3600) == [["unhealthy", "healthy"], ["unhealthy", "healthy"]]


def test_checks_far_apart_leave_more_time(watched: Watched) -> None:
    watched.health.unavailable("locked")
    assert watched.go_on(3570, every=3600) == [[], []]
    assert watched.go_on(60, every=3600) == [["unhealthy"], ["unhealthy"]]


def test_lost_checks_are_told_at_once(watched: Watched) -> None:
    watched.health.lose("the disk is full")
    watched.health.report(60)
    watched.health.lose("the disk is full")
    assert watched.go_on(60) == [["unhealthy"], ["unhealthy"]]
    assert watched.channels[0].got[0][1].endswith("the monitor is unhealthy: checks are lost")
    watched.health.available()
    watched.go_on(60)
    assert watched.channels[0].got[1][2].endswith("Checks that were lost: 2.")


def test_a_channel_that_is_down_is_tried_each_minute(watched: Watched) -> None:
    """Who never heard of it is not told that it is over."""
    watched.channels[0].down = watched.channels[1].down = "refused"
    watched.health.lose("the disk is full")
    assert watched.go_on(300) == [[], []]
    refused = [note for note in watched.log if note.parameters.get("channel") == "ops"]
    assert 4 <= len(refused) <= 6
    assert {note.key for note in refused} == {"monitor.undelivered_health"}
    watched.channels[0].down = None
    assert watched.go_on(90) == [["unhealthy"], []]
    watched.channels[1].down = None
    watched.health.available()
    assert watched.go_on(300) == [["unhealthy", "healthy"], []]


def test_in_chinese(tmp_path: Path) -> None:
    watched = Watched(tmp_path, "zh")
    watched.health.unavailable("locked")
    watched.go_on(700)
    watched.health.available()
    watched.go_on(60)
    assert [title for _, title, _ in watched.channels[0].got] == [
        "[rankgauge] plan: 监测异常：历史库不可用",
        "[rankgauge] plan: 监测已恢复正常",
    ]


def test_times_in_their_units() -> None:
    assert [span(seconds) for seconds in (0.2, 2.4, 60, 900, 12600)] == [
        "0.2 s",
        "2.4 s",
        "1 min",
        "15 min",
        "3.5 h",
    ]
