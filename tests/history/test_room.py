"""Room on the disk: pruning where none is left, vacuuming, and files whose pages were spoilt."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import DataError
from rankgauge.history.baselines import set_baseline
from rankgauge.history.room import prune_history, vacuum_history
from rankgauge.history.store import History
from tests.cli.command import Done, run_command
from tests.history.conftest import Server
from tests.history.records import make_record
from tests.monitoring.workspace import Workspace
from tests.parts import ROOT

_PAGE = 4096
_ON_A_FULL_DISK = """
import errno, json, subprocess, sys, tempfile
from pathlib import Path
from rankgauge.history.baselines import set_baseline
from rankgauge.history.store import History
from tests.history.records import make_record

subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", sys.argv[1]], check=True)
place, left = Path(sys.argv[1]) / "history.db", int(sys.argv[2])
with History.open(place) as history:
    for number in range(12):
        history.add(make_record(number, queries=2000))
    set_baseline(history, "old", history.record(2))
with open(place.with_name("filling"), "wb", buffering=0) as filling:
    try:
        while True:
            filling.write(bytes(4096))
    except OSError as error:
        assert error.errno == errno.ENOSPC
    filling.truncate(filling.tell() - left)

def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", "history", *arguments, "--history", str(place)],
        capture_output=True, text=True,
    )
    return [done.returncode, done.stdout, done.stderr]

said = {"add": None, "size": place.stat().st_size}
with tempfile.NamedTemporaryFile("w", suffix=".json") as record:
    record.write(make_record(50, queries=9000).to_json())
    record.flush()
    said["add"] = command("add", record.name)
said["would"] = command("prune", "--keep", "3")
said["prune"] = command("prune", "--keep", "3", "--yes")
said["after"] = place.stat().st_size
with History.open(place) as history:
    said["left"] = sorted(stored.id for stored in history.records())
    said["whole"] = [len(history.record(number).queries) for number in said["left"]]
    with history.read() as connection:
        said["check"] = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    history.add(make_record(60))
print(json.dumps(said))
"""


@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("left", [0, 150_000])
def test_pruning_on_a_full_disk(tmp_path: Path, left: int) -> None:
    """Nothing else can be written, yet records go, what is to stay stays, and the disk has room again."""
    command = ["unshare", "-m", sys.executable, "-c", _ON_A_FULL_DISK, str(tmp_path), str(left)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["add"][0] == 2
    assert "nothing was written: the disk is full" in said["add"][2]
    assert said["would"][0] == 0
    assert "8 records would be removed" in said["would"][1]
    assert said["prune"][0] == 0, said["prune"]
    lines = said["prune"][1].splitlines()
    assert lines[0].startswith("8 records removed, ")
    assert lines[1].startswith("the disk was full: the records were removed one by one, and ")
    assert said["size"] - said["after"] > 300_000
    assert lines[2] == "kept, since a baseline needs them: 2"
    assert said["left"] == [2, 10, 11, 12]
    assert said["whole"] == [2000] * 4
    assert said["check"] == "ok"


def test_a_file_without_room_is_pruned_by_nobody_else(tmp_path: Path) -> None:
    """While it is changed without a log, others wait; and who is at it already is waited for."""
    place = tmp_path / "history.db"
    with History.open(place) as history:
        history.add(make_record(0))
        with history.read(), pytest.raises(DataError, match="locked: another process"):
            History.open(place, cramped=True, timeout=0.05)
    with History.open(place, cramped=True) as alone:
        assert alone.remove(alone.get(1))
        with pytest.raises(DataError, match="locked: another process"):
            History.open(place, timeout=0.05)
    with History.open(place) as history:
        assert history.records() == []


def test_pruning_with_room_is_as_before(tmp_path: Path) -> None:
    place = tmp_path / "history.db"
    with History.open(place) as history:
        for number in range(4):
            history.add(make_record(number))
    assert [record.id for record in prune_history(place, keep=2, dry_run=True).gone] == [2, 1]
    pruned = prune_history(place, keep=2)
    assert [record.id for record in pruned.gone] == [2, 1]
    assert pruned.freed is None


def filled(place: str | Path, count: int = 8) -> None:
    with History.open(place) as history:
        for number in range(count):
            history.add(make_record(number, queries=1500))


def test_vacuum_of_a_file(tmp_path: Path) -> None:
    place = tmp_path / "history.db"
    filled(place)
    prune_history(place, keep=1)
    size = place.stat().st_size
    said = run_command("history", "vacuum", "--history", place, "--lang", "zh").stdout
    assert said == f"{place}：整理前 {size:,} 字节，整理后 {place.stat().st_size:,} 字节\n"
    assert place.stat().st_size < size / 2
    again = json.loads(run_command("history", "vacuum", "--history", place, "--json").stdout)
    assert again == {"history": str(place), "before": place.stat().st_size, "after": place.stat().st_size}
    with History.open(place) as history:
        assert len(history.record("latest").queries) == 1500
    assert (
        "there is no history at" in run_command("history", "vacuum", "--history", tmp_path / "no.db", status=2).stderr
    )


@pytest.mark.needs("postgresql")
def test_vacuum_of_a_server(server: Server) -> None:
    place = server.new()
    filled(place)
    with History.open(place) as history:
        history.prune(keep=1)
    said = json.loads(run_command("history", "vacuum", "--history", place, "--json").stdout)
    assert 0 < said["after"] < said["before"]
    assert server.password not in said["history"]
    with History.open(place) as history:
        assert len(history.records()) == 1


@pytest.mark.needs("namespaces")
def test_vacuum_without_room_for_it(tmp_path: Path) -> None:
    code = """
import subprocess, sys
from pathlib import Path
from tests.history.test_room import filled
from rankgauge.history.room import prune_history, vacuum_history
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", sys.argv[1]], check=True)
place = Path(sys.argv[1]) / "history.db"
filled(place, 10)
place.with_name("filling").write_bytes(bytes((4 << 20) - place.stat().st_size - 250_000))
try:
    vacuum_history(place)
except Exception as error:
    print(type(error).__name__, error)
prune_history(place, keep=1)
print(vacuum_history(place).after < 200_000)
"""
    command = ["unshare", "-m", sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    refused, then = done.stdout.splitlines()
    assert refused.startswith(f"DataError {tmp_path}/history.db: writing it anew takes ")
    assert "make room there first ('rankgauge history prune' needs none)" in refused
    assert then == "True"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A monitored service with records and a baseline in its history."""
    folder = tmp_path_factory.mktemp("kept")
    Workspace(folder)
    place = folder / ".rankgauge" / "history.db"
    run_command("monitor", folder / "plan.toml", "--once", "--history", folder / "history.db")
    place.parent.mkdir(exist_ok=True)
    (folder / "history.db").rename(place)
    with History.open(place) as history:
        for number in range(12):
            history.add(make_record(number, queries=300), label="nightly")
        set_baseline(history, "good", history.record("latest"))
        (folder / "record.json").write_text(history.record("latest").to_json())
    return folder


def spoilt(kept: Path, folder: Path, table: str) -> Path:
    """A copy of it, in which the pages of a table, but for its first, hold something else."""
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    place = folder / ".rankgauge" / "history.db"
    with sqlite3.connect(place) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()[0]
    connection.close()
    data = bytearray(place.read_bytes())
    data[(root - 1) * _PAGE : root * _PAGE] = b"\xa5" * _PAGE
    place.write_bytes(data)
    return place


_COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "records": [
        ("history", "list"),
        ("history", "show", "latest"),
        ("history", "trend", "nDCG@10"),
        ("history", "diff", "2", "3"),
        ("history", "export", "--all", "-o", "out.jsonl"),
        ("history", "prune", "--keep", "1", "--yes"),
        ("history", "vacuum"),
        ("history", "add", "record.json"),
        ("baseline", "list"),
        ("gate", "record.json", "--baseline", "good"),
    ],
    "baselines": [("baseline", "show", "good"), ("gate", "record.json", "--baseline", "good")],
    "checks": [("monitor", "plan.toml", "--status"), ("monitor", "plan.toml", "--once")],
    "detector_states": [("monitor", "plan.toml", "--relearn"), ("monitor", "plan.toml", "--once")],
}


@pytest.mark.parametrize("table", _COMMANDS)
def test_pages_that_were_spoilt_are_named_as_such(
    kept: Path, tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = spoilt(kept, tmp_path, table)
    monkeypatch.chdir(tmp_path)
    for command in _COMMANDS[table]:
        done = run_command(*command, "--history", place, status=2)
        assert "history.db: the database file is damaged: " in done.stderr, (command, done)
        assert "restore a copy, or export what can be read: rankgauge history export" in done.stderr


@pytest.mark.parametrize(
    ("change", "command"),
    [
        ("UPDATE records SET created = '2026-01-0k 12:00:00'", ("history", "list")),
        ("UPDATE records SET label = CAST(x'ff6e' AS TEXT)", ("history", "list")),
        ("UPDATE checks SET detail = '{'", ("monitor", "plan.toml", "--status")),
        ("UPDATE baselines SET set_at = 'now'", ("gate", "record.json", "--baseline", "good")),
    ],
)
def test_columns_that_hold_something_else(
    kept: Path, tmp_path: Path, change: str, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where single bytes of a page were changed, which SQLite does not notice."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    place = tmp_path / ".rankgauge" / "history.db"
    with sqlite3.connect(place) as connection:
        connection.execute(change)
    connection.close()
    done = run_command(*command, "--history", place, status=2)
    table, _, column = change.removeprefix("UPDATE ").partition(" SET ")
    assert f"table {table}, row id = " in done.stderr
    assert f": {column.split()[0]} is " in done.stderr
    assert "the database is damaged: restore a copy" in done.stderr


def test_what_can_be_read_is_exported(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of the records' documents is spoilt: all others come out whole, and can be added elsewhere."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    place = tmp_path / ".rankgauge" / "history.db"
    with History.open(place) as history:
        document = history.raw(5)
        with history.read() as connection:
            packed = connection.exec_driver_sql("SELECT document FROM records WHERE id = 5").scalar()
    data = bytearray(place.read_bytes())
    at = data.index(bytes(packed)[-200:])
    data[at : at + 200] = bytes(200)
    place.write_bytes(data)
    everything = ("history", "export", "--all", "-o", "out.jsonl", "--history", place)
    assert "the database file is damaged: record 5 cannot be unpacked" in run_command(*everything, status=2).stderr
    said = run_command(*everything, "--skip-damaged").stderr
    assert said == "out.jsonl: 12 records\n1 record left out, which cannot be read: 5\n"
    assert document not in (tmp_path / "out.jsonl").read_bytes().splitlines()
    run_command("history", "add", "out.jsonl", "--history", tmp_path / "new.db")
    spoilt(kept, tmp_path, "means")
    whole: Done = run_command(*everything, "--skip-damaged")
    assert whole.stderr == "out.jsonl: 13 records\n"
    run_command("history", "export", "1", "--skip-damaged", "-o", "x", status=2)


def test_vacuum_history_waits_for_an_hour_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANKGAUGE_HISTORY_TIMEOUT", "0.5")
    filled(tmp_path / "history.db", 1)
    assert vacuum_history(tmp_path / "history.db").after > 0
