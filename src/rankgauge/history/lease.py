"""A lease: only one process at a time may do a thing. No clock decides, the system itself frees what the dead held."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError
from rankgauge.formats.private import begin_private
from rankgauge.history.connecting import engine_for
from rankgauge.history.faults import told
from rankgauge.history.location import Location, file_identity
from rankgauge.history.sql import sa
from rankgauge.history.store import History

__all__ = ["Lease"]

# Two processes that ask in the same instant can each find the other in the way for some milliseconds.
_INSTANT = 0.05


class Lease:
    """The right to do what `name` says on one history, for one holder at a time.

    As a context manager it raises `DataError` where another holds it.
    """

    def __init__(self, history: History, name: str) -> None:
        self.name = name
        self._place = history.location
        self._connection: Any = None
        self._process = 0
        if history.location.memory:
            self._lock = _Lock()
        elif history.location.path is not None:
            self._lock = _File(_beside(history.location.path, name))
        else:
            self._lock = _Server(history.location, name)

    def acquire(self) -> bool:
        """Take it, if nobody has it; never wait. Asking again while it is held gives `True`."""
        with told(self._place):
            if self.held():
                return True
            self.release()
            self._connection, self._process = self._lock.connect(), os.getpid()
            return self.held()

    def release(self) -> None:
        """Give it back; without effect where it is not held."""
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():  # a forked child leaves its parent's alone
            self._lock.end(connection)

    def held(self) -> bool:
        """Whether this very process still holds it: not after the lock file or the server's connection is gone."""
        return self._connection is not None and self._process == os.getpid() and self._lock.holds(self._connection)

    def __enter__(self) -> Lease:
        if not self.acquire():
            raise DataError(f"{self._place}: {self.name!r} is being done by another process; wait until it is done")
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def _beside(path: Path, name: str) -> Path:
    """The lock's file beside the database's; names that would be spelled alike are kept apart by a hash."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40]
    if safe != name:
        safe = f"{safe}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return path.with_name(f"{path.name}.{safe}.lock")


class _Lock:
    """How a connection holds a lock. A database in memory is seen by one process alone: there is nothing to be held."""

    def connect(self) -> Any:
        """A connection that holds the lock; None where another one does."""
        return self

    def holds(self, connection: Any) -> bool:
        return True

    def end(self, connection: Any) -> None:
        """Free the lock."""


class _File(_Lock):
    """An exclusive transaction on an empty database. Its lock is the process's own, so it ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None

    def connect(self) -> sqlite3.Connection | None:
        begin_private(self._path)
        connection = sqlite3.connect(self._path, timeout=_INSTANT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            self._file = file_identity(self._path)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return None
            raise
        return connection

    def holds(self, connection: sqlite3.Connection) -> bool:
        """On the file that is still at its place."""
        return connection.in_transaction and self._file is not None and file_identity(self._path) == self._file

    def end(self, connection: sqlite3.Connection) -> None:
        connection.close()


class _Server(_Lock):
    """A lock of PostgreSQL's session: the server frees it when the connection ends, however it ends."""

    def __init__(self, location: Location, name: str) -> None:
        self._location, self._name = location, name
        self._key = 0

    def connect(self) -> sa.Connection | None:
        connection = engine_for(self._location, 0.0).connect().execution_options(isolation_level="AUTOCOMMIT")
        granted = False
        try:
            # The server's locks are numbers that a whole database shares; a schema in it is a history of its own.
            schema = connection.execute(sa.text("SELECT current_schema()")).scalar()
            name = f"rankgauge lease {schema} {self._name}".encode(errors="surrogatepass")
            self._key = int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)
            granted = bool(self._ask(connection, "SELECT pg_try_advisory_lock(:key)"))
        finally:
            if not granted:
                _close(connection)
        return connection if granted else None

    def _ask(self, connection: sa.Connection, statement: str) -> Any:
        return connection.execute(sa.text(statement), {"key": self._key}).scalar()

    def holds(self, connection: sa.Connection) -> bool:
        """Ask the server; a lock on a 64-bit key is shown as its two halves."""
        try:
            return bool(
                self._ask(
                    connection,
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted "
                    "AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = :key",
                )
            )
        except sa.exc.SQLAlchemyError:
            return False

    def end(self, connection: sa.Connection) -> None:
        # The end of a connection is noticed a moment later, and the next holder would be refused until then.
        with suppress(sa.exc.SQLAlchemyError):
            self._ask(connection, "SELECT pg_advisory_unlock(:key)")
        _close(connection)


def _close(connection: sa.Connection) -> None:
    """Close the connection itself, not only give it back to its pool."""
    with suppress(sa.exc.SQLAlchemyError):
        connection.invalidate()
        connection.close()
    connection.engine.dispose()
