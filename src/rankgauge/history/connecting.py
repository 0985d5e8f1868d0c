"""Engines: how connections to SQLite and PostgreSQL are set up."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.private import make_folders
from rankgauge.formats.secrets import masked_address
from rankgauge.history.faults import NoHistoryError, no_database, unwritable
from rankgauge.history.location import VARIABLE, Location
from rankgauge.history.reading import lenient, read_only, sealed
from rankgauge.history.sql import sa
from rankgauge.history.waiting import bounded, seconds_to_wait

__all__ = ["WAIT", "WRITE", "away", "engine_for", "look_at_file", "make_folder"]

WRITE = "rankgauge_write"
"""The execution option of a connection that is going to write."""
WAIT = "rankgauge_wait"
"""The execution option of a connection that waits for so many seconds for other writers of a file."""
_PAUSE = 0.01
_TRIAL = 5.0
_MAGIC = b"SQLite format 3\0"


def look_at_file(location: Location, *, create: bool) -> None:
    """Faults of the path that SQLite would only call `unable to open database file`."""
    try:
        if location.path is not None:
            _look_at(location.path, location, create=create)
    except PermissionError:
        raise unwritable(location) from None


def _look_at(path: Path, location: Location, *, create: bool) -> None:
    if path.is_dir():
        raise FormatError(str(location), [f"this is a folder; name a file in it, such as {location}/history.db"])
    if path.exists():
        if not path.is_file():
            raise FormatError(str(location), ["this is no file that can hold a database; name another"])
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
        if begin and begin != _MAGIC:
            raise no_database(location)
        return
    if not create:
        raise NoHistoryError(
            f"there is no history at {location} yet: 'rankgauge history add' begins one, and `history=` or "
            f"{VARIABLE} names another"
        )
    if location.default:
        make_folder(path.parent)
    if not path.parent.is_dir():
        shown = masked_address(str(path.parent))
        raise FormatError(str(location), [f"the folder {shown!r} does not exist; make it first"])


def make_folder(folder: Path) -> None:
    """Make the folder that a history is kept in by default."""
    try:
        make_folders(folder)
    except OSError as error:
        shown = masked_address(str(folder))
        raise DataError(f"the folder {shown!r} cannot be made: {error.strerror or error}") from None


def engine_for(location: Location, timeout: float, *, write: bool = True, cramped: bool = False) -> sa.Engine:
    """An engine; nothing is connected yet. `timeout` is how many seconds to wait for other writers of a file, or for
    each answer of a server. Without `write` a file that cannot be written is read as it is. A file that is opened
    `cramped` is changed without any room on its disk, by this process alone."""
    if location.sqlite:
        if not write and location.path is not None and sealed(location.path):
            return read_only(location.path, timeout)
        return _sqlite(location, timeout, cramped=cramped)
    from rankgauge.extras import optional

    optional("psycopg", "a history in PostgreSQL", "psycopg[binary]", "postgresql")
    return bounded(location.url, timeout)


def away(location: Location) -> bool:
    """Whether the server of a history cannot be connected to; a file never is away."""
    if location.sqlite:
        return False
    engine = engine_for(location, min(seconds_to_wait(), _TRIAL))
    try:
        with engine.connect():
            return False
    except sa.exc.OperationalError:
        return True
    finally:
        engine.dispose()


def _sqlite(location: Location, timeout: float, *, cramped: bool) -> sa.Engine:
    options: dict[str, Any] = {"hide_parameters": True}
    if "timeout" not in location.url.query:
        options["connect_args"] = {"timeout": timeout}
    if location.memory:  # one connection, or every one would have a database of its own
        options["poolclass"] = sa.pool.StaticPool
        options["connect_args"] = {"check_same_thread": False}
    engine = sa.create_engine(location.url, **options)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # Python's module would begin transactions by itself, too late and not for changes of tables: `begin` does it.
        connection.isolation_level = None
        connection.text_factory = lenient
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys=ON")
        if cramped:
            # Without the shared index and the log, which need room of their own; so nobody else may be at the file,
            # and a power cut in the middle of a change can damage it.
            cursor.execute("PRAGMA locking_mode=EXCLUSIVE")
            _journal(cursor, "memory", timeout)
        elif not location.memory:
            if location.path is not None and not (location.path.exists() and location.path.stat().st_size):
                cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")  # so that room can be given back bit by bit
            _journal(cursor, "wal", timeout)  # readers and a writer side by side; the file remembers it
        if not location.memory:
            cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that reads first and writes later could find another writer between and fail at once, so one
        # that is going to write takes its turn at the beginning.
        options = connection.get_execution_options()
        write, wait = options.get(WRITE, False), options.get(WAIT)
        if wait is not None:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={round(1000 * wait)}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _journal(cursor: sqlite3.Cursor, mode: str, timeout: float) -> None:
    """Change how a file keeps what a transaction changes. SQLite does not wait for others to make this change."""
    end = time.monotonic() + timeout
    while True:
        try:
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] != mode:
                cursor.execute(f"PRAGMA journal_mode={mode}")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(_PAUSE)
