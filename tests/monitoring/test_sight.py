"""A monitor that cannot see tells it once over each channel, and once when it sees again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rankgauge.monitoring.plan import load_monitor_plan
from rankgauge.monitoring.sight import Sight
from rankgauge.monitoring.telling import in_units
from tests.monitoring.workspace import FakeClock, Recorder, Workspace


class Seen:
    """Sight with two channels, by a clock that is set."""

    def __init__(self, folder: Path, language: str = "en") -> None:
        self.channels = [Recorder("ops"), Recorder("boss")]
        plan = replace(load_monitor_plan(Workspace(folder).plan), channels=self.channels, language=language)
        self.clock, self.log = FakeClock(), []  # type: ignore[var-annotated]
        self.sight = Sight(plan, lambda key, **values: self.log.append((key, values["channel"])), self.clock)

    def go_on(self, seconds: float, every: float = 60) -> list[list[str]]:
        """Time passes; what each channel has got by then."""
        for _ in range(int(seconds // 30)):
            self.clock.advance(30)
            self.sight.tell(every)
        return [[event for event, _, _ in channel.got] for channel in self.channels]


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def test_a_short_absence_is_not_told(seen: Seen) -> None:
    seen.sight.gone("locked")
    assert seen.go_on(570) == [[], []]
    seen.sight.back()
    assert seen.go_on(3600) == [[], []]


def test_a_long_one_is_told_once(seen: Seen) -> None:
    for _ in range(3):
        seen.sight.gone("postgresql://me:pw@db: the server\ncannot be used")
        seen.go_on(210)
    assert seen.go_on(90000) == [["blind"], ["blind"]]
    title, body = seen.channels[0].got[0][1:]
    assert title == "[rankgauge] plan: the monitor cannot see: its history cannot be used"
    assert body.startswith("Since 2026-03-01 12:00 UTC: postgresql://me:***@db: the server\\ncannot be used\n")
    seen.sight.back()
    assert seen.go_on(3600) == [["blind", "sees"], ["blind", "sees"]]


def test_looks_far_apart_leave_more_time(seen: Seen) -> None:
    seen.sight.gone("locked")
    assert seen.go_on(3570, every=3600) == [[], []]
    assert seen.go_on(60, every=3600) == [["blind"], ["blind"]]


def test_lost_looks_are_told_at_once(seen: Seen) -> None:
    seen.sight.lose("the disk is full")
    seen.sight.tell(60)
    seen.sight.lose("the disk is full")
    assert seen.go_on(60) == [["blind"], ["blind"]]
    assert seen.channels[0].got[0][1].endswith("the monitor cannot see: looks are lost")
    seen.sight.back()
    seen.go_on(60)
    assert seen.channels[0].got[1][2].endswith("Looks that were lost: 2.")


def test_a_channel_that_is_down_is_tried_each_minute(seen: Seen) -> None:
    """Who never heard of it is not told that it is over."""
    seen.channels[0].down = seen.channels[1].down = "refused"
    seen.sight.lose("the disk is full")
    assert seen.go_on(300) == [[], []]
    assert 4 <= seen.log.count(("untold", "ops")) <= 6
    seen.channels[0].down = None
    assert seen.go_on(90) == [["blind"], []]
    seen.channels[1].down = None
    seen.sight.back()
    assert seen.go_on(300) == [["blind", "sees"], []]


def test_in_chinese(tmp_path: Path) -> None:
    seen = Seen(tmp_path, "zh")
    seen.sight.gone("locked")
    seen.go_on(700)
    seen.sight.back()
    seen.go_on(60)
    assert [title for _, title, _ in seen.channels[0].got] == [
        "[rankgauge] plan: 监测看不到情况：历史库不可用",
        "[rankgauge] plan: 监测已恢复",
    ]


def test_times_in_their_units() -> None:
    assert [in_units(seconds) for seconds in (0.2, 2.4, 60, 900, 12600)] == [
        "0.2 s",
        "2.4 s",
        "1 min",
        "15 min",
        "3.5 h",
    ]
