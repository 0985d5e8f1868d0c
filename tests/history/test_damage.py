"""Every cell of a history damaged in every way: what needs it says which one it is and what to do."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankgauge.cli.app import app
from rankgauge.errors import RankgaugeError
from rankgauge.history.baselines import gate_baseline, promote_baseline, set_baseline
from rankgauge.history.checks import list_checks, monitors
from rankgauge.history.incidents import list_deliveries, list_incidents
from rankgauge.history.monitored import KINDS
from rankgauge.history.salvage import readable_records
from rankgauge.history.schema import leases, metadata
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.monitoring.loop.plan import load_monitor_plan
from rankgauge.monitoring.loop.status import status_of
from tests.conftest import unchecked_notes
from tests.history.records import make_record
from tests.monitoring.workspace import Watch, Workspace

DAMAGES = {
    "empty": "NULL",
    "a word": "'garbage'",
    "no letters": "''",
    "a blob": "x'fffe00'",
    "no UTF-8": "CAST(x'ff4142' AS TEXT)",
    "huge": str(2**62),
    "negative": "-1",
    "a fraction": "1.5",
    "infinite": "9e999",
    "half of JSON": """'{"a": ['""",
    "other JSON": """'[1, {"key": 5}]'""",
    "another object": """'{"key": "no.such", "invalid": 5, "watch": []}'""",
    "no date": "'2026-13-45 99:00:00.000000'",
    "the last date": "'9999-12-31 23:59:59.999999'",
}
KEPT = ("records", "means", "baselines")
TABLES = [table.name for table in metadata.sorted_tables]
READING = [
    ["history", "list"],
    ["history", "show", "latest"],
    ["history", "trend", "nDCG@10"],
    ["history", "prune", "--keep", "1"],
    ["history", "export", "--all", "-o", "all.jsonl"],
    ["baseline", "show", "main"],
    ["gate", "new.json", "--baseline", "main", "--max-age", "99999d"],
]
MONITORING = [
    ["monitor", "plan.toml", "--status"],
    ["monitor", "plan.toml", "--once"],
    ["monitor", "plan.toml", "--relearn"],
]
RESCUE = ["history", "export", "--all", "--skip-damaged", "-o", "whole.jsonl"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a history in which every table has rows, and a column takes whatever it is given."""
    folder = tmp_path_factory.mktemp("whole")
    extra = '[[alert]]\nname = "gone"\nurl = "http://127.0.0.1:9/hook"\n'
    service = Workspace(folder, queries=4, extra=extra, name="watched", history="history.db")
    (folder / "new.json").write_text(make_record(2, queries=40).to_json())
    with History.open(folder / "history.db") as history:
        set_baseline(history, "main", make_record(1, queries=40))
        promote_baseline(history, "main", make_record(2, queries=40), force=True, note="as it is")
        watch = Watch(service, history)
        watch.check(2)
        service.order(down=["search"])
        watch.check()
        service.order()
    with closing(sqlite3.connect(folder / "history.db")) as connection, connection:
        connection.execute("INSERT INTO leases VALUES ('x', 1, '{\"host\": \"h\", \"pid\": 1}', '2026-01-01 00:00:00')")
        connection.execute("PRAGMA writable_schema=ON")
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            free = re.sub(r",\s*CONSTRAINT \w+ CHECK \([^)]*\)\)", "", (sql or "").replace(" NOT NULL", ""))
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (free, name))
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the history."""
    monkeypatch.chdir(whole)
    return Path(shutil.copy(whole / "history.db", tmp_path))


def columns_of(table: str) -> list[str]:
    return [column.name for column in metadata.tables[table].c]


@contextmanager
def damaged(place: Path, table: str, column: str, value: str) -> Iterator[bool]:
    """The cell of the newest row changed, and then as it was; False where the database does not take it there."""
    with closing(sqlite3.connect(place, isolation_level=None, timeout=30)) as connection:
        connection.text_factory = bytes
        connection.execute("PRAGMA synchronous=OFF")
        (number,) = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()
        row = connection.execute(f"SELECT * FROM {table} WHERE rowid = {number}").fetchone()
        assert row is not None
        taken = True
        try:
            connection.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = {number}")
        except sqlite3.IntegrityError:  # as an id that is no number
            taken = False
        try:
            yield taken
        finally:
            connection.execute(f"DELETE FROM {table} WHERE rowid IN ({number}, -1, {2**62})")
            cells = [
                cell.decode() if isinstance(cell, bytes) and name != "document" else cell
                for name, cell in zip(columns_of(table), row, strict=True)
            ]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", cells)


def readers(history: History, table: str) -> list[Callable[[], object]]:
    """All that reads a table, or one that belongs to it."""
    plan = load_monitor_plan("plan.toml", history="unused", imports=False)

    def held() -> object:
        with history.read() as connection:
            return connection.execute(sa.select(leases)).all()

    if table in KEPT:
        rescued = [lambda: readable_records(history)] if table == "records" else []
        return [
            *rescued,
            history.records,
            lambda: history.record("latest"),
            lambda: history.means(range(9)),
            lambda: history.trend("nDCG@10"),
            history.baselines,
            lambda: gate_baseline(history, "main", anchor=True),
            lambda: history.prune(keep=0, dry_run=True),
        ]
    return [
        lambda: list_checks(history, "watched"),
        lambda: monitors(history),
        lambda: list_incidents(history),
        lambda: list_deliveries(history),
        lambda: status_of(history, plan),
        held,
    ]


@pytest.mark.parametrize("table", TABLES)
def test_all_that_reads_a_damaged_cell_names_it(table: str, place: Path) -> None:
    told, wrong = 0, []
    with History.open(place) as history:
        reading = readers(history, table)
        for column in columns_of(table):
            for damage, value in DAMAGES.items():
                with damaged(place, table, column, value) as taken, unchecked_notes():
                    for number, read in enumerate(reading if taken else []):
                        try:
                            read()
                        except RankgaugeError as error:
                            told += 1
                            named = f"table {table}, row " in str(error) and f"{column} is " in str(error)
                            if "the database is damaged" in str(error) and not named:
                                wrong.append(f"{column} {damage} ({number}): {error}")
                        except Exception as error:
                            wrong.append(f"{column} {damage} ({number}): {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    assert told > 10


@pytest.mark.parametrize("table", TABLES)
def test_no_command_ends_with_an_unexpected_error(table: str, place: Path) -> None:
    commands = READING if table in KEPT else MONITORING
    wrong = []
    for number, column in enumerate(metadata.tables[table].c.keys()):
        damage = list(DAMAGES)[number % len(DAMAGES)]  # in turn
        copy = place.with_name(f"{column}.db")
        with damaged(place, table, column, DAMAGES[damage]) as taken, closing(sqlite3.connect(place)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        with unchecked_notes():
            for command in [*commands, RESCUE] if taken else []:
                done = CliRunner().invoke(app, [*command, "--history", str(copy)])
                fine = done.exception is None or isinstance(done.exception, SystemExit | RankgaugeError)
                if not fine or (command == RESCUE and done.exit_code):
                    wrong.append(f"{column} {damage}: {command}: {done.exception!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("lacking", ["system = NULL", "measure = NULL", "finding = '{}'"])
def test_an_incident_without_what_its_message_tells(lacking: str, whole: Path, place: Path, tmp_path: Path) -> None:
    for kind in KINDS:
        copy = Path(shutil.copy(whole / "history.db", tmp_path / f"{kind}.db"))
        with closing(sqlite3.connect(copy)) as connection, connection:
            connection.execute(f"UPDATE incidents SET kind = '{kind}', measure = 'nDCG@10', {lacking}")
            connection.execute("DELETE FROM deliveries")
        error = CliRunner().invoke(app, ["monitor", "plan.toml", "--once", "--history", str(copy)]).exception
        assert error is None or isinstance(error, SystemExit | RankgaugeError), (kind, error)
        if isinstance(error, RankgaugeError):
            assert "table incidents, row id = 1: " in str(error)


def test_all_damaged_cells_are_told_together_with_the_remedy(place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE records SET created = 'yesterday' WHERE id = 2")
        connection.execute("UPDATE baselines SET settings = x'00' WHERE id = 1")
        connection.execute("UPDATE means SET value = 'much' WHERE record_id = 1 AND measure = 'AP'")
    with History.open(place) as history, pytest.raises(RankgaugeError) as caught:
        history.records()
    said = str(caught.value)
    assert f"{place}: 3 faults" in said
    assert "table records, row id = 2: created is 'yesterday', not a date and time" in said
    assert "table baselines, row id = 1: settings is b'\\x00', not the JSON of Settings" in said
    assert "row record_id = 1, system = 'search', measure = 'AP': value is 'much', not a finite number" in said
    for remedy in ("restore a copy", "history export --all --skip-damaged", "delete"):
        assert remedy in said
    with History.open(place) as history:
        found, lost = readable_records(history)
    assert (1 in [one.id for one in found], lost) == (True, [2])


def test_a_number_that_cannot_go_on_is_not_stored(place: Path) -> None:
    """It could not be read again."""
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(f"UPDATE checks SET number = {2**31 - 1} WHERE number = 3")
    error = CliRunner().invoke(app, ["monitor", "plan.toml", "--once", "--history", str(place)]).exception
    assert isinstance(error, RankgaugeError | SystemExit)
    with History.open(place) as history:
        assert len(list_checks(history, "watched")) == 3


@pytest.mark.parametrize("reference", [2**31 - 1, 2**62])
def test_a_damaged_number_does_not_make_the_rescue_endless(reference: int, place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(f"UPDATE checks SET record_id = {reference} WHERE number = 1")
        connection.execute(f"UPDATE records SET id = {reference} WHERE id = 2")
    with History.open(place) as history:
        found, lost = readable_records(history)
    assert len(found) + len(lost) == 4
    assert lost == ([] if reference < 2**31 else [reference])
