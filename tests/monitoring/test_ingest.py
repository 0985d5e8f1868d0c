"""Checks ingested: what counts, what does not, and what becomes of incidents. On SQLite and on PostgreSQL."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.history.baselines import set_baseline
from rankgauge.history.checks import begin_check
from rankgauge.history.schema import detector_states
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.loop import monitor as monitor_module
from rankgauge.monitoring.loop.ingest import ingest, relearn
from rankgauge.monitoring.loop.observing import Observation, observe
from rankgauge.monitoring.loop.spool import spool, spooled
from rankgauge.monitoring.loop.status import status_of
from tests.monitoring.workspace import START, FakeClock, Recorder, Watch, Workspace, counted_once

HOUR, CHECK = datetime.timedelta(hours=1), datetime.timedelta(seconds=20)


@pytest.fixture
def service(tmp_path: Path) -> Workspace:
    (tmp_path / "service").mkdir()
    return Workspace(tmp_path / "service")


@pytest.fixture
def watch(service: Workspace, history: History) -> Watch:
    return Watch(service, history)


@pytest.fixture
def lite(service: Workspace, tmp_path: Path) -> Iterator[Watch]:
    """On SQLite alone, where the database makes no difference."""
    with History.open(tmp_path / "lite.db") as history:
        yield Watch(service, history)


def test_a_retriever_down_for_an_hour_is_one_alert_and_one_recovery(service: Workspace, watch: Watch) -> None:
    """Sixty checks a minute apart: no score is stored of them, and the detectors do not move."""
    watch.check(4)
    learned = [row for row in watch.rows("detector_states") if row["system"] == "search"]
    stored = len(watch.rows("records"))
    service.order(down=["search"])
    for _ in range(60):
        watch.monitor().once()
        watch.clock.advance(60)
    assert [row for row in watch.rows("detector_states") if row["system"] == "search"] == learned
    assert len(watch.rows("records")) == stored
    assert [row["status"] for row in watch.rows("checks")] == ["done"] * 4 + ["invalid"] * 60
    service.order()
    said = watch.check(2)
    assert watch.channel.told == [
        "opened no score of search could be taken",
        "recovered no score of search could be taken",
    ]
    assert "no route to the server" in watch.channel.got[0][2]
    assert "after 1 h" in watch.channel.got[1][2]
    assert said[-3:] == [
        "check 65: search nDCG@10 1.0000",
        "recovered: no score of search could be taken",
        "check 66: search nDCG@10 1.0000",
    ]
    counted_once(watch.history, service)


def test_gold_documents_that_go_are_drift_and_no_regression(service: Workspace, watch: Watch) -> None:
    watch.check(4)
    kept = dict(service.documents)
    del service.documents["d1"], service.documents["d2"]
    service.documents["d3"] = "word3 with another text"
    service.write_corpus()
    watch.check(3)
    assert watch.channel.told == ["opened gold documents are gone or changed"]
    assert "Gone: 2. Changed: 1." in watch.channel.got[0][2]
    assert "q1, q2, q3" in watch.channel.got[0][2]
    service.order(broken=["word5", "word6"])  # and at the same time the ranking of others gets worse
    watch.check(3)
    assert sorted(watch.open()) == ["drift", "quality"]
    assert "fell from 1.0000 to 0.7143" in watch.channel.got[-1][2]  # 5 of the 7 queries that say something
    service.documents = kept
    service.write_corpus()
    service.order()
    watch.check(3)
    assert watch.open() == []
    assert sorted(watch.channel.told[2:]) == [
        "recovered gold documents are gone or changed",
        "recovered nDCG@10 of search fell",
    ]


def test_a_threshold_leaves_out_what_drifted(service: Workspace, lite: Watch) -> None:
    service.write_plan(thresholds=["R@5 < 0.95"], measures='["R@5"]')
    lite.check(2)
    del service.documents["d1"]
    service.write_corpus()
    lite.check(2)
    assert lite.open() == ["drift"]


def test_a_service_can_give_the_gold_documents(service: Workspace, lite: Watch) -> None:
    service.write_plan(corpus="", documents=f"{service.module}:texts")
    lite.check(3)
    del service.documents["d4"]
    service.write_corpus()
    lite.check(1)
    assert lite.open() == ["drift"]
    service.write_plan(corpus="", documents="json:dumps")  # gives no mapping
    assert "must give a mapping" in lite.check(1)[0]
    assert sorted(lite.open()) == ["down", "drift"]


@pytest.mark.parametrize("changed", ["test set", "measures"])
def test_another_test_set_or_measures_are_learned_anew(service: Workspace, lite: Watch, changed: str) -> None:
    """The fall that was open ends: nobody saw a recovery, so none is told."""
    lite.check(4)
    service.order(broken=["word1", "word2"])
    lite.check(3)
    assert lite.open() == ["quality"]
    if changed == "test set":
        service.ask_for(9)
    else:
        service.write_plan(measures='["R@10", "nDCG@10"]')
    said = lite.check(1)
    assert said[0] == "search: test set, contract, measures or detector changed; it is learned anew from check 8 on"
    assert said[-1].startswith("ended: nDCG@10 of search fell;")
    assert lite.open() == []
    assert lite.channel.told == ["opened nDCG@10 of search fell"]
    lite.check(3)
    service.order(broken=[f"word{i}" for i in range(6)])
    lite.check(3)
    assert lite.channel.told[1:] == [f"opened {'nDCG@10' if changed == 'test set' else 'R@10'} of search fell"]


def test_a_new_test_set_brings_its_own_gold_documents(service: Workspace, lite: Watch) -> None:
    """Even when the first check gave no score."""
    service.order(down=["search"])
    lite.check(1)
    service.order()
    lite.check(1)
    del service.documents["d1"]
    service.write_corpus()
    lite.check(1)
    assert lite.open() == ["drift"]
    service.documents["d10"] = "word10 is new"
    service.ask_for(9, first=2)  # the judgments were reviewed: the lost document is in none of them
    service.write_corpus()
    lite.check(1)
    assert lite.open() == []
    del service.documents["d10"]
    service.write_corpus()
    lite.check(1)
    assert lite.open() == ["drift"]


def test_a_system_taken_out_of_the_plan_leaves_nothing_open(service: Workspace, watch: Watch) -> None:
    service.write_plan(systems=("search", "other"))
    watch.check(4)
    service.order(broken=["word1", "word2"], down=["other"])
    watch.check(3)
    assert sorted(watch.open()) == ["down", "quality"]
    service.write_plan(systems=("search",))
    said = watch.check(1)
    assert said[-1].startswith("ended: no score of other could be taken;")
    assert watch.open() == ["quality"]
    assert {entry.key.system for entry in status_of(watch.history, watch.plan()).series} == {"search"}
    assert all(event.startswith("opened") for event in watch.channel.told)


def test_a_limit_taken_out_of_the_plan_leaves_nothing_open(service: Workspace, lite: Watch) -> None:
    service.write_plan(thresholds=["nDCG@10 < 0.9"])
    service.order(broken=["word1", "word2"])
    lite.check(1)
    assert lite.open() == ["threshold"]
    service.write_plan()
    lite.check(1)
    assert lite.open() == []
    assert len(lite.channel.got) == 1


def test_one_of_two_systems_down_leaves_the_other_watched(service: Workspace, watch: Watch) -> None:
    service.write_plan(systems=("search", "other"))
    service.order(down=["other"])
    said = watch.check(1)  # invalid at its first check
    assert said[0] == "check 1: search nDCG@10 1.0000"
    assert said[1].startswith("check 1: other gave no score: ")
    watch.check(3)
    service.order(down=["other"], broken=["word1", "word2"])
    watch.check(3)
    assert watch.channel.told == ["opened no score of other could be taken", "opened nDCG@10 of search fell"]
    service.order()
    watch.check(5)
    assert watch.open() == []
    service.order(down=["search"], broken=["word3", "word4"])
    watch.check(3)
    assert sorted(watch.open()) == ["down", "quality"]
    counted_once(watch.history, service)


def test_a_stream_asks_new_queries_alone(service: Workspace, watch: Watch) -> None:
    service.write_plan(kind="stream")
    service.ask_for(4)
    assert watch.check(1) == ["check 1: search nDCG@10 1.0000"]
    assert watch.check(1) == ["check 2: no new queries since the last check"]
    service.ask_for(7)
    watch.check(1)
    service.order(down=["search"])
    service.ask_for(10)
    assert "no score was taken" in watch.check(1)[0]
    service.order()
    watch.check(1)  # what could not be asked is new still
    asked = [line.split()[2] for line in service.calls()]
    assert list(dict.fromkeys(asked)) == [f"word{i}" for i in range(10)]
    assert [row["queries"] for row in watch.rows("records")] == [4, 3, 3]
    service.ask_for(5)
    said = watch.check(1)
    assert "it had 10 queries and has 5 now; a stream is only added to" in said[0]
    assert watch.open() == ["down"]
    assert len(watch.rows("records")) == 3
    service.ask_for(10)
    assert watch.check(1)[-1] == "check 7: no new queries since the last check"


def test_two_monitors_cannot_count_queries_of_a_stream_twice(service: Workspace, watch: Watch) -> None:
    service.write_plan(kind="stream")
    plan = watch.plan()
    both = [observe(plan, token, watch.clock.now) for token in ("a", "b")]
    assert [ingest(watch.history, plan, seen, START).status for seen in both] == ["done", "abandoned"]
    assert len(watch.rows("records")) == 1
    service.ask_for(12)
    service.documents |= {f"d{i}": f"word{i}" for i in (10, 11)}
    service.write_corpus()
    watch.check(1)
    assert [row["queries"] for row in watch.rows("records")] == [10, 2]


def test_a_check_counts_once_however_often_it_is_ingested(service: Workspace, watch: Watch) -> None:
    plan = watch.plan()
    begin_check(watch.history, plan.name, "t", START)
    seen = observe(plan, "t", watch.clock.now)
    first, second = (ingest(watch.history, plan, seen, START) for _ in range(2))
    assert (first.already, second.already, second.number) == (False, True, 1)
    assert counted_once(watch.history) == [1]


def test_a_failure_on_the_way_leaves_nothing_behind(
    service: Workspace, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction breaks at its end: all is as before, and the check is ingested later."""
    watch.check(4)
    service.order(broken=["word1", "word2"])
    watch.check(2)
    before = {name: watch.rows(name) for name in ("records", "detector_states", "incidents", "deliveries")}

    def breaks(*arguments: object, **rest: object) -> None:
        raise DataError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("rankgauge.monitoring.loop.ingest.forget_systems", breaks)
        said = watch.check(1)
    assert said[0] == "the history cannot be used now: the disk is full; trying again"
    assert said[1].startswith("the check is spooled in ")
    assert len(said) == 2
    assert {name: watch.rows(name) for name in before} == before
    said = watch.check(1)
    assert said[:2] == ["check 7: search nDCG@10 0.8000", "ALERT nDCG@10 of search fell"]
    assert said[2] == "spooled checks that are ingested by now: 1"
    assert counted_once(watch.history, service) == list(range(1, 9))
    assert len(watch.channel.got) == 1


def test_checks_that_wait_are_ingested_in_the_order_they_were_made(service: Workspace, watch: Watch) -> None:
    """Whatever the clock did meanwhile."""
    plan = watch.plan()
    for token, hours in (("z", 5), ("y", -5), ("x", 0)):
        spool(observe(plan, token, lambda hours=hours: START + hours * HOUR), plan.spool)  # type: ignore[misc]
    watch.check(1)
    assert [row["token"] for row in watch.rows("checks")][:3] == ["z", "y", "x"]
    counted_once(watch.history, service)


def test_files_of_other_releases_and_damaged_ones(service: Workspace, lite: Watch) -> None:
    plan = lite.plan()
    folder = plan.spool
    written = json.loads(spool(observe(plan, "a", lite.clock.now), folder).read_text())
    (folder / "000002-b.json").write_text(json.dumps({**written, "token": "b", "new key": 1}))
    (folder / "000003-c.json").write_text(json.dumps({**written, "token": "c", "version": 2}))
    (folder / "000004-d.json").write_text(json.dumps({**written, "token": "d", "started": "yesterday"}))
    (folder / "000005-e.json").write_text(json.dumps({**written, "token": "e", "systems": None}))
    (folder / "000006-f.json").write_bytes(b'{"version": 1, "monit')
    (folder / "000007-g.json").write_text("[]")
    (folder / "000008-h.json").write_text(json.dumps({**written, "token": "h", "monitor": "another"}))
    said = lite.check(1)
    assert [row["token"] for row in lite.rows("checks")][:2] == ["a", "b"]
    assert sum("cannot be read; it is not counted" in line for line in said) == 4
    assert sum("was written by a later release" in line for line in said) == 1
    names = sorted(path.name for path in folder.iterdir())
    damaged = [f"00000{i}-{token}.damaged" for i, token in ((4, "d"), (5, "e"), (6, "f"), (7, "g"))]
    assert names == ["000003-c.json", *damaged, "000008-h.json"]
    assert lite.check(1)[-1].startswith("check 4: ")
    assert [seen.token for _, seen in spooled(folder, "another").waiting] == ["h"]


@pytest.mark.parametrize(
    "state",
    [
        '{"identity": [], "watch": {"version": 3}}',
        "{}",
        "[1]",
        "no JSON",
        '{"watch": {"version": 2, "name": "x"}}',
        '{"watch": {"name": "x"}}',
        '{"watch": {"version": "1"}}',
    ],
)
def test_a_state_that_cannot_be_read_is_told_and_can_be_forgotten(lite: Watch, state: str) -> None:
    """The check is spooled meanwhile."""
    lite.check(3)
    with lite.history.begin() as connection:
        changed = sa.update(detector_states).where(detector_states.c.system == "search")
        connection.execute(changed.values(state=sa.literal(state, sa.Text)))
    if state != "{}":  # empty is as good as none
        told = lite.check(1)[0]
        assert "what was learned of search cannot be read (table detector_states, row system = 'search')" in told
        assert "--relearn" in told
        with pytest.raises(DataError, match="cannot be read"):
            status_of(lite.history, lite.plan())
        relearn(lite.history, "plan", START)
    lite.check(1)
    assert counted_once(lite.history, lite.workspace)[-1] == (4 if state == "{}" else 5)


def test_what_an_earlier_detector_had_learned_is_learned_anew(service: Workspace, lite: Watch) -> None:
    """Its figures mean something else to this one. What it had raised ends, and no recovery is told."""
    lite.check(4)
    service.order(broken=["word1", "word2"])
    lite.check(3)
    assert lite.open() == ["quality"]
    with lite.history.begin() as connection:
        where = detector_states.c.system == "search"
        state = connection.execute(sa.select(detector_states.c.state).where(where)).scalar_one()
        series = {"search nDCG@10": {"kind": "level", "sensitivity": {"assumed": 0.005}, "phase": "provisional"}}
        state["watch"] |= {"version": 1, "series": series}
        connection.execute(sa.update(detector_states).where(where).values(state=state))
    assert status_of(lite.history, lite.plan()).series == []
    said = lite.check(1)
    assert said[0] == "search: test set, contract, measures or detector changed; it is learned anew from check 8 on"
    assert said[-1].startswith("ended: nDCG@10 of search fell;")
    assert lite.open() == []
    service.order()
    lite.check(4)
    phases = {str(entry.key): entry.phase for entry in status_of(lite.history, lite.plan()).series}
    assert phases["search nDCG@10"] in ("learning", "exact")
    assert lite.channel.told == ["opened nDCG@10 of search fell"]


def test_a_common_state_that_cannot_be_read(lite: Watch) -> None:
    lite.check(1)
    with lite.history.begin() as connection:
        connection.execute(sa.update(detector_states).where(detector_states.c.system == "").values(state="?"))
    assert "its common state cannot be read" in lite.check(1)[0]
    with pytest.raises(DataError, match="common state"):
        relearn(lite.history, "plan", START)


def test_a_baseline_by_name(service: Workspace, watch: Watch) -> None:
    """An exact retriever that is worse than it from the start is known in six checks."""
    watch.check(1)
    record = watch.history.record(watch.rows("checks")[0]["record_id"])
    set_baseline(watch.history, "good", record)
    relearn(watch.history, "plan", START)
    service.write_plan(baseline="good", measures='["nDCG@10", "R@5"]')
    service.order(broken=["word1", "word2"])
    watch.check(2)
    phases = {str(entry.key): entry.phase for entry in status_of(watch.history, watch.plan()).series}
    assert phases["search nDCG@10"] == "provisional"
    assert watch.channel.told == []
    watch.check(4)
    assert watch.channel.told == ["opened nDCG@10 of search fell"]
    phases = {str(entry.key): entry.phase for entry in status_of(watch.history, watch.plan()).series}
    assert phases["search nDCG@10"] == "exact"
    assert phases["search R@5"] == "exact"  # the baseline has none of it: as it is, is how it is


@pytest.mark.parametrize("kind", ["record", "exported"])
def test_a_baseline_in_a_file_beside_the_plan(
    service: Workspace, lite: Watch, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from rankgauge.gating.baseline import Baseline, export_baseline

    lite.check(1)
    record = lite.history.record(lite.rows("checks")[0]["record_id"])
    relearn(lite.history, "plan", START)
    value = record.to_dict() if kind == "record" else export_baseline(Baseline("good", record, "search"))
    (service.folder / "good.json").write_text(json.dumps(value))
    monkeypatch.chdir(tmp_path)  # the file is found from the plan, not from here
    service.write_plan(baseline="good.json")
    service.order(broken=["word1", "word2"])
    lite.check(6)
    assert lite.channel.told == ["opened nDCG@10 of search fell"]
    service.ask_for(5)
    with pytest.raises(DataError, match=r"monitor\.baseline: .* was measured on another test set"):
        lite.monitor()


def test_a_test_set_that_changes_under_a_baseline(service: Workspace, lite: Watch) -> None:
    lite.check(1)
    set_baseline(lite.history, "good", lite.history.record(lite.rows("checks")[0]["record_id"]))
    relearn(lite.history, "plan", START)
    service.write_plan(baseline="good")
    running = lite.monitor()
    running.once()
    service.ask_for(5)
    running.once()
    assert (
        "search: the baseline has another test set or contract; the reference is learned from the checks instead"
        in lite.log
    )
    assert lite.rows("checks")[-1]["status"] == "done"


def test_a_baseline_that_is_not_there_is_found_at_the_start(service: Workspace, lite: Watch) -> None:
    service.write_plan(baseline="good")
    with pytest.raises(DataError, match=r"monitor\.baseline: .* has no baseline 'good'"):
        lite.monitor()
    lite.workspace.write_plan()
    lite.check(1)
    record = lite.history.record(lite.rows("checks")[0]["record_id"])
    set_baseline(lite.history, "good", record)
    service.write_plan(baseline="good", measures='["R@5"]')
    with pytest.raises(DataError, match="has none of the plan's measures"):
        lite.monitor()


def test_words_for_a_retriever_that_had_repeated_itself(service: Workspace, lite: Watch) -> None:
    lite.check(4)
    service.order(broken=["word1", "word2"])
    lite.check(3)
    body = lite.channel.got[0][2]
    assert "had repeated itself exactly until then, so this is no noise" in body
    assert "Chance is accounted for" not in body
    assert "2026-03-01 16:00 UTC" in body
    assert "2026-03-01 18:00 UTC" in body
    service.write_plan(lang="zh")
    service.order()
    lite.check(5)
    service.order(broken=["word1", "word2", "word3"])
    lite.check(3)
    assert "此前检索结果每次都完全相同" in lite.channel.got[-1][2]
    assert "大约始于 2026-03-02 00:00 UTC" in lite.channel.got[-1][2]


def test_reasons_that_no_database_can_hold(service: Workspace, watch: Watch) -> None:
    service.order(down=["search"], reason="NUL \0 and \udcff and 中文")
    watch.check(1)
    assert "中文" in watch.channel.got[0][2]
    assert counted_once(watch.history, service) == []


@pytest.mark.parametrize("name", ["每晚 / 检索 a'b\"c{d}%s 😀", "." * 80])
def test_odd_names_of_monitors(service: Workspace, watch: Watch, name: str) -> None:
    service.write_plan(name=name)
    watch.check(4)
    service.order(broken=["word1", "word2"])
    watch.check(3)
    assert watch.channel.told == ["opened nDCG@10 of search fell"]
    assert status_of(watch.history, watch.plan()).monitor == name
    assert watch.history.records(label=name)


# Time


def stop_after(watch: Watch, checks: int, every: float = 3600) -> None:
    """Let a running monitor stop after so many checks."""
    monitor = watch.monitor()
    before = watch.clock.during

    def during(clock: FakeClock) -> None:
        before(clock)
        if len([row for row in watch.rows("checks") if row["status"] != "running"]) >= checks:
            monitor.stop.set()

    watch.clock.during = during
    monitor.forever(every)


def test_the_clock_set_back_by_a_day(service: Workspace, watch: Watch) -> None:
    """Looks go on by the time that passes, and an alert that waits for its next try does not wait for a day."""
    turned = []
    watch.channel.down = "503"

    def during(clock: FakeClock) -> None:
        done = len(watch.rows("checks"))
        if done == 4:
            service.order(broken=["word1", "word2"])
        if done == 7 and not turned:
            turned.append(clock.time)
            clock.wall -= datetime.timedelta(days=1)
        if done == 8:
            watch.channel.down = None

    watch.clock.during = during
    stop_after(watch, 14, 600)
    assert "the clock was set back by 86,400 s; the schedule follows the time that passes" in watch.log
    assert not any("missed" in line for line in watch.log)
    assert counted_once(watch.history, service) == list(range(1, 15))
    assert watch.channel.told == ["opened nDCG@10 of search fell"]
    assert watch.clock.time == pytest.approx(13 * 600, abs=61)
    assert any("was delivered at try" in line for line in watch.log)


def test_a_machine_that_slept_checks_once(service: Workspace, lite: Watch) -> None:
    """The wall clock went on by ten hours, the time of this process did not."""

    def during(clock: FakeClock) -> None:
        if len(lite.rows("checks")) == 2 and clock.wall - START < 5 * HOUR:
            clock.wall += 10 * HOUR

    lite.clock.during = during
    stop_after(lite, 4)
    assert "the clock was set forward, or the machine was asleep, for 36,000 s" in lite.log
    assert [line for line in lite.log if "missed" in line] == [
        "9 checks were missed while this machine was asleep or busy, or the history unavailable; checking now"
    ]
    times = [row["started"] for row in lite.rows("checks")]
    assert (times[2] - times[1]) >= 10 * HOUR
    assert (times[3] - times[2]) >= HOUR / 2
    counted_once(lite.history, service)


def test_a_long_pass_is_followed_by_one_check_not_by_a_burst(service: Workspace, lite: Watch) -> None:
    real = monitor_module.observe

    def slow(*arguments: object, **rest: object) -> Observation:
        if len(lite.rows("checks")) == 2:
            lite.clock.advance(3.5 * 3600)
        return real(*arguments, **rest)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitor_module, "observe", slow)
        stop_after(lite, 5)
    assert (
        len([line for line in lite.log if line.startswith("a check takes 3.5 h, longer than the interval of 1 h")]) == 1
    )
    assert not [line for line in lite.log if "missed" in line]
    assert counted_once(lite.history, service) == [1, 2, 3, 4, 5]


def test_whatever_breaks_the_monitor_goes_on(service: Workspace, lite: Watch) -> None:
    """A fault that nobody thought of is logged; the check it left is marked as broken off."""
    real = monitor_module.observe
    broken = []

    def breaks(*arguments: object, **rest: object) -> Observation:
        if len(lite.rows("checks")) == 2 and not broken:
            broken.append(True)
            raise ZeroDivisionError("nobody thought of it")
        return real(*arguments, **rest)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitor_module, "observe", breaks)
        stop_after(lite, 4)
    assert "this failed and is tried again: ZeroDivisionError: nobody thought of it" in lite.log
    assert any(line.startswith("check 2, begun ") and "was broken off" in line for line in lite.log)
    assert counted_once(lite.history, service) == [1, 3, 4]


def test_trouble_is_said_once_and_checks_are_kept(
    service: Workspace, lite: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = monitor_module.ingest

    def away(*arguments: object, **rest: object) -> object:
        if START + 2 * CHECK <= lite.clock.now() < START + 6 * CHECK:
            raise DataError("the server is away")
        return real(*arguments, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(monitor_module, "ingest", away)
    stop_after(lite, 9, CHECK.total_seconds())
    said = "\n".join(lite.log)
    assert said.count("the server is away") == 1
    assert said.count("the check is spooled in ") == 4
    assert said.count("the history can be used again") == 1
    assert "spooled checks that are ingested by now: 4" in said
    assert counted_once(lite.history, service) == list(range(1, 10))
    assert [row["started"] for row in lite.rows("checks")] == sorted(row["started"] for row in lite.rows("checks"))


def test_a_stream_is_not_asked_again_while_a_check_waits(
    service: Workspace, lite: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.write_plan(kind="stream")
    real = monitor_module.ingest

    def away(*arguments: object, **rest: object) -> object:
        if lite.clock.now() < START + 3 * CHECK:
            raise DataError("the server is away")
        return real(*arguments, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(monitor_module, "ingest", away)
    stop_after(lite, 2, CHECK.total_seconds())
    assert len(service.calls()) == len(set(service.calls())) == 10
    assert [row["queries"] for row in lite.rows("records")] == [10]


def test_a_lease_that_is_lost_in_the_middle(service: Workspace, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another monitor took over while this one was asking: what it found is kept until it has the lease again."""
    holder = watch.monitor()
    assert holder.lease.acquire()
    real = monitor_module.observe
    rival = watch.monitor()

    def loses(*arguments: object, **rest: object) -> Observation:
        seen = real(*arguments, **rest)  # type: ignore[arg-type]
        holder.lease.release()
        assert rival.lease.acquire()
        return seen

    with monkeypatch.context() as patch:
        patch.setattr(monitor_module, "observe", loses)
        assert holder.check() is None
    assert watch.log[0] == "the lease on 'plan' was lost, another monitor has it; this one writes nothing more"
    rival._tidy()
    assert counted_once(watch.history, service) == [1]
    rival.lease.release()


def test_messages_reach_a_channel_that_was_down(service: Workspace, lite: Watch) -> None:
    lite.check(4)
    lite.channel.down = "the server refuses"
    service.order(broken=["word1", "word2"])
    said = lite.check(3)
    assert "was not delivered (try 1): the server refuses" in said[-1]
    lite.channel.down = None
    said = lite.check(2)
    assert [line for line in said if "alert channel" in line] == [
        "alert channel ops: '[rankgauge] plan: nDCG@10 of search fell' was delivered at try 2"
    ]
    assert lite.channel.told == ["opened nDCG@10 of search fell"]


def test_a_history_in_memory(service: Workspace) -> None:
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(4)
        set_baseline(history, "good", history.record(1))
        service.write_plan(baseline="good")
        watch.check(1)
        assert counted_once(history, service) == [1, 2, 3, 4, 5]


def test_an_unknown_channel_is_said(lite: Watch) -> None:
    lite.workspace.order(down=["search"])
    plan = replace(lite.plan(), channels=[Recorder("gone")])
    ingest(lite.history, plan, observe(plan, "t", lite.clock.now), START)
    assert "alert channel gone is not in the plan; its messages are kept until it is back: 1" in lite.check(1)


def test_what_is_wrong_with_the_documents_function(service: Workspace, lite: Watch) -> None:
    service.write_plan(corpus="", documents=f"{service.module}:absent")
    assert "has no attribute 'absent'" in lite.check(1)[0]
    service.write_plan(documents="nothing")
    with pytest.raises(RankgaugeError, match="must be module:function"):
        lite.plan()


def test_a_fall_over_all_queries_is_news_where_a_slice_alone_had_fallen(service: Workspace, lite: Watch) -> None:
    questions = json.loads((service.folder / "questions.json").read_text())
    for number, question in enumerate(questions):
        question["tags"] = ["new"] if number < 5 else ["old"]
    (service.folder / "questions.json").write_text(json.dumps(questions))
    service.write_plan(tolerance=0.15, slices=True)
    lite.check(4)
    service.order(broken=["word1"])  # one in five of the slice, one in ten of all
    lite.check(3)
    assert lite.open() == ["slice"]
    service.order(broken=["word1", "word2", "word3"])
    lite.check(6)
    assert sorted(lite.open()) == ["quality", "slice"]
    assert len(lite.channel.told) == 2
    service.order()
    lite.check(8)
    assert lite.open() == []
    assert len(lite.channel.told) == 4


def test_the_alert_names_the_tag_that_fell_and_how_far_it_went(service: Workspace, lite: Watch) -> None:
    questions = json.loads((service.folder / "questions.json").read_text())
    for number, question in enumerate(questions):
        question["tags"] = ["billing"] if number < 5 else ["other"]
    (service.folder / "questions.json").write_text(json.dumps(questions))
    service.write_plan(slices=True)
    lite.check(4)
    service.order(broken=["word1"])
    lite.check(3)
    assert "fell from 1.0000 to 0.9000" in lite.channel.got[0][2]
    assert "By tag: billing 1.0000 → 0.8000; the others did not fall." in lite.channel.got[0][2]
    service.order(broken=["word1", "word2", "word3"])  # the first check had caught it midway
    lite.check(3)
    assert lite.channel.told == ["opened nDCG@10 of search fell"]
    service.order()
    lite.check(8)
    assert len(lite.channel.told) == 2
    assert "to 0.7000" in lite.channel.got[1][2]  # at its worst, not where it was noticed


def test_a_system_that_still_fails_now_and_then_is_back_after_three_valid_checks(
    service: Workspace, lite: Watch
) -> None:
    """Failures around what is allowed would open and close an incident all night; without any, one check is enough."""
    lite.check(3)
    service.order(down=["search"])
    lite.check(1)
    service.order()
    plan = lite.plan()
    for number, still in enumerate((True, True, False)):
        seen = observe(plan, f"failing {number}", lite.clock.now)
        assert seen.record is not None
        (system,) = seen.record.systems
        assert system.calls is not None
        failing = replace(system, calls=replace(system.calls, failed=["q1"]))
        ingest(lite.history, plan, replace(seen, record=replace(seen.record, systems=[failing])), START)
        assert (lite.open() == ["down"]) is still
    service.order(down=["search"])
    lite.check(1)
    service.order()
    lite.check(1)
    assert lite.open() == []
