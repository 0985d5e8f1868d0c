"""Reading a SQLite file that cannot be written: on a read-only or full disk, in a folder of another user, from an
archive.

A history keeps a write-ahead log beside its file while it is open, so that even reading makes files. Where none can be
made, the file is read as one that nobody changes, unless a log with newer records lies there.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from urllib.parse import quote

from rankgauge.history.sql import sa

__all__ = ["UnreadLogError", "free_at", "lenient", "read_only", "sealed"]


class UnreadLogError(sqlite3.OperationalError):
    """The newest records are in the log, which cannot be read without writing."""


_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)
_INDEX = 1 << 16
"""Bytes: about as much as the index of a log needs to begin with."""


def sealed(path: Path) -> bool:
    """Whether the file, or the folder that its log goes into, cannot be written, or has no room for one."""
    effective = os.access in os.supports_effective_ids
    places = (path, path.absolute().parent)
    return path.is_file() and (
        not all(os.access(place, os.W_OK, effective_ids=effective) for place in places) or free_at(path) < _INDEX
    )


def free_at(path: Path) -> int:
    """Bytes that are free on the disk of a file."""
    return shutil.disk_usage(path.absolute().parent).free


def read_only(path: Path, timeout: float) -> sa.Engine:
    """An engine whose connections only read."""

    def connect() -> sqlite3.Connection:
        place = f"file:{quote(str(path.absolute()))}"
        try:
            return _tried(f"{place}?mode=ro", timeout)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _UNWRITABLE:
                raise
        log = f"{path}-wal"
        if os.path.exists(log) and os.path.getsize(log) > 0:
            raise UnreadLogError(f"the newest records are still in {path.name}-wal")
        return _tried(f"{place}?mode=ro&immutable=1", timeout)

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.QueuePool, hide_parameters=True)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def lenient(data: bytes) -> str:
    """Text of SQLite's. Bytes that are none come as halves of surrogate pairs, which `cells` finds."""
    return data.decode("utf-8", "surrogateescape")


def _tried(address: str, timeout: float) -> sqlite3.Connection:
    """A connection that has read something: opening alone finds no fault."""
    connection = sqlite3.connect(address, uri=True, timeout=timeout, check_same_thread=False, isolation_level=None)
    connection.text_factory = lenient
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
