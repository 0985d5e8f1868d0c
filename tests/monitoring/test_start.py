"""A monitor that starts on a broken system, or whose history is lost, says so instead of learning what it finds."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rankgauge.history.location import resolve
from rankgauge.history.schema import metadata
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from tests.history.conftest import Server
from tests.monitoring.workspace import Watch, Workspace, rows

START = "opened monitoring of search starts on a broken system"
WORDS = [f"word{i}" for i in range(10)]


@pytest.fixture
def service(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def kinds(history: History) -> list[str]:
    return [row["kind"] for row in rows(history, "incidents")]


@pytest.mark.parametrize("extra", ["", '[gate]\ntargets = ["nDCG@10 >= baseline - 5%"]'])
def test_nothing_is_found_from_the_first_check_on(service: Workspace, extra: str) -> None:
    """Empty lists throughout: an alert with the first check, and what is normal is learned once that is over."""
    service.write_plan(extra=extra)
    service.order(broken=WORDS)
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        said = watch.check()
        assert watch.channel.told == [START]
        assert "nDCG@10 is 0 for all of 10 queries" in watch.channel.got[0][2]
        assert "ALERT monitoring of search starts on a broken system" in said
        watch.check(5)
        assert watch.channel.told == [START]
        service.order()
        said = watch.check()
        assert any("what was wrong from the start is mended" in line for line in said)
        assert watch.channel.told[1:] == ["recovered monitoring of search starts on a broken system"]
        watch.check(5)
        service.order(broken=WORDS)  # normal is 1 by now
        watch.check(3)
        assert watch.open() == ["quality"]
        assert "fell from 1.0000 to 0.0000" in watch.channel.got[-1][2]


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ('targets = ["nDCG@10 >= 0.8"]', "the target nDCG@10 >= 0.8 of the plan is missed, it is 0.6000"),
        ('scenario = "general"', "nDCG@10 > 0.7 (general)"),
    ],
)
def test_below_the_targets_of_the_plan_at_the_start(service: Workspace, gate: str, said: str) -> None:
    """It is watched nevertheless: a further fall is found. A fall below the target later on is the detector's."""
    service.write_plan(extra=f"[gate]\n{gate}")
    service.order(broken=WORDS[:4])
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(4)
        assert watch.channel.told == [START]
        assert said in watch.channel.got[0][2]
        service.order(broken=WORDS[:7])
        watch.check(3)
        assert watch.channel.told[1:] == ["opened nDCG@10 of search fell"]
        service.order()
        watch.check(1)
        assert sorted(watch.channel.told[2:]) == [
            "recovered monitoring of search starts on a broken system",
            "recovered nDCG@10 of search fell",
        ]
        service.order(broken=WORDS[:4])
        watch.check(1)
        assert watch.open() == []  # one check is no evidence
        watch.check(2)
        assert watch.open() == []  # and so far only one equal check was learned


def test_a_threshold_that_tells_it_already(service: Workspace) -> None:
    """One alert for one thing; and what was found below the threshold is not taken as normal either."""
    service.write_plan(thresholds=["nDCG@10 < 0.75"], extra='[gate]\ntargets = ["nDCG@10 >= 0.8"]')
    service.order(broken=WORDS)
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(4)
        assert kinds(history) == ["threshold"]
        service.order()
        watch.check(7)
        assert watch.open() == []
        assert any("learned from check 5 on" in line for line in watch.log)
        service.order(broken=WORDS[:2])
        watch.check(3)
        assert watch.open() == ["quality"]


def test_nothing_found_while_it_is_still_learned(service: Workspace) -> None:
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(1)
        service.order(broken=WORDS)
        watch.check(1)
        assert watch.open() == ["start"]
        service.order()
        watch.check(1)
        assert watch.open() == []


def test_gold_documents_that_are_gone_while_it_is_learned(service: Workspace) -> None:
    """Nothing is found because nothing is there any more: that is drift, and says nothing of the ranking."""
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(1)
        service.documents = {f"new{i}": f"else{i}" for i in range(10)}
        service.write_corpus()
        watch.check(1)
        assert watch.open() == ["drift"]


def test_all_queries_fail_from_the_first_check_on(service: Workspace) -> None:
    service.order(down=["search"])
    with History.open(":memory:") as history:
        watch = Watch(service, history)
        watch.check(3)
        assert watch.channel.told == ["opened no score of search could be taken"]
        service.order()
        watch.check(4)
        assert watch.open() == []


# The history lost


def emptied(place: str) -> None:
    """As by hand: all rows of all tables but those that lead from release to release."""
    engine = sa.create_engine(place)
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            # The row that a monitor takes first when it writes: without it the two could wait for each other, in the
            # middle of a check, until the server ends one of them.
            connection.execute(sa.text("SELECT 1 FROM leases FOR UPDATE"))
        for table in reversed(metadata.sorted_tables):
            if table.name not in ("leases", "rankgauge"):
                connection.execute(table.delete())
    engine.dispose()


def removed(path: Path) -> None:
    for file in path.parent.glob("history.db*"):
        file.unlink()


def only_incidents(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM deliveries")
        connection.execute("DELETE FROM incidents")
    connection.close()


@pytest.mark.parametrize("lose", [removed, lambda path: emptied(f"sqlite:///{path}"), only_incidents])
def test_a_history_lost_during_an_incident(service: Workspace, lose: Callable[[Path], None]) -> None:
    """The next start says what was open: a file beside the plan knows."""
    service.order(down=["search"])
    path = service.folder / ".rankgauge" / "history.db"
    path.parent.mkdir()
    with History.open(path) as history:
        Watch(service, history).check(1)
    lose(path)
    service.order()
    with History.open(path) as history:
        watch = Watch(service, history)
        said = watch.check()
        assert "ALERT history lost: 1 open incident was forgotten" in said
        ((event, title, body),) = watch.channel.got
        assert (event, title) == ("opened", "[rankgauge] plan: history lost: 1 open incident was forgotten")
        assert "They were: no score of search could be taken." in body
        watch.check(4)  # until it is known again what is normal
        assert watch.channel.told[1:] == ["recovered history lost: 1 open incident was forgotten"]
        assert kinds(history) == ["forgotten"]
        assert watch.open() == []


def test_a_history_removed_under_a_running_monitor(service: Workspace) -> None:
    """With all that is beside it: then the process knows. It is told once, also where it is killed afterwards."""
    service.order(down=["search"])
    folder = service.folder / ".rankgauge"
    with service.running("--every", "0.3s") as monitor:
        monitor.until("ALERT no score of search")
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix in (".db", ".json"):
                file.unlink(missing_ok=True)
        monitor.until("ALERT history lost: 1 open incident was forgotten")
        monitor.signal(signal.SIGKILL)
    assert service.once().returncode == 1
    with History.open(folder / "history.db") as history:
        assert sorted(kinds(history)) == ["down", "forgotten"]
    shown = subprocess.run(service.command("--status"), capture_output=True, text=True, timeout=60, check=True).stdout
    assert ": history lost, history (began " in shown


@pytest.mark.needs("postgresql")
def test_tables_emptied_during_an_incident(service: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    place = server.new()
    monkeypatch.setenv("RANKGAUGE_HISTORY", place)
    service.order(down=["search"])
    with service.running("--every", "2s") as monitor:
        monitor.until("ALERT no score of search")
        emptied(resolve(place).url.render_as_string(hide_password=False))
        monitor.until("ALERT history lost: 1 open incident was forgotten")
        assert monitor.stop() == 0
    assert monitor.log.count("ALERT history lost") == 1


def test_another_history_is_not_a_lost_one(service: Workspace) -> None:
    service.order(down=["search"])
    assert service.once().returncode == 1
    service.order()
    other = service.once("--history", service.folder / "other.db")
    assert other.returncode == 0, other.stderr
