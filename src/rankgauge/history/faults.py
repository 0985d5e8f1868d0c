"""What goes wrong with a database, in words that name it and say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.history.location import VARIABLE, Location
from rankgauge.history.reading import UnreadLogError
from rankgauge.history.sql import sa
from rankgauge.history.waiting import VARIABLE as PATIENCE

__all__ = ["LeaseLostError", "NoHistoryError", "NoRoomError", "damaged", "no_database", "told", "unwritable"]

_INCOMPLETE = "tables of the history are missing; put back a copy of the database, or begin a new one elsewhere"
# Of the log, and of the index that processes share.
_NO_ROOM = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP)
_ELSEWHERE = f"or keep the history elsewhere with `history=` or {VARIABLE}"


class NoHistoryError(DataError):
    """There is no history at the place yet."""


class NoRoomError(DataError):
    """The disk of a file is full; nothing was written."""


class LeaseLostError(DataError):
    """Another process may write by now what this one was about to write."""


@contextmanager
def told(location: Location) -> Iterator[None]:
    """Turn a driver's error into a `RankgaugeError`. A broken constraint is the caller's own affair and passes."""
    try:
        yield
    except sa.exc.IntegrityError:
        raise
    except sa.exc.StatementError as error:
        if isinstance(error.orig, RankgaugeError):  # a value that cannot be stored
            raise error.orig from None
        if not isinstance(error, sa.exc.DBAPIError):
            raise
        raise _known(location, error) from None
    except UnicodeEncodeError as error:
        raise DataError(
            f"{location}: {str(error.object)!r} holds bytes that are no text in UTF-8, which can neither be stored nor "
            "found"
        ) from None
    except sa.exc.TimeoutError:
        raise DataError(f"{location}: all connections are in use; try again") from None
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:  # before SQLAlchemy has the connection
        raise _of_sqlite(location, error) from None
    except UnicodeDecodeError as error:  # a message of SQLite's may go on with what it could not read
        if not location.sqlite:
            raise
        raise damaged(location, f"{type(error).__name__}: {error}") from None


def _known(location: Location, error: sa.exc.DBAPIError) -> Exception:
    said = error.orig or error
    known = _of_sqlite(location, said) if isinstance(said, sqlite3.Error) else _of_postgresql(location, said)
    return error if known is None else known


def _of_sqlite(location: Location, error: sqlite3.Error) -> RankgaugeError:
    code = getattr(error, "sqlite_errorcode", None) or 0
    primary, place = code & 0xFF, str(location)
    if isinstance(error, UnreadLogError):
        return DataError(
            f"{place}: {error}, and reading them needs a place that can be written: open it once where it can "
            "('rankgauge history list'), or copy the file together with its -wal to another folder"
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DataError(
            f"{place}: locked: another process has been writing to it all the while; try again when it is done"
        )
    if primary == sqlite3.SQLITE_NOTADB:
        return no_database(location)
    if primary == sqlite3.SQLITE_CORRUPT or (not code and "decode" in str(error)):
        return damaged(location, str(error))
    if primary == sqlite3.SQLITE_FULL or code in _NO_ROOM:
        return NoRoomError(
            f"{place}: nothing was written: the disk is full, or the file has reached its limit; make room "
            f"('rankgauge history prune'), {_ELSEWHERE}"
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return unwritable(location)
    if "no such table" in str(error) or "no such column" in str(error):
        return FormatError(place, [f"{_INCOMPLETE} ({error})"])
    return DataError(f"{place}: {error}")


def damaged(location: Location, why: str) -> FormatError:
    """What is in the file cannot be: a disk, a copy in the middle of a change, or another program has spoilt it."""
    # SQLite's message may go on with the text that it could not read.
    said = why.partition(" with text")[0]
    remedy = (
        "restore a copy, or export what can be read: rankgauge history export --all --skip-damaged -o records.jsonl"
    )
    return FormatError(str(location), [f"the database file is damaged: {said}; {remedy}"])


def no_database(location: Location) -> FormatError:
    """The error for a file that is something else."""
    return FormatError(str(location), [f"this is no history, nor any SQLite database; name another file, {_ELSEWHERE}"])


def unwritable(location: Location) -> DataError:
    return DataError(
        f"{location}: it cannot be opened for writing; change the permissions of the file and of its folder, "
        f"{_ELSEWHERE}"
    )


_STATES = {
    "53100": "the server's disk is full; make room there",
    "53300": "the server has no connection left; try again later",
    "42501": "this user may not do that; grant the user the rights on the tables",
    "25006": "the server takes no changes: it is a read-only copy; name the primary server",
    "42P01": _INCOMPLETE,
    "57014": f"the server took longer than is allowed; allow it more seconds with {PATIENCE}",
    "22021": "the server's encoding cannot hold this text; use a database with UTF-8",
}


def _of_postgresql(location: Location, error: BaseException) -> RankgaugeError | None:
    state = getattr(error, "sqlstate", None) or ""
    said = " ".join(location.scrubbed(str(error)).split())
    if state in _STATES:
        return DataError(f"{location}: {_STATES[state]} ({said})")
    gone = not state or state[:2] in ("08", "28", "3D", "57", "58", "53")
    if gone and type(error).__name__ != "ProgrammingError":
        return DataError(
            f"{location}: the server cannot be used: {said or 'the connection was lost'}; see that it is running and "
            "that host, user, password and database are right, then try again"
        )
    return None if state[:2] in ("42", "22", "23") else DataError(f"{location}: {said}")
