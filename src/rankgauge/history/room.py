"""Room on the disk of a history: records pruned where none is left, and what is free in a database given back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.history.faults import NoRoomError, told
from rankgauge.history.location import Location, resolve
from rankgauge.history.reading import free_at
from rankgauge.history.rows import Pruned, Stored
from rankgauge.history.schema import metadata
from rankgauge.history.sql import sa
from rankgauge.history.store import History
from rankgauge.history.times import Moment
from rankgauge.history.waiting import seconds_to_wait

__all__ = ["Vacuumed", "prune_history", "vacuum_history"]

_PATIENCE = 3600.0
"""Seconds that a database may take to be vacuumed."""
_PAGES = 64
# As SQLite looks for them.
_TEMPORARY = ("/var/tmp", "/usr/tmp", "/tmp")
Place = str | os.PathLike[str] | Location | None


@dataclass(frozen=True)
class Vacuumed:
    """The size of a database in bytes, before and after."""

    before: int
    after: int


@named_arguments
def prune_history(
    location: Place = None,
    *,
    keep: int | None = None,
    before: Moment | None = None,
    label: str | None = None,
    dry_run: bool = False,
) -> Pruned:
    """`History.prune` of the history at a place, on a full disk too.

    There records are removed one by one, each in a transaction of its own, with the little room that it takes; where
    there is none at all, without any, for which nobody else may be at the file. What that made free is given back to
    the disk.
    """
    chosen: dict[str, Any] = {"keep": keep, "before": before, "label": label}
    place = (location if isinstance(location, Location) else resolve(location)).anchored()
    try:
        with History.open(place, create=False, write=not dry_run) as history:
            return history.prune(**chosen, dry_run=dry_run)
    except NoRoomError:
        if place.path is None:
            raise
    size = _size(place.path)
    with History.open(place, create=False, write=False) as history:
        wanted = history.prune(**chosen, dry_run=True)
    gone: list[Stored] = []
    for cramped in (False, True):
        with (
            suppress(*(() if cramped else (NoRoomError,))),
            History.open(place, create=False, cramped=cramped) as history,
        ):
            for record in wanted.gone[len(gone) :]:
                history.remove(record)
                gone.append(record)
                _give_back(history)
            break
    return replace(wanted, freed=size - _size(place.path))


def _give_back(history: History) -> None:
    """Shorten the file by its free pages, and its log."""
    with _alone(history) as cursor:
        while (free := _number(cursor, "freelist_count")) > 0:
            cursor.executescript(f"PRAGMA incremental_vacuum({_PAGES})")  # `execute` would stop after one page
            if _number(cursor, "freelist_count") >= free:
                break  # a file that was begun without it
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@named_arguments
def vacuum_history(location: Place = None, *, timeout: float | None = None) -> Vacuumed:
    """Give back what is free in a history's database: a file is written anew, without gaps, and so are the history's
    tables on a server. Others wait meanwhile. `timeout` is how many seconds that may take; default: an hour."""
    patience = max(seconds_to_wait(), _PATIENCE) if timeout is None else timeout
    with History.open(location, create=False, timeout=seconds_to_wait()) as history:
        place = history.location
        if place.path is not None:
            return _vacuum_file(history, place.path)
    if place.memory:
        return Vacuumed(0, 0)
    with (
        History.open(place, create=False, timeout=patience) as history,
        told(place),
        history.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
    ):
        before = _tables_size(connection)
        for name in metadata.tables:
            connection.execute(sa.text(f"VACUUM (FULL, ANALYZE) {name}"))
        return Vacuumed(before, _tables_size(connection))


def _vacuum_file(history: History, path: Path) -> Vacuumed:
    before = _size(path)
    with _alone(history) as cursor:
        used = _number(cursor, "page_count") - _number(cursor, "freelist_count")
        _check_room(path, used * _number(cursor, "page_size"))
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")  # a file that was begun without it has it from now on
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return Vacuumed(before, _size(path))


def _check_room(path: Path, needed: int) -> None:
    """A new copy is made in a temporary file, and then goes through the log beside the file."""
    named = filter(None, (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR")))
    temporary = next((Path(name) for name in (*named, *_TEMPORARY) if os.access(name, os.W_OK | os.X_OK)), path.parent)
    log = path.absolute().parent
    shared = temporary.stat().st_dev == log.stat().st_dev
    for folder, size in ((log, needed * (2 if shared else 1)), (temporary, needed)):
        free = free_at(folder / "file")
        if free < size:
            raise DataError(
                f"{path}: writing it anew takes {size:,} bytes in {str(folder)!r}, where {free:,} are free; make room "
                "there first ('rankgauge history prune' needs none), or set SQLITE_TMPDIR to a folder that has it"
            )


@contextmanager
def _alone(history: History) -> Iterator[sqlite3.Cursor]:
    """A cursor outside of any transaction."""
    with told(history.location):
        connection = history.engine.raw_connection()
        try:
            yield connection.cursor()  # type: ignore[misc]
        finally:
            connection.close()


def _number(cursor: sqlite3.Cursor, pragma: str) -> int:
    return int(cursor.execute(f"PRAGMA {pragma}").fetchone()[0])


def _size(path: Path) -> int:
    """Bytes of a file and its log."""
    return sum(place.stat().st_size for place in (path, Path(f"{path}-wal")) if place.exists())


def _tables_size(connection: sa.Connection) -> int:
    """Bytes of the history's tables on a server, with their indexes."""
    size = sa.text("SELECT pg_total_relation_size(to_regclass(:name))")
    return sum(int(connection.execute(size, {"name": name}).scalar() or 0) for name in metadata.tables)
