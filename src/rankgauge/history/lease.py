"""A lease: only one process at a time may do a thing. No clock decides, the system itself frees what the dead held."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol

from rankgauge.errors import DataError
from rankgauge.history.connecting import engine_for
from rankgauge.history.faults import told
from rankgauge.history.sql import sa
from rankgauge.history.store import History

__all__ = ["Lease"]

# Two processes that ask in the same instant can each find the other in the way for some milliseconds.
_INSTANT = 0.05


class _Lock(Protocol):
    def acquire(self) -> bool: ...
    def release(self) -> None: ...
    def held(self) -> bool: ...


class Lease:
    """The right to do what `name` says on one history, for one holder at a time.

    As a context manager it raises `DataError` where another holds it.
    """

    def __init__(self, history: History, name: str) -> None:
        self.name = name
        self._place = history.location
        if history.location.memory:
            self._lock: _Lock = _Always()
        elif history.location.path is not None:
            self._lock = _File(_beside(history.location.path, name))
        else:
            self._lock = _Server(history, name)

    def acquire(self) -> bool:
        """Take it, if nobody has it; never wait. Asking again while it is held gives `True`."""
        with told(self._place):
            return self._lock.acquire()

    def release(self) -> None:
        """Give it back; without effect where it is not held."""
        self._lock.release()

    def held(self) -> bool:
        """Whether it is really still held: not after the lock file or the server's connection is gone."""
        return self._lock.held()

    def __enter__(self) -> Lease:
        if not self.acquire():
            raise DataError(f"{self._place}: {self.name!r} is being done by another process; wait until it is done")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _beside(path: Path, name: str) -> Path:
    """The lock's file beside the database's; names that would be spelled alike are kept apart by a hash."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40]
    if safe != name:
        safe = f"{safe}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}"
    return path.with_name(f"{path.name}.{safe}.lock")


class _Always:
    """A database in memory is seen by one process alone."""

    def __init__(self) -> None:
        self._held = False

    def acquire(self) -> bool:
        self._held = True
        return True

    def release(self) -> None:
        self._held = False

    def held(self) -> bool:
        return self._held


class _File:
    """An exclusive transaction on an empty database. Its lock is the process's own, so it ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._file: tuple[int, int] | None = None

    def acquire(self) -> bool:
        if self.held():
            return True
        self.release()
        connection = sqlite3.connect(self._path, timeout=_INSTANT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            self._file = self._identity()
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise
        self._connection, self._process = connection, os.getpid()
        return self.held()

    def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():  # a forked child leaves its parent's alone
            connection.close()

    def held(self) -> bool:
        """Held by this very process, on the file that is still at its place."""
        if self._connection is None or self._process != os.getpid():
            return False
        return self._connection.in_transaction and self._file is not None and self._identity() == self._file

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


class _Server:
    """A lock of PostgreSQL's session: the server frees it when the connection ends, however it ends."""

    def __init__(self, history: History, name: str) -> None:
        self._history = history
        self._name = name
        self._key = 0
        self._engine: sa.Engine | None = None
        self._connection: sa.Connection | None = None
        self._process = 0

    def acquire(self) -> bool:
        if self.held():
            return True
        self.release()
        engine = engine_for(self._history.location, 0.0)
        connection = None
        try:
            connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._key = self._key_in(connection)
            granted = bool(
                connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": self._key}).scalar()
            )
        except BaseException:
            _end(connection, engine)
            raise
        if not granted:
            _end(connection, engine)
            return False
        self._engine, self._connection, self._process = engine, connection, os.getpid()
        return True

    def _key_in(self, connection: sa.Connection) -> int:
        """The server's locks are numbers that a whole database shares; a schema in it is a history of its own."""
        schema = connection.execute(sa.text("SELECT current_schema()")).scalar()
        text = f"rankgauge lease {schema} {self._name}"
        return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:8], "big", signed=True)

    def release(self) -> None:
        connection, engine = self._connection, self._engine
        self._connection = self._engine = None
        if engine is not None and self._process == os.getpid():
            # The end of a connection is noticed a moment later, and the next holder would be refused until then.
            with suppress(sa.exc.SQLAlchemyError):
                if connection is not None:
                    connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": self._key})
            _end(connection, engine)

    def held(self) -> bool:
        """Ask the server whether this very connection holds the lock."""
        if self._connection is None or self._process != os.getpid():
            return False
        # A lock on a 64-bit key is shown as its two halves.
        wanted = sa.text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted "
            "AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = :key"
        )
        try:
            return bool(self._connection.execute(wanted, {"key": self._key}).scalar())
        except sa.exc.SQLAlchemyError:
            self.release()
            return False


def _end(connection: sa.Connection | None, engine: sa.Engine) -> None:
    """Close the connection itself, not only give it back to its pool."""
    with suppress(sa.exc.SQLAlchemyError):
        if connection is not None:
            connection.invalidate()
            connection.close()
    engine.dispose()
