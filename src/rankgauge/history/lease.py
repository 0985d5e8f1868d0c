"""A lease: only one process at a time may do a thing, and what a process that died held is free again.

Of a file the system decides, at once; of a server a row that its holder renews (`lease_row`).
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from pathlib import Path
from typing import Protocol

from rankgauge.errors import DataError
from rankgauge.formats.private import begin_private
from rankgauge.history.faults import LeaseLostError, told
from rankgauge.history.lease_row import LONGEST, RowLock
from rankgauge.history.location import file_identity
from rankgauge.history.sql import Connection
from rankgauge.history.store import History

__all__ = ["LONGEST", "SECONDS", "Lease"]

SECONDS = 30.0
"""After so many seconds without a sign of its holder, a lease on a server is free."""
# Two processes that ask in the same instant can each find the other in the way for some milliseconds.
_INSTANT = 0.05


class Lease:
    """The right to do what `name` says on one history, for one holder at a time.

    As a context manager it raises `DataError` where another holds it. `seconds` counts for histories on a server.
    """

    def __init__(self, history: History, name: str, *, seconds: float = SECONDS) -> None:
        self.name = name
        self._place = history.location
        self._patience = seconds, history.timeout
        self._process = 0
        self._lock: _Lock = _Memory()

    def _made(self) -> _Lock:
        if self._place.memory:
            return _Memory()
        if self._place.path is not None:
            return _File(_beside(self._place.path, self.name))
        return RowLock(self._place, self.name, *self._patience)

    def acquire(self) -> bool:
        """Take it, if nobody has it; never wait. Asking again while it is held renews it and gives `True`."""
        with told(self._place):
            if self._process != os.getpid():  # a forked child leaves its parent's alone
                self._lock, self._process = self._made(), os.getpid()
            return self._lock.take()

    def release(self) -> None:
        """Give it back; without effect where it is not held."""
        if self._process == os.getpid():
            self._lock.free()

    def held(self) -> bool:
        """Whether this very process still holds it, as far as it knows without asking a server."""
        return self._process == os.getpid() and self._lock.holds()

    def fence(self, connection: Connection) -> None:
        """Raise `LeaseLostError` in a write transaction that the holder alone may make, where this is another's."""
        if self._process != os.getpid():
            raise LeaseLostError(f"{self.name!r} is not held by this process; nothing was written")
        self._lock.fence(connection)

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


class _Lock(Protocol):
    """How a lease is held."""

    def take(self) -> bool:
        """Take it where it is free; True where it is ours."""

    def holds(self) -> bool:
        """Whether it is ours."""

    def fence(self, connection: Connection) -> None:
        """Raise `LeaseLostError` where it is not ours."""

    def free(self) -> None:
        """Give it back."""


class _Memory:
    """A database in memory is seen by one process alone: there is nothing to be held."""

    _held = False

    def take(self) -> bool:
        self._held = True
        return True

    def holds(self) -> bool:
        return self._held

    def fence(self, connection: Connection) -> None:
        pass

    def free(self) -> None:
        self._held = False


class _File:
    """An exclusive transaction on an empty database. Its lock is the process's own, so it ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None

    def take(self) -> bool:
        if self.holds():
            return True
        self.free()
        begin_private(self._path)
        connection = sqlite3.connect(self._path, timeout=_INSTANT, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            self._file = file_identity(self._path)
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise
        self._connection = connection
        return self.holds()

    def holds(self) -> bool:
        """On the file that is still at its place."""
        held = self._connection is not None and self._connection.in_transaction
        return held and self._file is not None and file_identity(self._path) == self._file

    def fence(self, connection: Connection) -> None:
        if not self.holds():
            raise LeaseLostError(f"{self._path.name} is gone, or another process has it by now; nothing was written")

    def free(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
