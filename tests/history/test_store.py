"""The store, on SQLite and on PostgreSQL: what goes in comes out, once, whole, whoever else writes or dies."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from rankgauge.errors import DataError, FormatError
from rankgauge.history import migrating
from rankgauge.history.location import resolve
from rankgauge.history.rows import Settings
from rankgauge.history.schema import baselines, checks, means, metadata, records
from rankgauge.history.store import History
from rankgauge.record import Calls, Record
from rankgauge.record.identity import canonical, identity_of, uid_of
from rankgauge.stats.latency import Latency
from tests.history.conftest import Server
from tests.history.records import START, make_record

DAY = datetime.timedelta(days=1)


def as_baseline(history: History, name: str, record: int, *, anchor: int | None = None, version: int = 1) -> None:
    row = {"name": name, "version": version, "record_id": record, "anchor_id": anchor or record, "system": "search"}
    with history.begin() as connection:
        connection.execute(sa.insert(baselines).values(**row, action="set", set_at=START, settings=Settings()))


def test_a_record_comes_back_as_it_was(history: History) -> None:
    record = make_record(3, systems=("检索", "b"))
    stored = history.add(record, label=" nightly ")
    assert stored.new
    assert (stored.label, stored.kind, stored.queries) == ("nightly", "evaluation", 20)
    assert stored.created == START + 3 * DAY
    assert stored.created.tzinfo is not None
    assert stored.git == f"{3:040x}"
    identity = identity_of(record)
    assert (stored.test_set, stored.corpus, stored.contract) == (identity.test_set, None, identity.contract)
    assert history.record(stored.id) == history.record(stored) == history.record(stored.uid) == record
    found = history.means([stored.id])[stored.id]
    assert [(m.system, m.measure) for m in found] == [(s, m) for s in ("检索", "b") for m in ("nDCG@10", "AP")]
    assert found[0].value == record.systems[0].means["nDCG@10"].value


def test_the_uid_is_the_hash_of_the_canonical_document(history: History) -> None:
    record = make_record(1)
    stored = history.add(record)
    naive = json.dumps(record.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert history.raw(stored) == naive == canonical(record.to_dict())
    assert stored.uid == hashlib.sha256(naive).hexdigest() == uid_of(record)


def test_the_same_record_is_stored_once(history: History) -> None:
    record = make_record()
    first = history.add(record, label="a")
    again = history.add(Record.from_dict(json.loads(record.to_json())), label="b")
    assert first.new
    assert not again.new
    assert (again.id, again.label) == (first.id, "a")
    assert len(history.records()) == 1
    assert len(history.means([first.id])[first.id]) == 2


def test_adding_belongs_to_the_callers_transaction(history: History) -> None:
    with pytest.raises(ZeroDivisionError), history.begin() as connection:  # noqa: PT012
        history.add(make_record(), connection=connection)
        raise ZeroDivisionError
    assert history.records() == []
    with history.begin() as connection:
        history.add(make_record(1), connection=connection)
        history.add(make_record(2), connection=connection)
    assert len(history.records()) == 2


def test_listing_filters(history: History) -> None:
    for day in range(6):
        history.add(
            make_record(day, systems=("a", "b") if day % 2 else ("a",), test_set="f" * 64 if day == 4 else "a" * 64),
            label="odd" if day % 2 else "even",
        )

    def days(**wanted: object) -> list[int]:
        return [(stored.created - START).days for stored in history.records(**wanted)]  # type: ignore[arg-type]

    assert days() == [5, 4, 3, 2, 1, 0]
    assert days(limit=2) == [5, 4]
    assert days(label="odd") == [5, 3, 1]
    assert days(system="b") == [5, 3, 1]
    assert days(measure="ndcg_cut_10", limit=1) == [5]
    assert days(measure="P@5") == []
    assert days(since=START + 2 * DAY, until=START + 4 * DAY) == [3, 2]
    assert days(test_set="ffff") == [4]
    assert days(test_set="%") == []


def test_references(history: History) -> None:
    stored = [history.add(make_record(day), label="x" if day < 2 else None) for day in (2, 0, 1)]
    assert history.get("latest") == history.get(stored[0].id) == history.get(f" {stored[0].uid[:6]} ")
    assert history.get("latest~1").id == stored[2].id
    assert history.get("latest~2").id == stored[1].id
    assert history.get("latest", label="x").id == stored[2].id
    for wrong in (
        "latest~3",
        "99",
        "0",
        stored[0].uid[:5],
        "zzzzzz",
        "",
        "latest~x",
        "9" * 30,
        "'; DROP TABLE records",
    ):
        with pytest.raises(DataError, match="there is no record"):
            history.get(wrong)


def test_a_number_goes_before_a_uid_and_an_ambiguous_beginning_is_refused(history: History) -> None:
    first, second = history.add(make_record(1)), history.add(make_record(2))
    with history.begin() as connection:
        for stored, uid in ((first, "123456" + "0" * 58), (second, "123456" + "1" * 58)):
            connection.execute(sa.update(records).where(records.c.id == stored.id).values(uid=uid))
    with pytest.raises(DataError, match="several records begin"):
        history.get("123456")
    assert history.get("1234561").id == second.id
    with history.begin() as connection:
        connection.execute(sa.delete(means))
        connection.execute(sa.update(records).where(records.c.id == first.id).values(id=123456))
    assert history.get("123456").id == 123456


def test_trend_is_in_the_order_of_time(history: History) -> None:
    for day in (3, 1, 2, 0):
        history.add(make_record(day, systems=("a", "b")), label="odd" if day % 2 else "even")
    points = history.trend("NDCG@10")
    assert [((p.created - START).days, p.system) for p in points] == [(d, s) for d in range(4) for s in "ab"]
    truth = {day: make_record(day, systems=("a", "b")) for day in range(4)}
    assert [p.value for p in points] == [s.means["nDCG@10"].value for d in range(4) for s in truth[d].systems]
    assert [(p.created - START).days for p in history.trend("AP", system="a", limit=2)] == [2, 3]
    assert [(p.created - START).days for p in history.trend("AP", system="a", label="odd", since=START + DAY)] == [1, 3]
    with pytest.raises(DataError, match="no record has the measure 'P@3'; there are: AP, nDCG@10"):
        history.trend("P@3")
    with pytest.raises(DataError, match="systems there: a, b; labels: even, odd"):
        history.trend("AP", system="c")


def test_pruning_never_removes_what_a_baseline_needs(history: History) -> None:
    stored = [history.add(make_record(day), label="odd" if day % 2 else "even") for day in range(8)]
    as_baseline(history, "main", stored[1].id, anchor=stored[0].id)
    as_baseline(history, "main", stored[6].id, version=2, anchor=stored[0].id)
    with history.begin() as connection:
        connection.execute(
            sa.insert(checks).values(
                monitor="m", number=1, token="t", started=START, status="done", record_id=stored[2].id, detail={}
            )
        )

    def days(found: object) -> list[int]:
        return [(one.created - START).days for one in found]  # type: ignore[attr-defined]

    planned = history.prune(keep=2, dry_run=True)
    assert (days(planned.gone), days(planned.held)) == ([5, 4, 3, 2], [1, 0])
    assert len(history.records()) == 8
    assert days(history.prune(keep=1, label="odd", before=START + 4 * DAY, dry_run=True).gone) == [3]
    assert days(history.prune(before=START + 3 * DAY, dry_run=True).gone) == [2]
    assert history.prune(keep=2) == planned
    assert days(history.records()) == [7, 6, 1, 0]
    assert set(history.means(s.id for s in stored)) == {stored[d].id for d in (7, 6, 1, 0)}
    with history.read() as connection:
        assert connection.execute(sa.select(checks.c.record_id)).scalar() is None
    assert [(one.name, one.record_id) for one in history.baselines()] == [("main", stored[6].id)]
    with pytest.raises(DataError, match="say what to prune"):
        history.prune()
    # A number is not given twice, for a reader may still mean the old one.
    assert history.prune(keep=0).gone
    assert history.add(make_record(20)).id > stored[-1].id


def test_export_gives_the_same_bytes(history: History) -> None:
    written = [make_record(day, systems=("系统", 'q"uote')) for day in (1, 0, 2)]
    for record in written:
        history.add(record)
    exported = list(history.export())
    assert [data for _, data in exported] == [canonical(written[i].to_dict()) for i in (1, 0, 2)]
    assert all(hashlib.sha256(data).hexdigest() == stored.uid for stored, data in exported)
    assert [data for _, data in history.export([history.get("latest")])] == [canonical(written[2].to_dict())]


def broken(change: object, value: object) -> dict[str, object]:
    record = make_record().to_dict()
    target: object = record
    *path, last = change  # type: ignore[misc]
    for key in path:
        target = target[key]  # type: ignore[index]
    target[last] = value  # type: ignore[index]
    return record


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({}, "no rankgauge record"),
        (broken(["created"], "yesterday"), "which is no time"),
        (broken(["created"], None), "created: .*damaged"),
        (broken(["systems", 0, "means", "AP"], {}), r"means\[.*damaged"),
        (broken(["systems", 0, "means", "AP"], None), r"means\[.*damaged"),
        (broken(["systems", 0, "means", "AP", "value"], float("nan")), "no mean"),
        (broken(["systems", 0, "means", "AP", "value"], 1e308), "no mean"),
        (broken(["systems", 0, "means", "AP", "value"], 0.123), "the mean is 0.123, its scores'.*damaged"),
        (broken(["systems", 0, "per_query", "AP"], ["x"] * 20), r"per_query\[.*damaged"),
        (broken(["queries"], ["q0"] * 20), "query 'q0' stands twice"),
        (broken(["systems", 0, "name"], "a\x00b"), "cannot be stored"),
        (broken(["systems", 0, "name"], "\ud800"), "cannot be stored"),
        (broken(["systems", 0, "name"], "x" * 501), "501 characters"),
        (broken(["systems"], [make_record().to_dict()["systems"][0]] * 2), "two systems have the same name"),
        (broken(["version"], 1), "version 1 was never released"),
    ],
)
def test_a_damaged_record_is_refused(record: dict[str, object], says: str, tmp_path: Path) -> None:
    with History.open("sqlite://") as history:
        with pytest.raises((FormatError, DataError), match=says):
            history.add(Record.from_dict(record))
        assert history.records() == []


def test_numbers_that_json_lacks_are_refused() -> None:
    record = make_record()
    calls = Calls(10, 1, Latency.of([], 1), None)
    with History.open("sqlite://") as history, pytest.raises(FormatError, match="it cannot be written as JSON"):
        history.add(replace(record, systems=[replace(record.systems[0], calls=calls)]))


def test_labels_are_checked() -> None:
    with History.open("sqlite://") as history:
        for label in ("", "  ", "\x00"):
            with pytest.raises(DataError, match="label"):
                history.add(make_record(), label=label)


def test_odd_texts_come_back(history: History) -> None:
    made = make_record()
    texts = {"q1": "\ud800 \x00 😀 零"}
    record = replace(made, queries=["\ud800", *made.queries[1:]], texts=texts)
    assert history.record(history.add(record)) == record


# Several processes ----------------------------------------------------------------------------------------------------

WRITER = """
import sys
from rankgauge.history.store import History
from tests.history.records import make_record
place, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.stdin.readline()
with History.open(place) as history:
    for number in range(first, first + count):
        print(number, history.add(make_record(number, queries=60)).id, flush=True)
"""
ROOT = Path(__file__).parents[2]


def writer(place: str, first: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, place, str(first), str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_four_processes_make_the_database_and_write_at_once(database: str) -> None:
    processes = [writer(database, 100 * i, 25) for i in range(4)]
    for process in processes:  # all have loaded their code; now together
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    lines = [line.split() for process in processes for line in process.communicate(timeout=60)[0].splitlines()]
    assert [process.returncode for process in processes] == [0] * 4
    assert len({number for _, number in lines}) == 100
    with History.open(database, create=False) as history:
        stored = history.records()
        assert {s.id for s in stored} == {int(number) for _, number in lines}
        assert len(stored) == 100
        for number, key in lines[::10]:
            assert history.record(int(key)) == make_record(int(number), queries=60)


def test_a_killed_writer_leaves_whole_records(database: str) -> None:
    process = writer(database, 0, 100_000)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    told = [process.stdout.readline().split() for _ in range(10)]
    process.kill()
    told += [line.split() for line in process.stdout.read().splitlines() if len(line.split()) == 2]
    process.wait()
    process.stdin.close()
    process.stdout.close()
    with History.open(database) as history:
        stored = history.records()
        assert {int(key) for _, key in told} <= {s.id for s in stored}
        assert len(stored) <= len(told) + 1
        for one in stored:
            assert history.record(one) == make_record((one.created - START).days, queries=60)
        assert all(len(found) == 2 for found in history.means(s.id for s in stored).values())
        assert len(history.means(s.id for s in stored)) == len(stored)
        history.add(make_record(200_000))
    if not database.startswith("postgresql"):
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def test_threads_share_a_history(history: History) -> None:
    threads = [threading.Thread(target=lambda i=i: history.add(make_record(i))) for i in range(8)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(history.records()) == 8


# Migrations -----------------------------------------------------------------------------------------------------------


def test_the_migrations_make_the_tables_of_the_schema(history: History) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    options = {"version_table": migrating.VERSION_TABLE, "compare_server_default": True}
    with history.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []
        assert migrating.current(connection) == migrating.REVISIONS[-1]
    steps = [script.revision for script in ScriptDirectory(str(migrating.FOLDER)).walk_revisions()]
    assert list(reversed(steps)) == list(migrating.REVISIONS)


def test_another_schema_takes_another_step() -> None:
    """New databases are made from the schema, so it must not change without a migration for those that are there."""
    columns = [
        (table.name, column.name, str(column.type), column.nullable, column.primary_key, len(column.foreign_keys))
        for table in metadata.sorted_tables
        for column in table.columns
    ]
    others = sorted(
        (table.name, type(part).__name__, str(part.name), str(getattr(part, "sqltext", "")))
        for table in metadata.sorted_tables
        for part in (*table.constraints, *table.indexes)
    )
    known = hashlib.sha256(repr((columns, others)).encode()).hexdigest()[:16]
    assert (migrating.REVISIONS[-1], known) == ("0002", "82c93dd1053d3abd")


def test_a_history_without_leases_gets_them(database: str) -> None:
    with History.open(database) as history:
        history.add(make_record())
        with history.begin() as connection:
            connection.execute(sa.text("DROP TABLE leases"))
            connection.execute(sa.text(f"UPDATE {migrating.VERSION_TABLE} SET version_num = '0001'"))
    with History.open(database) as history:
        test_the_migrations_make_the_tables_of_the_schema(history)
        assert len(history.records()) == 1


LATER = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "9999", "{before}"

def upgrade():
    op.add_column("records", sa.Column("later", sa.Text))
    op.execute("UPDATE records SET later = 'moved'")
    {fault}
"""


def later_release(monkeypatch: pytest.MonkeyPatch, folder: Path, fault: str = "") -> None:
    import shutil

    shutil.copytree(migrating.FOLDER, folder)
    (folder / "versions" / "v9999_later.py").write_text(LATER.format(before=migrating.REVISIONS[-1], fault=fault))
    monkeypatch.setattr(migrating, "FOLDER", folder)
    for module in ("migrating", "database"):
        monkeypatch.setattr(f"rankgauge.history.{module}.REVISIONS", (*migrating.REVISIONS, "9999"))


def test_an_older_history_is_moved_on_and_a_newer_one_refused(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with History.open(database) as history:
        history.add(make_record())
    with monkeypatch.context() as context:
        later_release(context, tmp_path / "later")
        with History.open(database, create=False) as history, history.read() as connection:
            assert connection.execute(sa.text("SELECT later FROM records")).scalar() == "moved"
            assert migrating.current(connection) == "9999"
    with pytest.raises(DataError, match=r"newer rankgauge.*9999.*update rankgauge"):
        History.open(database)


def test_a_migration_that_fails_changes_nothing(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with History.open(database) as history:
        history.add(make_record())
    with monkeypatch.context() as context:
        later_release(context, tmp_path / "later", fault="raise ZeroDivisionError")
        with pytest.raises(ZeroDivisionError):
            History.open(database)
    with History.open(database) as history, history.read() as connection:
        assert migrating.current(connection) == migrating.REVISIONS[-1]
        assert "later" not in {column["name"] for column in sa.inspect(connection).get_columns("records")}


def test_a_current_history_opens_without_alembic(database: str) -> None:
    History.open(database).close()
    code = (
        "import sys; from rankgauge.history.store import History; History.open(sys.argv[1]).records(); "
        "print([n for n in ('alembic', 'polars', 'scipy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, database], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_database_of_something_else_is_left_alone(database: str) -> None:
    engine = sa.create_engine(resolve(database).url)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE records (a INTEGER)"))
    engine.dispose()
    with pytest.raises(DataError, match="tables of something else"):
        History.open(database)


def test_nothing_is_made_where_nothing_was_asked_for(database: str) -> None:
    with pytest.raises(DataError, match="there is no history"):
        History.open(database, create=False)
    assert not Path(database).exists()


# Troubles -------------------------------------------------------------------------------------------------------------


def test_paths_that_are_no_database(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes, no database at all\n" * 50)
    with pytest.raises(FormatError, match=r"notes\.txt: this is no history"):
        History.open(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("these are notes")
    with pytest.raises(FormatError, match="this is a folder; name a file in it"):
        History.open(tmp_path)
    with pytest.raises(FormatError, match="does not exist; make it first"):
        History.open(tmp_path / "missing" / "history.db")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match="no file that can hold a database"):
        History.open(tmp_path / "pipe")


def test_a_damaged_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as history:
        for number in range(20):
            history.add(make_record(number))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\x55" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    with pytest.raises((FormatError, DataError), match=r"history\.db.*damaged"), History.open(path) as history:
        history.records()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_a_read_only_history_says_so(open_folder: Path) -> None:
    path = open_folder / "folder" / "history.db"
    path.parent.mkdir()
    History.open(path).close()
    code = """
import os, sys
from rankgauge.errors import DataError
from rankgauge.history.store import History
from rankgauge.record import Calls, Record
from rankgauge.record.identity import canonical, identity_of, uid_of
from tests.history.records import make_record
import alembic.runtime.environment, sqlalchemy.dialects.sqlite
record = make_record()
if os.geteuid() == 0:
    os.seteuid(65534)
places = sys.argv[1:]
for act in (lambda: History.open(places[0]).add(record), *(lambda p=p: History.open(p) for p in places[1:])):
    try:
        act()
    except DataError as error:
        print(error)
"""
    closed = open_folder / "closed"
    closed.mkdir(mode=0o000)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        command = [sys.executable, "-c", code, str(path), f"{path}.new", str(closed / "history.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    finally:
        path.parent.chmod(0o755)
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done
    assert all("it cannot be opened for writing; change the permissions" in line for line in lines)
    assert [line.split(": ")[0] for line in lines] == [str(path), f"{path}.new", str(closed / "history.db")]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    with History.open(tmp_path / "history.db") as history:
        history.add(make_record(0))
        with history.read() as connection:
            pages = connection.execute(sa.text("PRAGMA page_count")).scalar()

        @sa.event.listens_for(history.engine, "begin")
        def limited(connection: sa.Connection) -> None:
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        with pytest.raises(DataError, match=r"history\.db: nothing was written: the disk is full.*prune"):
            history.add(make_record(1, queries=20_000))
        assert [s.created for s in history.records()] == [START]


def test_a_file_at_its_limit_leaves_what_was_there(tmp_path: Path) -> None:
    code = """
import resource, sys
from rankgauge.errors import DataError
from rankgauge.history.store import History
from rankgauge.record import Calls, Record
from rankgauge.record.identity import canonical, identity_of, uid_of
from tests.history.records import make_record
with History.open(sys.argv[1]) as history:
    history.add(make_record(0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        history.add(make_record(1, queries=20_000))
    except DataError as error:
        print(error)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "history.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "nothing was written: the disk is full, or the file has reached its limit" in done.stdout
    with History.open(tmp_path / "history.db") as history:
        assert [s.created for s in history.records()] == [START]
        history.add(make_record(1, queries=20_000))


def test_a_writer_that_never_ends_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with History.open(path) as history, history.begin() as connection:
        history.add(make_record(0), connection=connection)
        with History.open(path, timeout=0.05) as other:
            assert other.records() == []  # reading goes on meanwhile
            with pytest.raises(DataError, match=r"history\.db: locked: another process"):
                other.add(make_record(1))
        with History.open(f"sqlite:///{path}?timeout=0.05") as other, pytest.raises(DataError, match="locked"):
            other.add(make_record(1))


@pytest.mark.needs("postgresql")
def test_a_server_that_was_away(server: Server) -> None:
    with History.open(server.new()) as history:
        history.add(make_record(0))
        server.stop()
        try:
            with pytest.raises(DataError, match=r"the server cannot be used.*see that it is running") as raised:
                history.add(make_record(1))
            with pytest.raises(DataError, match="the server cannot be used"):
                History.open(history.location)
        finally:
            server.start()
        assert_no_password(str(raised.value))
        assert history.add(make_record(1)).new
        assert len(history.records()) == 2


@pytest.mark.needs("postgresql")
def test_a_server_that_dies_in_a_transaction(server: Server) -> None:
    with History.open(server.new()) as history:
        try:
            with pytest.raises(DataError, match="cannot be used"), history.begin() as connection:  # noqa: PT012
                history.add(make_record(0), connection=connection)
                server.stop()
                history.add(make_record(1), connection=connection)
        finally:
            server.start()
        assert history.records() == []


def assert_no_password(text: str) -> None:
    from urllib.parse import quote

    assert Server.password not in text
    assert quote(Server.password, safe="") not in text
    assert "s3cret" not in text


@pytest.mark.needs("postgresql")
def test_passwords_are_never_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    good = server.url("nothing_there")
    wrong = [
        good,
        good.replace("tester", "stranger"),
        good.replace("127.0.0.1", "localhost.invalid"),
        good.replace("postgresql", "mysql"),
        good.replace(f":{server.port}", ":port"),
        good.removesuffix("nothing_there"),
        good + "?connect_timeout=soon",
        f"postgresql://tester@127.0.0.1:{server.port}/nothing_there?password=s3cret%20%21",
    ]
    for address in wrong:
        with pytest.raises(DataError) as raised:
            History.open(address)
        assert_no_password(f"{raised.value} {raised.value!r}")
    place = resolve(good)
    assert_no_password(f"{place} {place!r}")
    assert place.scrubbed(f"no: {Server.password}") == "no: ***"


# Places ---------------------------------------------------------------------------------------------------------------


def test_where_a_history_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve().path == Path(".rankgauge/history.db")
    monkeypatch.setenv("RANKGAUGE_HISTORY", "elsewhere.db")
    assert resolve().path == Path("elsewhere.db")
    assert resolve("given.db").path == Path("given.db")
    assert resolve(f"sqlite:///{tmp_path}/a.db").path == tmp_path / "a.db"
    assert resolve("postgresql://h/db").url.drivername == "postgresql+psycopg"
    assert resolve("sqlite://").memory
    monkeypatch.delenv("RANKGAUGE_HISTORY")
    History.open().close()
    assert (tmp_path / ".rankgauge" / "history.db").is_file()


def test_odd_file_names(tmp_path: Path) -> None:
    for name in ("历史.db", "a b?c#d.db", "100%25.db"):
        with History.open(tmp_path / name) as history:
            history.add(make_record())
        assert (tmp_path / name).is_file()
