"""Histories that can be read but not written: read-only files, folders and copies, as another user finds them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.secrets import masked_address
from rankgauge.history.baselines import gate_baseline, set_baseline
from rankgauge.history.location import resolve
from rankgauge.history.names import looks_like_address
from rankgauge.history.store import History
from tests.history.records import make_record

ROOT = Path(__file__).parents[2]

# Reads as a user who may not write, for root may write everywhere.
READER = """
import os, sys
import sqlalchemy.dialects.sqlite
from rankgauge.errors import DataError
from rankgauge.history.store import History
from rankgauge.history.baselines import gate_baseline
from rankgauge.history.references import find_baseline
from rankgauge.gating import gate
from tests.history.records import make_record
record = make_record(9)
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    with History.open(sys.argv[1], create=False, write=False) as history:
        print(len(history.records()), len(history.trend("AP")), history.record("latest").created)
        print(gate_baseline(history, "main").system, find_baseline("main", sys.argv[1]).version)
        history.add(record)
except DataError as error:
    print(error)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as found:
        os.chmod(found, 0o755)
        yield Path(found)
        os.chmod(found, 0o755)


def filled(path: Path) -> None:
    with History.open(path) as history:
        for day in range(3):
            history.add(make_record(day))
        set_baseline(history, "main", make_record(2))


def read(path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(("file", "place"), [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)])
def test_what_cannot_be_written_can_be_read(folder: Path, file: int, place: int) -> None:
    path = folder / "odd ?#%41 name.db"
    filled(path)
    before = path.read_bytes()
    path.chmod(file)
    folder.chmod(place)
    lines = read(path)
    assert lines[:2] == ["3 3 2026-01-03T12:00:00+00:00", "search 1"]
    assert "it cannot be opened for writing" in lines[2]
    folder.chmod(0o755)
    assert path.read_bytes() == before
    assert {entry.name for entry in folder.iterdir()} <= {path.name, f"{path.name}-wal", f"{path.name}-shm"}


def test_records_that_are_only_in_the_log_are_told_of(folder: Path) -> None:
    """A copy taken while another process had it open: the log is not empty, and cannot be read without writing."""
    path, copied = folder / "history.db", folder / "copy" / "history.db"
    copied.parent.mkdir()
    with History.open(path) as history, history.read():
        history.add(make_record(1))
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{copied}{ending}")
    assert Path(f"{copied}-wal").stat().st_size > 0
    for entry in copied.parent.iterdir():
        entry.chmod(0o444)
    copied.parent.chmod(0o555)
    (line,) = read(copied)
    copied.parent.chmod(0o755)
    assert "the newest records are still in history.db-wal" in line
    assert "open it once where it can" in line
    with History.open(copied) as history:
        assert len(history.records()) == 1


def test_reading_a_history_that_can_be_written_is_as_before(tmp_path: Path) -> None:
    filled(tmp_path / "history.db")
    with History.open(tmp_path / "history.db", create=False, write=False) as history:
        assert gate_baseline(history, "main").version == 1
        assert history.add(make_record(7)).new


def test_a_history_without_its_tables(database: str) -> None:
    with History.open(database) as history:
        history.add(make_record(1))
        with history.begin() as connection:
            connection.execute(sa.text("DROP TABLE means"))
        with pytest.raises((FormatError, DataError), match="tables of the history are missing; put back a copy"):
            history.trend("AP")


def test_a_label_is_added_once(history: History) -> None:
    assert history.add(make_record(1)).label is None
    found = history.add(make_record(1), label="nightly")
    assert (found.new, found.labelled, found.label) == (False, True, "nightly")
    found = history.add(make_record(1), label="other")
    assert (found.new, found.labelled, found.label) == (False, False, "nightly")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("history.db", False),
        ("a/b@c/history.db", False),
        ("C:\\data\\a@b.db", False),
        ("./sqlite/history.db", False),
        ("postgres.db", False),
        ("postgresql://h/x", True),
        (" postgresql://u:pw@h/x", True),
        ("postgresql:/u:pw@h/x", True),
        ("PostgreSQL//u:pw@h/x", True),
        ("u:pw@h/x", True),
    ],
)
def test_what_looks_like_an_address(text: str, address: bool) -> None:
    assert looks_like_address(text) is address
    assert "pw" not in masked_address(text)
    if "@" not in text:
        assert masked_address(text) == text


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("host=db dbname=x", "postgresql+psycopg://db/x"),
        (
            r"user=me password='p\'w \\\ word' host = db port=5433 dbname=x",
            "postgresql+psycopg://me:p%27w %5C word@db:5433/x",
        ),
        ("dbname=x host=/run/pg sslmode=require", "postgresql+psycopg:///x?host=%2Frun%2Fpg&sslmode=require"),
        ("service=ranking", "postgresql+psycopg://?service=ranking"),
        ("host=a,b port=1,2 dbname=x", "postgresql+psycopg:///x?host=a%2Cb&port=1%2C2"),
    ],
)
def test_a_connection_string_of_libpq(text: str, url: str) -> None:
    found = resolve(text)
    assert found.url.render_as_string(hide_password=False).replace("+word", " word") == url
    assert "word" not in str(found)
    assert found.path is None


@pytest.mark.parametrize(
    "text", ["host=db password='very pw", "host=db password=pw", "password=pw x dbname=x", "host="]
)
def test_a_connection_string_that_is_none(text: str) -> None:
    """It is refused: never taken for a file's name, and without its password."""
    with pytest.raises(DataError) as caught:
        resolve(text)
    assert "pw" not in str(caught.value)


def test_a_file_that_looks_like_an_address_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sqlite3.connect("a:b@c.db").close()
    Path("a:b@c.db").touch()
    with History.open("a:b@c.db") as history:
        assert str(history.location) == "a:***@c.db"
